"""Homes to ask about: a recording laid beside others, renamed, or damaged on purpose."""

from __future__ import annotations

import shutil
from pathlib import Path

from conformance.corpus import Case, opened

OTHER_IDS = {
    "claude": "0badc0de-1111-4111-8111-000000000001",
    "codex": "0badc0de-1111-7111-8111-000000000001",
    "copilot": "0badc0de-1111-4111-8111-000000000001",
}
"""The id that a second session gets: of the form that the agent's own ids have."""


def laid(case: Case, home: Path, *, renamed: bool = False, afresh: bool = True) -> Path:
    """Lay a recording's home, ``afresh`` or beside what is there; return the home.

    ``renamed`` gives the session another id, in the names of files and in what they say:
    recordings of one release have the same id.
    """
    if afresh:
        shutil.rmtree(home, ignore_errors=True)
    with opened(case) as recorded:
        for path in sorted(recorded.rglob("*")):
            if not path.is_file():
                continue
            name, content = path.relative_to(recorded).as_posix(), path.read_bytes()
            if renamed:
                old, new = case.facts.session_id, OTHER_IDS[case.facts.agent]
                name, content = name.replace(old, new), content.replace(old.encode(), new.encode())
            place = home / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
    return home


def session_file(home: Path, session_path: str) -> Path:
    """Return the file of lines that a session is recorded in."""
    path = home / session_path
    return path / "events.jsonl" if path.is_dir() else path
