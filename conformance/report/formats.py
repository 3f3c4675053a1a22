"""A judged file on a terminal: by which release, then what is new or missing, kind by kind."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from conformance.formats.judging import Finding, FormatDocument, JudgedKind, JudgedRelease

_SAYS = {
    "unknown-kind": "new kind",
    "unknown-shape": "new shape",
    "unknown-field": "new field",
    "new-word": "new word, not one of",
    "type-changed": "other type",
    "missing-field": "missing, always there in recordings",
}
_MOST_WORDS = 4


def show(document: FormatDocument, console: Console) -> None:
    """Print what a file's records agree and disagree with."""
    for release in document.releases:
        console.print(Text(_judged_by(document.agent, release)), soft_wrap=True)
    files = _numbered(document)
    unknown = [kind for kind in document.kinds if _is_unknown(kind)]
    if unknown:
        console.print(_unknown(unknown, files))
    disagreeing = [kind for kind in document.kinds if kind.findings and not _is_unknown(kind)]
    if disagreeing:
        console.print(_findings(disagreeing, files))
    for name, number in files.items():
        console.print(Text(f"[{number}] {name}", "dim"), soft_wrap=True)
    for name in document.unknown_files:
        console.print(Text(f"{name}: a file of no known kind", "yellow"), soft_wrap=True)
    for place in document.damage:
        where = f"{place.file}:{place.line}" if place.line else place.file
        console.print(Text(f"{where}: damaged ({place.kind}), not judged", "yellow"))
    console.print(_verdict(document))


def _judged_by(agent: str, release: JudgedRelease) -> str:
    written = f"written by {release.named}" if release.named else "of no named release"
    meant = f" as {release.asked}, as asked," if release.asked else ""
    near = {
        "same": f"by the recordings of {release.judged_by}",
        "below": f"by {release.judged_by}, the nearest recorded release below",
        "nearest": f"by {release.judged_by}, the nearest recorded release",
        "likest": f"by {release.judged_by}, which knows most of their kinds",
    }[release.nearness]
    return f"{agent}: {release.records} records {written}, judged{meant} {near}"


def _is_unknown(kind: JudgedKind) -> bool:
    return any(finding.finding == "unknown-kind" for finding in kind.findings)


def _numbered(document: FormatDocument) -> dict[str, int]:
    names = dict.fromkeys(one.file for kind in document.kinds for one in kind.findings)
    return {name: number for number, name in enumerate(names, 1)}


def _unknown(kinds: list[JudgedKind], files: dict[str, int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("kinds of record that were never recorded", overflow="fold")
    table.add_column("times", justify="right")
    table.add_column("first", no_wrap=True)
    for kind in kinds:
        table.add_row(Text(kind.kind), str(kind.records), _first(kind.findings[0], files))
    return table


def _findings(kinds: list[JudgedKind], files: dict[str, int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("kind and place", overflow="fold", min_width=36)
    table.add_column("what", overflow="fold")
    table.add_column("times", justify="right")
    table.add_column("first", no_wrap=True)
    for kind in kinds:
        recorded = f"{kind.samples} recorded"
        table.add_row(
            Text(kind.kind, "bold"), Text(recorded, "dim"), Text(str(kind.records), "dim")
        )
        for finding in kind.findings:
            table.add_row(
                Text(f" {finding.pointer or '/'}"),
                Text(_what(finding), "bold red" if finding.breaks else ""),
                str(finding.count),
                _first(finding, files),
            )
    return table


def _first(finding: Finding, files: dict[str, int]) -> Text:
    line = f":{finding.line}" if finding.line else ""
    return Text(f"[{files[finding.file]}]{line}")


def _what(finding: Finding) -> str:
    said = _SAYS[finding.finding]
    if finding.finding == "new-word":
        words = ", ".join(finding.expected[:_MOST_WORDS])
        return f"{said} {words}{', …' if len(finding.expected) > _MOST_WORDS else ''}"
    if finding.found and finding.expected:
        return f"{said}: {' or '.join(finding.expected)} → {' or '.join(finding.found)}"
    return f"{said}: {' or '.join(finding.found)}" if finding.found else said


def _verdict(document: FormatDocument) -> Text:
    counted = f"{document.records} records of {len(document.kinds)} kinds"
    if document.strict_ok:
        return Text(f"{counted}: nothing new, nothing missing", "green")
    if document.lenient_ok:
        return Text(f"{counted}: something is new, nothing that readers count on is missing")
    return Text(f"{counted}: something that readers count on is missing or of another type", "red")
