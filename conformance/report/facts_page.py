"""The tables of the page about facts: what each rests on in each store, and how recordings answer.

What a fact rests on is said here by hand; how often the recordings of a release answer it, and
which releases record a total, is found by making their sheets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from conformance.corpus import Case, cases, opened, releases
from transcripts.facts import Facts, FactsSheet, facts_of_path
from transcripts.stores.base import agents

_NAMES = {"claude": "Claude Code", "codex": "Codex", "copilot": "Copilot CLI"}
_ALIKE = ("two-turns", "plain-exchange")
"""Scenarios that every release was recorded in."""

_RESTS_ON: Mapping[str, tuple[str, ...]] = {
    "tool_calls": (
        "`tool_use` blocks of the main thread",
        "calls of this rollout, by whichever vocabulary tells them, each once",
        "`toolRequests` of the main thread's answers",
    ),
    "tool_calls_by_name": ("the same, by the tool's name and MCP server",) * 3,
    "failed_calls": (
        "`is_error` of the result",
        "exit code, `status` or the result's first line, by release",
        "`success`, exit code",
    ),
    "unresolved_calls": ("a call without a result",) * 3,
    "subagents": (
        "a call with a non-blank `subagent_type`, whatever its name; child files",
        "`spawn_agent`, collaboration events",
        "`task`, `subagent.*` events",
    ),
    "pull_requests": (
        "`pr-link`; commands that ran",
        "commands that ran",
        "commands that ran",
    ),
    "changed_files": (
        "copies put aside (`file-history-*`), `bashEditDiff`, patch headers, paths of calls",
        "patch events, then patch headers",
        "patch headers, then the calls' paths",
    ),
    "human_turns": (
        "`origin.kind`, `promptSource`, `entrypoint`; wrappers of the text where no mark is",
        "content kinds and provenance (from 0.150); shapes of Codex's own texts before",
        "`user.message`, its `source` and `agentId`",
    ),
    "excluded_turns": ("the same: each with its reason",) * 3,
    "final_message": ("the last text of the main thread",) * 3,
    "window": ("times of messages, of the first and the last record; never the file's",) * 3,
    "token_total": (
        "the last `cost-state`, if no answer is behind it",
        "the last `token_count`, less what was copied",
        "the last `session.shutdown`, if no answer is behind it; less what was copied",
    ),
    "token_sum": (
        "`usage` once a response; not its output where it was counted before its end",
        "`token_usage_record`, else each `token_count` that adds something",
        "`session.usage_record`, else `outputTokens`, once a response",
    ),
}


def tables(corpus: Path) -> str:
    """Return the tables of what each fact rests on, and of the releases' totals."""
    return "\n\n".join(("\n".join(_basis(corpus)), "\n".join(_totals(corpus))))


def _basis(corpus: Path) -> Iterator[str]:
    newest = {agent: releases(corpus, agent)[-1] for agent in agents()}
    sheets = {agent: list(_sheets(corpus, agent, release)) for agent, release in newest.items()}
    names = " | ".join(_NAMES[agent] for agent in newest)
    yield f"| fact | {names} |"
    yield "|---" * (len(newest) + 1) + "|"
    for fact in Facts.__struct_fields__:
        cells = [
            f"{basis} ({_answered(fact, sheets[agent])})"
            for agent, basis in zip(newest, _RESTS_ON[fact], strict=True)
        ]
        yield f"| `{fact}` | {' | '.join(cells)} |"
    counts = ", ".join(
        f"{len(sheets[agent])} of {_NAMES[agent]} {release}" for agent, release in newest.items()
    )
    yield f"\nIn brackets: how many recordings of the newest release have an answer ({counts})."


def _answered(fact: str, sheets: list[FactsSheet]) -> str:
    answered = sum(getattr(sheet.facts, fact).value is not None for sheet in sheets)
    return "all" if answered == len(sheets) else f"{answered}/{len(sheets)}"


def _totals(corpus: Path) -> Iterator[str]:
    yield "| release | total of one process | total of a session that was resumed |"
    yield "|---|---|---|"
    for agent in agents():
        for release in releases(corpus, agent):
            found = {
                case.facts.scenario: _sheet(case)
                for case in cases(corpus, agent, release)
                if case.directory.name in _ALIKE
            }
            cells = [_total(found.get(scenario)) for scenario in reversed(_ALIKE)]
            yield f"| {_NAMES[agent]} {release} | {' | '.join(cells)} |"


def _total(sheet: FactsSheet | None) -> str:
    if sheet is None:
        return ""
    total = sheet.facts.token_total
    if total.value is not None:
        return "recorded"
    why = total.unavailable or ""
    return "none" if why.endswith("recorded no total of the session") else f"none: {why}"


def _sheets(corpus: Path, agent: str, release: str) -> Iterator[FactsSheet]:
    for case in cases(corpus, agent, release):
        yield _sheet(case)


def _sheet(case: Case) -> FactsSheet:
    with opened(case) as home:
        return facts_of_path(str(home / case.facts.session_path), case.facts.agent)
