"""The scenarios' rarer verbs as Claude Code's tools: pictures, searches, skills, the person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from live.agents.base import Expected, Translation, Untaught
from live.model.play import PlayResponse, WireCall
from live.model.script import (
    Ask,
    Call,
    Choice,
    Collect,
    Command,
    Propose,
    SearchWeb,
    UseSkill,
    ViewImage,
)

NO_EXIT_CODE = "a command that succeeds is recorded without its exit code"

_OUTPUT_FILE = r"is being written to: (\S+\.output)"
"""Where the model is told to look for what a command in the background prints."""

_SHOWN_LINES = 50
"""How many lines of a long output the model is shown at the least: two kilobytes are."""


def translate(call: Call, workspace: str) -> Translation:
    """Return the native call of one of these verbs."""
    match call:
        case ViewImage():
            return view(call, workspace)
        case SearchWeb():
            return _search(call)
        case UseSkill():
            return _skill(call)
        case Ask():
            return _ask(call)
        case Propose():
            return _propose(call)
        case Collect():
            return _collect(call)
        case _:
            raise Untaught(f"no way is known to make {type(call).__name__} with Claude Code")


def _use(call_id: str, name: str, arguments: dict[str, Any]) -> WireCall:
    return WireCall(id=f"toolu_{call_id}", name=name, arguments=arguments)


def command(call: Command) -> Translation:
    """Return a command that prints too much to be shown, runs on, or must be allowed."""
    arguments: dict[str, Any] = {"command": call.run, "description": f"Scripted step {call.id}"}
    fields: dict[str, Any] = {"command": call.run, "exit_code": call.exit_code}
    if call.background:
        arguments["run_in_background"] = True
        fields["background"] = True
    elif call.permission is not None and call.permission.answer == "denied":
        fields = {"command": call.run, "status": "declined", "error": call.permission.feedback}
    elif call.prints is not None:
        fields |= {"output_start": call.prints.first(_SHOWN_LINES), "output_extent": "elsewhere"}
    else:
        fields["output"] = call.stdout + call.stderr
    told = call.background or fields.get("exit_code") != 0
    known = {} if told else {"exit_code": NO_EXIT_CODE}
    return Translation(
        call=_use(call.id, "Bash", arguments),
        expects=(Expected(kind="CommandExecution", fields=fields, unrecorded=known),),
    )


def view(call: ViewImage, workspace: str, assets: Sequence[str] = ()) -> Translation:
    """Return the reading of a picture; ``assets`` is its digest where it is known."""
    arguments = {"file_path": f"{workspace}/{call.path}"}
    fields: dict[str, Any] = {"name": "Read", "arguments": arguments, "assets": list(assets)}
    return Translation(
        call=_use(call.id, "Read", arguments),
        expects=(Expected(kind="ToolCall", fields=fields),),
    )


def _search(call: SearchWeb) -> Translation:
    results = [{"title": hit.title, "url": hit.url} for hit in call.hits]
    return Translation(
        call=_use(call.id, "WebSearch", {"query": call.query}),
        expects=(Expected(kind="WebSearch", fields={"query": call.query, "results": results}),),
    )


def _skill(call: UseSkill) -> Translation:
    arguments = {"skill": call.name}
    return Translation(
        call=_use(call.id, "Skill", arguments),
        expects=(Expected(kind="ToolCall", fields={"name": "Skill", "arguments": arguments}),),
    )


def _ask(call: Ask) -> Translation:
    return Translation(
        call=_use(call.id, "AskUserQuestion", {"questions": [_put(one) for one in call.questions]}),
        expects=(
            Expected(
                kind="UserQuestion",
                fields={
                    "questions": [
                        {
                            "question": one.question,
                            "options": list(one.options),
                            "answer": one.answer,
                        }
                        for one in call.questions
                    ]
                },
            ),
        ),
    )


def _put(choice: Choice) -> dict[str, Any]:
    return {
        "question": choice.question,
        "header": choice.header,
        "multiSelect": False,
        "options": [{"label": option, "description": option} for option in choice.options],
    }


def _propose(call: Propose) -> Translation:
    fields: dict[str, Any] = {"form": "proposal", "text": call.plan}
    if not call.accepted:
        fields |= {"status": "declined", "error": call.feedback}
    return Translation(
        call=_use(call.id, "ExitPlanMode", {"plan": call.plan}),
        expects=(Expected(kind="Plan", fields=fields),),
    )


def _collect(call: Collect) -> Translation:
    path = {"$found": [f"toolu_{call.of}", _OUTPUT_FILE]}
    return Translation(
        call=_use(call.id, "Read", {"file_path": path}),
        expects=(Expected(kind="ToolCall", fields={"name": "Read"}),),
    )


def collects(response: PlayResponse) -> bool:
    """Whether an answer looks what a command in the background has printed."""
    return any(
        isinstance(call.arguments, dict) and "$found" in str(call.arguments)
        for call in response.calls
    )
