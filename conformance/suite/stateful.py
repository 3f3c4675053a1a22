"""A store under a state machine: hypothesis chooses the steps, and makes what fails small.

>>> from conformance.suite.stateful import machine
>>> TestManySessions = machine(MyStore).TestCase

Sessions are written, gone on with in a session of their own, read and listed, in any order, under
few directories, some under an id that is taken, and the store is opened anew in between. Always:
what is listed is what was written; each session reads back as it would alone; no write touches
what another one wrote. ``conformance check`` asks the same in a few lives that are always equal
(:mod:`conformance.checks.many_sessions`); here it is as many as :class:`hypothesis.settings` say.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from conformance.adapters import Adapter
from conformance.adapters.stores import StoresAdapter, StoreType
from conformance.checks.lives import DIRECTORIES, Broken, Life, conversed
from conformance.checks.many_sessions import KeepsManySessions, ListsManySessions
from conformance.kinds import variants
from transcripts.model import Transcript

__all__ = ["StoreMachine", "conversations", "machine", "run_state_machine_as_test"]

MADE = {f"{one.kind}/{one.name}": one for one in variants() if not one.crosses}

WORDS = st.text(
    st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from("\n\t"), min_size=1
).filter(lambda text: bool(text.strip()))

TURNS = st.lists(st.tuples(WORDS, WORDS), max_size=2)
"""What a person asks, each with what is answered."""

NAMES = st.lists(st.sampled_from(sorted(MADE)), min_size=1, max_size=3, unique=True)
"""Names of made conversations (``UserMessage/plain``), to be joined to one."""

WHICH = st.integers(0, 9)
WHERE = st.sampled_from(DIRECTORIES)


def conversations() -> st.SearchStrategy[Transcript]:
    """Return a strategy for conversations: of any kinds of message, and of any words."""
    return st.builds(_joined, NAMES, TURNS)


def _joined(made: Sequence[str], turns: Sequence[tuple[str, str]]) -> Transcript:
    return conversed([MADE[name] for name in made], *turns)


class StoreMachine(RuleBasedStateMachine):
    """A home in which sessions are written, read and listed: see :func:`machine`."""

    adapter: ClassVar[Adapter]
    agent: ClassVar[str]

    def __init__(self) -> None:
        super().__init__()
        self._scratch = Path(tempfile.mkdtemp(prefix="conformance-stateful-"))
        held = {*KeepsManySessions.checks, *ListsManySessions.checks}
        self.life = Life(self.adapter, self.agent, self._scratch, held)
        self._holds = True

    @property
    def reads(self) -> bool:
        """Whether the store reads."""
        return self.adapter.offers(self.agent).read

    @property
    def lists(self) -> bool:
        """Whether the store lists."""
        return self.adapter.offers(self.agent).list

    @initialize(made=NAMES, turns=TURNS, cwd=WHERE)
    def begin(self, made: list[str], turns: list[tuple[str, str]], cwd: str) -> None:
        """Write the first session."""
        self._do(lambda: self.life.write(_joined(made, turns), cwd))

    @rule(made=NAMES, turns=TURNS, cwd=WHERE)
    def write(self, made: list[str], turns: list[tuple[str, str]], cwd: str) -> None:
        """Write another session."""
        self._do(lambda: self.life.write(_joined(made, turns), cwd))

    @rule(which=WHICH, made=NAMES, cwd=WHERE)
    def write_again(self, which: int, made: list[str], cwd: str) -> None:
        """Write under an id that is taken."""
        self._do(lambda: self.life.write_again(which, _joined(made, ()), cwd))

    @precondition(lambda self: self.reads)
    @rule(which=WHICH, turns=TURNS)
    def go_on(self, which: int, turns: list[tuple[str, str]]) -> None:
        """Write what goes on from a session as another one."""
        self._do(lambda: self.life.go_on(which, *turns))

    @precondition(lambda self: self.reads)
    @rule(which=WHICH)
    def read(self, which: int) -> None:
        """Read a session."""
        self._do(lambda: self.life.read(which))

    @precondition(lambda self: self.lists)
    @rule(cwd=st.none() | WHERE)
    def list(self, cwd: str | None) -> None:
        """List everything, or what is of one directory."""
        self._do(lambda: self.life.list(cwd))

    @rule()
    def reopen(self) -> None:
        """Open the store anew."""
        self._do(self.life.reopen)

    def teardown(self) -> None:
        """Look at all that there is, unless something was wrong already."""
        try:
            if self._holds and self.life.count:
                look = self.life.look_at_everything
                self._do(lambda: look(reads=self.reads, lists=self.lists))
        finally:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _do(self, step: Callable[[], None]) -> None:
        try:
            step()
        except Broken as broken:
            self._holds = False
            raise AssertionError(str(broken)) from broken
        except Exception:
            self._holds = False
            raise


def machine(store: StoreType | Adapter, agent: str | None = None) -> type[StoreMachine]:
    """Return a state machine for a store: its class, or an adapter and the agent whose store it is.

    ``machine(MyStore).TestCase`` is a test for pytest and unittest.
    """
    name = getattr(store, "__name__", "store")
    if not isinstance(store, Adapter):
        agent = agent or _agent(store)
        store = StoresAdapter(name, {agent: store})
    chosen = agent or store.agents()[0]
    return type(f"{name}Machine", (StoreMachine,), {"adapter": store, "agent": chosen})


def _agent(store: Any) -> str:
    agent = getattr(store, "agent", None)
    if not isinstance(agent, str):
        raise TypeError(f"{store!r} is no store's class: it has no agent, such as 'codex'")
    return agent
