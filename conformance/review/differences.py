"""What differs between two snapshots, in the words of the format rather than of a diff.

Counts are left out: how often a field was seen changes with every recording that is added.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

MOST = 40
"""So many lines are told of one snapshot."""
_LONGEST = 100


def schema_differences(before: str, after: str) -> list[str]:
    """Return what differs between two schemas of a kind of record, a line each place."""
    old, new = (dict(_places(json.loads(text), "")) for text in (before, after))
    return _told(old, new) or ["nothing but counts and scenarios"]


def reading_differences(before: str, after: str) -> list[str]:
    """Return what differs between two readings of a case, message by message."""
    old, new = json.loads(before), json.loads(after)
    lines = _told(_fields(old), _fields(new))
    was, now = ({one["id"]: one for one in reading["messages"]} for reading in (old, new))
    for key in dict.fromkeys([*was, *now]):
        if key not in now:
            lines.append(f"- {_message(was[key])}")
        elif key not in was:
            lines.append(f"+ {_message(now[key])}")
        elif was[key] != now[key]:
            fields = sorted({*was[key], *now[key]})
            changed = [name for name in fields if was[key].get(name) != now[key].get(name)]
            lines.append(f"~ {_message(now[key])}: {', '.join(changed)}")
    if not lines:
        lines = ["the order of messages" if list(was) != list(now) else "nothing but spelling"]
    return shortened(lines)


def shortened(lines: list[str]) -> list[str]:
    """Return the first lines of many, and how many more there are."""
    more = len(lines) - MOST
    return [*lines[:MOST], f"… and {more} more"] if more > 0 else lines


def _told(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    lines: list[str] = []
    for place in sorted({*old, *new}):
        was, now = old.get(place), new.get(place)
        if was is None:
            lines.append(f"+ {place}: {now}")
        elif now is None:
            lines.append(f"- {place}: {was}")
        elif was != now:
            lines.append(f"~ {place}: {was} → {now}")
    return shortened(lines)


def _places(schema: Any, place: str) -> Iterator[tuple[str, str]]:
    """Yield every place of a schema, and in short what stands there."""
    yield place or "/", _short(schema)
    required = set(schema.get("required", ()))
    for key, one in schema.get("properties", {}).items():
        for inner, told in _places(one, f"{place}/{key}"):
            own = inner == f"{place}/{key}"
            yield inner, told + (" (always)" if own and key in required else "")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from _places(schema[key], f"{place}/*")
    for one in schema.get("allOf", ()):
        yield from _places(one["then"], f"{place}[{one['then'].get('title', '')}]")


def _short(schema: Mapping[str, Any]) -> str:
    if schema.get("x-opaque"):
        return "opaque"
    types = schema.get("type", "any")
    told = types if isinstance(types, str) else " or ".join(types)
    words = schema.get("x-words") or schema.get("x-forms")
    return f"{told} ({', '.join(words)})" if words else told


def _fields(reading: Mapping[str, Any]) -> dict[str, str]:
    """Return a reading's own fields, its messages aside."""
    texts = {key: json.dumps(value) for key, value in reading.items() if key != "messages"}
    return {
        f"/{key}": text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        for key, text in texts.items()
    }


def _message(message: Mapping[str, Any]) -> str:
    return f"{message['kind']} {message['id'][:8]}"
