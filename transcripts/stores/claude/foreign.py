"""Values of a foreign record, taken only where they have the type that is needed.

A field of an odd type costs that field and never the record.
"""

from __future__ import annotations

from typing import Any


def string(value: Any) -> str | None:
    """Return a non-empty string, None for anything else."""
    return value if value and isinstance(value, str) else None


def integer(value: Any) -> int | None:
    """Return a whole number (true and false are none)."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(value: Any) -> float | None:
    """Return a number as a float."""
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def mapping(value: Any) -> dict[str, Any]:
    """Return an object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """Return an array, an empty one for anything else."""
    return value if isinstance(value, list) else []
