"""The questions of a test run: put to one adapter, opened once in each process."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from conformance.adapters import Adapter, TransportFault, open_adapter
from conformance.adapters.errors import UnknownAdapter
from conformance.checks.catalogue import PROBES, claims
from conformance.checks.check import Place, Result, Subject
from conformance.checks.known import Known, judged
from conformance.checks.running import Question, questions, results_of
from conformance.corpus import load_case


class Asking:
    """An adapter that is opened when first needed, and what it is asked.

    The same adapter tells at collection what it offers and answers the tests: a program is
    started once in each process of a run.
    """

    def __init__(
        self,
        name: str,
        place: Place,
        stores: Collection[str] = (),
        only: Collection[str] = (),
        known: Known | None = None,
    ) -> None:
        self.name = name
        self.place = place
        self._stores, self._only = stores, only
        self._known = known or Known()
        self._open = ExitStack()
        self._adapter: Adapter | None = None

    @property
    def adapter(self) -> Adapter:
        """The adapter, open; :class:`pytest.UsageError` if it can't be asked at all."""
        if self._adapter is None:
            try:
                self._adapter = self._open.enter_context(open_adapter(self.name))
                self._adapter.agents()
            except (UnknownAdapter, TransportFault) as error:
                raise pytest.UsageError(f"--adapter {error}") from error
        return self._adapter

    def questions(self) -> Iterator[Question]:
        """Yield what is asked, in the order of asking."""
        agents = [one for one in self.adapter.agents() if not self._stores or one in self._stores]
        yield from questions(self.adapter, agents, self._only, self.place)

    def ask(self, question: Question) -> Sequence[Result]:
        """Ask one question; what is listed as known is told as that."""
        probe = PROBES[question.probe]
        results = results_of(probe, self.adapter, question.subject, self.place)
        return judged(results, self._known, whole=False)

    def close(self) -> None:
        """End the adapter; an error if it does not end well."""
        self._adapter = None
        self._open.close()

    def lent(self) -> Generator[Asking, None, None]:
        """Lend this to tests and end the adapter behind the last."""
        yield self
        self.close()


ASKING = pytest.StashKey[Asking]()


def parameter(question: Question, place: Place) -> object:
    """Return a question as a test's parameter: named by what it asks, marked by what about."""
    subject = question.subject
    marks = [pytest.mark.store(agent=subject.agent)]
    scenario, kinds = about(subject, place)
    if scenario is not None:
        marks.append(pytest.mark.scenario(name=scenario))
    marks += [pytest.mark.kind(name=kind) for kind in kinds]
    probe = type(PROBES[question.probe]).__name__
    return pytest.param(question, id=f"{probe}-{subject.name}", marks=marks)


def about(subject: Subject, place: Place) -> tuple[str | None, Sequence[str]]:
    """Return the scenario of a recording that is asked about, and the kinds of its messages."""
    parts = subject.name.split("/")
    if parts[0] == "made":
        return None, (parts[2],)
    if len(parts) > 2 and (place.corpus / Path(*parts[:3]) / "case.json").is_file():
        return parts[2], _kinds(place.corpus / Path(*parts[:3]), place.corpus)
    return None, ()


@cache
def _kinds(directory: Path, corpus: Path) -> Sequence[str]:
    truth = load_case(directory, corpus).truth
    return tuple(dict.fromkeys(values["kind"] for values in truth.messages))


def tell(results: Sequence[Result]) -> None:
    """Pass, fail, expect to fail or skip a test by its results, with every reason in words."""
    failed = [one for one in results if one.verdict == "failed"]
    known = [one for one in results if one.verdict in ("known", "flaky")]
    if failed:
        pytest.fail("\n".join(_told(failed)), pytrace=False)
    if known:
        pytest.xfail("; ".join(f"{one.check}: {one.why}" for one in known))
    if results and all(one.verdict == "skipped" for one in results):
        pytest.skip("; ".join(dict.fromkeys(one.why for one in results)))


def _told(failed: Sequence[Result]) -> Iterator[str]:
    """Yield what failed, subjects that fail alike together, each time with the claim."""
    alike: dict[tuple[str, str], list[str]] = {}
    claimed = claims()
    for one in failed:
        alike.setdefault((one.check, one.why), []).append(one.case)
    for (check, why), cases in alike.items():
        more = f" and {len(cases) - 1} more" if len(cases) > 1 else ""
        yield f"{check} of {cases[0]}{more}: {why}"
        yield f"    what must hold: {claimed.get(check, check)}"
