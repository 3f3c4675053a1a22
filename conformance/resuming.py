"""How releases resume what is wrong with a file: measured, kept beside the schemas, shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from live.resume_rules import Effect, Measured, ResumeRules

NAME = "resume.json"

_STYLES: Mapping[Effect, str] = {
    "full": "green",
    "partial": "bold red",
    "refused": "yellow",
    "silent": "bold red",
    "hang": "bold red",
}


def place(schemas: Path, rules: ResumeRules) -> Path:
    """Return where a release's rules are kept."""
    return schemas / rules.agent / rules.release / NAME


def renew(
    agent: str, version: str, schemas: Path, told: Callable[[str], object]
) -> tuple[ResumeRules, Path]:
    """Measure a release and write its rules; return both."""
    # Driving a release needs the extra `live`; reading what was measured does not.
    from live import defects  # noqa: PLC0415

    rules = defects.measure(agent, version, told=told)
    path = place(schemas, rules)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text(rules))
    return rules, path


def text(rules: ResumeRules) -> bytes:
    """Return the rules as they are kept."""
    return msgspec.json.format(msgspec.json.encode(rules), indent=1) + b"\n"


def load(path: Path) -> ResumeRules:
    """Read kept rules; msgspec.ValidationError if they are not of their shape."""
    return msgspec.json.decode(path.read_bytes(), type=ResumeRules)


def show(rules: ResumeRules, console: Console) -> None:
    """Print what the release does with each file."""
    table = Table(title=f"How {rules.agent} {rules.release} resumes a file in which …")
    table.add_column("defect")
    table.add_column("effect")
    table.add_column("the model did not see")
    for one in rules.defects:
        table.add_row(one.what, f"[{_STYLES[one.effect]}]{one.effect}[/]", _missing(one))
    console.print(table)


def _missing(one: Measured) -> str:
    if one.effect in ("refused", "hang"):
        return ""
    if one.effect == "silent":
        return "anything, and nobody was told"
    return ", ".join(one.missing)
