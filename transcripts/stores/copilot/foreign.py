"""Values of a foreign record, taken only where they have the type that is needed.

A field of an odd type costs that field and never the record.
"""

from __future__ import annotations

from typing import Any


def string(value: Any) -> str | None:
    """Return a text that is not empty, or None."""
    return value if value and isinstance(value, str) else None


def integer(value: Any) -> int | None:
    """Return a whole number (true and false are none), or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def mapping(value: Any) -> dict[str, Any]:
    """Return an object, empty if there is none."""
    return value if isinstance(value, dict) else {}


def mappings(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
