"""The matrix catches stores that are broken on purpose, each by exactly the cells it breaks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest
from msgspec.structs import replace

from conformance.fakes.stores import FAULTS, ORDER_FAULTS, FaithfulStore, Fault, broken
from conformance.kinds import variants
from conformance.matrix import made_cells
from transcripts.errors import UnwritableSession
from transcripts.losses import Loss
from transcripts.model import (
    AnyMessage,
    Error,
    FileChange,
    Other,
    ToolCall,
    Transcript,
    UserQuestion,
    WebSearch,
)

# Crossing twice needs a second store; here there is one.
VARIANTS = [variant for variant in variants() if not variant.crosses]


def _defects(store: type[FaithfulStore]) -> set[str]:
    return {
        f"{cell.kind}/{cell.variant}"
        for cell in made_cells({"faithful": store})
        if cell.verdict in ("lost", "stale", "refused")
    }


def test_a_faithful_store_loses_nothing() -> None:
    wrong = [
        (cell.name, cell.verdict, cell.why)
        for cell in made_cells({"faithful": FaithfulStore})
        if cell.verdict != "exact" and cell.losses != ("replacement-character",)
    ]
    assert wrong == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_caught_by_exactly_the_cells_it_touches(fault: Fault) -> None:
    touched = {
        f"{variant.kind}/{variant.name}"
        for variant in VARIANTS
        if any(fault.caught_by(message) for message in variant.subjects)
    }
    assert touched
    assert _defects(broken("Broken", fault.spoil)) == touched


@pytest.mark.parametrize("name", ORDER_FAULTS)
def test_a_fault_of_order_or_number_is_caught(name: str) -> None:
    spoil, caught_by = ORDER_FAULTS[name]
    assert _defects(broken("Broken", spoil)) == caught_by


def _verdicts(store: type[FaithfulStore]) -> dict[str, str]:
    return {f"{cell.kind}/{cell.variant}": cell.verdict for cell in made_cells({"faithful": store})}


def test_a_loss_that_is_declared_and_none_is_stale() -> None:
    class Modest(FaithfulStore):
        def losses(self, transcript: Transcript) -> tuple[Loss, ...]:
            return (
                *super().losses(transcript),
                *(
                    Loss(loss="structured-as-text", message=message.id)
                    for message in transcript.messages
                    if isinstance(message, ToolCall)
                ),
            )

    found = _verdicts(Modest)
    # Of a JSON result it would have been true, had the store not kept it.
    assert {key for key, verdict in found.items() if verdict == "stale"} == {
        f"{variant.kind}/{variant.name}" for variant in VARIANTS if variant.kind == "ToolCall"
    }


def test_a_loss_declared_for_one_message_excuses_no_other() -> None:
    class Partial(FaithfulStore):
        def spoilt(self, messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
            return [m for m in messages if not isinstance(m, Error | Other)]

        def losses(self, transcript: Transcript) -> tuple[Loss, ...]:
            return (
                *super().losses(transcript),
                *(
                    Loss(loss="withheld-error", message=message.id)
                    for message in transcript.messages
                    if isinstance(message, Error | Other)
                ),
            )

    found = _verdicts(Partial)
    assert found["Error/recovered"] == found["Error/final"] == "withheld"
    assert found["Other/record"] == "lost"


def test_a_writer_that_refuses_or_crashes_fails_its_own_cells_only() -> None:
    class Particular(FaithfulStore):
        def spoilt(self, messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
            if any(isinstance(message, WebSearch) for message in messages):
                raise UnwritableSession("no searches here")
            if any(isinstance(message, UserQuestion) for message in messages):
                raise ZeroDivisionError
            return messages

    found = _verdicts(Particular)
    wrong = {key: verdict for key, verdict in found.items() if verdict in ("refused", "lost")}
    assert wrong == {
        f"{variant.kind}/{variant.name}": "refused" if variant.kind == "WebSearch" else "lost"
        for variant in VARIANTS
        if variant.kind in ("WebSearch", "UserQuestion")
    }


def test_an_edit_that_crosses_twice_is_lost_by_whichever_store_forgets_it() -> None:
    forgetful = broken("Forgetful", _without_paths)
    cells = {
        (cell.store, cell.variant): cell.verdict
        for cell in made_cells({"good": FaithfulStore, "bad": forgetful})
        if cell.variant.startswith("crossing")
    }
    assert cells == {("good", "crossing-via-bad"): "lost", ("bad", "crossing-via-good"): "lost"}


def _without_paths(messages: Sequence[AnyMessage]) -> Iterable[AnyMessage]:
    for message in messages:
        yield replace(message, changes=()) if isinstance(message, FileChange) else message
