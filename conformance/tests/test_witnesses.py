"""Witnesses are tied to bytes: what was not seen by a CLI, or is written differently, is stale."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from conformance.essence import text_of
from conformance.fakes.stores import FaithfulStore, broken
from conformance.kinds import Variant, conversation, variants
from conformance.verdicts import Cell
from conformance.witnesses import (
    FORMAT,
    Carried,
    Part,
    Resumed,
    StoredWitnesses,
    gather,
    load_witnesses,
    made_conversation,
    recorded_conversation,
    store_witnesses,
    witness_cells,
)
from live.model.history import Entry
from transcripts.ids import derive
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    SubAgent,
    Superseded,
    Text,
    Transcript,
    UserMessage,
)

CHOSEN = [
    variant
    for variant in variants()
    if (variant.kind, variant.name)
    in {
        ("UserMessage", "plain"),
        ("UserMessage", "fences"),
        ("AgentMessage", "plain"),
        ("AgentMessage", "two-in-a-row"),
    }
]
CARRIED = Carried(
    None,
    None,
    tuple(
        Part(one.name, {one.kind: tuple(m.id for m in one.subjects)}, one.messages)
        for one in CHOSEN
    ),
    conversation(CHOSEN),
)


class FakeCli:
    """Stands in for a CLI that reads the fake store: shows every word, fails where told."""

    def __init__(self, chokes_on: str | None = None, hides: str | None = None) -> None:
        self.chokes_on = chokes_on
        self.hides = hides
        self.sittings = 0

    def resume(self, agent: str, release: str, home: Path, session_id: str) -> Resumed:
        """Read the session and show it, or fail."""
        del agent, release
        self.sittings += 1
        transcript = FaithfulStore(home).read(session_id)
        assert transcript is not None
        entries = [
            Entry(
                role="user" if isinstance(message, UserMessage) else "assistant",
                type="text",
                text=text_of(message.content),
            )
            for message in transcript.messages
            if isinstance(message, UserMessage | AgentMessage)
        ]
        said = "\n".join(entry.text or "" for entry in entries)
        if self.chokes_on and self.chokes_on in said:
            return Resumed("it choked", ())
        hides = self.hides
        return Resumed(None, [e for e in entries if not hides or hides not in (e.text or "")])


def _gathered(
    directory: Path, cli: FakeCli, carried: Carried = CARRIED, release: str = "1.0.0"
) -> None:
    direction = gather(carried, FaithfulStore, release, cli.resume, "2026-01-05T00:00:00Z")
    store_witnesses(
        directory,
        StoredWitnesses(format=FORMAT, agent="faithful", release=release, directions=(direction,)),
    )


def _cells(directory: Path, store: type[FaithfulStore] = FaithfulStore) -> list[Cell]:
    return list(witness_cells([CARRIED], {"faithful": store}, directory))


def _verdicts(cells: list[Cell], witness: str) -> dict[str, str]:
    return {f"{c.kind}/{c.variant}": c.verdict for c in cells if c.witness == witness}


def test_what_was_witnessed_holds_for_the_same_bytes(tmp_path: Path) -> None:
    cli = FakeCli()
    _gathered(tmp_path, cli)
    assert cli.sittings == 1
    cells = _cells(tmp_path)
    assert {cell.verdict for cell in cells} == {"exact"}
    assert len(cells) == 2 * len(CHOSEN)
    assert {cell.witnessed_at for cell in cells} == {"2026-01-05T00:00:00Z"}
    assert {cell.cli_version for cell in cells} == {"1.0.0"}
    assert all(cell.witness_sha256 for cell in cells)


def test_other_bytes_are_stale(tmp_path: Path) -> None:
    _gathered(tmp_path, FakeCli())
    louder = broken("Louder", lambda messages: [_loud(message) for message in messages])
    cells = _cells(tmp_path, louder)
    assert {cell.verdict for cell in cells} == {"stale"}
    assert "other bytes" in cells[0].why


def _loud(message: AnyMessage) -> AnyMessage:
    if isinstance(message, AgentMessage):
        return replace(message, content=(*message.content, Text(text="!")))
    return message


def test_what_was_never_witnessed_is_stale(tmp_path: Path) -> None:
    assert {cell.verdict for cell in _cells(tmp_path)} == {"stale"}
    _gathered(tmp_path, FakeCli(), CARRIED._replace(source="another"))
    assert {cell.why for cell in _cells(tmp_path)} == {
        "never witnessed: gather it with conformance matrix --live"
    }


def _words(variant: Variant) -> str:
    subject = variant.subjects[0]
    assert isinstance(subject, UserMessage | AgentMessage)
    return text_of(subject.content)


@pytest.mark.parametrize("variant", CHOSEN, ids=lambda v: f"{v.kind}/{v.name}")
def test_the_one_that_a_cli_chokes_on_is_found(tmp_path: Path, variant: Variant) -> None:
    name = f"{variant.kind}/{variant.name}"
    _gathered(tmp_path, FakeCli(chokes_on=_words(variant)))
    cells = _cells(tmp_path)
    found = _verdicts(cells, "cli")
    assert found == {key: "lost" if key == name else "exact" for key in found}
    assert {cell.why for cell in cells if cell.verdict == "lost" and cell.witness == "cli"} == {
        "it choked"
    }
    assert set(_verdicts(cells, "model").values()) == {"lost", "exact"}


def test_what_the_model_is_not_shown_is_tried_alone_and_then_lost(tmp_path: Path) -> None:
    cli = FakeCli(hides=_words(CHOSEN[1]))
    _gathered(tmp_path, cli)
    assert cli.sittings == 2
    cells = _cells(tmp_path)
    assert set(_verdicts(cells, "cli").values()) == {"exact"}
    lost = [key for key, verdict in _verdicts(cells, "model").items() if verdict == "lost"]
    assert lost == [f"{CHOSEN[1].kind}/{CHOSEN[1].name}"]


def test_a_part_alone_is_tied_to_its_own_bytes(tmp_path: Path) -> None:
    _gathered(tmp_path, FakeCli(chokes_on=_words(CHOSEN[0])))
    stored = load_witnesses(tmp_path, "faithful")
    assert stored is not None
    assert len({session.sha256 for session in stored.directions[0].sessions}) > 1
    assert "stale" not in {cell.verdict for cell in _cells(tmp_path)}
    whole = made_conversation()
    others = {
        cell.verdict for cell in witness_cells([whole], {"faithful": FaithfulStore}, tmp_path)
    }
    assert "stale" in others


def test_only_the_newest_release_bears_witness(tmp_path: Path) -> None:
    _gathered(tmp_path, FakeCli(), release="1.0.10")
    _gathered(tmp_path, FakeCli(chokes_on="done"), release="1.0.9")
    cells = _cells(tmp_path)
    assert {cell.cli_version for cell in cells} == {"1.0.10"}
    assert {cell.verdict for cell in cells} == {"exact"}


def test_a_misspelt_witness_is_an_error(tmp_path: Path) -> None:
    _gathered(tmp_path, FakeCli())
    path = tmp_path / "faithful" / "1.0.0.json"
    path.write_text(path.read_text().replace('"cli"', '"clii"'))
    with pytest.raises(msgspec.ValidationError):
        load_witnesses(tmp_path, "faithful")


def test_recorded_sessions_travel_as_one_with_rising_times() -> None:
    read = [(variant.name, conversation([variant])) for variant in CHOSEN]
    carried = recorded_conversation("made", "1.0.0", read)
    times = [message.at for message in carried.transcript.messages if message.at is not None]
    assert times == sorted(set(times))
    assert [part.name for part in carried.parts] == [variant.name for variant in CHOSEN]
    assert len(times) == sum(len(variant.messages) for variant in CHOSEN)


def test_recordings_that_use_the_same_ids_are_told_apart() -> None:
    uuid = "00000003-6704-791a-8498-5ccc8c71a2d4"
    (prompt, *_) = CHOSEN[0].messages
    same = (
        replace(prompt, external_id=f"msg_{uuid}", turn="t1"),
        SubAgent(
            id="s",
            author="model",
            name="task",
            external_id="call_look",
            agent_id=uuid,
            superseded_by=Superseded(id=prompt.id, why="rewind"),
        ),
        replace(prompt, id="in", agent=uuid, caller="s", external_id=None),
    )
    session = Transcript(agent="made", session_id="one", messages=same)
    carried = recorded_conversation("made", "1.0.0", [("a", session), ("b", session)])
    first, second = (part.messages for part in carried.parts)
    assert not {message.id for message in first} & {message.id for message in second}
    assert first[0].external_id == f"msg_{uuid}"
    other = second[0].external_id or ""
    assert other != first[0].external_id
    assert re.fullmatch(r"msg_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f-]{17}", other)
    assert (first[1].external_id, second[1].external_id) == ("call_look", "call_look_2")
    for prompt, agent, inner in (first, second):
        assert inner.caller == agent.id
        assert isinstance(agent, SubAgent)
        assert inner.agent == agent.agent_id
        assert agent.superseded_by == Superseded(id=prompt.id, why="rewind")


def test_a_recording_that_takes_something_back_travels_alone() -> None:
    def read(name: str, *messages: AnyMessage) -> tuple[str, Transcript]:
        return name, Transcript(agent="faithful", session_id=name, messages=messages)

    taken = Superseded(id="b1", why="rewind")
    carried = recorded_conversation(
        "faithful",
        "1.0",
        [
            read("first", UserMessage(id="a", author="human", content=(Text(text="One, ROW-1."),))),
            read(
                "rewind",
                UserMessage(
                    id="b", author="human", superseded_by=taken, content=(Text(text="Two, ROW-2."),)
                ),
                UserMessage(id="b1", author="human", content=(Text(text="Other, ROW-3."),)),
            ),
            read(
                "last", UserMessage(id="c", author="human", content=(Text(text="Three, ROW-4."),))
            ),
        ],
    )
    cli = FakeCli()
    direction = gather(carried, FaithfulStore, "1.0", cli.resume, "2026-01-05T00:00:00Z")
    assert [session.held for session in direction.sessions] == [
        ("UserMessage/first", "UserMessage/last"),
        ("UserMessage/rewind",),
    ]
    assert cli.sittings == 2


def test_what_a_cli_forgets_of_its_own_is_not_asked_of_a_writer() -> None:
    session = Transcript(
        agent="faithful",
        session_id="one",
        messages=(UserMessage(id="a", author="human", content=(Text(text="One, ROW-1."),)),),
    )
    cli = FakeCli(hides="ROW-1")
    for forgotten, verdicts in (((), {"lost"}), ((derive("first", "a"),), set[str]())):
        carried = recorded_conversation("faithful", "1.0", [("first", session)], forgotten)
        direction = gather(carried, FaithfulStore, "1.0", cli.resume, "2026-01-05T00:00:00Z")
        shown = [part.model for one in direction.sessions for part in one.parts]
        assert {one.verdict for one in shown if one is not None} == verdicts
