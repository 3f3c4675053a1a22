"""What is known to fail must fail, as it is listed; everything else about a list is a failure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conformance.checks.check import Result, Verdict
from conformance.checks.known import BadList, Entry, Known, judged, load, rewritten
from conformance.cli import conformance

CASE = "codex/0.171.0/command-fails"


def _result(verdict: Verdict, why: str = "", check: str = "read.texts", case: str = CASE) -> Result:
    return Result(check=check, case=case, verdict=verdict, why=why)


def _entry(**given: Any) -> Entry:
    values: dict[str, Any] = {"check": "read.texts", "case": CASE, "why": "a bug", **given}
    return Entry(**values)


def _verdicts(results: list[Result], known: Known, *, whole: bool = True) -> list[str]:
    return [one.verdict for one in judged(results, known, whole=whole)]


def test_a_listed_failure_is_known_and_another_one_is_not() -> None:
    known = Known(failing=(_entry(),))
    other = _result("failed", "x", check="read.calls")
    assert _verdicts([_result("failed", "cut"), other], known) == ["known", "failed"]


@pytest.mark.parametrize("verdict", ["passed", "skipped"])
def test_what_is_listed_and_does_not_fail_is_a_failure(verdict: Verdict) -> None:
    [one] = judged([_result(verdict, "why")], Known(failing=(_entry(),)))
    assert one.verdict == "failed"
    assert "is listed as failing" in one.why


def test_what_fails_otherwise_than_listed_is_a_failure() -> None:
    known = Known(failing=(_entry(says="cut short"),))
    assert _verdicts([_result("failed", "it is cut short")], known) == ["known"]
    assert _verdicts([_result("failed", "it is gone")], known) == ["failed"]


def test_what_is_flaky_may_pass_and_may_fail() -> None:
    known = Known(flaky=(_entry(),))
    assert _verdicts([_result("passed")], known) == ["flaky"]
    assert _verdicts([_result("failed", "now")], known) == ["flaky"]
    assert _verdicts([_result("skipped", "no answer")], known) == ["failed"]


def test_an_entry_that_stands_for_nothing_fails_a_whole_run() -> None:
    known = Known(failing=(_entry(case="codex/9.9.9/nothing"),))
    assert _verdicts([_result("passed")], known) == ["passed", "failed"]
    assert _verdicts([_result("passed")], known, whole=False) == ["passed"]


def test_an_entry_stands_for_no_more_than_it_may() -> None:
    results = [_result("failed", "x", case=f"codex/0.171.0/{n}") for n in range(21)]
    assert _verdicts(results, Known(failing=(_entry(case="codex/*"),)))[-1] == "failed"
    assert _verdicts(results, Known(failing=(_entry(case="codex/*", most=21),)))[-1] == "known"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[[failing]]\ncheck = "*"\ncase = "*"\nwhy = "all"', "stands for everything"),
        ('[[failing]]\ncheck = "read.*"\ncase = "*"\nwhy = " "', "gives no reason"),
        ('[[failing]]\ncheck = "read.*"\n', "missing required field `case`"),
        ('[[broken]]\ncheck = "read.*"', "unknown field `broken`"),
        ("[[failing", "Expected"),
        (
            '[[failing]]\ncheck = "read.*"\ncase = "x"\nwhy = "y"\nmost = 9999',
            "stands for too many",
        ),
        (
            '[[failing]]\ncheck = "a.b"\ncase = "x"\nwhy = "y"\n\n[[failing]]\ncheck = 3',
            r"line 6: .*failing\[1\].check",
        ),
    ],
)
def test_a_list_that_can_not_be_used_says_why(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(text)
    with pytest.raises(BadList, match=says):
        load(path)


def test_a_list_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadList, match=r"known\.toml"):
        load(tmp_path / "known.toml")


def test_a_list_written_from_a_run_is_held_by_that_run(tmp_path: Path) -> None:
    results = [
        _result("failed", 'says "x"\x7f'),
        _result("failed", "y", check="read.calls"),
        _result("passed", check="read.order"),
        _result("failed", "now", check="write.words"),
    ]
    before = Known(
        failing=(_entry(why='we "know"\x7f'),), flaky=(_entry(check="write.words", why="a race"),)
    )
    path = tmp_path / "known.toml"
    path.write_text(rewritten(results, before), encoding="utf-8")
    after = load(path)
    assert [one.why for one in after.failing] == ['we "know"\x7f', "not looked into"]
    assert _verdicts(results, Known(failing=after.failing, flaky=before.flaky)) == [
        "known",
        "known",
        "passed",
        "flaky",
    ]
    otherwise = _result("failed", "z", check="read.calls")
    assert _verdicts([results[0], otherwise], after) == ["known", "failed"]


def test_an_entry_that_still_holds_is_kept_with_its_patterns() -> None:
    results = [_result("failed", "is cut short", case=f"codex/{n}/a") for n in range(3)]
    entry = _entry(case="codex/*", says="cut", most=3)
    assert rewritten(results, Known(failing=(entry,))).count("[[failing]]") == 1
    results.append(_result("passed", case="codex/3/a"))
    written = rewritten(results, Known(failing=(entry,)))
    assert written.count("[[failing]]") == 3
    assert "codex/*" not in written


def test_what_is_declared_of_an_adapter_is_no_bug_to_be_listed() -> None:
    assert rewritten([_result("failed", "x", check="declared.losses")], Known()) == ""


FLAKY = '[[flaky]]\ncheck = "{check}"\ncase = "codex/*"\nwhy = "a race"'


@pytest.mark.parametrize("check", ["list.*", "list.everything"])
def test_what_is_flaky_is_one_check_by_its_whole_id(check: str, tmp_path: Path) -> None:
    path = tmp_path / "flaky.toml"
    path.write_text(FLAKY.format(check=check))
    with pytest.raises(BadList, match=r"flaky.toml: flaky\[0\].* names no check"):
        load(flaky=path)
    path.write_text(FLAKY.format(check="list.counts"))
    assert [one.check for one in load(flaky=path).flaky] == ["list.counts"]


def test_the_two_lists_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(FLAKY.format(check="list.counts"))
    with pytest.raises(BadList, match=r"line 1: .*unknown field `flaky`"):
        load(path)


def test_nothing_is_both_known_to_fail_and_flaky(tmp_path: Path) -> None:
    flaky, failing = tmp_path / "flaky.toml", tmp_path / "failing.toml"
    flaky.write_text(FLAKY.format(check="list.counts"))
    failing.write_text(FLAKY.format(check="list.counts").replace("flaky", "failing"))
    with pytest.raises(BadList, match="listed as failing too"):
        load(failing, flaky)


@pytest.mark.parametrize("partial", [["--only", "read.*"], ["--store", "codex"]])
def test_no_list_is_written_from_a_part_of_a_run(partial: list[str], tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    arguments = ["check", "entry:codex", "--known", str(path), "--fix", *partial]
    done = CliRunner().invoke(conformance, arguments)
    assert done.exit_code == 2
    assert "whole run" in done.output
    assert not path.exists()
