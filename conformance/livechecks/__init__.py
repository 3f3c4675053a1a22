"""Does a moved conversation resume, and does the model see it? Asked of the real CLIs.

What is here needs no CLI, so that results can be read and shown anywhere; driving one
(:mod:`conformance.livechecks.running`) needs the extra ``live``.
"""

from conformance.livechecks.results import LiveReport, Result, Verdict

__all__ = ["LiveReport", "Result", "Verdict"]
