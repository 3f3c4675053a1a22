"""``conformance drift``: what it prints, in every format, what it exits with, what is accepted."""

from __future__ import annotations

import io
import json
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator
from msgspec.structs import replace
from rich.console import Console

from conformance.cli import conformance
from conformance.commands.running import CouldNotRun
from conformance.corpus import SCHEMAS_VARIABLE, find_corpus, find_schemas
from conformance.coverage import demand
from conformance.drift.findings import Change, DriftReport, fails, findings, fingerprint
from conformance.drift.obtaining import scenarios_like
from conformance.drift.rules import RULES
from conformance.report.drift import alike
from conformance.report.drift_markdown import issue
from conformance.report.drift_terminal import show_drift
from conformance.shapes import schema_of

PAIR = ("drift", "codex@0.150.0", "--against", "0.145.0")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(conformance, arguments)


def document(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--format", "json").stdout)


def test_json_is_of_its_schema_and_most_severe_first() -> None:
    found = document(*PAIR)
    assert list(Draft202012Validator(schema_of("drift")).iter_errors(found)) == []
    assert (found["agent"], found["from"], found["to"]) == ("codex", "0.145.0", "0.150.0")
    ranks = ["error", "warning", "info"]
    worst = [
        min(ranks.index(one["reader"]), ranks.index(one["writer"])) for one in found["findings"]
    ]
    assert worst == sorted(worst)
    assert found["reader_ok"] is True
    assert found["writer_ok"] is None


def test_the_older_side_is_the_recorded_release_before_it_if_none_is_named() -> None:
    assert document("drift", "codex@0.150.0")["from"] == "0.145.0"


@pytest.mark.parametrize(
    ("policy", "code"), [("reader", 1), ("roundtrip", 1), ("strict", 1), ("report", 0)]
)
def test_a_policy_says_what_a_run_fails_for(policy: str, code: int) -> None:
    assert run(*PAIR, "--policy", policy, "--format", "json").exit_code == code


def test_nothing_changed_passes_under_every_policy() -> None:
    same = ("drift", "codex@0.150.0", "--against", "0.150.0", "--policy", "strict")
    result = run(*same)
    assert result.exit_code == 0
    assert "Did anything change? no" in result.stdout


def test_only_errors_of_readers_fail_for_readers() -> None:
    severities = {(rule.reader, rule.writer): rule.id for rule in RULES.values()}
    of = {
        pair: findings("codex", [Change(rule, "x", "a", "b", ())])[0]
        for pair, rule in severities.items()
    }
    assert fails(of["error", "info"], "reader")
    assert not fails(of["info", "error"], "reader")
    assert fails(of["info", "error"], "roundtrip")
    assert not fails(of["warning", "info"], "roundtrip")
    assert fails(of["warning", "info"], "strict")
    assert not fails(of["info", "info"], "strict")
    assert not fails(of["error", "error"], "report")
    assert not fails(replace(of["error", "error"], accepted="somebody: why"), "strict")


def test_a_fingerprint_holds_no_version_and_tells_every_change_from_others() -> None:
    changes = [
        Change("field-added", "a#/b", "", "string", ("x",)),
        Change("field-added", "a#/c", "", "string", ("x",)),
        Change("field-removed", "a#/b", "", "string", ("x",)),
        Change("field-added", "a#/b", "", "object", ("x",)),
    ]
    assert len({fingerprint("codex", one) for one in changes}) == len(changes)
    seen_elsewhere = changes[0]._replace(scenarios=("y", "z"))
    assert fingerprint("codex", seen_elsewhere) == fingerprint("codex", changes[0])
    assert re.fullmatch("[0-9a-f]{12}", fingerprint("codex", changes[0]))


def test_a_field_of_several_kinds_is_told_once() -> None:
    changes = [Change("field-added", f"{kind}#/slug", "", "string", ()) for kind in "abc"]
    (group,) = alike(findings("claude", changes))
    assert group.place == "a#/slug (and in 2 more)"


def test_markdown_is_an_issue_in_which_nothing_of_the_files_is_markup() -> None:
    text = run(*PAIR, "--format", "markdown").stdout
    assert text.startswith("# codex 0.145.0 → 0.150.0\n")
    assert "event_msg/agent_message" in text
    assert re.search(r"<(?!/?(details|summary)>)", text) is None


def test_an_issue_holds_no_more_than_github_takes_and_the_most_severe_of_it() -> None:
    few = [Change("field-removed", f"kind{at}#/gone{at}", "string", "", ()) for at in range(9)]
    many = [Change("field-added", f"kind{at}#/new{at}", "", "string", ()) for at in range(2000)]
    report = msgspec.json.decode(json.dumps(document(*PAIR)).encode(), type=DriftReport)
    text = issue(replace(report, findings=findings("codex", [*many, *few])))
    assert len(text) < 65_000
    assert all(f"#/gone{at}`" in text for at in range(9))
    shown = text.count("| field-added |")
    assert 100 < shown < 2000
    assert f"There are {2000 - shown} lines more" in text
    assert text.count("<details>") == text.count("</details>") == 1


def test_junit_has_a_case_for_each_finding_and_fails_those_of_the_policy() -> None:
    found = document(*PAIR)["findings"]
    suites = ElementTree.fromstring(run(*PAIR, "--format", "junit").stdout.encode())
    assert suites.get("tests") == str(len(found))
    failed = [case for case in suites.iter("testcase") if case.find("failure") is not None]
    assert len(failed) == sum(one["reader"] == "error" for one in found)


def test_what_is_no_agent_is_misuse() -> None:
    result = run("drift", "kodex")
    assert result.exit_code == 2
    assert "no driver for 'kodex'" in result.output


def test_findings_of_a_rule_stand_together_and_what_is_for_information_is_counted() -> None:
    pair = ("drift", "copilot@1.0.102", "--against", "1.0.80")
    found = document(*pair)["findings"]
    short, whole = run(*pair).stdout, run(*pair, "--all").stdout
    for text in (short, whole):
        heads = re.findall(r"^([a-z-]+)  readers: ", text, re.MULTILINE)
        assert len(heads) == len(set(heads))
        grave = {one["rule"] for one in found if {one["reader"], one["writer"]} != {"info"}}
        assert len(grave) > 10
        assert set(heads[: len(grave)]) == grave
    for one in found:
        if {one["reader"], one["writer"]} != {"info"}:
            assert RULES[one["rule"]].doc in short
    assert sum(one["rule"] == "field-added" for one in found) > 100
    assert re.search(r"^for information: \d+; --all shows each$", short, re.MULTILINE)
    assert re.search(r"^ +\d+ field-added$", short, re.MULTILINE)
    assert "a new field" not in short
    assert "field-added  readers: info, writers: info" in whole
    assert whole.count("a new field") > 50


def test_on_a_terminal_no_line_is_wider_than_it() -> None:
    found = json.dumps(document(*PAIR)).encode()
    told = io.StringIO()
    console = Console(file=told, width=80, force_terminal=True, color_system=None)
    show_drift(msgspec.json.decode(found, type=DriftReport), console, every=True)
    assert max(len(line.rstrip()) for line in told.getvalue().splitlines()) <= 80


# ------------------------------------------------------------------ recordings of one's own


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Return recordings as somebody makes them: two releases, which share one scenario."""
    for release, scenarios in {
        "0.145.0": ("command-ok", "two-turns"),
        "0.150.0": ("command-ok", "plain-exchange"),
    }.items():
        for name in scenarios:
            case = Path("codex") / release / name
            shutil.copytree(find_corpus() / case, tmp_path / case)
    return tmp_path


def test_recordings_of_ones_own_are_compared_and_what_is_not_is_told(own: Path) -> None:
    mine = ("drift", "codex@0.150.0", "--corpus", str(own))
    found = document(*mine)
    assert (found["from"], found["compared"]) == ("0.145.0", ["command-ok"])
    for form in ("text", "markdown"):
        text = run(*mine, "--format", form).stdout.casefold()
        assert "not compared: 1 not recorded of 0.145.0: plain-exchange" in text
        assert "not compared: 1 not recorded of 0.150.0: two-turns" in text


def test_nothing_in_common_is_not_nothing_changed(own: Path) -> None:
    shutil.rmtree(own / "codex" / "0.150.0" / "command-ok")
    result = run("drift", "codex@0.150.0", "--corpus", str(own))
    assert isinstance(result.exception, CouldNotRun)
    assert "codex 0.145.0 and 0.150.0 have no scenario alike" in str(result.exception)
    assert "command-ok: not recorded of 0.150.0" in str(result.exception)


def test_a_release_is_recorded_in_what_the_other_side_has(own: Path) -> None:
    assert scenarios_like(own, "codex", "0.145.0") == ["two-turns", "command-ok"]
    assert scenarios_like(own, "codex", "0.1.0") == demand().core
    assert scenarios_like(find_corpus(), "codex", "0.145.0") == list(demand().core)
    uncommon = Path("codex") / "0.150.0" / "long-output"
    shutil.copytree(find_corpus() / uncommon, own / "only" / uncommon)
    assert scenarios_like(own / "only", "codex", "0.150.0") == ["long-output"]


# ------------------------------------------------------------------ accepted


@pytest.fixture
def schemas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of what drift takes from the schemas, to accept changes in."""
    for path in find_schemas().glob("codex/0.1[45]*/[or]*.json"):
        copy = tmp_path / path.relative_to(find_schemas())
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    monkeypatch.setenv(SCHEMAS_VARIABLE, str(tmp_path))
    return tmp_path


def accept(schemas: Path, *entries: dict[str, str], name: str = "accepted.toml") -> None:
    whole = {
        "agent": "codex",
        "release": "0.150.0",
        "rule": "r",
        "place": "p",
        "who": "a reader",
        "why": "nobody reads it",
    }
    lines = [
        "\n".join(["[[accepted]]", *(f"{key} = {json.dumps(value)}" for key, value in one.items())])
        for one in ({**whole, **entry} for entry in entries)
    ]
    (schemas / name).write_text("\n".join(lines), encoding="utf-8")


def test_what_is_accepted_fails_no_run_any_more(schemas: Path) -> None:
    errors = [one for one in document(*PAIR)["findings"] if one["reader"] == "error"]
    assert errors
    accept(schemas, *({"fingerprint": one["fingerprint"]} for one in errors))
    result = run(*PAIR)
    assert result.exit_code == 0
    assert "accepted by a reader: nobody reads it" in result.stdout


def test_a_list_of_ones_own_is_taken_beside_that_of_the_schemas(schemas: Path) -> None:
    errors = [one["fingerprint"] for one in document(*PAIR)["findings"] if one["reader"] == "error"]
    accept(schemas, *({"fingerprint": one} for one in errors[:1]))
    accept(schemas, *({"fingerprint": one} for one in errors[1:]), name="mine.toml")
    assert run(*PAIR).exit_code == 1
    assert run(*PAIR, "--accepted", str(schemas / "mine.toml")).exit_code == 0
    assert run(*PAIR, "--accepted", str(schemas / "none.toml")).exit_code == 2


def test_what_is_accepted_and_not_there_any_more_fails_the_run_of_its_release(
    schemas: Path,
) -> None:
    accept(schemas, {"fingerprint": "0" * 12})
    same = ("drift", "codex@0.150.0", "--against", "0.150.0")
    result = run(*same)
    assert result.exit_code == 1
    assert "000000000000 (r at p) was accepted and is not found any more" in result.stdout
    other = ("drift", "codex@0.145.0", "--against", "0.145.0")
    assert run(*other).exit_code == 0


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        (({"fingerprint": "a" * 12, "why": " "},), "lacks who or why"),
        (({"fingerprint": "a" * 12}, {"fingerprint": "a" * 12}), "stands there twice"),
        (({"fingerprint": "a" * 12, "until": "x"},), "until"),
    ],
)
def test_a_list_that_says_too_little_is_misuse(
    schemas: Path, entries: tuple[dict[str, str], ...], why: str
) -> None:
    accept(schemas, *entries)
    result = run(*PAIR)
    assert result.exit_code == 2
    assert why in result.output
