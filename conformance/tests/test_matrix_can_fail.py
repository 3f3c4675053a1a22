"""The matrix catches stores that are broken on purpose, each by exactly the cells it breaks."""

from __future__ import annotations

import pytest

from conformance.fakes.stores import FAULTS, ORDER_FAULTS, FaithfulStore, Fault, broken
from conformance.kinds import variants
from conformance.matrix import made_cells

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
