"""What a release's recordings say against the vendor's own schema, taken from the release.

One more witness: where the two disagree it is the vendor's file that breaks the vendor's schema,
and no reader or writer of ours. The schema is asked where it lies, never copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from conformance.corpus import Case
from live.agents.base import find_driver
from live.releases import install
from live.witnesses import codex_items, copilot_events
from live.witnesses.base import Witness

_SCHEMAS: Mapping[str, Witness] = {
    "codex": codex_items.WITNESS,
    "copilot": copilot_events.WITNESS,
}


def against_the_vendor(agent: str, version: str, cases: Mapping[str, Case]) -> Iterator[str]:
    """Yield where an installed release's recordings break its own schema, each place once."""
    witness = _SCHEMAS.get(agent)
    if witness is None or not witness.offered(version):
        return
    driver = find_driver(agent, version)
    release = install(agent, driver.package, version)
    told: set[tuple[str, str, str]] = set()
    for name, case in sorted(cases.items()):
        said = witness(driver, release, case.home, case.facts.session_id)
        for one in said.disagreements:
            if one.place not in told:
                told.add(one.place)
                yield f"{one.kind}#{one.pointer}: {one.rule}: {one.why} (in {name})"
