"""Every check is failed by an adapter broken on purpose, and by exactly the subjects it breaks."""

from __future__ import annotations

import shutil

import pytest

from conformance.checks.catalogue import PROBES, checks
from conformance.checks.check import Place
from conformance.checks.running import results_of
from conformance.corpus import find_corpus, find_schemas, releases
from conformance.fakes import adapters as fakes
from conformance.fakes.adapters import Fake

AGENT = "codex"
"""Whose store the fakes are asked about: what they sin in is the same in all of them."""

COMMANDS = {"command-ok", "command-fails", "subagent"}
SCENARIOS = {"plain-exchange", "image-in", "rewind", *COMMANDS}
DAMAGED = {f"command-ok/{kind}" for kind in ("torn-tail", "junk-line", "nul-line")}
RECORD = {f"{scenario}/unknown-record" for scenario in SCENARIOS}
FIELD = {f"{scenario}/unknown-field" for scenario in SCENARIOS}
FAILING = "CommandExecution/exit-three"
MADE = {"UserMessage/plain", FAILING}

FAILS: dict[type[Fake], dict[str, set[str]]] = {
    Fake: {},
    fakes.ReadsNothing: {
        "read.answers": SCENARIOS,
        "read.again": SCENARIOS,
        "damage.recovered": DAMAGED,
        "forward.answers": RECORD | FIELD,
        "round-trip.answers": MADE,
    },
    fakes.DropsAnswers: {"read.messages": SCENARIOS, "round-trip.kept": MADE},
    fakes.TellsTwice: {"read.messages": SCENARIOS, "round-trip.kept": MADE},
    fakes.AnswersByItself: {"read.messages": SCENARIOS, "round-trip.nothing-added": MADE},
    fakes.PutsTheEndFirst: {"read.order": SCENARIOS, "round-trip.kept": MADE},
    # What a harness put into the person's place is then said by nobody in the script.
    fakes.TakesThePersonForTheModel: {
        "read.authors": SCENARIOS,
        "read.messages": SCENARIOS,
        "round-trip.kept": MADE,
    },
    # Words that are cut are others: the ones are gone, the others were not sent.
    fakes.TrimsWords: {
        "read.texts": SCENARIOS,
        "round-trip.kept": MADE,
        "round-trip.nothing-added": MADE,
    },
    fakes.ChangesCommands: {"read.calls": COMMANDS, "round-trip.kept": {FAILING}},
    fakes.EmptiesResults: {"read.results": COMMANDS, "round-trip.kept": {FAILING}},
    fakes.DropsExitCodes: {"read.exit-codes": COMMANDS, "round-trip.kept": {FAILING}},
    fakes.CallsEverythingCompleted: {
        "read.statuses": {"command-fails"},
        "round-trip.kept": {FAILING},
    },
    fakes.ForgetsWhatWasTakenBack: {"read.circumstances": {"rewind"}},
    fakes.DropsPictures: {"read.attachments": {"image-in"}},
    fakes.TakesTheHarnessForThePerson: {"read.harness": SCENARIOS},
    # A command's own directory is told against the session's.
    fakes.NamesAnotherDirectory: {
        "read.session": SCENARIOS,
        "round-trip.session": MADE,
        "round-trip.kept": {FAILING},
    },
    fakes.GivesRandomIds: {"read.repeatable": SCENARIOS},
    fakes.TouchesWhatItReads: {"read.untouched": SCENARIOS},
    fakes.ReadsAnySession: {"read.stranger": SCENARIOS},
    # A subagent has a session of its own beside its parent's, in one recording.
    fakes.LeaksAnotherSession: {"read.own": SCENARIOS, "read.messages": {"subagent"}},
    fakes.ReadsOverDamage: {"damage.refused": DAMAGED},
    fakes.NeverRecovers: {"damage.recovered": DAMAGED},
    fakes.HidesDamage: {"damage.told": DAMAGED},
    fakes.ReturnsHalfAFile: {"damage.rest": DAMAGED},
    fakes.StumblesOverWhatIsNew: {"forward.answers": RECORD | FIELD},
    fakes.StopsAtAnUnknownRecord: {"forward.record": RECORD},
    fakes.DropsRecordsWithUnknownFields: {"forward.field": FIELD},
    fakes.ListsNothing: {"list.answers": SCENARIOS},
    fakes.ListsTwice: {"list.sessions": SCENARIOS},
    fakes.ListsNoDirectory: {"list.facts": SCENARIOS},
    fakes.ListsEveryDirectory: {"list.directory": SCENARIOS},
    fakes.CountsTooMuch: {"list.counts": SCENARIOS},
    fakes.HidesWhatFailed: {"list.damaged": SCENARIOS},
    fakes.StopsListingAtDamage: {"list.damaged": SCENARIOS},
    fakes.TouchesWhatItLists: {"list.untouched": SCENARIOS},
    fakes.WritesNothing: {"write.answers": MADE, "round-trip.answers": MADE},
    fakes.SwallowsResults: {"write.words": {FAILING}, "round-trip.kept": {FAILING}},
    fakes.WritesTheEndFirst: {"write.order": MADE, "round-trip.kept": MADE},
    # Empty lists hold no words that could be lost.
    fakes.WritesListsAsObjects: {"write.records": MADE},
    fakes.TouchesAnotherSession: {"write.new": MADE},
    fakes.StampsTheClock: {"write.repeatable": MADE},
    fakes.OverwritesWhatIsThere: {"write.occupied": MADE},
    fakes.ReadsNothingItWrote: {"round-trip.answers": MADE},
}
"""What each broken adapter must fail, and nothing else: the check, and on which subjects."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A corpus of a few recordings and made conversations, in which every check is at stake."""
    whole, small = find_corpus(), tmp_path_factory.mktemp("corpus")
    for scenario in SCENARIOS:
        name = f"{AGENT}/{releases(whole, AGENT)[-1]}/{scenario}"
        shutil.copytree(whole / name, small / name)
    return Place(small, find_schemas(), tmp_path_factory.mktemp("scratch"), made=tuple(MADE))


def _short(subject: str) -> str:
    """Return a subject without what is the same in all of them."""
    return subject.split("/", 2)[2]


@pytest.mark.parametrize("fake", FAILS, ids=lambda fake: fake.__name__)
def test_a_broken_adapter_fails_exactly_what_it_breaks(fake: type[Fake], place: Place) -> None:
    adapter = fake()
    failed: dict[str, set[str]] = {}
    for probe in PROBES:
        for subject in probe.subjects(place, AGENT):
            for result in results_of(probe, adapter, subject, place):
                if result.verdict == "failed":
                    failed.setdefault(result.check, set()).add(_short(result.case))
    assert failed == FAILS[fake]


def test_no_check_is_dead() -> None:
    failed = {check for fails in FAILS.values() for check in fails}
    assert failed == set(checks())


def test_every_broken_adapter_is_asked() -> None:
    there = {
        one
        for one in vars(fakes).values()
        if isinstance(one, type) and issubclass(one, Fake) and not one.__name__.startswith("_")
    }
    assert there == set(FAILS)
