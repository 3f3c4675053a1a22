"""A check's report as Markdown, for the summary of a CI job or a comment: what fails comes first.

Long lists are folded and cut, so that a comment (GitHub takes 65,536 characters) holds the report
of an adapter that gets everything wrong; the other forms name every case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.checks.check import CheckReport, Verdict
from conformance.report.checks.summary import (
    WORDS,
    Alike,
    Row,
    about,
    alike,
    rows,
    verdict_line,
    verdicts_of,
    visible,
)

_OPEN = 3
"""So many names stand in the line; more are folded."""

_NAMED = 25
_REASONS = 40
_LONGEST = 300

_MARKS: dict[Verdict, str] = {
    "passed": "✅",
    "failed": "❌",
    "known": "⚠️",
    "flaky": "🎲",
    "skipped": "➖",
}


def markdown(report: CheckReport) -> str:
    """Return the report's text."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: CheckReport) -> Iterator[str]:
    found = rows(report)
    mark = _MARKS["failed" if report.summary.failed else "passed"]
    yield f"## {mark} {_escaped(about(report))}"
    yield ""
    offers = ", ".join(f"`{offer}`" for offer in report.offers) or "nothing"
    yield f"**{verdict_line(report)}**. Offers {offers}."
    yield ""
    failing = alike(found, "failed")
    if failing:
        yield "### What fails"
        yield ""
        yield from _groups(failing)
        yield ""
    yield from _table(found)
    for verdict in ("known", "flaky", "skipped"):
        groups = alike(found, verdict)
        if groups:
            count = sum(len(group.results) for group in groups)
            yield ""
            yield f"<details><summary>{count} {WORDS[verdict]}</summary>"
            yield ""
            yield from _groups(groups)
            yield ""
            yield "</details>"


def _table(found: Sequence[Row]) -> Iterator[str]:
    verdicts = verdicts_of(found)
    clean = [row for row in found if row.verdict == "passed" and len(row.counts) == 1]
    others = [row for row in found if row not in clean]
    if others:
        yield "### Checks"
        yield ""
        yield from _rows(others, verdicts)
    if clean:
        if others:
            yield ""
        said = "1 check passes" if len(clean) == 1 else f"{len(clean)} checks pass"
        yield f"<details><summary>{said} whole</summary>"
        yield ""
        yield from _rows(clean, ["passed"])
        yield ""
        yield "</details>"


def _rows(found: Sequence[Row], verdicts: Sequence[Verdict]) -> Iterator[str]:
    yield f"| | check | claims | {' | '.join(verdicts)} |"
    yield f"|---|---|---|{'---:|' * len(verdicts)}"
    for row in found:
        counts = row.counts
        numbers = " | ".join(str(counts[verdict] or "") for verdict in verdicts)
        yield (
            f"| {_MARKS[row.verdict]} | {_escaped(row.check)} | {_escaped(row.claim)} | {numbers} |"
        )


def _groups(groups: Sequence[Alike]) -> Iterator[str]:
    last = ""
    for group in groups[:_REASONS]:
        if group.check != last:
            claim = f": {_escaped(group.claim)}" if group.claim else ""
            yield f"- **{_escaped(group.check)}**{claim}"
            last = group.check
        why = _escaped(group.why[:_LONGEST]) + ("…" if len(group.why) > _LONGEST else "")
        names = [f"`{_code(case)}`" for case in group.cases[:_NAMED]]
        if len(group.cases) > len(names):
            names.append(f"and {len(group.cases) - len(names)} more")
        if len(group.cases) <= _OPEN:
            yield f"  - {', '.join(names)}: {why}"
            continue
        yield (
            f"  - {len(group.cases)} cases: {why}"
            f"<details><summary>Which</summary>{', '.join(map(_html_code, names))}</details>"
        )
    if len(groups) > _REASONS:
        yield f"- and {len(groups) - _REASONS} other reasons, in the other forms of this report"


def _html_code(name: str) -> str:
    """Return a name in code, as HTML: Markdown may not be read within an element of one line."""
    if not name.startswith("`"):
        return name
    plain = name.strip("`").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<code>{plain}</code>"


def _code(text: str) -> str:
    """Return a text that can stand between two back ticks, in a cell of a table too."""
    return " ".join(visible(text).split()).replace("`", "'").replace("|", "\\|")


def _escaped(text: str) -> str:
    """Keep what an adapter said from breaking the page, or calling anybody: no markup, one line."""
    plain = " ".join(visible(text).split()).replace("&", "&amp;").replace("<", "&lt;")
    for sign in ("\\", "|", "`", "*", "_", "[", "~", "#"):
        plain = plain.replace(sign, f"\\{sign}")
    return plain.replace("@", "@<!-- -->")
