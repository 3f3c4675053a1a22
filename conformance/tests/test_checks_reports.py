"""Every form of a check's report says the same, is deterministic, and can't be broken by words."""

from __future__ import annotations

import io
import json
import shutil
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as XML

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from rich.console import Console

from conformance.adapters import About
from conformance.checks.check import CheckReport, Result, Verdict
from conformance.checks.running import summary_of
from conformance.cli import conformance
from conformance.corpus import find_corpus, releases
from conformance.report.checks import FORMS, form_of, rendered, show
from conformance.shapes import schema_of
from transcripts.serialise import to_json

NASTY = "\x1b[2J\x00 \ud83d \ufffe <script>x</script> | `a` & ]]> @somebody\nnext \u202e"


def _result(check: str, case: str, verdict: Verdict = "passed", why: str = "") -> Result:
    return Result(check=check, case=case, verdict=verdict, why=why)


def _report(*results: Result, adapter: str = "exec:./mine") -> CheckReport:
    return CheckReport(
        adapter=adapter,
        about=About(name="mine", version="1.2", language="sh"),
        offers=("claude.read", "claude.convert.codex"),
        summary=summary_of(results),
        results=results,
    )


MIXED = _report(
    _result("read.texts", "claude/2.1.332/a"),
    _result("read.texts", "claude/2.1.332/b", "failed", "message 2: text is 'x', not 'y'"),
    _result("read.texts", "claude/2.1.332/c", "failed", "message 14: text is 'x', not 'z'"),
    _result("read.texts", "claude/2.1.332/d", "failed", NASTY),
    _result("read.calls", "claude/2.1.332/a", "known", "no call (issue 12)"),
    _result("list.counts", "claude/2.1.332/a", "flaky", "passed this time (issue 31)"),
    _result("write.words", "claude/2.1.332/a", "skipped", "there is no answer"),
    _result("known.entries", "read.* of claude/*", "failed", "the entry stands for nothing"),
)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_the_same_twice_and_encodes(form: str) -> None:
    once, again = (rendered(MIXED, form) for _ in range(2))  # pyright: ignore[reportArgumentType]
    assert once == again
    assert once.encode("utf-8")


@pytest.mark.parametrize("form", [form for form in FORMS if form != "json"])
def test_no_control_character_reaches_a_reader(form: str) -> None:
    text = rendered(MIXED, form)  # pyright: ignore[reportArgumentType]
    assert not [c for c in text if ord(c) < 0x20 and c not in "\n\t"]
    assert "\u202e" not in text
    assert "\\x1b" in text.replace("\\\\", "\\")


def test_the_report_is_of_its_shape_and_so_is_one_of_the_first_version() -> None:
    validator = Draft202012Validator(schema_of("check"))
    document = json.loads(to_json(MIXED))
    validator.validate(document)
    assert document["schema_version"] == 2
    assert document["summary"] == {"passed": 1, "failed": 4, "known": 1, "flaky": 1, "skipped": 1}
    del document["schema_version"], document["about"], document["summary"]["flaky"]
    validator.validate(document)


# ------------------------------------------------------------------ JUnit

SHAPE: dict[str, tuple[list[str], set[str], set[str]]] = {
    "testsuites": (["testsuite"], set(), {"name", "time", "tests", "failures", "errors"}),
    "testsuite": (
        ["properties", "testcase", "system-out", "system-err"],
        {"name", "tests"},
        {"failures", "errors", "time", "skipped", "timestamp", "hostname", "id", "package"},
    ),
    "properties": (["property"], set(), set()),
    "property": ([], {"name", "value"}, set()),
    "testcase": (["skipped", "error", "failure"], {"name"}, {"classname", "time", "status"}),
    "skipped": ([], set(), {"message", "type"}),
    "failure": ([], set(), {"message", "type"}),
}
"""Of each element its children in their order, the attributes that it must have and may have."""


def _agrees(element: XML.Element) -> None:
    children, required, optional = SHAPE[element.tag]
    places = [children.index(child.tag) for child in element]
    assert places == sorted(places), element.tag
    assert required <= set(element.keys()) <= required | optional, element.attrib
    for child in element:
        _agrees(child)


def test_junit_is_of_the_common_shape() -> None:
    root = XML.fromstring(rendered(MIXED, "junit"))
    assert root.tag == "testsuites"
    _agrees(root)
    assert all(len(case) <= 1 for case in root.iter("testcase"))
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases) > 0
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert int(suite.attrib["skipped"]) == len(suite.findall("testcase/skipped"))
    assert int(root.attrib["tests"]) == len(MIXED.results)
    assert int(root.attrib["failures"]) == 4


def test_junit_has_a_suite_for_each_check_and_names_the_adapter() -> None:
    root = XML.fromstring(rendered(MIXED, "junit"))
    names = [suite.attrib["name"] for suite in root]
    assert names == ["read.texts", "read.calls", "list.counts", "write.words", "known.entries"]
    for suite in root:
        found = {one.attrib["name"]: one.attrib["value"] for one in suite.iter("property")}
        assert found["adapter.name"] == "mine"
        assert found["adapter.version"] == "1.2"
        assert found["offers"] == "claude.read, claude.convert.codex"


def test_what_is_known_or_flaky_is_neither_passed_nor_failed_in_junit() -> None:
    root = XML.fromstring(rendered(MIXED, "junit"))
    said = {suite.attrib["name"]: suite.find("testcase/skipped") for suite in root}
    told = {name: one.attrib["message"] for name, one in said.items() if one is not None}
    assert told == {
        "read.calls": "known to fail: no call (issue 12)",
        "list.counts": "flaky: passed this time (issue 31)",
        "write.words": "there is no answer",
    }


def test_a_reason_goes_through_xml_with_its_lines_and_its_signs() -> None:
    root = XML.fromstring(rendered(MIXED, "junit"))
    failures = [one.attrib["message"] for one in root.iter("failure")]
    assert (
        "\\x1b[2J\\x00 \\ud83d \\ufffe <script>x</script> | `a` & ]]> @somebody\nnext \\u202e"
        in failures
    )


# ------------------------------------------------------------------ for people


def _shown(report: CheckReport, width: int = 80) -> str:
    out = io.StringIO()
    show(report, Console(file=out, width=width))
    return out.getvalue()


def test_a_terminal_of_80_columns_has_whole_words_and_no_longer_line() -> None:
    long = _report(
        *(
            _result(
                "round-trip.nothing-added",
                f"made/codex/CommandExecution/case-{n}",
                "failed",
                "a very " * 30,
            )
            for n in range(9)
        ),
        _result("read.statuses", "x"),
    )
    lines = _shown(long).splitlines()
    assert max(map(len, lines)) <= 80
    words = {word for line in lines for word in line.split()}
    assert {"round-trip.nothing-added", "made/codex/CommandExecution/case-0,"} <= words
    assert {"denied,", "very"} <= words
    assert "and 6 more:" in " ".join(" ".join(lines).split())


def test_what_fails_alike_is_told_once_without_what_differs() -> None:
    said = _shown(MIXED)
    assert "claude/2.1.332/b, claude/2.1.332/c: message …: text is 'x', not …" in said
    assert said.rstrip().endswith("1 passed, 4 failed, 1 known to fail, 1 flaky, 1 skipped")


def test_a_terminal_tells_some_of_many_reasons() -> None:
    many = _report(
        *(_result("read.texts", f"case-{n}", "failed", f"{chr(97 + n)} is gone") for n in range(20))
    )
    said = _shown(many)
    assert "case-5: f is gone" in said
    assert "case-6" not in said
    assert "and 14 other reasons" in said


def test_a_column_of_which_there_is_nothing_is_not_shown() -> None:
    assert "flaky" not in _shown(_report(_result("read.texts", "a")))


def test_markdown_tells_what_fails_before_all_else_and_folds_what_passes() -> None:
    lines = rendered(MIXED, "markdown").splitlines()
    assert lines[0] == "## ❌ mine 1.2 (exec:./mine)"
    assert lines[2].startswith("**1 passed, 4 failed, 1 known to fail, 1 flaky, 1 skipped**")
    assert lines.index("### What fails") < lines.index("### Checks")
    assert "@somebody" not in "\n".join(lines)
    assert "<script>" not in "\n".join(lines)
    passing = rendered(_report(_result("read.texts", "a")), "markdown").splitlines()
    assert passing[0].startswith("## ✅")
    assert "<details><summary>1 check passes whole</summary>" in passing


def test_markdown_of_an_adapter_that_gets_everything_wrong_fits_a_comment() -> None:
    wrong = _report(
        *(
            _result(check, f"claude/2.1.{n}/a-scenario-of-some-length", "failed", f"{word} is gone")
            for check in ("read.texts", "read.calls", "write.words", "list.facts")
            for word in (f"w{chr(97 + m)}" for m in range(26))
            for n in range(100)
        )
    )
    assert len(rendered(wrong, "markdown")) < 65_536


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.targets: set[str] = set()
        self.tags: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name in ("href", "src") and value:
                self.targets.add(value)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_stands_alone_and_all_its_links_lead_somewhere() -> None:
    text = rendered(MIXED, "html")
    found = _Page()
    found.feed(text)
    assert found.open == []
    assert not {"script", "link", "img"} & set(found.tags)
    assert len(found.ids) == len(set(found.ids))
    assert {target.removeprefix("#") for target in found.targets} <= set(found.ids)
    assert "&lt;script&gt;" in text
    assert {"main", "caption", "h1"} <= set(found.tags)
    assert 'lang="en"' in text


# ------------------------------------------------------------------ the command


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.json", "json"),
        ("a.xml", "junit"),
        ("A.MD", "markdown"),
        ("a.html", "html"),
        ("a.txt", "text"),
        ("summary", "text"),
    ],
)
def test_a_name_says_its_form(name: str, form: str) -> None:
    assert form_of(Path(name)) == form


def test_no_report_is_asked_for_where_none_can_be_written(tmp_path: Path) -> None:
    target = tmp_path / "nowhere" / "check.xml"
    done = CliRunner().invoke(conformance, ["check", "entry:codex", "--write", str(target)])
    assert done.exit_code == 2
    assert "no such directory" in done.output


def test_a_report_is_written_in_several_forms_at_once(tmp_path: Path) -> None:
    whole, small = find_corpus(), tmp_path / "corpus"
    place = f"codex/{releases(whole, 'codex')[-1]}/plain-exchange"
    shutil.copytree(whole / place, small / place)
    targets = {form: tmp_path / name for form, name in WRITTEN.items()}
    arguments = ["check", "entry:codex", "--corpus", str(small), "--only", "list.*"]
    for target in targets.values():
        arguments += ["--write", str(target)]
    done = CliRunner().invoke(conformance, arguments)
    assert done.exit_code == 0, done.output
    count = sum(json.loads(targets["json"].read_text())["summary"].values())
    assert done.stdout.rstrip().endswith(f"{count} passed, 0 failed")
    assert XML.parse(targets["junit"]).getroot().attrib["tests"] == str(count)
    assert targets["markdown"].read_text().startswith("## ✅ transcript-conformance")
    assert f"{count} passed" in targets["html"].read_text()


WRITTEN = {"json": "a.json", "junit": "a.xml", "markdown": "a.md", "html": "a.html"}


def test_a_form_that_is_asked_for_is_the_form_of_what_is_written(tmp_path: Path) -> None:
    summary = tmp_path / "summary"
    arguments = ["check", "entry:codex", "--only", "damage.told", "--format", "markdown"]
    done = CliRunner().invoke(conformance, [*arguments, "--write", str(summary)])
    assert done.exit_code == 0, done.output
    assert summary.read_text().startswith("## ✅")
    assert "##" not in done.stdout
