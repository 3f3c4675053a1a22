"""A drift report as the body of an issue."""

from __future__ import annotations

from conformance.drift.findings import DriftReport
from conformance.drift.rules import RULES, SEVERITIES
from conformance.report.drift import alike, answers, not_compared, scenarios

_HEADS = {
    "error": "Breaks readers or writers",
    "warning": "May break some",
    "info": "For information",
}

MOST_CHARACTERS = 60_000
"""An issue's body may have 65,536; who opens it may want to add something."""


def issue(report: DriftReport) -> str:
    """Return the report in Markdown; what is for information alone is folded, or cut off."""
    lines = [f"# {report.agent} {report.from_} → {report.to}", ""]
    lines += [f"- **{question}** {answer}" for question, answer in answers(report)]
    lines.append(f"- Compared in {len(report.compared)} scenarios: {', '.join(report.compared)}.")
    lines += [*(f"- Not compared: {_text(one)}." for one in not_compared(report)), ""]
    if report.broken or report.unused:
        lines += ["## Broken", "", *(f"- {_text(one)}" for one in report.broken)]
        lines += [*(f"- {_text(one)}" for one in report.unused), ""]
    if report.vendor:
        lines += ["## Against the vendor's own schema", ""]
        lines += [*(f"- {_text(one)}" for one in report.vendor), ""]
    groups = alike(report.findings)
    for severity in SEVERITIES:
        of_it = [group for group in groups if group.severity == severity]
        if not of_it:
            continue
        table = [
            "| rule | where | what | seen in | fingerprint |",
            "|---|---|---|---|---|",
        ]
        for group in of_it:
            one = group.first
            seen = scenarios(one.scenarios, len(report.compared))
            done = f" (accepted by {_text(one.accepted)})" if one.accepted else ""
            table.append(
                f"| {one.rule} | {_code(group.place)} | {_text(group.text)}{done} "
                f"| {seen} | `{one.fingerprint}` |"
            )
        if severity == "info":
            head = f"{_HEADS[severity]}: {len(of_it)}"
            lines += [f"<details><summary>{head}</summary>", "", *table, "", "</details>", ""]
        else:
            lines += [f"## {_HEADS[severity]}", "", *table, ""]
    return _cut("\n".join(lines))


def rules_table() -> str:
    """Return every rule of drift, for its page."""
    lines = [
        "| rule | readers | writers | what it says | whom it breaks |",
        "|---|---|---|---|---|",
    ]
    for rule in RULES.values():
        text = rule.text.format(before="*before*", after="*after*")
        lines.append(f"| `{rule.id}` | {rule.reader} | {rule.writer} | {text} | {rule.doc} |")
    return "\n".join(lines)


def _cut(text: str) -> str:
    """Return what an issue can hold: the most severe stands first, and is what stays."""
    if len(text) <= MOST_CHARACTERS:
        return text
    kept = text[:MOST_CHARACTERS].rpartition("\n")[0]
    more = text[len(kept) :].count("\n| ")
    end = "\n\n</details>" if "<details>" in kept else ""
    return f"{kept}{end}\n\nThere are {more} lines more: `--format json` tells all.\n"


def _text(words: str) -> str:
    """Return words that Markdown and HTML take for nothing but words."""
    escaped = words.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
    for sign in "`*_[]":
        escaped = escaped.replace(sign, f"\\{sign}")
    return " ".join(escaped.split())


def _code(words: str) -> str:
    """Return words as code in a table's cell."""
    fence = "``" if "`" in words else "`"
    return f"{fence}{' '.join(words.split()).replace('|', chr(92) + '|')}{fence}"
