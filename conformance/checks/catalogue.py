"""Every check there is, in the order of asking."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import filter as filter_names

from conformance.checks.again import ReadsAfresh, ReadsWhatGrows
from conformance.checks.characters import ReadsEveryCharacter
from conformance.checks.check import Probe
from conformance.checks.converting import ConvertsASession
from conformance.checks.damage import ReadsWhatIsLeft
from conformance.checks.durability import LeavesOnlyTheSession, ListsWhatItWrote
from conformance.checks.going_on import GoesOnWithWhatIsConverted, GoesOnWithWhatIsWritten
from conformance.checks.links import ListsNothingOutside, ReadsNothingOutside
from conformance.checks.listing import ListsTheNewestFirst, ListsWhatIsThere
from conformance.checks.many_sessions import KeepsManySessions, ListsManySessions
from conformance.checks.newer import ReadsWhatIsNew
from conformance.checks.reading import ReadsTheScript, ReadsWithManners
from conformance.checks.round_trips import ReadsWhatItWrote
from conformance.checks.writing import WritesASession

PROBES: tuple[Probe, ...] = (
    ReadsTheScript(),
    ReadsEveryCharacter(),
    ReadsWithManners(),
    ReadsWhatGrows(),
    ReadsAfresh(),
    ReadsNothingOutside(),
    ReadsWhatIsLeft(),
    ReadsWhatIsNew(),
    ListsWhatIsThere(),
    ListsTheNewestFirst(),
    ListsNothingOutside(),
    WritesASession(),
    ReadsWhatItWrote(),
    KeepsManySessions(),
    ListsManySessions(),
    LeavesOnlyTheSession(),
    ListsWhatItWrote(),
    ConvertsASession(),
)

LIVE: tuple[Probe, ...] = (GoesOnWithWhatIsWritten(), GoesOnWithWhatIsConverted())
"""What the real CLIs are asked besides, with ``--live``."""

ASKED: tuple[Probe, ...] = (*PROBES, *LIVE)


def unknown(only: Collection[str]) -> str | None:
    """Return what to say of the first pattern that no check's id matches, None if there is none."""
    there = checks(ASKED)
    odd = next((one for one in only if not filter_names(there, one)), None)
    if odd is None:
        return None
    families = dict.fromkeys(f"{check.partition('.')[0]}.*" for check in there)
    return f"--only {odd}: no check has such a name; there are {', '.join(families)}"


def checks(probes: Sequence[Probe] = PROBES) -> dict[str, str]:
    """Return every check by its id, with its claim in words."""
    return {check: claim for probe in probes for check, claim in probe.checks.items()}


HELD: dict[str, str] = {
    "declared.offers": "what is offered is what adapter.toml says, no less and no more",
    "declared.cannot": "what adapter.toml says is not done would be asked otherwise",
    "declared.skips": "no question is skipped that adapter.toml does not name",
    "declared.losses": "writing loses what adapter.toml says, no more and no less",
    "known.entries": "every entry of a list of failures stands for something that was asked",
}
"""What nobody is asked about, and still may fail: what is declared of an adapter."""


def claims() -> dict[str, str]:
    """Return the claim of everything that results tell of: of checks, then of what is declared."""
    return {**checks(ASKED), **HELD}
