"""Copilot CLI's importer, asked what it would make of a session, and making nothing.

``copilot sessions import --dry-run`` judges records for exchanging sessions and says of each
line that it refuses what is wrong with it. What it counts must be what it was given.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from live.agents.base import Driver
from live.releases import Release
from live.witnesses.base import Witness, Witnessed, laid
from live.witnesses.copilot_files import events_file, numbered
from live.witnesses.copilot_interchange import Record, records

NAME = "import"

_FILE = "session.jsonl"
_SECONDS = 120.0
_MOST = 3

_COUNTED = {"message": "messages", "tool-call": "toolCalls", "tool-result": "toolResults"}


def _ask(driver: Driver, release: Release, home: Path, session_id: str) -> Witnessed:
    """Have the importer judge the session's events, in its own records."""
    given = list(records(numbered(events_file(home, session_id))))
    with laid(driver, release, home) as box:
        lines = (json.dumps(one.value).encode() + b"\n" for one in given)
        (box.tmp / _FILE).write_bytes(b"".join(lines))
        place = f"/tmp/{_FILE}" if box.sealed else str(box.tmp / _FILE)
        ended = box.run(
            [
                *driver.executable(release.prefix),
                *("sessions", "import", "--dry-run", "--output", "json", place),
            ],
            driver.environment(box.home_inside, box.port),
            timeout=_SECONDS,
        )
    try:
        said: Any = json.loads(ended.stdout)
    except ValueError:
        said = None
    if not isinstance(said, Mapping):
        words = ended.stderr.strip() or ended.stdout.strip() or "nothing"
        how = "no end in time" if ended.timed_out else f"exit code {ended.returncode}"
        return Witnessed(name=NAME, verdict="refuses", why=f"{how}, and it says: {words[-600:]}")
    why = judged(given, said)
    return Witnessed(name=NAME, verdict="refuses" if why else "agrees", why=why)


WITNESS = Witness(
    name=NAME,
    since="1.0.85",
    before="1.0.84-4 and those before it know no sessions import (unknown option '--dry-run')",
    ask=_ask,
)


def judged(given: Sequence[Record], said: Mapping[str, Any]) -> str:
    """Return what the importer has against the records, in words; empty if nothing."""
    diagnostics = [one for one in said.get("diagnostics") or () if isinstance(one, Mapping)]
    if diagnostics or not said.get("ok"):
        wrong = [_diagnostic(given, one) for one in diagnostics[:_MOST]]
        more = [f"and {len(diagnostics) - _MOST} more"] if len(diagnostics) > _MOST else []
        return "; ".join([*wrong, *more]) or str(said.get("message"))
    counted: Mapping[str, Any] = said.get("imported") or {}
    for kind, word in _COUNTED.items():
        number = sum(one.value["type"] == kind for one in given)
        if counted.get(word) != number:
            return f"it was given {number} {word} and counts {counted.get(word)}"
    return ""


def _diagnostic(given: Sequence[Record], one: Mapping[str, Any]) -> str:
    number: Any = one.get("line")
    known = isinstance(number, int) and 0 < number <= len(given)
    where = f"line {given[number - 1].line} of events.jsonl" if known else f"record {number}"
    return f"{where}: {one.get('code')}: {one.get('message')}"
