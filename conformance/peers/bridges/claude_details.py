"""What Claude Code records of a result beside the text, where a tool hands that on too."""

from __future__ import annotations

from typing import Any

from calling import Called, objects, string
from saying import Json, picture, text

_DENIALS = {
    "user-rejected": "declined",
    "permission-rule": "declined",
    "cancelled": "cancelled",
    "interrupted": "cancelled",
}


def detailed(made: Json, called: Called) -> Json:
    """Return a call's message with what its side record says more exactly than the text."""
    denied = _DENIALS.get(called.denial or "")
    if denied is not None and called.failed:
        made |= {"status": denied, "error": called.words, "output": None}
    details = called.details
    if not isinstance(details, dict) or called.failed:
        return made
    match made["kind"]:
        case "CommandExecution":
            return made | _command(details)
        case "SubAgent":
            return made | _sub_agent(details)
        case "WebSearch":
            hits = [
                {"url": string(hit.get("url")), "title": string(hit.get("title"))}
                for found in objects(details.get("results"))
                for hit in objects(found.get("content"))
            ]
            return made | {"results": hits}
        case "UserQuestion":
            answers: Json = details.get("answers") or {}
            asked = [
                {**one, "answer": string(answers.get(one["text"]))} for one in made["questions"]
            ]
            return made | {"questions": asked}
        case "FileChange" if called.name == "Write" and details.get("type"):
            operation = "update" if details["type"] == "update" else "add"
            return made | {"changes": [{**one, "operation": operation} for one in made["changes"]]}
        case _:
            return made | _picture(details, made)


def _command(details: Json) -> Json:
    told: Json = {
        name: details[name] for name in ("stdout", "stderr") if isinstance(details.get(name), str)
    }
    if details.get("interrupted") is True:
        return told | {"status": "cancelled", "exit_code": None, "exit_code_source": "none"}
    if background := string(details.get("backgroundTaskId")):
        code = {"exit_code": None, "exit_code_source": "none"}
        return told | code | {"status": "unknown", "background_id": background}
    return told


def _sub_agent(details: Json) -> Json:
    told: Json = {"agent_id": string(details.get("agentId"))}
    parts = objects(details.get("content"))
    first = details.get("harnessNoteCount") or 0
    last = len(parts) - (details.get("harnessTailCount") or 0)
    report = [part for one in parts[first:last] for part in text(string(one.get("text")))]
    return told | ({"output": report} if report else {})


def _picture(details: Json, made: Json) -> Json:
    shown: Any = details.get("file")
    if details.get("type") != "image" or not isinstance(shown, dict) or made.get("output"):
        return {}
    return {"output": [picture(string(shown.get("base64")), string(shown.get("type")))]}
