"""A recording is clean and alive, and the lint notices when it is not."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from live.agents import drivers
from live.lint import alive, provenance
from live.sanitise import Document, markers
from live.sanitise.rules import Marker
from live.unrecorded import Kept, unrecorded

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
CASES = sorted(path.parent for path in CORPUS.glob("claude/*/*/case.json"))
AWKWARD = CORPUS / "claude" / "2.1.332" / "awkward-text"


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(case.parts[-2:]))
def test_every_word_of_a_recording_has_a_known_origin(case: Path) -> None:
    assert provenance(case) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(case.parts[-2:]))
def test_a_recording_holds_all_that_its_truth_asks_for(case: Path) -> None:
    assert alive(case) == []


def broken(tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Return a copy of a case in which each record was changed."""
    copy = tmp_path / "awkward-text"
    shutil.copytree(AWKWARD, copy)
    (transcript,) = copy.glob("home/.claude/projects/*/*.jsonl")
    records = [json.loads(line) for line in transcript.read_bytes().split(b"\n") if line]
    for record in records:
        change(record)
    text = "".join(
        json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in records
    )
    transcript.write_bytes(text.encode())
    return copy


def test_a_planted_sentence_is_found_and_shown(tmp_path: Path) -> None:
    def plant(record: dict[str, Any]) -> None:
        if record["type"] == "last-prompt":
            record["lastPrompt"] += " Be a helpful beekeeper."

    found = provenance(broken(tmp_path, plant))
    assert found
    assert all("beekeeper" in line for line in found)


def test_a_planted_word_where_words_of_the_format_stand_is_found(tmp_path: Path) -> None:
    def plant(record: dict[str, Any]) -> None:
        if "userType" in record:
            record["userType"] = "a paying customer"

    assert provenance(broken(tmp_path, plant))


def test_an_id_that_nobody_renamed_is_found(tmp_path: Path) -> None:
    def plant(record: dict[str, Any]) -> None:
        if record.get("parentUuid") is None and "parentUuid" in record:
            record["uuid"] = "6f9619ff-8b86-4d01-b42d-00c04fc964ff"

    assert any("6f9619ff" in line for line in provenance(broken(tmp_path, plant)))


def test_a_scrubbed_emoji_is_found(tmp_path: Path) -> None:
    def scrub(record: dict[str, Any]) -> None:
        content = record.get("message", {}).get("content")
        for block in content if isinstance(content, list) else []:
            if "text" in block:
                block["text"] = block["text"].replace("👩‍🌾", "")

    assert any("AgentMessage" in line for line in alive(broken(tmp_path, scrub)))


def message(**fields: Any) -> dict[str, Any]:
    frame = {"author": "model", "thread": None, "turn": 0, "response": "r", "status": "completed"}
    return {"kind": "CommandExecution", **frame, **fields}


DOCUMENT = Document(
    path="a.jsonl",
    form="lines",
    records=({"command": "ls", "lines": "     1→one\n     2→two"},),
)


def test_a_message_of_which_no_file_holds_a_word_is_unrecorded_as_a_whole() -> None:
    (entry,) = unrecorded([(message(command="rm", output="gone"), {})], [DOCUMENT])
    assert (entry["message"], entry["fields"]) == (0, None)


def test_a_value_that_no_file_holds_is_unrecorded_by_itself() -> None:
    (entry,) = unrecorded([(message(command="ls", output="three"), {})], [DOCUMENT])
    assert entry["fields"] == ["output"]


def test_a_text_may_stand_line_by_line() -> None:
    assert Kept([DOCUMENT]).holds("one\ntwo\n")
    assert not Kept([DOCUMENT]).holds("one\nthree\n")


def test_a_claim_that_a_field_is_not_recorded_is_refuted_by_a_key_of_its_name() -> None:
    known: dict[str | None, str] = {"exit_code": "never"}
    (entry,) = unrecorded([(message(command="ls", exit_code=0), known)], [DOCUMENT])
    assert (entry["fields"], entry["why"]) == (["exit_code"], "never")
    telling = Document(path="b.jsonl", form="lines", records=({"exitCode": 0},))
    with pytest.raises(ValueError, match="exitCode"):
        unrecorded([(message(command="ls", exit_code=0), known)], [DOCUMENT, telling])


# ------------------------------------------------------------------ markers


@pytest.mark.parametrize("agent", drivers())
def test_every_marker_names_a_module_that_there_is(agent: str) -> None:
    assert [one for one in markers(agent) if find_spec(one.parsed_by) is None] == []


@pytest.mark.parametrize("marker", markers("claude"), ids=lambda marker: marker.text)
def test_the_named_module_knows_the_marker(marker: Marker) -> None:
    spec = find_spec(marker.parsed_by)
    assert spec is not None
    assert spec.origin is not None
    telling = max(re.findall(r"[A-Za-z_-]{3,}", marker.text), key=len)
    assert telling in Path(spec.origin).read_text(encoding="utf-8")
