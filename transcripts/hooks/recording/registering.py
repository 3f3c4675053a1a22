"""Our entries among others' hooks: put into a configuration, found there, taken out again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from transcripts.errors import UnreadableConfig
from transcripts.hooks.recording import jsonc
from transcripts.hooks.recording.harnesses import HARNESSES, Harness
from transcripts.hooks.recording.recorder import recorder_in

_COMMANDS = {harness.command_key for harness in HARNESSES.values()}
_BLANK = "\ufeff \t\r\n"
_LEFT_ALONE = "nothing was changed; mend it and try again"


class Insertions(msgspec.Struct, frozen=True, kw_only=True):
    """A text with our entries: ``pieces`` are what was put into it, one after the other, and
    ``created`` the members that they needed (``hooks/Stop``)."""

    text: str
    pieces: tuple[jsonc.Insertion, ...]
    created: tuple[str, ...]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of a recorder of ours: the largest item that holds nothing else, and its place.

    ``recorder`` is the file that it runs.
    """

    event: str
    command: str
    recorder: str
    container: jsonc.Value
    item: jsonc.Item


class Config:
    """The text of one configuration file; UnreadableConfig names its ``path`` and the place."""

    def __init__(self, text: str, path: Path) -> None:
        self.text = text
        self.path = path

    @classmethod
    def of(cls, data: bytes, path: Path) -> Config:
        """Return the configuration that some bytes are."""
        try:
            return cls(data.decode("utf-8"), path)
        except UnicodeDecodeError as error:
            raise UnreadableConfig(
                "not UTF-8", path=path, offset=error.start, next_step=_LEFT_ALONE
            ) from None

    def entries(self) -> Iterator[Entry]:
        """Yield every entry that runs a recorder of ours, whoever registered it."""
        hooks = self._hooks() if self.text.strip(_BLANK) else None
        for listed in (hooks.items or ()) if hooks is not None else ():
            for item in (listed.value.items or ()) if listed.value.array else ():
                group = self._member(item.value, "hooks") if item.value.is_object else None
                if group is None:
                    yield from _entry(listed, listed.value, item, item)
                    continue
                inner = group.value.items or ()
                for hook in inner:
                    # A group that holds nothing else goes with its hook.
                    whole = len(inner) == 1
                    container = listed.value if whole else group.value
                    yield from _entry(listed, container, item if whole else hook, hook)

    def registered(self, recorder: Path) -> dict[str, str]:
        """Return the command of a recorder by event; several of one event are joined."""
        found: dict[str, str] = {}
        for entry in self.entries():
            if entry.recorder == str(recorder):
                before = found.get(entry.event)
                found[entry.event] = f"{before}\n{entry.command}" if before else entry.command
        return found

    def recorders(self) -> set[str]:
        """Return every recorder of ours that is run."""
        return {entry.recorder for entry in self.entries()}

    def switched_off(self) -> bool:
        """Whether the file itself says that no hook is run."""
        found = self._member(self._root(), "disableAllHooks")
        return found is not None and found.value.plain is True

    def with_entries(self, harness: Harness, commands: Mapping[str, str]) -> Insertions:
        """Return the text with an entry for each event, behind those that are there."""
        if not self.text.strip(_BLANK):
            piece = new_text(harness, commands)
            whole = jsonc.Insertion(at=len(self.text), text=piece)
            return Insertions(text=self.text + piece, pieces=(whole,), created=made(commands))
        pieces: list[jsonc.Insertion] = []
        created: list[str] = []
        config = self
        for event, line in commands.items():
            hooks = config._hooks()
            listed = None if hooks is None else config._member(hooks, event)
            entry = harness.entry(line)
            if hooks is None:
                new = jsonc.append(config.text, config._root(), {event: [entry]}, "hooks")
                created += ["hooks", f"hooks/{event}"]
            elif listed is None:
                new = jsonc.append(config.text, hooks, [entry], event)
                created.append(f"hooks/{event}")
            elif listed.value.array:
                new = jsonc.append(config.text, listed.value, entry)
            else:
                raise config._unreadable(f"the hooks of {event} are no list", listed.start)
            config = Config(jsonc.insert(config.text, new), self.path)
            # Counted from now on in the text that has those before them.
            shift = 0
            for piece in new:
                pieces.append(jsonc.Insertion(at=piece.at + shift, text=piece.text))
                shift += len(piece.text)
        return Insertions(text=config.text, pieces=tuple(pieces), created=tuple(created))

    def without_entries(self, recorder: Path, created: tuple[str, ...]) -> Config:
        """Return the text without a recorder's entries and without the members that were
        ``created`` for them and hold nothing else."""
        config = self
        while True:
            ours = (one for one in config.entries() if one.recorder == str(recorder))
            entry = next(ours, None)
            if entry is None:
                break
            config = Config(jsonc.remove(config.text, entry.container, entry.item), self.path)
        for path in sorted(created, key=lambda one: -one.count("/")):
            config = config._without_empty(path.split("/"))
        return config

    def says_nothing(self) -> bool:
        """Whether nobody has put anything into a file that was ours."""
        only = {item.key for item in self._root().items or ()} <= {"version"}
        return only and "//" not in self.text and "/*" not in self.text

    def _without_empty(self, path: list[str]) -> Config:
        container = self._root()
        *outer, last = path
        for key in outer:
            item = self._member(container, key)
            container = container if item is None else item.value
        item = self._member(container, last)
        if item is None or item.value.items != ():
            return self
        return Config(jsonc.remove(self.text, container, item), self.path)

    def _hooks(self) -> jsonc.Value | None:
        found = self._member(self._root(), "hooks")
        if found is not None and not found.value.is_object:
            raise self._unreadable("its hooks are no object", found.start)
        return found.value if found is not None else None

    def _root(self) -> jsonc.Value:
        try:
            root = jsonc.scan(self.text)
        except jsonc.Malformed as error:
            raise self._unreadable(f"not JSON: {error.why}", error.offset) from None
        if not root.is_object:
            raise self._unreadable("it is no object", root.start)
        return root

    def _member(self, value: jsonc.Value, key: str) -> jsonc.Item | None:
        try:
            return value.member(key)
        except jsonc.Malformed as error:
            raise self._unreadable(error.why, error.offset) from None

    def _unreadable(self, why: str, at: int) -> UnreadableConfig:
        return UnreadableConfig(
            why,
            path=self.path,
            line=self.text.count("\n", 0, at) + 1,
            offset=len(self.text[:at].encode("utf-8")),
            next_step=_LEFT_ALONE,
        )


def new_text(harness: Harness, commands: Mapping[str, str]) -> str:
    """Return the text of a file that holds our entries and nothing else."""
    entries = {event: [harness.entry(line)] for event, line in commands.items()}
    return jsonc.document({**harness.beside, "hooks": entries})


def made(commands: Mapping[str, str]) -> tuple[str, ...]:
    """Return the members that come to be with :func:`new_text`."""
    return ("hooks", *(f"hooks/{event}" for event in commands))


def taken_back(text: str, pieces: tuple[jsonc.Insertion, ...]) -> str:
    """Return what a text was before pieces were put into it, one after the other."""
    for piece in reversed(pieces):
        text = text[: piece.at] + text[piece.at + len(piece.text) :]
    return text


def _entry(
    listed: jsonc.Item, container: jsonc.Value, item: jsonc.Item, hook: jsonc.Item
) -> Iterator[Entry]:
    for member in hook.value.items or ():
        line: Any = member.value.plain if member.key in _COMMANDS else None
        recorder = recorder_in(line) if isinstance(line, str) else None
        if recorder is not None:
            yield Entry(
                event=listed.key or "",
                command=line,
                recorder=recorder,
                container=container,
                item=item,
            )
