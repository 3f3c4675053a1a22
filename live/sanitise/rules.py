"""What an agent's tables say about its files: which values are words of the format, which are
ids, which were measured. The engine knows nothing of any CLI; these tables do.

``live/agents/<agent>/sanitise.toml`` and ``markers.toml``. A value is named by the end of its
path, dots between keys, list indices left out: ``usage.input_tokens`` names every value that
ends so, ``states.*`` every value right under a ``states``.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec
from semver import Version

TIED_SECONDS = 1.0


class IdRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Values that are ids without looking like UUIDs; ``prefix`` is kept as it is."""

    key: str
    prefix: str = ""


class Floating(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Records whose place among ``among`` is chance; they are put behind them.

    Kinds are values of the record's ``type``. ``where`` is a string of the files that are meant:
    there they are moved before anything is numbered, so that ids and times go with the new order.
    """

    kinds: tuple[str, ...]
    among: tuple[str, ...]
    where: str = ""
    why: str


class Restated(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Records that a CLI writes again and again from a timer, for whoever reads the end alone.

    How often is chance. Of each kind the last one in the file is kept, at its end. ``where`` is a
    string of the files that are meant.
    """

    kinds: tuple[str, ...]
    where: str
    why: str


class Anchored(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Records that name another one and stand somewhere about it: put right behind it.

    ``key`` is where the name stands, ``id`` where the other has it. ``where`` is a string of the
    files that are meant.
    """

    kinds: tuple[str, ...]
    key: str
    id: str
    where: str
    why: str


class Neighbours(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two kinds of record, each pointing at the record before, that come in either order.

    ``id`` and ``parent`` are the keys of a record's id and of its pointer.
    """

    first: str
    second: str
    id: str
    parent: str
    why: str


class Wording(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a CLI measured and put into words: a pattern, and how it is written instead."""

    pattern: str
    becomes: str


class Late(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value that a CLI corrects in memory after its record may have been written.

    Whether the correction got into the file is chance, so the ``early`` value (null where the
    table gives none) is always put there. Releases from ``until`` on write it once, late.
    """

    key: str
    until: str
    early: Any = None


class Ties(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Kinds of record that releases before ``until`` write in one go with the record before.

    Whether the clock has moved on in between is chance. A record further from the one before
    than ``within`` seconds has waited for something, and keeps its own time.
    """

    kinds: tuple[str, ...]
    until: str
    within: float
    why: str


class Chance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Lines of a file that releases before ``until`` write or don't, by chance: left out.

    ``file`` is the file's name, ``lines`` what they begin with.
    """

    file: str
    lines: tuple[str, ...]
    until: str
    why: str


class Together(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Hook events that a CLI starts without waiting for one another, in the order in which they
    are put where they arrive at once. Releases before ``since`` wait."""

    events: tuple[str, ...]
    why: str
    since: str = "0.0.0"


class Marks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What hooks leave in the CLI's own files: see :mod:`live.sanitise.marks`.

    ``start`` and ``end`` are the kinds of record, ``event`` and ``invocation`` keys of their data,
    ``id``, ``parent`` and ``time`` those of every record. ``together`` are events whose hooks leave
    theirs at once.
    """

    start: str
    end: str
    event: str
    invocation: str
    id: str
    parent: str
    time: str
    together: tuple[Together, ...]


class Hooks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an agent tells its hooks: the table of a hook log, beside that of the files.

    ``structural``, ``ids``, ``measured`` and ``emptied`` are as in :class:`Rules`, whose own hold
    too. ``words`` are pieces of paths and other names that stand inside longer texts. ``call``,
    ``tool`` and ``input`` are the keys under which a payload may bear its call's id, tool and
    arguments, ``result`` those under which it bears what came of the call. ``thread`` are the keys
    under which a subagent's payload names it, ``thread_ends`` the events that somebody waits for.
    ``together``: see :class:`Together`. ``begins`` is the event of a CLI's start: agents that begin
    behind it before any call was told warm it up. ``marks``: see :class:`Marks`.
    """

    structural: tuple[str, ...] = ()
    ids: tuple[IdRule, ...] = ()
    measured: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    call: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    input: tuple[str, ...] = ()
    result: tuple[str, ...] = ()
    together: tuple[Together, ...] = ()
    thread: tuple[str, ...] = ()
    thread_ends: tuple[str, ...] = ()
    begins: str = ""
    marks: Marks | None = None


class Rules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One agent's table.

    ``structural``: strings that are words of the format (kept when they are one token).
    ``ids``: see :class:`IdRule`. ``measured``: numbers that the CLI measured, made constant.
    ``emptied``: objects and lists whose contents are the vendor's own and none of the
    format's, kept as empty. ``tied``: kinds of record whose time is that of the record before;
    ``beside``: values that get the time of their record, however much earlier they were taken.
    ``offsets``: numbers that say at which byte of the file their own line begins.
    ``reaches``: numbers that say up to which byte another file is meant, whose id is beside.
    ``apart``: a file holding one of these strings has a clock of its own, because it was
    written beside the conversation in no fixed order. ``floating``: see :class:`Floating`.
    ``neighbours``: see :class:`Neighbours`. ``worded``: see :class:`Wording`. ``drawn``: names
    that the CLI draws by lot, replaced by fixed ones wherever they stand. ``late``: see
    :class:`Late`. ``ties``: see :class:`Ties`. ``restated``: see :class:`Restated`.
    ``anchored``: see :class:`Anchored`. ``begun``: keys of records that bear the time at which
    they were begun, some time before what was written in between; they get the time of the record
    before. ``echoes``: keys of records that repeat the time of an earlier one, or almost.
    ``chance``: see :class:`Chance`. ``hooks``: see :class:`Hooks`. ``marks`` are the hooks' where
    somebody registered any: releases leave some for hooks of their own.
    """

    revision: int
    structural: tuple[str, ...] = ()
    ids: tuple[IdRule, ...] = ()
    measured: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    tied: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    offsets: tuple[str, ...] = ()
    reaches: tuple[str, ...] = ()
    worded: tuple[Wording, ...] = ()
    drawn: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    floating: tuple[Floating, ...] = ()
    late: tuple[Late, ...] = ()
    neighbours: tuple[Neighbours, ...] = ()
    ties: tuple[Ties, ...] = ()
    chance: tuple[Chance, ...] = ()
    restated: tuple[Restated, ...] = ()
    anchored: tuple[Anchored, ...] = ()
    begun: tuple[str, ...] = ()
    echoes: tuple[str, ...] = ()
    hooks: Hooks = Hooks()
    marks: Marks | None = None

    def with_marks(self) -> Rules:
        """Return the table for the files of a run in which hooks were registered.

        Records wait for hooks there: what else is written in one go has times of its own.
        """
        marks = self.hooks.marks
        return self if marks is None else msgspec.structs.replace(self, marks=marks, ties=())

    def of_hooks(self) -> Rules:
        """Return the table by which what hooks are told is cleaned."""
        return msgspec.structs.replace(
            self,
            structural=(*self.structural, *self.hooks.structural, "event"),
            ids=(*self.ids, *self.hooks.ids),
            measured=(*self.measured, *self.hooks.measured),
            emptied=(*self.emptied, *self.hooks.emptied),
        )

    def tied_within(self, kind: str) -> float:
        """Return how many seconds behind the record before a kind still has its time."""
        if kind in self.tied:
            return TIED_SECONDS
        return max((one.within for one in self.ties if kind in one.kinds), default=0.0)


class Marker(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A short wording of the CLI's that a reader needs, and the module that parses it.

    With ``number``, the number behind it is part of what it says; where ``always`` one must be
    there: the words alone say too little to be the CLI's.
    """

    text: str
    parsed_by: str
    number: bool | Literal["always"] = False


@cache
def rules(agent: str, version: str | None = None) -> Rules:
    """Return an agent's table, for one release or for all."""
    text = (files("live.agents") / agent / "sanitise.toml").read_text(encoding="utf-8")
    table = msgspec.convert(tomllib.loads(text), Rules)
    if version is None:
        return table
    release = Version.parse(version)
    late = tuple(one for one in table.late if release < Version.parse(one.until))
    ties = tuple(one for one in table.ties if release < Version.parse(one.until))
    chance = tuple(one for one in table.chance if release < Version.parse(one.until))
    hooks = _hooks_of(table.hooks, release)
    return msgspec.structs.replace(table, late=late, ties=ties, chance=chance, hooks=hooks)


def _hooks_of(hooks: Hooks, release: Version) -> Hooks:
    def at_once(together: tuple[Together, ...]) -> tuple[Together, ...]:
        return tuple(one for one in together if release >= Version.parse(one.since))

    marks = hooks.marks
    if marks is not None:
        marks = msgspec.structs.replace(marks, together=at_once(marks.together))
    return msgspec.structs.replace(hooks, together=at_once(hooks.together), marks=marks)


@cache
def markers(agent: str) -> tuple[Marker, ...]:
    """Return the functional wordings that an agent's recordings may hold."""
    text = (files("live.agents") / agent / "markers.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text).get("marker", []), tuple[Marker, ...])


def named(path: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Return whether a value's path ends in one of the names."""
    dotted, above = "." + ".".join(path), "." + ".".join(path[:-1])
    return any(
        above.endswith("." + name[:-2]) if name.endswith(".*") else dotted.endswith("." + name)
        for name in names
    )
