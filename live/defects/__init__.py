"""What a release does with a session file that has one defect, measured on the real CLI.

A session is written by hand, as small as the CLIs take it, and is right. Then one thing is
wrong with it at a time: a field is missing, a parent is null, a result is a string. The CLI
resumes each, and the request that it sends, or does not send, says what came of it. A writer
needs this to know what must be right; whoever takes a file for resumed because the exit code
was 0 needs it more.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from live.agents.base import Driver, find_driver
from live.defects.written import ANSWERED, PARTS, PROMPT, Defect, Files, Written
from live.releases import Release, install
from live.resume import Resumed, resume_with
from live.resume_rules import FORMAT, Effect, Measured, ResumeRules

_SECONDS = 60.0
_MODULES = {agent: f"live.defects.{agent}" for agent in ("claude", "codex", "copilot")}


class UnknownDefect(Exception):
    """No defect of that name is in the agent's table."""


def names(agent: str) -> tuple[str, ...]:
    """Return the names of an agent's defects, the sound file (``none``) first."""
    return tuple(defect.name for defect in _defects(agent))


def measure(
    agent: str,
    version: str,
    dialect: str | None = None,
    *,
    only: Iterable[str] = (),
    told: Callable[[str], object] = lambda _: None,
) -> ResumeRules:
    """Let a release resume every file of its agent's table, or those named."""
    wanted = set(only)
    unknown = wanted - set(names(agent))
    if unknown:
        raise UnknownDefect(f"{agent} has no defect {sorted(unknown)[0]!r}: {names(agent)}")
    driver = find_driver(agent, version, dialect)
    release = install(agent, driver.package, version)
    measured: list[Measured] = []
    for defect in _defects(agent):
        if wanted and defect.name not in wanted:
            continue
        told(f"{agent} {release.version}: {defect.what}")
        measured.append(_measured(defect, driver, release))
    return ResumeRules(
        format=FORMAT,
        agent=agent,
        release=release.version,
        dialect=driver.dialect,
        integrity=release.integrity,
        parts=tuple(PARTS),
        defects=tuple(measured),
    )


def _defects(agent: str) -> Sequence[Defect]:
    return import_module(_MODULES[agent]).DEFECTS


def _sound(driver: Driver) -> Written:
    return import_module(_MODULES[driver.agent]).sound(driver)


def _measured(defect: Defect, driver: Driver, release: Release) -> Measured:
    written = defect.change(_sound(driver))
    files = written.files()
    with tempfile.TemporaryDirectory(prefix="transcript-conformance-") as scratch:
        home = Path(scratch)
        _lay(home, files)
        resumed = resume_with(
            driver, release, home, written.session_id, PROMPT, "record", seconds=_SECONDS
        )
    held = [part for part, token in PARTS.items() if _holds(files, token)]
    reached = _reached(resumed)
    effect = _effect(resumed, held, reached)
    return Measured(
        defect=defect.name,
        what=defect.what,
        effect=effect,
        returncode=None if effect == "hang" else resumed.returncode,
        reached=tuple(reached),
        missing=tuple(part for part in held if part not in reached),
        answered=_answered(resumed, reached),
        said=_said(resumed) if effect in ("refused", "silent") else None,
    )


def _lay(home: Path, files: Files) -> None:
    for name, content in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _holds(files: Files, token: str) -> bool:
    return any(token.encode() in content for content in files.values())


def _reached(resumed: Resumed) -> list[str]:
    if resumed.asked is None:
        return []
    told = json.dumps(msgspec.to_builtins(resumed.asked.history), ensure_ascii=False)
    return [part for part, token in PARTS.items() if token in told]


def _effect(resumed: Resumed, held: Sequence[str], reached: Sequence[str]) -> Effect:
    if resumed.timed_out:
        return "hang"
    if resumed.asked is None:
        return "refused" if _said(resumed) in ("stderr", "stdout") else "silent"
    if set(reached) >= set(held):
        return "full"
    return "partial" if reached else "silent"


def _answered(resumed: Resumed, reached: Sequence[str]) -> bool:
    """Whether the call has a result in the request that is not the file's."""
    if resumed.asked is None or "result" in reached or "call" not in reached:
        return False
    return any(entry.type == "result" for entry in resumed.asked.history)


def _said(resumed: Resumed) -> Any:
    if resumed.stderr.strip():
        return "stderr"
    if resumed.stdout.strip() and ANSWERED not in resumed.stdout:
        return "stdout"
    return "log" if resumed.log_line else None
