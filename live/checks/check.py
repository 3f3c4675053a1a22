"""A live check: a conversation, how it goes on elsewhere, and what must come of that.

``live/checks/<name>.yaml`` says what happens in the source (a scenario), with values in it that
stand nowhere else; what is asked when the session was moved, which the scripted model answers
from the request alone; and what it must then have said, left in files, or not been shown. Who
moves the session and by which stores is nobody's business here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
import yaml
from msgspec.structs import replace

from live.checks.going_on import Edits, gone_on_with
from live.model.script import Scenario

_CHECKS = Path(__file__).parent
_NUMBERED = re.compile(r"t(\d+)(?:-(.*))?")

Way = Literal["print", "terminal", "picker"]
"""How the moved session is opened: by its id in print mode, by its id at a terminal, or from the
CLI's own list of sessions."""


class CheckError(Exception):
    """A check is not there or says what can't be; the message names it and what to use."""


class Check(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One check, the same for every source and target.

    ``source`` is recorded once in each release of a source; ``then`` is played to whom the
    session was moved. ``says`` are the answers to the turns of ``then``, each word for word.

    ``edits`` is a change that the source is stopped in part-way: these files go along with it,
    and ``then`` begins with going on with them. Else the workspace is a new one, in which nothing
    of the source lies.
    ``holds`` are what files hold afterwards. ``unsaid`` must not stand in any request. ``kept``
    is what the source's CLI must have kept at all: where no byte of its home holds it, nobody can
    move it, and the check is impossible. ``recorded`` must stand in the files that the target's
    CLI is given: for what a model may be shown or not, as the CLI will have it. ``once`` must not
    stand twice in any request, and must stand in those to whom the session comes last.
    ``hops`` is how often the session is moved on, each time gone on with: to its target, to the
    third of the agents and home again; each stop takes a turn of ``then``, the last one all that
    are left. ``starts`` is how often the CLIs of the source and of the target are started
    between the move and going on, for something else.
    """

    name: str
    title: str
    source: Scenario
    then: Scenario
    says: tuple[str, ...] = ()
    edits: Edits | None = None
    holds: dict[str, tuple[str, ...]] = {}
    unsaid: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    way: Way = "print"
    hops: int = 0
    starts: int = 0


def names(directory: Path = _CHECKS) -> tuple[str, ...]:
    """Return the names of all checks, in the order of their numbers."""
    return tuple(sorted((path.stem for path in directory.glob("*.yaml")), key=order))


def selected(wanted: Sequence[str], directory: Path = _CHECKS) -> tuple[str, ...]:
    """Return the checks that are meant: by name, or by number for all of that number.

    All if none is named; :class:`CheckError` if there is no such check.
    """
    there = names(directory)
    found: list[str] = []
    for one in wanted or there:
        meant = [name for name in there if name == one or name.partition("-")[0] == one]
        if not meant:
            raise CheckError(f"no live check {one!r}: use one of {', '.join(there)}")
        found += [name for name in meant if name not in found]
    return tuple(sorted(found, key=order))


def load(name: str) -> Check:
    """Load a check by name; :class:`CheckError` says what is wrong with one that is bad."""
    path = _CHECKS / f"{name}.yaml"
    if not path.is_file():
        raise CheckError(f"no live check {name!r}: use one of {', '.join(names())}")
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
        # What the model says has ids made of the scenario's name: both are in one history.
        for part, called in (("source", name), ("then", f"{name}-then")):
            document[part] = {
                "name": called,
                "revision": 1,
                "title": document["title"],
                **document[part],
            }
        check = msgspec.convert({"name": name, **document}, Check)
    except (KeyError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise CheckError(f"{path.name}: {error}") from error
    if check.edits is None:
        return check
    return replace(check, then=gone_on_with(check.edits, check.then))


def order(name: str) -> tuple[int, str]:
    """Order checks by their numbers."""
    found = _NUMBERED.fullmatch(name)
    return (int(found[1]), found[2] or "") if found else (0, name)
