"""Somebody makes events one by one, loses some, and looks at the tree in between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from conformance.hooks import BY_NAME, OF_ONE_TREE, judged
from conformance.hooks.happenings import Conversation, Happening, line
from conformance.hooks.payloads import WORKSPACE, Dialect, Manner, Place, TrueCall, Verb
from conformance.hooks.reference import correlate
from conformance.hooks.trees import links
from transcripts.hooks import CaptureLog, TreeBuilder, find_dialect

NAMES = sorted(BY_NAME)
INPUTS: tuple[dict[str, Any], ...] = (
    {"command": "make", "cwd": ""},
    {"command": "make", "cwd": "/srv/project/sub"},
    {"command": "Make"},
)
PATHS = ("/w/a.txt", "C:\\W\\A.txt")


class GrowingLog(RuleBasedStateMachine):
    """A log that grows, the builder that follows it, and what truly happened."""

    dialect: Dialect

    def __init__(self) -> None:
        super().__init__()
        agent = find_dialect(self.dialect.agent)
        self.log = CaptureLog(Path(), agent, keep_payloads=False)
        self.builder = TreeBuilder(agent)
        self.arrived: list[Happening] = []
        self.lost: list[Happening] = []
        self.running: list[tuple[TrueCall, list[str]]] = []
        self.turn = -1
        self.made = 0
        self.closed_before = 0
        self.closed_when_looked = 0
        self.shown: dict[int, int] = {}
        self.first: dict[int, int] = {}

    # What happens

    @initialize()
    def begin(self) -> None:
        """A person says something."""
        self.turn += 1
        self.tell("prompt", None)

    @rule()
    def prompt(self) -> None:
        """A person says something more: the turn before is over, whatever still ran."""
        for call, plan in self.running:
            for what in plan:
                self.tell(what, call, lost=True)
        self.running = []
        self.closed_before = len(self.arrived)
        self.begin()

    @rule(given=st.sampled_from(INPUTS), id=st.integers(0, 1), lost=st.booleans())
    def shell(self, given: dict[str, Any], id: int, lost: bool) -> None:
        """A command is called; a few ids and few commands, so that many look the same."""
        where = given.get("cwd") or WORKSPACE
        plan = ["before", "after", "post"] if self.dialect.layers else ["post"]
        self.call("shell", given, id, where, plan, lost=lost)

    @precondition(lambda self: "read" in self.dialect.tools)
    @rule(path=st.sampled_from(PATHS), lost=st.booleans(), twice=st.booleans())
    def read(self, path: str, lost: bool, twice: bool) -> None:
        """A file is read; some harnesses say so twice."""
        plan = ["file", "post"] if self.dialect.layers else ["post"]
        self.call("read", {"path": path}, 100 + self.made, WORKSPACE, plan, lost=lost)
        if twice and "read" in self.dialect.redelivers and not lost:
            first = self.arrived[-1]
            self.arrive(first._replace(key=self.key(), again=first.key))

    def call(
        self,
        verb: Verb,
        given: dict[str, Any],
        id: int,
        where: str,
        plan: list[str],
        *,
        lost: bool,
    ) -> None:
        self.made += 1
        ids = {"none": None, "unique": f"toolu_{self.made}", "shared": f"call-{id}\nfc_{id}"}
        name = self.dialect.tools[verb]
        call = TrueCall(self.made, verb, name, ids[self.dialect.ids], given, where)
        self.running.append((call, plan))
        self.tell("pre", call, lost=lost)

    @precondition(lambda self: self.running)
    @rule(which=st.integers(0, 3), lost=st.booleans())
    def go_on(self, which: int, lost: bool) -> None:
        """One of the running calls comes one event further."""
        call, plan = self.running[which % len(self.running)]
        self.tell(plan.pop(0), call, lost=lost)
        if not plan:
            self.running.remove((call, plan))

    @precondition(lambda self: self.running and self.dialect.failures)
    @rule(which=st.integers(0, 3), again=st.booleans())
    def fail(self, which: int, again: bool) -> None:
        """One of the running calls fails, and is perhaps made once more."""
        call, plan = self.running.pop(which % len(self.running))
        for what in plan[:-1]:
            self.tell(what, call, lost=True)
        self.tell("failure", call)
        if again and call.verb == "shell":
            self.made += 1
            once_more = call._replace(number=self.made)
            if self.dialect.ids == "unique":
                once_more = once_more._replace(id=f"toolu_{self.made}")
            whole = ["before", "after", "post"] if self.dialect.layers else ["post"]
            self.running.append((once_more, whole))
            self.tell("pre", once_more)

    # What is seen of it

    @rule()
    def look(self) -> None:
        """A snapshot shows no link that a later one gives to another event."""
        tree = msgspec.to_builtins(self.builder.snapshot(self.log.bad_lines))
        shown = dict(links(tree))
        for end, start in shown.items():
            assert self.first.setdefault(end, start) == start, "a link went to another event"
        for end, start in self.shown.items():
            if self.dialect.ids == "unique" or end <= self.closed_when_looked:
                assert shown.get(end) == start, "a final link is gone"
        self.shown, self.closed_when_looked = shown, self.closed_before

    def teardown(self) -> None:
        """The finished tree is the one that all lines at once give, and it is right."""
        if not self.arrived:
            return
        told = self.told()
        finished = msgspec.to_builtins(self.builder.finish(self.log.bad_lines))
        assert finished == correlate(told.lines(), told.agent)
        given = judged(lambda lines, agent: finished, told)
        assert [finding for check in OF_ONE_TREE.values() for finding in check(given)] == []

    # How it is told

    def told(self) -> Conversation:
        waiting = list(self.lost)
        for call, plan in self.running:
            for what in plan:
                waiting += filter(None, [self.happening(what, call)])
        return Conversation(
            self.dialect.agent, self.dialect.name, tuple(self.arrived), tuple(waiting)
        )

    def tell(self, what: str, call: TrueCall | None, *, lost: bool = False) -> None:
        happening = self.happening(what, call)
        if happening is None:
            return
        if lost:
            self.lost.append(happening)
        else:
            self.arrive(happening)

    def arrive(self, happening: Happening) -> None:
        self.arrived.append(happening)
        for event in self.log.read([line(happening)]):
            event.line = len(self.arrived)
            self.builder.add(event)

    def key(self) -> int:
        return len(self.arrived) + len(self.lost)

    def happening(self, what: str, call: TrueCall | None) -> Happening | None:
        tick = 10 * (self.key() + 1)
        place = Place("5" * 8 + "-0000-4000-8000-000000000000", f"turn-{self.turn}", tick)
        told = self.dialect.payload(what, place, Manner(), call)
        if told is None:
            return None
        part: Any = what
        layer = "none" if call is None else "call"
        if what in ("before", "after", "file") and call is not None:
            layer = "file" if what == "file" else call.verb
        return Happening(
            key=self.key(),
            part=part,
            layer=layer,
            session=0,
            turn=self.turn,
            call=None if call is None else call.number,
            event=told[0],
            payload=told[1],
            tick=tick,
        )


def machine(dialect: str) -> type[GrowingLog]:
    return type(f"Growing_{dialect}", (GrowingLog,), {"dialect": BY_NAME[dialect]})


@pytest.mark.parametrize("dialect", NAMES)
def test_a_growing_log_is_followed(dialect: str) -> None:
    run_state_machine_as_test(
        machine(dialect),
        settings=settings(max_examples=12, stateful_step_count=25, deadline=None, derandomize=True),
    )


@pytest.mark.deep
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("dialect", NAMES)
def test_a_growing_log_is_followed_wherever_it_goes(dialect: str) -> None:
    run_state_machine_as_test(
        machine(dialect),
        settings=settings(
            max_examples=20_000,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
