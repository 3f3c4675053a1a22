"""Conversations with planted values, and what is asked about them after they were moved."""

from live.checks.check import Check, CheckError, load, names, order, selected

__all__ = ["Check", "CheckError", "load", "names", "order", "selected"]
