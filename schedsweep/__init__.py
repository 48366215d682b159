"""The command ``schedsweep``, and the protection against packages that hide the project's."""
