"""Whether a release resumes what our writers make, asked of the release itself."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from conformance.crossing import all_stores
from conformance.gathering import gather_release
from conformance.matrix import Tick, check, recorded
from conformance.verdicts import load_floor
from conformance.witnesses import made_conversation, recorded_conversation, witness_cells


def not_resumed(agent: str, release: str, corpus: Path, tick: Tick) -> Iterator[str]:
    """Yield what a release, installed here, does not take of our writer's files."""
    stores = all_stores()
    directions = [
        made_conversation(),
        *(
            recorded_conversation(one.agent, one.release, one.read, one.forgotten)
            for one in recorded(corpus, stores)
        ),
    ]
    with tempfile.TemporaryDirectory(prefix="drift-witnesses-") as temporary:
        directory = Path(temporary)
        gather_release(agent, release, directions, stores, tick, directory)
        cells = list(witness_cells(directions, {agent: stores[agent]}, directory))
    for cell, why in check(cells, load_floor()):
        yield f"writing {cell.name} ({cell.witness}): {why}"
