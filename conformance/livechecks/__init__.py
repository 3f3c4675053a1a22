"""Does a moved conversation resume, and does the model see it? Asked of the real CLIs."""

from conformance.livechecks.results import Result, Verdict
from conformance.livechecks.running import Bench, run_check

__all__ = ["Bench", "Result", "Verdict", "run_check"]
