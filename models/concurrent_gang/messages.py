"""Messages between the tasks of a job: asynchronous sends, blocking receives, contention for links.

A job's communication statements are sends and receives in turn: number 2 k of each task sends the message of
exchange k, number 2 k + 1 receives it. So in an exchange every task sends to one and receives from one.
"""

from __future__ import annotations

from numba import float64, int64, void

from models.concurrent_gang.events import wake_at
from models.concurrent_gang.state import (
    ALL_TO_ALL,
    AWAITED,
    COMMUNICATING,
    FREE_MESSAGE,
    INBOX,
    N_FREE_MESSAGES,
    NEIGHBOURS,
    NONE,
    PE,
    RANDOM_PARTNERS,
    STATE,
    SYSTEM,
)
from models.kernels.compiling import part
from models.topology.torus import route_into
from models.workloads.statements.draws import shift


@part(int64(int64, int64, int64, int64))
def goes_on_by(partners, exchange, n_tasks, key):
    """Return by how many tasks the messages of an exchange go on, in the order of the job's tasks."""
    if partners == NEIGHBOURS:
        return 1 if exchange % 2 == 0 else n_tasks - 1
    if partners == RANDOM_PARTNERS:
        return shift(key, exchange, n_tasks)
    if partners == ALL_TO_ALL:
        return 1 + exchange % (n_tasks - 1)
    return 1


@part(float64(int64, int64, float64, SYSTEM))
def carry(source, target, now, system):
    """Send a message from one PE to another and return when it is there. O(links of the route).

    Each link serves messages in the order in which they were sent: one that is sent earlier has its turn
    reserved on all of its way.
    """
    network, costs = system.network, system.costs
    n_links = route_into(network.sides, source, target, network.route)
    head = now
    if not system.settings.contention:
        return now + n_links * costs.latency + costs.transfer
    for i in range(n_links):
        link = network.route[i]
        head = max(head, network.free[link])
        network.free[link] = head + costs.transfer
        head += costs.latency
    return head + costs.transfer


@part(void(int64, int64, int64, float64, SYSTEM))
def send(sender, receiver, exchange, now, system):
    """Send the message of an exchange; its receiver wakes as it comes, if it waits for it."""
    whole, network, counts = system.tasks.whole, system.network, system.counts
    arrival = carry(whole[sender, PE], whole[receiver, PE], now, system)
    if whole[receiver, STATE] == COMMUNICATING and whole[receiver, AWAITED] == exchange:
        whole[receiver, AWAITED] = NONE
        wake_at(receiver, arrival, system)
        return
    message = counts[FREE_MESSAGE]
    counts[FREE_MESSAGE] = network.next[message]
    counts[N_FREE_MESSAGES] -= 1
    network.exchange[message] = exchange
    network.arrival[message] = arrival
    network.next[message] = whole[receiver, INBOX]
    whole[receiver, INBOX] = message


@part(float64(int64, int64, SYSTEM))
def take_message(task, exchange, system):
    """Take the message of an exchange that was sent to a task; return when it is there, -1 for none."""
    whole, network, counts = system.tasks.whole, system.network, system.counts
    before = NONE
    message = whole[task, INBOX]
    while message != NONE and network.exchange[message] != exchange:
        before = message
        message = network.next[message]
    if message == NONE:
        return -1.0
    if before == NONE:
        whole[task, INBOX] = network.next[message]
    else:
        network.next[before] = network.next[message]
    network.next[message] = counts[FREE_MESSAGE]
    counts[FREE_MESSAGE] = message
    counts[N_FREE_MESSAGES] += 1
    return network.arrival[message]


@part()
def forget_messages(task, system):
    """Throw away what was sent to a task and not received."""
    whole, network, counts = system.tasks.whole, system.network, system.counts
    while whole[task, INBOX] != NONE:
        message = whole[task, INBOX]
        whole[task, INBOX] = network.next[message]
        network.next[message] = counts[FREE_MESSAGE]
        counts[FREE_MESSAGE] = message
        counts[N_FREE_MESSAGES] += 1
