"""What the checks ask for can be answered from their conversations, and from nothing less.

No CLI is needed for that: the conversation is laid out as its script has it, and the scripted model
is asked.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from live.checks import Check, load, names
from live.model.history import Entry
from live.model.recalling import holds, recalled
from live.model.script import Call, Command, Read, Response, Spawn
from live.pictures import png

_PLANTED = re.compile(r"[A-Z]+-\d+|\b\d+\b")


def told(check: Check, workspace: Path) -> list[Entry]:
    """Lay a check's conversation out as a model is shown it."""
    for name, content in check.source.workspace.items():
        place = workspace / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content, "utf-8")
    found: list[Entry] = []
    for turn in check.source.turns:
        if turn.summary is not None:
            found = [Entry(role="user", type="text", text=turn.summary)]
            continue
        found.append(Entry(role="user", type="text", text=turn.prompt))
        for name in turn.images:
            shown = {"sha256": sha256(png(check.source.pictures[name])).hexdigest()}
            found.append(Entry(role="user", type="image", value=shown))
        for response in turn.responses:
            found += _answered(response, workspace)
    return found


def _answered(response: Response, workspace: Path) -> Iterator[Entry]:
    if response.reasoning:
        yield Entry(role="assistant", type="reasoning", text=response.reasoning)
    if response.text:
        yield Entry(role="assistant", type="text", text=response.text)
    for call in response.calls:
        arguments = msgspec.to_builtins(call)
        made = {key: value for key, value in arguments.items() if key in _MADE}
        yield Entry(role="assistant", type="call", call_id=call.id, arguments=made)
        yield Entry(role="tool", type="result", call_id=call.id, text=_result(call, workspace))


_MADE = ("run", "path", "content", "old", "new", "plan", "arguments", "prompt")
"""What of a call's script is its arguments, and not what comes of it."""


def _result(call: Call, workspace: Path) -> str:
    if isinstance(call, Command):
        if call.interrupted:
            return "Interrupted."
        if call.exit_code:
            return f"{call.stdout}exit code {call.exit_code}"
        if call.stdout:
            return call.stdout
        ran = subprocess.run(
            ["/bin/bash", "-c", call.run], cwd=workspace, capture_output=True, check=True
        )
        return ran.stdout.decode()
    if isinstance(call, Read):
        return call.content or ""
    if isinstance(call, Spawn):
        return call.responses[-1].text or ""
    return getattr(call, "result", None) or "Done."


def answers(check: Check, before: Sequence[Entry]) -> list[str]:
    """Return what the scripted model says last to each turn that goes on with a conversation."""
    found: list[str] = []
    history = list(before)
    for turn in check.then.turns:
        position = len(history)
        history.append(Entry(role="user", type="text", text=turn.prompt))
        for response in turn.responses:
            if response.given is None or holds(response.given, history, position):
                said = recalled(response.text, response.recalls, history[:position]) or ""
                history.append(Entry(role="assistant", type="text", text=said))
        found.append(history[-1].text or "")
    return found


def without(value: str, entries: Sequence[Entry]) -> list[Entry]:
    """Blot a value out of all that was said, called and answered."""
    raw = msgspec.json.encode(entries).decode()
    blotted = re.sub(rf"(?<![\w-]){re.escape(value)}(?![\w-])", "?", raw)
    return msgspec.json.decode(blotted, type=list[Entry])


@pytest.mark.parametrize("name", names())
def test_a_whole_conversation_is_answered_from_and_an_empty_one_is_not(
    name: str, tmp_path: Path
) -> None:
    check = load(name)
    before = told(check, tmp_path)
    assert answers(check, before) == list(check.says)
    if check.edits is None:
        assert answers(check, []) != list(check.says)
        other = told(load("t0" if name != "t0" else "t1"), tmp_path / "other")
        assert answers(check, other) != list(check.says)


@pytest.mark.parametrize("name", [name for name in names() if load(name).edits is None])
def test_no_value_of_an_answer_can_be_known_but_from_the_conversation(
    name: str, tmp_path: Path
) -> None:
    check = load(name)
    before = told(check, tmp_path)
    said = msgspec.json.encode(before).decode()
    asked = " ".join(turn.prompt for turn in check.then.turns)
    values = {value for one in check.says for value in _PLANTED.findall(one) if value in said}
    assert values or check.then.turns[0].responses[0].recalls
    for value in values:
        assert value not in asked
        assert answers(check, without(value, before)) != list(check.says)


@pytest.mark.parametrize("name", names())
def test_what_must_be_kept_or_not_be_shown_was_there_to_begin_with(name: str) -> None:
    check = load(name)
    script = msgspec.json.encode(check.source).decode()
    later = msgspec.json.encode(check.then).decode()
    for words in (*check.unsaid, *check.kept, *check.recorded):
        assert words in script
    for words in check.once:
        assert words in script or words in later


@pytest.mark.parametrize("name", [name for name in names() if load(name).edits is not None])
def test_a_change_is_made_again_where_it_is_not_shown(name: str, tmp_path: Path) -> None:
    """What is written then is the file without what was added to it since: so it is betrayed."""
    check = load(name)
    edits = check.edits
    assert edits is not None
    before = told(check, tmp_path)
    first, *_ = edits.files
    prompt = Entry(role="user", type="text", text=check.then.turns[0].prompt)

    def writes(history: list[Entry]) -> bool:
        at = len(history)
        return any(
            response.given is not None
            and response.given.path == first
            and response.given.state == "hidden"
            and holds(response.given, [*history, prompt], at)
            for response in check.then.turns[0].responses
        )

    hidden = [one if one.type == "text" else replace(one, arguments={}) for one in before]
    assert not writes(before)
    assert writes(hidden)
    assert writes([])
    assert all(edits.marks not in text for text in edits.files.values())
