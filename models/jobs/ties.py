"""The settings for the order of events that share an instant, for every family with ``ties``.

``instant``
    All ends of an instant, then all its submissions: a job that arrives finds the processors free. The queue
    is scheduled once, after all of them.
``event``
    One event after the other: the submissions, then the ends (in order of submission, unless the family
    documents another order); the queue is scheduled after each.

Archive logs have whole seconds, so that the order matters there. `models.kernels.ties` is the compiled rule.
"""

INSTANT = "instant"
TIES = (INSTANT, "event")
