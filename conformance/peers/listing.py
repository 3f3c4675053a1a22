"""The peers by their files: ``conformance/peers/<name>.toml``, one a tool."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from transcripts.model import KINDS
from transcripts.stores.base import agents

_DIRECTORY = Path(__file__).parent
_BRIDGES = _DIRECTORY / "bridges"
_EXACT = re.compile(r"[0-9][0-9A-Za-z.+-]*")

FIELDS = (
    *("text", "kind", "author", "order", "thread", "strays"),
    *("name", "arguments", "output", "output_extent", "error", "status", "exit_code"),
    *("assets", "opaque", "trigger", "delivery", "superseded", "inherited"),
)
"""In what a message can be wrong, beside its kind: the words of ``not_offered``.

``strays``: words are given that nobody said. ``thread``: what a subagent said is told from the
main conversation; a tool that reads no subagents at all lacks it. ``arguments`` is all that a call
is given: its command, its files, its plan; ``status`` how it ended; ``output_extent`` that its
output was cut.
"""

NOT_OFFERED = frozenset(FIELDS) | {kind.__name__ for kind in KINDS}


class PeerError(Exception):
    """A peer's file is missing or wrong, or it can't be installed; the message says what to do."""


class Offers(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a peer does with one agent's store.

    ``convert`` names the agents into whose stores it converts from this one. A tool with ``totals``
    only counts tokens: its bridge reads a session as one ``Other`` message with ``record`` "totals"
    and the tool's sums in ``usage`` (scope ``session``, accounting ``cumulative``).
    """

    read: bool = False
    write: bool = False
    convert: tuple[str, ...] = ()
    totals: bool = False


class NotOffered(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tool does not give by design: kinds and fields (:data:`NOT_OFFERED`), and why.

    ``why`` tells in our words where the tool says so, or that its output has no place for it.
    ``stores`` are the agents whose sessions it holds for, all if none is named.
    """

    what: tuple[str, ...]
    why: str
    stores: tuple[str, ...] = ()


class Speed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tool's own command that reads a session of Claude Code, to be timed.

    ``{bin}``, ``{file}`` and ``{out}`` (an empty directory) are filled in; ``does`` says what it
    does besides reading.
    """

    does: str
    command: tuple[str, ...]


class Peer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One tool: its package, what of it is asked, and what it does not claim.

    ``python`` is the oldest Python that its package runs on (``ecosystem`` "pypi"), ``node`` the
    oldest major of Node ("npm"). ``packages`` are further ones of the same ecosystem that it needs,
    each as ``name==version`` or ``name@version``. ``bridge`` is the file in ``bridges/``; its
    process has an empty home, no network, and the tool's own commands first on its PATH.
    ``unavailable`` says why nothing of the tool can be run here.
    """

    name: str
    package: str
    version: str = ""
    ecosystem: Literal["pypi", "npm", "none"]
    licence: str
    homepage: str
    language: str
    about: str
    packages: tuple[str, ...] = ()
    python: str = "3.10"
    node: int = 18
    bridge: str = ""
    stores: Mapping[str, Offers] = {}
    not_offered: tuple[NotOffered, ...] = ()
    speed: Speed | None = None
    unavailable: str = ""

    @property
    def bridge_path(self) -> Path:
        """Where its bridge is."""
        return _BRIDGES / self.bridge

    def lacks(self, agent: str) -> Mapping[str, str]:
        """Return what it does not give of an agent's sessions, by design, each with why."""
        return {
            what: one.why
            for one in self.not_offered
            if not one.stores or agent in one.stores
            for what in one.what
        }


def peers(directory: Path = _DIRECTORY) -> tuple[Peer, ...]:
    """Read every peer's file, by name; :class:`PeerError` for one that is not as it must be."""
    return tuple(_load(path) for path in sorted(directory.glob("*.toml")))


def find_peer(name: str, directory: Path = _DIRECTORY) -> Peer:
    """Read the peer of that name; :class:`PeerError` if there is none."""
    path = directory / f"{name}.toml"
    if not path.is_file():
        there = ", ".join(sorted(path.stem for path in directory.glob("*.toml")))
        raise PeerError(f"there is no peer {name!r}: use one of {there}")
    return _load(path)


def _load(path: Path) -> Peer:
    try:
        given: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        peer = msgspec.convert({"name": path.stem, **given}, Peer)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise PeerError(
            f"{path}: {error}; see conformance/peers/listing.py for its form"
        ) from error
    for wrong in _wrong(peer, path.stem, agents()):
        raise PeerError(f"{path}: {wrong}")
    return peer


def _wrong(peer: Peer, stem: str, known: Collection[str]) -> Iterator[str]:
    """Say what is wrong with a peer that its shape does not tell."""
    if peer.name != stem:
        yield f"name is {peer.name!r}, not that of the file"
    if not _EXACT.fullmatch(peer.version) and not (peer.unavailable and not peer.version):
        yield f"version {peer.version!r} is not exact; name one release, such as 1.7.0"
    if peer.unavailable:
        if peer.bridge or peer.speed or peer.stores:
            yield "what is unavailable has no bridge, stores or speed; leave them out"
        return
    if peer.ecosystem == "none":
        yield "it can't be installed, so say why in unavailable"
    if not peer.bridge and peer.speed is None:
        yield "it is neither scored nor timed; name a bridge, or a speed, or say unavailable"
    if bool(peer.bridge) != bool(peer.stores):
        yield "a bridge and stores go together: [stores.AGENT] says what the bridge offers"
    if peer.bridge and not peer.bridge_path.is_file():
        yield f"there is no bridges/{peer.bridge}"
    named = {*peer.stores, *(one for offers in peer.stores.values() for one in offers.convert)}
    named |= {store for one in peer.not_offered for store in one.stores}
    if unknown := sorted(named - set(known)):
        yield f"there is no store of {unknown[0]!r}; use {', '.join(known)}"
    claimed = {what for one in peer.not_offered for what in one.what}
    if unknown := sorted(claimed - NOT_OFFERED):
        yield f"not_offered names {unknown[0]!r}; use {', '.join(sorted(NOT_OFFERED))}"
