"""The error of a log that cannot be used."""


class SwfError(ValueError):
    """A log that cannot be used as asked: one line with the file, the line number and a remedy."""
