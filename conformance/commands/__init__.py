"""One module for each command of ``conformance``, by its name."""
