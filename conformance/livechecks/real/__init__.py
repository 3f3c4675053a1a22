"""Live checks by a person's own CLIs and a real model: what they spend is said, and asked first."""

from conformance.livechecks.real.belongings import Belongings
from conformance.livechecks.real.running import Real, Sources, run_check
from conformance.livechecks.real.spending import Planned, Spending, plan, spending

__all__ = ["Belongings", "Planned", "Real", "Sources", "Spending", "plan", "run_check", "spending"]
