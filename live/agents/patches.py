"""Edits in the language of ``apply_patch``, which takes whole lines only.

Codex has it for all models, Copilot for the Codex ones. A patch quotes the file it changes:
a fragment of a line becomes the whole line, and a patch that only moves a file must still
quote one of its lines ("Update file hunk is empty" otherwise). So the content of every file
at the moment of a call is worked out from the scenario itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from live.agents.base import CannotDo
from live.model.script import Call, Create, Delete, Rename, Response, Scenario, Spawn, Update

_BEGIN = "*** Begin Patch\n"
_END = "*** End Patch\n"


def files_before(scenario: Scenario, call_id: str) -> dict[str, str]:
    """Return the workspace's files and their content when a call is made; KeyError if it isn't.

    Calls take effect in the order in which the scenario tells them, a subagent's within the
    call that spawns it.
    """
    files = dict(scenario.workspace)
    for call in _calls(response for turn in scenario.turns for response in turn.responses):
        if call.id == call_id:
            return files
        match call:
            case Create():
                files[call.path] = call.content
            case Update(fails=False) if call.path in files:
                files[call.path] = files[call.path].replace(call.old, call.new, 1)
            case Delete():
                files.pop(call.path, None)
            case Rename() if call.path in files:
                files[call.to] = files.pop(call.path)
            case _:
                pass
    raise KeyError(call_id)


def _calls(responses: Iterator[Response]) -> Iterator[Call]:
    for response in responses:
        for call in response.calls:
            yield call
            if isinstance(call, Spawn):
                yield from _calls(iter(call.responses))


def create(call: Create) -> str:
    """Return the patch that adds a file."""
    if not call.content.endswith("\n"):
        raise CannotDo("apply_patch ends every file that it adds with a newline")
    return f"{_BEGIN}*** Add File: {call.path}\n{_marked('+', call.content)}{_END}"


def update(call: Update, content: str | None) -> tuple[str, str, str]:
    """Return the patch that replaces a fragment, and the text of its lines before and after.

    The texts come without the last line's newline, as a reader finds them in a patch. A
    fragment that the file lacks, or has twice, is put as it stands.
    """
    if content is None or content.count(call.old) != 1:
        before, after = call.old, call.new
    else:
        before, after = _whole_lines(content, call.old, call.new)
    hunk = _marked("-", before) + (_marked("+", after) if after else "")
    patch = f"{_BEGIN}*** Update File: {call.path}\n@@\n{hunk}{_END}"
    return patch, before.removesuffix("\n"), after.removesuffix("\n")


def _whole_lines(content: str, old: str, new: str) -> tuple[str, str]:
    """Widen a replacement to the whole lines it touches, newline included."""
    at = content.index(old)
    start = content.rfind("\n", 0, at) + 1
    end = at + len(old)
    whole = old.endswith("\n") and (new.endswith("\n") or (at == start and not new))
    if not whole:
        newline = content.find("\n", end)
        end = len(content) if newline < 0 else newline + 1
    before = content[start:end]
    return before, content[start:at] + new + content[at + len(old) : end]


def delete(call: Delete) -> str:
    """Return the patch that deletes a file."""
    return f"{_BEGIN}*** Delete File: {call.path}\n{_END}"


def rename(call: Rename, content: str | None) -> str:
    """Return the patch that moves a file, quoting its first line."""
    if not content:
        raise CannotDo("apply_patch moves a file only by a patch that quotes one of its lines")
    head = f"*** Update File: {call.path}\n*** Move to: {call.to}\n"
    first, _, _ = content.partition("\n")
    return f"{_BEGIN}{head}@@\n{_marked(' ', first)}{_END}"


def _marked(mark: str, text: str) -> str:
    return "".join(f"{mark}{line}\n" for line in text.removesuffix("\n").split("\n"))
