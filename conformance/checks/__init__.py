"""What an adapter is checked for: each check has an id, a witness, and an adapter that fails it."""

from conformance.checks.check import CheckReport, Probe, Result, Subject, Told
from conformance.checks.running import check_adapter

__all__ = ["CheckReport", "Probe", "Result", "Subject", "Told", "check_adapter"]
