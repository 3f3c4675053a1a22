"""An adapter moves a session by what it offers, and the reference does the rest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.adapters import About, Adapter, NotOffered, Offer, Written, move, open_adapter
from conformance.crossing import digest
from conformance.livechecks.moving import AdapterMover, Moved, Mover, StoreMover
from transcripts.errors import SessionNotFound
from transcripts.ids import derive
from transcripts.losses import Loss
from transcripts.model import AgentMessage, CommandExecution, Text, Transcript, UserMessage
from transcripts.stores import open_store

SOURCE_ID = "0190f5c6-1d2e-7abc-8def-0123456789ab"
NEW_ID = "0190f5c6-1d2e-7abc-8def-0123456789ac"
CWD = "/srv/app"


def conversation() -> Transcript:
    return Transcript(
        agent="claude",
        session_id=SOURCE_ID,
        cwd=CWD,
        messages=(
            UserMessage(id=derive("t", 1), author="human", content=(Text(text="How many?"),)),
            CommandExecution(
                id=derive("t", 2),
                external_id="call_1",
                author="model",
                status="failed",
                name="sh",
                arguments={"command": "ls gates"},
                command="ls gates",
                output=(Text(text="no gates"),),
                exit_code=2,
                exit_code_source="field",
            ),
            AgentMessage(id=derive("t", 3), author="model", content=(Text(text="None."),)),
        ),
    )


class Recording(Adapter):
    """Offers what it is told to, and says what it was asked."""

    name = "recording"

    def __init__(self, **offers: Offer) -> None:
        self._offers = offers
        self.asked: list[str] = []

    @property
    def about(self) -> About:
        return About(name="recording", version="1", language="Python")

    def agents(self) -> Sequence[str]:
        return tuple(self._offers)

    def offers(self, agent: str) -> Offer:
        return self._offers.get(agent, Offer())

    def read(self, agent: str, home: Path, session_id: str, *, recover: bool = False) -> Transcript:
        self.asked.append(f"read {agent}")
        return conversation()

    def write(self, agent: str, home: Path, transcript: Transcript, **given: Any) -> Written:
        assert given["cwd"] == CWD
        self.asked.append(f"write {agent}: {len(transcript.messages)}")
        return Written(session_id="its-own", losses=(Loss(loss="narrated"),))

    def convert(
        self, agent: str, home: Path, session_id: str, *target: Any, **given: Any
    ) -> Written:
        self.asked.append(f"convert {agent} {target[0]} {given['new_session_id']}")
        return Written(session_id="its-own")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    open_store("claude", tmp_path).write(conversation(), session_id=SOURCE_ID, cwd=CWD)
    return tmp_path


def moved(adapter: Adapter, home: Path, target: Path, **more: Any) -> Any:
    return move(
        adapter, "claude", home, SOURCE_ID, "codex", target, new_session_id=NEW_ID, cwd=CWD, **more
    )


def test_a_conversion_comes_before_a_write_and_a_write_before_a_read(
    home: Path, tmp_path: Path
) -> None:
    source, target = Offer(read=True, convert=("codex",)), Offer(write=True)
    adapter = Recording(claude=source, codex=target)
    result = moved(adapter, home, tmp_path / "target")
    assert (result.by, result.session_id, result.transcript) == ("convert", "its-own", None)
    assert adapter.asked == [f"convert claude codex {NEW_ID}"]

    adapter = Recording(claude=Offer(read=True, convert=("copilot",)), codex=target)
    result = moved(adapter, home, tmp_path / "target")
    assert (result.by, result.losses) == ("write", (Loss(loss="narrated"),))
    assert adapter.asked == ["write codex: 3"]

    adapter = Recording(claude=source, codex=target)
    assert moved(adapter, home, tmp_path / "target", by="read").by == "read"
    assert adapter.asked == ["read claude"]


def test_what_an_adapter_only_reads_the_reference_writes(home: Path, tmp_path: Path) -> None:
    result = moved(Recording(claude=Offer(read=True)), home, tmp_path / "target")
    assert (result.by, result.session_id) == ("read", NEW_ID)
    back = open_store("codex", tmp_path / "target").read(NEW_ID)
    assert back is not None
    assert [type(m) for m in back.messages] == [UserMessage, CommandExecution, AgentMessage]


def test_an_adapter_that_has_no_part_in_it_is_told_so(home: Path, tmp_path: Path) -> None:
    for offers in ({}, {"claude": Offer(list=True, write=True)}, {"codex": Offer(read=True)}):
        with pytest.raises(NotOffered, match="from claude to codex"):
            moved(Recording(**offers), home, tmp_path / "target")
    with pytest.raises(NotOffered, match="by its part 'convert'"):
        moved(Recording(codex=Offer(write=True)), home, tmp_path / "target", by="convert")
    assert not (tmp_path / "target").exists()


def test_half_a_move_needs_the_references_other_half(tmp_path: Path) -> None:
    adapter = Recording(toy=Offer(read=True, write=True))
    with pytest.raises(NotOffered):
        move(adapter, "toy", tmp_path, "1", "toy", tmp_path, new_session_id="2", cwd=CWD)


def test_the_reference_moves_what_its_stores_would_write(home: Path, tmp_path: Path) -> None:
    with open_adapter("entry:reference") as adapter:
        result = moved(adapter, home, tmp_path / "by adapter")
    transcript = open_store("claude", home).read(SOURCE_ID)
    assert transcript is not None
    store = open_store("codex", tmp_path / "by store")
    written = store.write(transcript, session_id=NEW_ID, cwd=CWD)
    assert result == (written.session_id, written.losses, "write", transcript)
    assert digest(tmp_path / "by adapter") == digest(tmp_path / "by store")


def test_a_session_that_is_not_there_is_an_error_before_anything_is_written(
    tmp_path: Path,
) -> None:
    adapter = Recording(codex=Offer(write=True))
    with pytest.raises(SessionNotFound, match=SOURCE_ID):
        moved(adapter, tmp_path, tmp_path / "target")
    assert adapter.asked == []


def test_live_checks_move_by_an_adapter_as_by_the_stores(home: Path, tmp_path: Path) -> None:
    results: list[Moved] = []
    with open_adapter("entry:reference") as adapter:
        movers: tuple[Mover, ...] = (AdapterMover(adapter), StoreMover())
        for number, mover in enumerate(movers):
            target = tmp_path / str(number)
            results.append(
                mover.move(
                    "claude", home, SOURCE_ID, "codex", target, new_session_id=NEW_ID, cwd=CWD
                )
            )
    assert results[0] == results[1]
    assert digest(tmp_path / "0") == digest(tmp_path / "1")
