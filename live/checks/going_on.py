"""An agent that goes on with a change to several files, as a script: what it does by what it sees.

Shown that a file is done it looks at the file and leaves it alone, unless that shows otherwise.
What it is not shown it writes, whole, so that whatever was added to the file since is gone: who
hides what was done is betrayed by it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from live.model.script import Command, Given, Response, Scenario


class Edits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change to several files that is stopped part-way.

    ``files`` maps paths to what is written there by who goes on, ``holds`` is what each holds
    that is done, ``marks`` what is added to those that were done before it is gone on.
    """

    files: dict[str, str]
    holds: str
    marks: str


def gone_on_with(edits: Edits, scenario: Scenario) -> Scenario:
    """Return a scenario whose first turn begins with going on with a change."""
    first, *rest = scenario.turns
    turn = replace(first, responses=(*_going_on(edits), *first.responses))
    return replace(scenario, turns=(turn, *rest))


def _going_on(edits: Edits) -> Iterator[Response]:
    for number, (path, content) in enumerate(edits.files.items(), 1):
        look = Command(id=f"look-{number}", run=f"cat {shlex.quote(path)}", stdout=content)
        yield Response(
            text=f"Number {number} seems to be done; I look at it.",
            calls=(look,),
            given=Given(path=path, holds=edits.holds, state="shown"),
        )
        for state in ("hidden", "refuted"):
            yield Response(
                text=f"Number {number} is still to be done ({state}).",
                calls=(_writing(f"write-{state}-{number}", path, content),),
                given=Given(path=path, holds=edits.holds, state=state, check=look.id),
            )


def _writing(call_id: str, path: str, content: str) -> Command:
    """Write a file whole: by a command, which no CLI wants to have read it before."""
    run = f"printf %s {shlex.quote(content)} > {shlex.quote(path)}"
    return Command(id=call_id, run=run)
