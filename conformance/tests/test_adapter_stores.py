"""Adapters in this process: found by their names, offering what their classes have."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conformance.adapters import About, Adapter, Failed, NotOffered, Offer, Skipped, open_adapter
from conformance.adapters.errors import BrokenAnswer, UnknownAdapter
from conformance.corpus import cases, find_corpus, opened, releases
from transcripts.errors import DamagedRecord
from transcripts.losses import Loss
from transcripts.model import AgentMessage, SessionInfo, Text, ToolCall, Transcript
from transcripts.stores import agents, open_store
from transcripts.stores.base import Unlisted

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def said(**more: Any) -> AgentMessage:
    return AgentMessage(id="m1", author="model", content=(Text(text="Yes."),), **more)


class Toy:
    """Reads one session and does nothing else."""

    agent = "toy"
    answer: Any = Transcript(agent="toy", session_id="1", messages=(said(at=NOON),))

    def __init__(self, home: Path) -> None:
        self.home = home

    def read(self, session_id: str, *, recover: bool = False) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer if session_id == "1" else None


class Whole(Adapter):
    name = "not yet named"

    @property
    def about(self) -> About:
        return About(name="whole", version="1", language="Python")

    def agents(self) -> tuple[str, ...]:
        return ("toy",)

    def offers(self, agent: str) -> Offer:
        return Offer(convert=("claude",)) if agent == "toy" else Offer()


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType("adapters_of_this_test")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    made.__dict__.update(Toy=Toy, Whole=Whole, Both=(Toy, open_store("claude").__class__))
    return made


def opened_toy(module: ModuleType, answer: Any) -> Any:
    module.__dict__["Toy"] = type("Toy", (Toy,), {"answer": answer})
    return open_adapter("py:adapters_of_this_test:Toy")


# ------------------------------------------------------------------ names


def test_the_reference_stores_are_entries() -> None:
    for agent in agents():
        with open_adapter(f"entry:{agent}") as adapter:
            assert adapter.agents() == (agent,)
            assert adapter.offers(agent) == Offer(read=True, write=True, list=True)
            assert adapter.offers("another") == Offer()
            assert adapter.about.name == "transcript-conformance"
            assert adapter.about.language.startswith("Python 3.")
    with open_adapter("entry:reference") as adapter:
        assert adapter.agents() == agents()


def test_a_class_a_tuple_of_classes_and_an_adapter_are_found_by_their_path(
    module: ModuleType,
) -> None:
    with open_adapter("py:adapters_of_this_test:Toy") as adapter:
        assert adapter.offers("toy") == Offer(read=True)
    with open_adapter("py:adapters_of_this_test:Both") as adapter:
        assert adapter.agents() == ("toy", "claude")
        assert adapter.offers("claude").write
    with open_adapter("py:adapters_of_this_test:Whole") as adapter:
        assert adapter.name == "py:adapters_of_this_test:Whole"
        assert adapter.offers("toy").convert == ("claude",)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "is no adapter's name; name it entry:NAME"),
        ("claude", "is no adapter's name"),
        ("entry:", "is no adapter's name"),
        ("image:toy", "there is no form 'image'"),
        ("entry:nobody", "use one of claude, codex, copilot, reference, or install"),
        ("py:adapters_of_this_test", "names no class; write py:package.module:Store"),
        ("py:adapters_of_nobody:Toy", "adapters_of_nobody can't be imported: ModuleNotFoundError"),
        ("py:adapters_of_this_test:Tow", "has no attribute 'Tow'"),
        ("py:adapters_of_this_test:Bare", "has none of a store's methods"),
        ("py:adapters_of_this_test:Nameless", "is no store's class: it has no agent"),
        ("py:adapters_of_this_test:NOTHING", "names no store at all"),
        ("py:adapters_of_this_test:TWICE", "has two stores for toy"),
    ],
)
def test_a_name_of_no_adapter_says_what_to_write_instead(
    module: ModuleType, name: str, why: str
) -> None:
    module.__dict__.update(
        Bare=type("Bare", (), {"agent": "toy"}), Nameless=object, NOTHING=(), TWICE=(Toy, Toy)
    )
    with pytest.raises(UnknownAdapter) as raised, open_adapter(name):
        raise AssertionError("it was opened")
    assert why in str(raised.value)
    assert raised.value.next_step


def test_an_installed_packages_entry_point_is_an_adapter(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "toy_adapter-1.4.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-adapter\nVersion: 1.4\n")
    entries = "toy = adapters_of_this_test:Toy\nlost = adapters_of_nobody:Toy\n"
    (about / "entry_points.txt").write_text(f"[transcript_conformance.adapters]\n{entries}")
    monkeypatch.syspath_prepend(str(tmp_path))
    with open_adapter("entry:toy") as adapter:
        assert adapter.read("toy", tmp_path, "1").session_id == "1"
    with (
        pytest.raises(UnknownAdapter, match="adapters_of_nobody:Toy can't be imported"),
        open_adapter("entry:lost"),
    ):
        pass


# ------------------------------------------------------------------ answers


def test_every_verb_that_is_not_offered_says_so(module: ModuleType, tmp_path: Path) -> None:
    with open_adapter("py:adapters_of_this_test:Toy") as toy:
        transcript = toy.read("toy", tmp_path, "1")
        with pytest.raises(NotOffered, match="does not read sessions of claude"):
            toy.read("claude", tmp_path, "1")
        with pytest.raises(NotOffered, match="does not write sessions of toy"):
            toy.write("toy", tmp_path, transcript, session_id="2")
        with pytest.raises(NotOffered, match="does not list sessions of toy"):
            toy.list("toy", tmp_path)
        with pytest.raises(NotOffered, match="does not convert sessions of toy into claude"):
            toy.convert("toy", tmp_path, "1", "claude", tmp_path, new_session_id="2")


def test_what_a_store_raises_says_where_it_failed(module: ModuleType, tmp_path: Path) -> None:
    with (
        opened_toy(module, None) as toy,
        pytest.raises(Failed, match=r"\(find\): there is no session 1") as failed,
    ):
        toy.read("toy", tmp_path, "1")
    assert failed.value.stage == "find"
    torn = DamagedRecord("cut short", path="s.jsonl", line=3)
    with opened_toy(module, torn) as toy, pytest.raises(Failed, match=r"s\.jsonl:3") as failed:
        toy.read("toy", tmp_path, "1")
    assert failed.value.stage == "read"
    with (
        opened_toy(module, KeyError("content")) as toy,
        pytest.raises(Failed, match="KeyError: 'content'") as failed,
    ):
        toy.read("toy", tmp_path, "1")
    assert failed.value.stage == "internal"
    with (
        opened_toy(module, NotImplementedError("forks are not read yet")) as toy,
        pytest.raises(Skipped, match="forks are not read yet"),
    ):
        toy.read("toy", tmp_path, "1")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"messages": []}, "the answer is no Transcript: Object missing required field `agent`"),
        ("Yes.", "Expected `object`, got `str`"),
        (
            Transcript(agent="toy", session_id="1", messages=(said(status="done"),)),
            r"Invalid enum value 'done' - at `$.messages[0].status`",
        ),
        (
            Transcript(agent="toy", session_id="1", messages=(said(at=NOON.replace(tzinfo=None)),)),
            "the time at messages[0].at has no zone",
        ),
    ],
)
def test_an_answer_of_another_shape_is_told_by_its_place(
    module: ModuleType, tmp_path: Path, answer: Any, why: str
) -> None:
    with opened_toy(module, answer) as toy, pytest.raises(BrokenAnswer) as broken:
        toy.read("toy", tmp_path, "1")
    assert why in str(broken.value)


def test_a_calls_arguments_may_have_any_fields_at_any_depth(
    module: ModuleType, tmp_path: Path
) -> None:
    deep: Any = {"own": 1}
    for _ in range(150):
        deep = {"inner": [deep], "anything": None}
    call = ToolCall(id="c1", author="model", name="dig", arguments=deep)
    whole = Transcript(agent="toy", session_id="1", messages=(call,))
    with opened_toy(module, whole) as toy:
        assert toy.read("toy", tmp_path, "1") == whole


def test_a_listing_may_be_any_sequence_and_a_write_anything_with_an_id(
    module: ModuleType, tmp_path: Path
) -> None:
    entry = SessionInfo(agent="toy", session_id="1", path="1.jsonl", updated_at=NOON)

    class Shelf(Toy):
        def list(self, cwd: str | None = None) -> Any:
            return [entry]

        def write(self, transcript: Transcript, *, session_id: str, cwd: str | None) -> Any:
            assert (session_id, cwd) == ("2", "/srv")
            return self

        session_id = "own"
        losses = (Loss(loss="narrated"),)

    module.__dict__["Toy"] = Shelf
    with open_adapter("py:adapters_of_this_test:Toy") as toy:
        listing = toy.list("toy", tmp_path)
        assert (listing.sessions, listing.seen, listing.failed) == ((entry,), 1, ())
        made = toy.write("toy", tmp_path, Toy.answer, session_id="2", cwd="/srv")
        assert (made.session_id, made.losses) == ("own", Shelf.losses)


def test_the_reference_answers_what_its_stores_answer() -> None:
    corpus = find_corpus()
    for agent in agents():
        case = next(cases(corpus, agent, releases(corpus, agent)[-1]))
        with opened(case) as home, open_adapter(f"entry:{agent}") as adapter:
            store = open_store(agent, home)
            assert adapter.read(agent, home, case.facts.session_id) == store.read(
                case.facts.session_id
            )
            listing = adapter.list(agent, home)
            own = store.list()
            assert (listing.sessions, listing.seen) == (own.sessions, own.seen)


def test_files_that_could_not_be_listed_are_handed_on(module: ModuleType, tmp_path: Path) -> None:
    class Torn(tuple[SessionInfo, ...]):
        failed = (Unlisted(path="torn.jsonl", why="cut short"),)

    module.__dict__["Toy"] = type("Toy", (Toy,), {"list": lambda self, cwd: Torn()})
    with open_adapter("py:adapters_of_this_test:Toy") as toy:
        listing = toy.list("toy", tmp_path)
    assert (listing.seen, listing.failed) == (1, Torn.failed)
