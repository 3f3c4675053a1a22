"""One driver a CLI: how it is installed, started, spoken to and stopped, by release."""

from live.agents.base import Driver, Expected, Translation, driver_class, drivers, find_driver

__all__ = ["Driver", "Expected", "Translation", "driver_class", "drivers", "find_driver"]
