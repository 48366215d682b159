"""The command ``schedsweep``, and what keeps packages of the working folder from hiding the project's."""
