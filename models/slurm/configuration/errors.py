"""The error of a slurm.conf that cannot be used."""


class ConfigurationError(ValueError):
    """One line: the file and the line of the mistake, what is allowed, and what to do."""
