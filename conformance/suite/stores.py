"""The checks as a class of tests, for a store in Python: it needs one fixture.

>>> class TestMyStore(conformance.suite.StoreTests):
...     @pytest.fixture
...     def store(self):
...         return MyStore
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pytest

from conformance.adapters.opening import open_adapter
from conformance.adapters.stores import StoresAdapter
from conformance.checks import known
from conformance.checks.catalogue import PROBES
from conformance.checks.check import Place
from conformance.checks.known import Known, judged
from conformance.checks.running import Question, questions, results_of
from conformance.corpus import find_corpus, find_schemas
from conformance.suite.asking import about, tell

Asked = tuple[int, str]
"""A probe by its number, and what its questions are about: a scenario, or a made conversation."""


class StoreTests:
    """What an adapter is asked, asked of the store that the fixture ``store`` returns.

    That is a class with an ``agent``, called with a user's home, that has any of ``read``,
    ``write`` and ``list`` (:class:`transcripts.stores.base.Store` says how): it is asked what it
    offers. A test asks one thing of all recorded releases, or of one made conversation.
    """

    only: ClassVar[Sequence[str]] = ()
    """The checks that are asked for, such as ``read.*``; all if none is named."""

    known: ClassVar[Path | None] = None
    """A list of failures that are known beforehand (``docs/adapters.md``)."""

    examples: ClassVar[int] = 20
    """In how many homes hypothesis does whatever can be done."""

    @pytest.fixture
    def store(self) -> Any:
        """Return the class of the store under test: override this."""
        raise NotImplementedError(
            f"{type(self).__name__} says no store: give it a fixture `store` that returns a class"
        )

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make a test of everything that may be asked of any store."""
        if "asked" in metafunc.fixturenames:
            metafunc.parametrize("asked", [_parameter(*one) for one in _everything().items()])

    def test_store(self, asked: Asked, store: Any, tmp_path: Path) -> None:
        """Every check that an answer decides holds; those that do not are named with the reason."""
        adapter = _adapter(store)
        place = _place()._replace(scratch=tmp_path)
        mine = _questions(store, tuple(self.only)).get(asked)
        if mine is None:
            pytest.skip(f"nothing of this is asked of what {store.__name__} offers")
        results = [
            result
            for one in mine
            for result in results_of(PROBES[one.probe], adapter, one.subject, place)
        ]
        listed = Known() if self.known is None else known.load(self.known)
        tell(judged(results, listed, whole=False))

    def test_in_any_order(self, store: Any) -> None:
        """Sessions stay apart, whatever is done in a home and in whichever order."""
        hypothesis = pytest.importorskip("hypothesis")
        stateful = pytest.importorskip("conformance.suite.stateful")
        offer = _adapter(store).offers(store.agent)
        if not (offer.write and (offer.read or offer.list)):
            pytest.skip("only what writes, and reads or lists, has many sessions")
        stateful.run_state_machine_as_test(
            stateful.machine(store),
            settings=hypothesis.settings(
                max_examples=self.examples,
                stateful_step_count=10,
                deadline=None,
                suppress_health_check=list(hypothesis.HealthCheck),
            ),
        )


def _adapter(store: Any) -> StoresAdapter:
    return StoresAdapter(store.__name__, {store.agent: store})


@cache
def _place() -> Place:
    return Place(find_corpus(), find_schemas(), Path())


@cache
def _questions(store: Any, only: Sequence[str]) -> dict[Asked, list[Question]]:
    """Return what is asked of a store, by what it is about."""
    found: dict[Asked, list[Question]] = {}
    for one in questions(_adapter(store), [store.agent], only, _place()):
        found.setdefault((one.probe, _topic(one, store.agent)), []).append(one)
    return found


@cache
def _everything() -> dict[Asked, tuple[str | None, Sequence[str]]]:
    """Return what may be asked of any of the reference's stores, with the marks of each."""
    found: dict[Asked, tuple[str | None, Sequence[str]]] = {}
    with open_adapter("entry:reference") as reference:
        for agent in reference.agents():
            for question in questions(reference, [agent], (), _place()):
                asked = (question.probe, _topic(question, agent))
                scenario, kinds = about(question.subject, _place())
                before = found.get(asked, (scenario, ()))
                found[asked] = scenario, tuple(dict.fromkeys((*before[1], *kinds)))
    return dict(sorted(found.items()))


def _topic(question: Question, agent: str) -> str:
    """Return what a question is about, whichever store it is asked of: recordings by scenario."""
    first, *rest = question.subject.name.split("/")
    return rest[1] if first == agent else "/".join(rest[1:])


def _parameter(asked: Asked, marked: tuple[str | None, Sequence[str]]) -> Any:
    scenario, kinds = marked
    marks = [pytest.mark.scenario(name=scenario)] if scenario else []
    marks += [pytest.mark.kind(name=kind) for kind in kinds]
    return pytest.param(asked, id=f"{type(PROBES[asked[0]]).__name__}-{asked[1]}", marks=marks)
