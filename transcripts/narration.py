"""Say any message in marked prose: how a message crosses into a store that has no record for it.

The one place for these words, so that all writers mark alike what was translated: a thought
is never mistaken for an answer, an edit never loses its path, a failed command never its
exit status. A writer asks for prose only where the target has no record of the same meaning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from transcripts.losses import LossId
from transcripts.model import (
    AgentMessage,
    Asset,
    Call,
    CommandExecution,
    CompactBoundary,
    Content,
    Error,
    FileChange,
    FileEdit,
    Message,
    Opaque,
    Other,
    PermissionRequest,
    Plan,
    PlanItem,
    Question,
    Reasoning,
    Structured,
    SubAgent,
    Text,
    UserMessage,
    UserQuestion,
    WebSearch,
)

_MCP_NAME = re.compile(r"mcp__(.+?)__(.+)", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_OPERATIONS = {"add": "Created", "update": "Edited", "delete": "Deleted", "move": "Moved"}
_BOXES = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]", "unknown": "[ ]"}


def prose(message: Message) -> str | None:
    """Return the message as marked prose, or None if there is nothing in it to say.

    An :class:`Error` is never said: the next agent must not take the last one's provider
    failure for its own.
    """
    match message:
        case UserMessage() | AgentMessage():
            words = content_text(message.content)
        case Reasoning():
            words = _marked("thinking", content_text(message.content))
        case Plan():
            words = _plan(message)
        case FileChange():
            words = _file_change(message)
        case UserQuestion():
            words = _question(message)
        case SubAgent():
            words = _sub_agent(message)
        case WebSearch():
            words = _web_search(message)
        case CommandExecution():
            words = _command(message)
        case Call():
            words = _call(message)
        case PermissionRequest():
            words = _permission(message)
        case CompactBoundary():
            words = _compaction(message)
        case Other():
            words = _other(message)
        case Error():
            return None
        case _:
            return None
    return words if words.strip() else None


# ------------------------------------------------------------------ content


def content_text(content: Iterable[Any] | None) -> str:
    """Return what a person or a model can read of some parts, one part a paragraph line.

    Opaque parts say nothing; an attachment is named in parentheses; a JSON value is its text.
    """
    if isinstance(content, tuple) and len(content) == 1:
        return _part_text(content[0]) or ""
    return "\n".join(text for part in content or () if (text := _part_text(part)))


def part_losses(content: Content | None) -> tuple[LossId, ...]:
    """Return what is lost when parts become :func:`content_text`, each loss once."""
    found: list[LossId] = []
    for part in content or ():
        loss: LossId | None = None
        if isinstance(part, Asset):
            loss = "asset-dropped"
        elif isinstance(part, Structured):
            loss = "structured-as-text"
        elif isinstance(part, Opaque):
            loss = "reasoning-opaque-dropped"
        if loss is not None and loss not in found:
            found.append(loss)
    return tuple(found)


def json_text(value: Any) -> str:
    """Return a JSON value as compact text, keys in their own order, readable characters kept."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _part_text(part: Any) -> str:
    match part:
        case Text():
            return part.text
        case Structured():
            return part.value if isinstance(part.value, str) else json_text(part.value)
        case Asset():
            what = part.name or part.path or part.media_type or "file"
            return f"(attached: {what})"
        case _:
            return ""


# ------------------------------------------------------------------ tool names


def qualified_name(name: str, server: str | None) -> str:
    """Return a tool's name with its MCP server, ``mcp__server__tool``, as all CLIs spell it."""
    if not server or name.startswith("mcp__"):
        return name
    return f"mcp__{server}__{name}"


def split_name(name: str) -> tuple[str, str | None]:
    """Return a tool's own name and its MCP server; a name of another shape has no server."""
    found = _MCP_NAME.fullmatch(name) if name.startswith("mcp__") else None
    return (found[2], found[1]) if found else (name, None)


# ------------------------------------------------------------------ results


def output_with_exit_status(command: CommandExecution) -> str:
    """Return a command's output, with the exit status said where it would be lost.

    For targets without a field: a non-zero status that the output does not already say is
    appended as ``exited with code N``.
    """
    output = content_text(command.output)
    if not command.exit_code:
        return output
    sentence = f"exited with code {command.exit_code}"
    if re.search(rf"{sentence}(?![0-9])", output):
        return output
    return f"{output.rstrip(chr(10))}\n\n{sentence}".lstrip("\n")


def result_text(call: Call) -> str | None:
    """Return what came of a call as text: its error, its output, or None while there is none."""
    if call.error is not None:
        return call.error
    if call.output is None:
        return None
    if isinstance(call, CommandExecution):
        return output_with_exit_status(call)
    return content_text(call.output)


# ------------------------------------------------------------------ strict text


def scrub(text: str) -> str:
    """Return the text with each half of a surrogate pair made U+FFFD, fit for strict UTF-8."""
    return _SURROGATE.sub("\ufffd", text)


def scrub_value(value: Any) -> Any:
    """Return a JSON value with every string and key scrubbed; the value itself if it is clean."""
    return value if _is_clean(value) else _scrubbed(value)


def has_lone_surrogate(value: Any) -> bool:
    """Whether a JSON value holds half a surrogate pair, which strict UTF-8 cannot carry."""
    return not _is_clean(value) and _holds_half(value)


def _is_clean(value: Any) -> bool:
    """Whether orjson takes the value, which is a hundred times faster than to look.

    It refuses half a surrogate pair, and some that is no matter here: long integers.
    """
    try:
        orjson.dumps(value)
    except TypeError:
        return False
    return True


def _scrubbed(value: Any) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {scrub(str(key)): _scrubbed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_scrubbed(item) for item in value]
    return value


def _holds_half(value: Any) -> bool:
    if isinstance(value, str):
        return _SURROGATE.search(value) is not None
    if isinstance(value, Mapping):
        return any(_holds_half(key) or _holds_half(value[key]) for key in value)
    if isinstance(value, list | tuple):
        return any(_holds_half(item) for item in value)
    return False


# ------------------------------------------------------------------ one kind each


def _marked(mark: str, words: str) -> str:
    return f"({mark}) {words}" if words.strip() else ""


def _paragraphs(*parts: str | None) -> str:
    return "\n\n".join(part for part in parts if part and part.strip())


def _plan(plan: Plan) -> str:
    words = content_text(plan.content)
    checklist = "\n".join(_plan_item(item) for item in plan.items)
    return _marked("plan", "\n".join(part for part in (words, checklist) if part.strip()))


def _plan_item(item: PlanItem) -> str:
    return f"{_BOXES[item.status]} {item.text}"


def _file_change(change: FileChange) -> str:
    said = content_text(change.content)
    edits = [_file_edit(edit) for edit in change.changes]
    if not edits:
        return _paragraphs(said or _call(change))
    failed = f"(this edit failed: {change.error})" if change.error else _fate(change, "edit")
    return _paragraphs(said, *edits, failed)


def _file_edit(edit: FileEdit) -> str:
    head = f"{_OPERATIONS[edit.operation]} {edit.path}"
    if edit.moved_to:
        head += f" to {edit.moved_to}"
    if edit.diff is not None:
        return _paragraphs(head, edit.diff)
    if edit.operation == "delete":
        return head
    if edit.before and edit.after is not None and not edit.whole:
        return _paragraphs(head, _replacement(edit.before, edit.after))
    return _paragraphs(head, edit.after)


def _replacement(before: str, after: str) -> str:
    old = [f"-{line}" for line in before.removesuffix("\n").split("\n")]
    new = [f"+{line}" for line in after.removesuffix("\n").split("\n")] if after else []
    return "\n".join(old + new)


def _question(question: UserQuestion) -> str:
    asked = [_asked(one) for one in question.questions]
    if asked:
        return "\n\n".join(asked)
    what = json_text(question.arguments) if question.arguments else "(question not recorded)"
    return f"Asked: {what}\nAnswered: {result_text(question) or '(no answer recorded)'}"


def _asked(question: Question) -> str:
    options = f" ({' / '.join(question.options)})" if question.options else ""
    answer = "(no answer recorded)" if question.answer is None else question.answer
    return f"Asked: {question.text}{options}\nAnswered: {answer}"


def _sub_agent(agent: SubAgent) -> str:
    named = f" {agent.agent_type}" if agent.agent_type else ""
    about = f": {agent.description}" if agent.description else ""
    head = f"(a sub agent{named} was given a task{about})"
    task = f"Task: {agent.prompt}" if agent.prompt else None
    report = result_text(agent)
    if agent.error is not None:
        told = f"(the sub agent failed: {agent.error})"
    elif report:
        told = f"Report: {report}"
    else:
        told = "(no report of the sub agent is recorded)"
    return _paragraphs(head, task, told)


def _web_search(search: WebSearch) -> str:
    query = f": {search.query}" if search.query else ""
    hits = "\n".join(" ".join(filter(None, (hit.title, hit.url))) for hit in search.results)
    return _paragraphs(f"(the web was searched{query})", hits, result_text(search))


def _command(command: CommandExecution) -> str:
    result = result_text(command)
    fate = _fate(command, "command") if result is None else None
    return _paragraphs(f"(a command was run: {command.command})", result, fate)


def _call(call: Call) -> str:
    name = qualified_name(call.name, call.server)
    if not name:
        return ""
    if call.arguments in (None, "", {}):
        given = ""
    elif isinstance(call.arguments, str):
        given = f" with {call.arguments}"
    else:
        given = f" with {json_text(call.arguments)}"
    result = result_text(call)
    fate = _fate(call, "call") if result is None else None
    failed = "(it failed)" if call.error is not None else None
    return _paragraphs(f"(the tool {name} was called{given})", failed, result, fate)


def _fate(call: Call, noun: str) -> str | None:
    """Say what is known of a call that has no result: never that it succeeded."""
    match call.status:
        case "declined":
            return f"(this {noun} was declined)"
        case "cancelled":
            return f"(this {noun} was cancelled)"
        case "failed":
            return f"(this {noun} failed)"
        case "unresolved" | "unknown":
            return f"(no result of this {noun} is recorded)"
        case "completed":
            return None


def _permission(request: PermissionRequest) -> str:
    what = request.tool or "a call"
    if request.arguments not in (None, "", {}):
        given = request.arguments
        what += f" with {given if isinstance(given, str) else json_text(given)}"
    why = f": {request.reason}" if request.reason else ""
    decided = f"it was {request.decision}" if request.decision else "no decision is recorded"
    by = f" by {request.decided_by}" if request.decision and request.decided_by else ""
    return f"(permission was asked for {what}{why}; {decided}{by})"


def _compaction(boundary: CompactBoundary) -> str:
    how = {"manual": " on request", "auto": " automatically", None: ""}[boundary.trigger]
    size = "" if boundary.pre_tokens is None else f", from {boundary.pre_tokens} tokens"
    head = f"(the conversation before this was compacted{how}{size})"
    return _paragraphs(head, content_text(boundary.summary))


def _other(other: Other) -> str:
    if other.value in (None, "", {}, []):
        return ""
    value = other.value if isinstance(other.value, str) else json_text(other.value)
    return f"(recorded as {other.record}) {value}"
