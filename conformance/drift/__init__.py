"""What changed in a format between two releases, and whom it breaks.

Two releases are two sides (:mod:`.sides`): the same scenarios, recorded from each. What differs is
found place by place (:mod:`.fields`, :mod:`.kinds`, :mod:`.layouts`, :mod:`.links`,
:mod:`.wordings`, :mod:`.abilities`), each difference under a rule (:mod:`.rules`) that says how bad
it is for who reads a CLI's files and for who writes files that the CLI resumes.
"""

from conformance.drift.comparing import compare
from conformance.drift.findings import DriftReport, Finding
from conformance.drift.sides import Side, side

__all__ = ["DriftReport", "Finding", "Side", "compare", "side"]
