"""What live checks came to is shown whole: every direction, every reason, whose fault it is."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

from conformance.corpus import find_corpus, version_key
from conformance.generated import ROOT
from conformance.livechecks import LiveReport, Result, Verdict, stored
from conformance.livechecks.blame import blame, defects
from conformance.livechecks.command import exit_code
from conformance.livechecks.limits import Limit, limited, limits
from conformance.livechecks.planning import newest
from conformance.livechecks.results import Measurement, Shown
from conformance.report.live import grid, remarks
from conformance.report.live_page import page
from conformance.report.live_terminal import show_live
from conformance.shapes import schema_of
from live.checks import names
from transcripts.serialise import to_json

NEWEST = {"claude": "2.1.332", "codex": "0.171.0", "copilot": "1.0.102"}
ON = Measurement(on="2026-11-30", command="conformance live t13 --to claude")


def moved(
    case: str = "t2",
    source: str = "claude",
    target: str = "codex",
    verdict: Verdict = "passed",
    why: str = "",
    said: tuple[Shown, ...] = (),
) -> Result:
    return Result(
        case=case,
        source=source,
        target=target,
        releases={agent: NEWEST[agent] for agent in (source, target)},
        verdict=verdict,
        why=why,
        model_free=said,
        checked_at="2026-11-30T10:00:00Z",
    )


def own(
    case: str = "t2",
    agent: str = "codex",
    verdict: Verdict = "passed",
    release: str | None = None,
    why: str = "",
    sent: dict[str, str] | None = None,
) -> Result:
    return Result(
        case=case,
        source=agent,
        target=agent,
        releases={agent: release or NEWEST[agent]},
        verdict=verdict,
        why=why,
        moved=False,
        evidence={"sent": sent} if sent else {},
        checked_at="2026-11-29T10:00:00Z",
    )


def limit(first: str = "2.0.77", last: str | None = "2.1.50") -> Limit:
    return Limit(
        case="t13",
        source=("own", "codex"),
        to="claude",
        first=first,
        last=last,
        found="asked 1",
        why="forgets parallel calls",
        measured=ON,
    )


def told(results: Sequence[Result], width: int = 100, keep: str | None = None) -> str:
    out = io.StringIO()
    titles = {"t0": "A bell is named", "t2": "Numbers are known"}
    show_live(LiveReport(results=results, titles=titles), Console(file=out, width=width), keep)
    return out.getvalue()


# ------------------------------------------------------------------ exit codes


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([moved()], 0),
        ([moved(), moved("t0", verdict="failed", why="no")], 1),
        ([moved(), moved("t0", verdict="skipped", why="no")], 0),
        ([moved(verdict="skipped", why="no"), moved("t0", verdict="impossible", why="no")], 3),
        ([], 3),
        ([moved(said=(Shown(agent="copilot", witness="acp", verdict="differs", why="no"),))], 1),
        (
            [moved(said=(Shown(agent="copilot", witness="acp", verdict="not-offered", why="no"),))],
            0,
        ),
    ],
)
def test_the_exit_code_never_takes_skipped_for_passed(results: list[Result], code: int) -> None:
    assert exit_code(results) == code


def test_what_was_tried_and_is_impossible_ran() -> None:
    found = limited(own("t13", "claude", "failed", "2.0.77", "asked 1"), [limit()])
    assert found.verdict == "impossible"
    assert exit_code([found]) == 0


# ------------------------------------------------------------------ limits


def test_a_limit_turns_its_own_failure_into_an_impossibility_with_its_measurement() -> None:
    found = limited(own("t13", "claude", "failed", "2.1.50", "asked 1"), [limit()])
    assert (found.verdict, found.why, found.measured) == ("impossible", limit().why, ON)
    assert found.evidence["found"] == "asked 1"


def test_a_limit_that_passes_fails_the_run_as_stale() -> None:
    found = limited(own("t13", "claude", "passed", "2.0.77"), [limit()])
    assert found.verdict == "failed"
    assert "it passed" in found.why


@pytest.mark.parametrize(
    "result",
    [
        own("t13", "claude", "failed", "2.1.112"),  # a release behind the range
        own("t13", "claude", "failed", "2.0.8"),  # before it, though not in the alphabet
        own("t13", "codex", "failed"),
        own("t2", "claude", "failed", "2.0.77"),
        moved("t13", "claude", "claude", "failed"),  # from nobody that it names
    ],
)
def test_a_limit_says_nothing_of_other_checks(result: Result) -> None:
    assert limited(result, [limit()]) is result


def test_a_limit_without_a_last_release_goes_on_to_the_newest() -> None:
    found = limited(own("t13", "claude", "failed", why="asked 1"), [limit(last=None)])
    assert found.verdict == "impossible"


@pytest.mark.parametrize("verdict", ["failed", "impossible"])
def test_what_fails_of_something_else_than_its_limit_says_failed(verdict: Verdict) -> None:
    found = limited(own("t13", "claude", verdict, "2.0.77", "exit code 1"), [limit()])
    assert (found.verdict, found.why, found.measured) == ("failed", "exit code 1", None)


def test_what_is_skipped_is_not_said_to_be_impossible() -> None:
    skipped = own("t13", "claude", "skipped", "2.0.77", "killed too early")
    assert limited(skipped, [limit()]) is skipped


def test_every_limit_names_a_check_that_is_there() -> None:
    assert {one.case for one in limits()} <= set(names())


def test_at_most_ten_are_impossible_with_the_newest_releases_and_never_what_counts_most() -> None:
    def number(case: str) -> int:
        return int(case.partition("-")[0][1:])

    current = newest(find_corpus())
    listed = [
        (one.case, source)
        for one in limits()
        for source in one.source
        if source != "own"
        and (one.last is None or version_key(one.last) >= version_key(current[one.to]))
    ]
    assert len(listed) <= 10
    assert not {number(case) for case, _ in listed} & {0, 1, 2, 3, 4, 5, 6, 8, 13}


# ------------------------------------------------------------------ whose fault


def test_a_failure_is_the_releases_when_its_own_session_fails_too() -> None:
    failed = moved(verdict="failed", why="no")
    assert blame(failed, [failed, own(verdict="failed", why="no")]) == "the release's"
    assert blame(failed, [failed, own()]) == "the writer's"
    assert blame(failed, [failed, own("t0"), own(agent="claude")]) == "not known"
    assert blame(failed, [failed, own(verdict="skipped", why="no")]) == "not known"


def test_a_releases_defect_is_told_with_its_range() -> None:
    by_release: Iterable[tuple[str, Verdict]] = (
        ("2.1.112", "passed"),
        ("2.0.0", "passed"),
        ("2.1.50", "failed"),
        ("2.0.77", "failed"),
        ("2.1.332", "failed"),
        ("1.0.0", "skipped"),
    )
    found = defects([own("t13", "claude", verdict, at) for at, verdict in by_release])
    assert [(one.first, one.last, one.before, one.after) for one in found] == [
        ("2.0.77", "2.1.50", "2.0.0", "2.1.112"),
        ("2.1.332", "2.1.332", "2.1.112", None),
    ]


def test_two_defects_of_one_check_have_a_range_each() -> None:
    def listed(release: str, why: str) -> Result:
        entry = Limit(
            case="t13", source=("own",), to="claude", first=release, last=release,
            found="", why=why, measured=ON,
        )  # fmt: skip
        return limited(own("t13", "claude", "failed", release, "no"), [entry])

    results = [listed("1.0.0", "a"), listed("1.0.60", "a"), listed("1.0.128", "b")]
    results.append(own("t13", "claude"))
    assert [(one.first, one.last, one.before, one.after, one.why) for one in defects(results)] == [
        ("1.0.0", "1.0.60", None, None, "a"),
        ("1.0.128", "1.0.128", None, "2.1.332", "b"),
    ]


# ------------------------------------------------------------------ the picture


def test_every_direction_has_a_mark_of_its_own_under_its_letters() -> None:
    agents = tuple(NEWEST)
    results = [moved("t0", a, b) for a, b in product(agents, agents)]
    results.append(moved("t0", "codex", "copilot", "failed", "no"))
    lines = told(results).splitlines()
    head = next(line for line in lines if "claude" in line and "from" in line)
    letters = next(line for line in lines if "C X P" in line)
    row = next(line for line in lines if line.startswith("t0"))
    assert "A bell is named" in row
    place = head.index("codex") + letters[head.index("codex") :].index("P")
    assert row[place] == "✗"
    assert row.count("✓") == 8


def test_the_head_says_releases_and_date_and_the_foot_every_reason() -> None:
    text = told(
        [
            moved("t0"),
            moved("t2", verdict="failed", why="it could say None"),
            own("t2"),
            moved("t6", verdict="skipped", why="killed when 0 were done"),
        ]
    )
    assert "claude 2.1.332, codex 0.171.0" in text
    assert "2026-11-29 to 2026-11-30" in text
    assert "failed: t2 claude 2.1.332 → codex 0.171.0: it could say None (the writer's" in text
    assert "skipped: t6 claude 2.1.332 → codex 0.171.0: killed when 0 were done" in text
    assert text.rstrip().endswith("4 checks: 2 passed, 1 skipped, 1 failed")
    assert "\x1b" not in text


def test_a_witness_that_asks_no_model_has_a_column_of_its_own_and_the_worst_that_it_said() -> None:
    results = [
        moved(
            "t0",
            "claude",
            "codex",
            said=(Shown(agent="codex", witness="thread-read", verdict="agrees"),),
        ),
        moved(
            "t0",
            "codex",
            "codex",
            said=(Shown(agent="codex", witness="thread-read", verdict="refuses"),),
        ),
    ]
    (column,) = [one for one in grid(results).columns if one.witness]
    assert grid(results).cells["t0", column] == "failed"
    assert "a codex's thread-read" in told(results)
    assert [one.verdict for one in remarks(results)] == ["disagrees"]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_picture_keeps_its_columns_at_any_width(width: int) -> None:
    lines = told([moved("t0"), own("t0"), moved("t2"), own("t2")], width).splitlines()
    rows = [line for line in lines if line.startswith(("t0", "t2"))]
    assert len({line.index("✓") for line in rows}) == 1


def test_older_releases_have_lines_of_their_own() -> None:
    results = [own("t13", "claude", "failed", "2.0.77", "no"), own("t13", "claude"), own("t0")]
    text = told(results)
    assert "✗" in next(line for line in text.splitlines() if line.startswith("claude 2.0.77"))
    assert grid(results).releases["claude"] == "2.1.332"


def test_a_failed_terminals_recording_is_pointed_to() -> None:
    failed = Result(
        case="t15",
        source="claude",
        target="codex",
        releases=NEWEST,
        verdict="failed",
        why="it did not rest",
        evidence={"recording": "t15.cast"},
    )
    assert "kept/t15.cast" in told([failed], keep="kept")
    assert "t15.cast" not in told([failed])


# ------------------------------------------------------------------ what is kept


def test_new_results_take_the_place_of_older_ones_of_the_same_check_only() -> None:
    kept = LiveReport(results=[moved(verdict="failed", why="no"), own(), moved("t0")])
    new = LiveReport(results=[moved(), own(release="0.77.0")], titles={"t2": "Numbers"})
    together = stored.added(kept, new)
    assert {(one.case, one.moved, one.release, one.verdict) for one in together.results} == {
        ("t0", True, "0.171.0", "passed"),
        ("t2", True, "0.171.0", "passed"),
        ("t2", False, "0.171.0", "passed"),
        ("t2", False, "0.77.0", "passed"),
    }


def test_what_is_kept_comes_back_and_names_no_file_of_this_machine(tmp_path: Path) -> None:
    result = Result(
        case="t0",
        source="claude",
        target="codex",
        releases=NEWEST,
        verdict="failed",
        why="no",
        evidence={"recording": "x.cast", "answers": ["a"], "shown": {"text": 4}},
    )
    together = stored.added(LiveReport(results=()), LiveReport(results=[result]))
    path = tmp_path / "live.json"
    path.write_text(stored.text(together), encoding="utf-8")
    back = stored.load(path)
    assert [one.evidence for one in back.results] == [{"shown": {"text": 4}}]
    assert stored.text(back) == stored.text(together)


def test_a_damaged_file_of_results_is_named_with_the_next_step(tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    path.write_text('{"results": [{"case": 1}]}', encoding="utf-8")
    with pytest.raises(stored.NotStored, match=r"live\.json.*conformance live --write"):
        stored.load(path)


def test_the_report_is_of_its_schema() -> None:
    said = (Shown(agent="copilot", witness="acp", verdict="differs", why="no"),)
    report = LiveReport(results=[moved(said=said), own(), limited(own("t13", "claude"), [limit()])])
    Draft202012Validator(schema_of("live")).validate(json.loads(to_json(report)))


# ------------------------------------------------------------------ the page


def test_the_page_says_who_moved() -> None:
    assert "this project's reader and writer" in page(LiveReport(results=[moved()]))
    assert "moved by py:mine:A\\_B," in page(LiveReport(mover="py:mine:A_B", results=[moved()]))


def test_the_page_holds_every_direction_and_reason_and_nothing_breaks_it() -> None:
    results = [
        moved("t0"),
        moved("t2", verdict="failed", why="it | broke\n<b>`a`"),
        own("t13", "claude", "failed", "2.0.77", "forgets"),
        own("t13", "claude"),
        own("t14", "claude", sent={"BRAMBLE-74": "as a thought", "SORREL-35": "not at all"}),
        own("t14", "codex", "passed", "0.77.0", sent={"BRAMBLE-74": "as a thought"}),
    ]
    text = page(LiveReport(results=results, titles={"t13": "Parallel calls"}))
    assert "claude 2.1.332 → codex 0.171.0: it \\| broke \\<b>\\`a\\`" in text
    assert "- Claude Code 2.0.77 (2.1.332 passes), t13: forgets" in text
    assert "| Claude Code 2.1.332 | as a thought, not at all |  |" in text
    assert "| Codex 0.77.0 | as a thought |  |" in text
    rows = [line for line in text.splitlines() if line.startswith("| t0 ")]
    assert rows[0].count("✓") == 1


def test_what_is_committed_is_of_checks_that_are_there_and_none_of_it_failed() -> None:
    kept = stored.load(ROOT / "docs" / "live.json")
    assert {one.case for one in kept.results} <= set(names())
    assert all(one.checked_at for one in kept.results)
    assert [one.name for one in kept.results if one.verdict == "failed"] == []


def test_of_what_is_committed_of_the_newest_releases_nothing_is_skipped_and_little_impossible() -> (
    None
):
    current = newest(find_corpus())
    kept = [
        one
        for one in stored.load(ROOT / "docs" / "live.json").results
        if one.moved and all(current[agent] == at for agent, at in one.releases.items())
    ]
    impossible = [one for one in kept if one.verdict == "impossible"]
    assert [one.name for one in kept if one.verdict == "skipped"] == []
    assert len(impossible) <= 10
    assert [one.name for one in impossible if one.measured is None] == []
