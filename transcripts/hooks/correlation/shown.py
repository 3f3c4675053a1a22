"""What an event shows of itself on each layer, ready to be weighed.

A call shows its layers below through its arguments: a shell tool the command, a file tool the
path.
"""

from __future__ import annotations

import re

import msgspec

from transcripts.hooks.correlation.canonical import canonical_input
from transcripts.hooks.correlation.evidence import Values, command_key, said
from transcripts.hooks.correlation.matching import Item
from transcripts.hooks.correlation.paths import same_file_key
from transcripts.hooks.dialects.base import Dialect
from transcripts.hooks.events import HookEvent, Layer


class Arguments(msgspec.Struct, kw_only=True):
    """The arguments of a call that tell what it works on; None where it has no such one."""

    command: str | None = None
    working_directory: str | None = None
    cwd: str | None = None
    sandbox: bool | None = None
    file_path: str | None = None
    path: str | None = None
    filePath: str | None = None
    notebook_path: str | None = None
    target_notebook: str | None = None
    patch: str | None = None
    skill: str | None = None
    skillName: str | None = None
    skill_name: str | None = None

    def file(self, fields: tuple[str, ...]) -> str | None:
        """Return the first of the named arguments that says something."""
        for name in fields:
            value = getattr(self, name, None)
            if value and value.strip():
                return value
        return None


_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)


def patched_files(told: Arguments) -> list[str]:
    """Return the files that a patch names, in its order; none if there is no patch."""
    return _PATCHED.findall(told.patch or told.command or "")


_NONE = Arguments()
_decode = msgspec.json.Decoder(Arguments).decode
_as_text = msgspec.json.Decoder(str).decode
_as_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def arguments(raw: bytes) -> Arguments:
    """Return what a call's input says, whether it is an object or an object in a string.

    An argument of an odd type is none; an input that is no object has none.
    """
    if not raw:
        return _NONE
    try:
        if raw[:1] == b'"':
            text = _as_text(raw)
            if not text.lstrip().startswith("{"):
                # A tool may take free text: a patch.
                return Arguments(patch=text)
            raw = text.encode()
        return _decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return _one_by_one(raw)


def _one_by_one(raw: bytes) -> Arguments:
    found = Arguments()
    try:
        values = _as_fields(raw)
    except (msgspec.DecodeError, RecursionError):
        return found
    for field in msgspec.structs.fields(Arguments):
        try:
            value = msgspec.json.decode(values.get(field.name, b"null"), type=field.type)
        except (msgspec.DecodeError, RecursionError):
            continue
        setattr(found, field.name, value)
    return found


def requested_item(event: HookEvent, dialect: Dialect) -> Item:
    """Return a call's start, or a request for permission, as what it is about.

    A request may say the command or the file alone, and add to it or leave away what does not
    matter to who is asked: only where neither is shown the whole input is compared.
    """
    told = arguments(bytes(event.input))
    command = command_key(told.command)
    path = None if command else _path(told.file(dialect.path_fields) or _only(told))
    whole = None if command or path else canonical_input(bytes(event.input))
    verb = dialect.verb(event.tool)
    what = verb if dialect.asks == "verb" and verb != "other" else event.tool
    return Item(line=event.line, gate=(what, event.agent or None), values=(command, path, whole))


def _only(told: Arguments) -> str | None:
    """Return the file of a patch that is of one file."""
    files = patched_files(told)
    return files[0] if len(files) == 1 else None


def layer_item(event: HookEvent, layer: Layer) -> Item:
    """Return a shell, MCP or file event as it is told from others of its layer."""
    if layer == "shell":
        values = _shell_values(event.command, event.cwd, event.sandbox)
        return Item(line=event.line, gate=layer, values=values)
    if layer == "mcp":
        return Item(line=event.line, gate=layer, values=_mcp_values(event, event.tool))
    verb = "read" if event.kind == "file-before" else "edit"
    return Item(line=event.line, gate=verb, values=(_path(event.path),))


def owner_item(event: HookEvent, layer: Layer, dialect: Dialect) -> Item:
    """Return a call as what the layer below it shows of it."""
    if layer == "mcp":
        name = (event.tool or "").removeprefix(dialect.mcp_prefix)
        return Item(line=event.line, gate=layer, values=_mcp_values(event, name))
    told = arguments(bytes(event.input))
    if layer == "shell":
        where = said(told.working_directory) or said(told.cwd) or event.cwd
        sandbox = told.sandbox if event.sandbox is None else event.sandbox
        values = _shell_values(event.command or told.command, where, sandbox)
        return Item(line=event.line, gate=layer, values=values)
    path = said(event.path) or told.file(dialect.path_fields)
    return Item(line=event.line, gate=dialect.verb(event.tool), values=(_path(path),))


def _shell_values(command: str | None, cwd: str | None, sandbox: bool | None) -> Values:
    return (command_key(command), _path(cwd), sandbox)


def _mcp_values(event: HookEvent, name: str | None) -> Values:
    return (
        canonical_input(bytes(event.input)),
        said(event.server),
        said(event.url),
        said(name),
        command_key(event.command),
    )


def _path(path: str | None) -> str | None:
    told = said(path)
    return None if told is None else same_file_key(told)
