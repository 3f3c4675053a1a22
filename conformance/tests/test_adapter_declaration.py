"""An adapter.toml says what an adapter is meant to do, and the adapter is held to it."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from conformance.adapters import Written, open_adapter
from conformance.adapters.declaration import BadDeclaration, load
from conformance.adapters.stores import StoresAdapter
from conformance.checks import known
from conformance.checks.catalogue import PROBES
from conformance.checks.check import Place, Result, Verdict
from conformance.checks.declared import declaration_of, held
from conformance.checks.running import check_adapter, questions, results_of
from conformance.cli import conformance, main
from conformance.corpus import find_corpus, find_schemas, releases
from conformance.generated import ROOT
from conformance.shapes import schema_of
from transcripts.losses import LossId
from transcripts.model import Transcript
from transcripts.stores.base import store_class

EXAMPLES = ROOT / "conformance" / "adapters" / "examples"

WHOLE = """
adapter = "entry:codex"
offers = ["codex.read", "codex.write", "codex.list"]
known = "known-failing.toml"

[[cannot]]
check = "damage.*"
why = "it is read whole or not at all"

[degrades.codex]
Reasoning = ["narrated"]
"Plan/checklist" = []

[[known_flaky]]
check = "list.counts"
case = "codex/*"
why = "issue 31: a race with its index"
"""


def _written(directory: Path, text: str = WHOLE) -> Path:
    path = directory / "adapter.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_of_its_schema_once_it_is_read() -> None:
    validator = Draft202012Validator(schema_of("adapter"))
    document = tomllib.loads(WHOLE)
    validator.validate(document)
    for odd in ({"format": 2}, {"stores": {}}, {"degrades": {"codex": {"Plan": ["hope"]}}}):
        assert not validator.is_valid({**document, **odd})
    del document["offers"]
    assert not validator.is_valid(document)


def test_a_variant_of_a_kind_has_the_word_before_its_kind(tmp_path: Path) -> None:
    declared = load(_written(tmp_path))
    assert declared.losses("codex", "Reasoning/plain") == ("narrated",)
    assert declared.losses("codex", "Plan/checklist") == ()
    assert declared.losses("claude", "Reasoning/plain") == ()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("offers =", "offer =", r"line 3: .*unknown field `offer`"),
        ('why = "it is read whole or not at all"', "", r"line 6: .*field `why` - at `\$.cannot"),
        ('"narrated"', '"hope"', r"line 10: .*'hope'.*degrades"),
        ("entry:codex", "codex", "'codex' is no adapter's name; name it entry:NAME"),
        ("entry:codex", "other.toml", "is no adapter's name"),
        ('check = "damage.*"', 'check = "*"', r"cannot\[0\]: \* of \* stands for everything"),
        ('"it is read whole or not at all"', '" "', r"cannot\[0\].* gives no reason"),
        ('known = "', 'directory = "nowhere"\nknown = "', "there is no 'nowhere' beside the file"),
        ("[degrades.codex]", "[degrades.claude]", "claude.write is not offered"),
        ("Plan/checklist", "Plan/none", "no made conversation 'Plan/none'"),
        ("[[cannot]]", "[[cannot", "line 6"),
    ],
)
def test_a_file_that_can_not_be_used_says_where_and_why(
    old: str, new: str, says: str, tmp_path: Path
) -> None:
    path = _written(tmp_path, WHOLE.replace(old, new))
    with pytest.raises(BadDeclaration, match=says) as raised:
        declaration_of(str(path))
    assert str(path) in str(raised.value)


def test_a_file_that_is_not_there_is_one_line_and_misuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "adapter.toml"
    monkeypatch.setattr("sys.argv", ["conformance", "check", str(path)])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(f"conformance: {path}: No such file")
    assert said.count("\n") == 1


def test_a_program_runs_in_its_directory(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    shutil.copy(EXAMPLES / "minimal.py", tmp_path / "bin" / "mine.py")
    text = 'adapter = "exec:python3 mine.py"\ndirectory = "bin"\noffers = ["toy.read"]'
    with open_adapter(str(_written(tmp_path, text))) as adapter:
        assert adapter.about.name == "minimal-py"
        assert adapter.offers("toy").read


def test_a_module_is_looked_for_in_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", ["", *__import__("sys").path])
    (tmp_path / "a_store_of_this_test.py").write_text(
        "class Store:\n    agent = 'codex'\n    def read(self, *_, **__): return None\n"
    )
    text = 'adapter = "py:a_store_of_this_test:Store"\noffers = ["codex.read"]'
    with open_adapter(str(_written(tmp_path, text))) as adapter:
        assert list(adapter.agents()) == ["codex"]


# ------------------------------------------------------------------ held to what it says


def _result(check: str, case: str, verdict: Verdict, losses: Sequence[LossId] = ()) -> Result:
    return Result(check=check, case=case, verdict=verdict, why="so", losses=tuple(losses))


def _failing(path: Path, results: Sequence[Result], offers: Sequence[str], **more: Any) -> Any:
    declared = declaration_of(str(path))
    assert declared is not None
    found = held(results, offers, declared, **more)
    return {(one.check, one.case) for one in found if one.verdict == "failed"}


OFFERS = ["codex.read", "codex.write", "codex.list"]
NOT_DONE = _result("damage.refused", "codex/a", "skipped")


def test_what_is_offered_is_what_is_declared(tmp_path: Path) -> None:
    path = _written(tmp_path)
    assert _failing(path, [NOT_DONE], OFFERS) == set()
    assert _failing(path, [NOT_DONE], OFFERS[:2]) == {("declared.offers", "codex.list")}
    more = [*OFFERS, "codex.convert.claude"]
    assert _failing(path, [NOT_DONE], more) == {("declared.offers", "codex.convert.claude")}
    assert _failing(path, [NOT_DONE], [], stores=["claude"]) == set()


def test_what_can_not_be_asked_need_not_be_declared(tmp_path: Path) -> None:
    path = _written(tmp_path)
    assert _failing(path, [], OFFERS) == {("declared.cannot", "damage.* of *")}
    assert _failing(path, [], OFFERS, whole=False) == set()


def test_a_question_that_is_skipped_must_be_declared(tmp_path: Path) -> None:
    skipped = [NOT_DONE, _result("read.answers", "codex/a", "skipped")]
    assert _failing(_written(tmp_path), skipped, OFFERS) == {("declared.skips", "codex/a")}
    no_answer = [
        NOT_DONE,
        _result("read.answers", "codex/a", "failed"),
        _result("read.texts", "codex/a", "skipped"),
    ]
    assert _failing(_written(tmp_path), no_answer, OFFERS) == set()


@pytest.mark.parametrize(
    ("losses", "exact"),
    [(["narrated"], True), (["narrated", "time-moved"], False), ([], False)],
)
@pytest.mark.parametrize("check", ["round-trip.kept", "write.answers"])
def test_what_is_lost_is_what_is_declared(
    check: str, losses: Sequence[LossId], exact: bool, tmp_path: Path
) -> None:
    case = "made/codex/Reasoning/plain"
    found = _failing(_written(tmp_path), [NOT_DONE, _result(check, case, "passed", losses)], OFFERS)
    assert found == (set() if exact else {("declared.losses", case)})


def test_what_is_read_back_is_believed_before_what_a_writer_says(tmp_path: Path) -> None:
    case = "made/codex/Reasoning/plain"
    results = [
        NOT_DONE,
        _result("write.answers", case, "passed", ["time-moved"]),
        _result("round-trip.kept", case, "passed", ["narrated"]),
    ]
    assert _failing(_written(tmp_path), results, OFFERS) == set()


class Mute(StoresAdapter):
    """The reference, which does not say what it loses."""

    def __init__(self) -> None:
        super().__init__("mute", {"codex": store_class("codex")})

    def write(self, agent: str, home: Path, transcript: Transcript, **given: Any) -> Written:
        return replace(super().write(agent, home, transcript, **given), losses=())


def _asked(adapter: Mute, path: Path, scratch: Path) -> dict[str, set[str]]:
    made = ("Reasoning/plain", "CommandExecution/exit-three")
    place = Place(find_corpus(), find_schemas(), scratch, made=made)
    adapter.name = str(path)
    results = [
        one
        for question in questions(adapter, ["codex"], ("round-trip.*", "write.words"), place)
        for one in results_of(PROBES[question.probe], adapter, question.subject, place)
    ]
    declared = load(path)
    results += held(results, declared.offers, declared, whole=False)
    failed: dict[str, set[str]] = {}
    for one in results:
        if one.verdict == "failed":
            failed.setdefault(one.check, set()).add(one.case.partition("/codex/")[2])
    return failed


MUTE = 'adapter = "py:mute:Mute"\noffers = []\n'


def test_losses_that_a_tool_can_not_tell_of_are_declared_for_it(tmp_path: Path) -> None:
    text = WHOLE.replace("entry:codex", "py:mute:Mute")
    assert _asked(Mute(), _written(tmp_path, text), tmp_path) == {}
    assert _asked(Mute(), _written(tmp_path, MUTE), tmp_path) == {
        "round-trip.kept": {"Reasoning/plain"}
    }


def test_a_loss_that_is_declared_and_not_there_fails_until_it_is_taken_out(tmp_path: Path) -> None:
    text = WHOLE.replace('"Plan/checklist" = []', 'CommandExecution = ["call-closed"]')
    assert _asked(Mute(), _written(tmp_path, text), tmp_path) == {
        "declared.losses": {"CommandExecution/exit-three"}
    }


# ------------------------------------------------------------------ the command


@pytest.fixture(scope="module")
def small_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of one recording."""
    whole, small = find_corpus(), tmp_path_factory.mktemp("corpus")
    place = f"codex/{releases(whole, 'codex')[-1]}/command-ok"
    shutil.copytree(whole / place, small / place)
    return small


def test_what_is_not_done_by_design_is_skipped_with_its_reason(
    small_corpus: Path, tmp_path: Path
) -> None:
    path = _written(tmp_path)
    report = check_adapter(str(path), small_corpus, find_schemas(), only=("damage.*", "list.*"))
    said = {one.check: (one.verdict, one.why) for one in report.results if one.case != "codex.list"}
    assert said["damage.refused"] == ("skipped", "by design: it is read whole or not at all")
    assert said["list.answers"] == ("passed", "")
    assert report.summary.failed == 0


def test_lists_that_a_file_names_are_used_and_flaky_is_told_apart(
    small_corpus: Path, tmp_path: Path
) -> None:
    path = _written(tmp_path)
    (tmp_path / "known-failing.toml").write_text("")
    arguments = ["check", str(path), "--corpus", str(small_corpus), "--only", "list.*"]
    done = CliRunner().invoke(conformance, [*arguments, "--format", "json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["summary"]["flaky"] == 1
    [flaky] = [one for one in document["results"] if one["verdict"] == "flaky"]
    assert flaky["check"] == "list.counts"
    assert "issue 31" in flaky["why"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--known", "x.toml"], "names its lists"),
        (["--fix", "--only", "read.*"], "whole run"),
        (["--fix", "--store", "codex"], "whole run"),
        ([], "known-failing.toml"),
    ],
)
def test_misuse_of_a_file_is_told_before_anything_is_asked(
    arguments: Sequence[str], says: str, tmp_path: Path
) -> None:
    done = CliRunner().invoke(conformance, ["check", str(_written(tmp_path)), *arguments])
    assert done.exit_code == 2
    assert says in done.output


def test_a_list_within_the_file_is_not_rewritten(tmp_path: Path) -> None:
    text = WHOLE.replace('known = "known-failing.toml"', "known = []")
    done = CliRunner().invoke(conformance, ["check", str(_written(tmp_path, text)), "--fix"])
    assert done.exit_code == 2
    assert "--fix writes the file" in done.output


def test_the_files_of_the_docs_can_be_used(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
    blocks = [block.partition("```")[0] for block in text.split("```toml\n")[1:]]
    whole, failing, flaky = [
        next(block for block in blocks if start in block)
        for start in ("offers =", "[[failing]]", "[[flaky]]")
    ]
    path = _written(tmp_path, whole)
    (tmp_path / "known-failing.toml").write_text(failing)
    (tmp_path / "known-flaky.toml").write_text(flaky)
    declared = declaration_of(str(path))
    assert declared is not None
    listed = known.declared(path, declared)
    assert (len(listed.failing), len(listed.flaky)) == (1, 1)
    Draft202012Validator(schema_of("adapter")).validate(tomllib.loads(whole))
