"""The newest release of each CLI resumes what every writer makes, with the whole history."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.corpus import find_corpus, releases
from conformance.crossing import all_stores
from conformance.matrix import check, recorded
from conformance.verdicts import load_floor
from conformance.witnesses import made_conversation, recorded_conversation, witness_cells
from transcripts.stores.base import agents

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]


@pytest.mark.parametrize("agent", agents())
def test_the_cli_resumes_every_direction_and_the_model_is_shown_it(
    agent: str, tmp_path: Path
) -> None:
    from conformance.gathering import gather_release

    corpus, stores = find_corpus(), all_stores()
    directions = [
        made_conversation(),
        *(
            recorded_conversation(one.agent, one.release, one.read, one.forgotten)
            for one in recorded(corpus, stores)
        ),
    ]
    newest = releases(corpus, agent)[-1]
    gather_release(agent, newest, directions, stores, lambda _: None, tmp_path)
    cells = list(witness_cells(directions, {agent: stores[agent]}, tmp_path))
    assert cells
    under = [f"{cell.name}: {why}: {cell.why}" for cell, why in check(cells, load_floor())]
    assert under == []
