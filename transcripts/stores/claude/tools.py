"""Claude Code's tools as kinds of the model: a call and its result become one message."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET

from transcripts.model import (
    AnyMessage,
    CommandExecution,
    Content,
    FileChange,
    FileEdit,
    Plan,
    PlanItem,
    Question,
    SearchResult,
    SubAgent,
    Text,
    ToolCall,
    UserQuestion,
    WebSearch,
)
from transcripts.narration import split_name
from transcripts.stores.claude.content import parts
from transcripts.stores.claude.foreign import integer, mapping, sequence, string
from transcripts.stores.claude.reading.entries import NO_SIDE, Side
from transcripts.stores.claude.reading.results import (
    Result,
    Use,
    command_outcome,
    outcome,
    text_of,
)

SHELLS = frozenset({"Bash", "PowerShell"})
EDITORS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
AGENTS = frozenset({"Task", "Agent"})
PLANS = frozenset({"EnterPlanMode", "ExitPlanMode"})
TASKS = frozenset({"TaskCreate", "TaskUpdate", "TaskList", "TaskGet"})

Checklist = dict[str, PlanItem]
"""The tasks of a session by id, as the Task tools' calls so far have left them."""

_ItemStatus = Literal["pending", "in_progress", "completed", "unknown"]


def read_call(
    use: Use, result: Result | None, fields: dict[str, Any], checklist: Checklist
) -> AnyMessage:
    """Return the message of a call merged with its result.

    ``fields`` are those that every message has: they are added to. ``checklist`` is brought
    forward.
    """
    given = mapping(use.input)
    name = use.name
    fields["name"] = name
    fields["arguments"] = use.input
    if name in SHELLS:
        return _command(use, result, fields, given)
    if name in EDITORS:
        changes = _changes(use, result, given)
        fields |= outcome(use, result)
        return FileChange(**fields, changes=changes)
    if name in AGENTS:
        return _sub_agent(use, result, fields, given)
    if name == "TodoWrite":
        items = tuple(_item(todo) for todo in sequence(given.get("todos")))
        return Plan(**fields, **outcome(use, result), form="checklist", items=items)
    if name in TASKS:
        items = _task_items(checklist, name, given, result)
        return Plan(**fields, **outcome(use, result), form="checklist", items=items)
    if name in PLANS:
        return _proposal(use, result, fields, given)
    if name == "WebSearch":
        return _web_search(use, result, fields, given)
    if name == "AskUserQuestion":
        questions = _questions(result, given)
        return UserQuestion(**fields, **outcome(use, result), questions=questions)
    if (string(given.get("subagent_type")) or "").strip():
        # What chooses the agent to run hands over a task, whatever the tool is called.
        return _sub_agent(use, result, fields, given)
    own_name, server = split_name(name)
    fields["name"] = own_name
    fields["server"] = server
    fields |= outcome(use, result)
    return ToolCall(**fields)


def _command(
    use: Use, result: Result | None, fields: dict[str, Any], given: dict[str, Any]
) -> CommandExecution:
    command = given.get("command")
    fields["command"] = command if isinstance(command, str) else ""
    fields["cwd"] = use.cwd
    fields |= command_outcome(use, result)
    return CommandExecution(**fields)


# ------------------------------------------------------------------ files


def _changes(use: Use, result: Result | None, given: dict[str, Any]) -> tuple[FileEdit, ...]:
    details = result.details if result else NO_SIDE
    path = string(given.get("file_path")) or string(given.get("notebook_path"))
    path = path or string(details.file_path) or ""
    match use.name:
        case "Write":
            return (_written(path, result, given),)
        case "Edit":
            return (_replaced(path, given),)
        case "MultiEdit":
            return tuple(_replaced(path, mapping(edit)) for edit in sequence(given.get("edits")))
        case _:
            return (_notebook_cell(path, given, details),)


def _written(path: str, result: Result | None, given: dict[str, Any]) -> FileEdit:
    details = result.details if result else NO_SIDE
    before = details.original_file
    created = details.type != "update"
    if result is not None and details.type is UNSET:
        created = "has been updated" not in text_of(parts(result.block.content))
    return FileEdit(
        path=path,
        operation="add" if created else "update",
        before=before if isinstance(before, str) and not created else None,
        after=_string(given.get("content")),
        whole=True,
    )


def _replaced(path: str, given: dict[str, Any]) -> FileEdit:
    before, after = _string(given.get("old_string")), _string(given.get("new_string"))
    if before == "":
        return FileEdit(path=path, operation="add", after=after, whole=True)
    return FileEdit(path=path, operation="update", before=before, after=after)


def _notebook_cell(path: str, given: dict[str, Any], details: Side) -> FileEdit:
    after = None if given.get("edit_mode") == "delete" else _string(given.get("new_source"))
    return FileEdit(path=path, operation="update", before=_string(details.old_source), after=after)


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None


# ------------------------------------------------------------------ agents


def _sub_agent(
    use: Use, result: Result | None, fields: dict[str, Any], given: dict[str, Any]
) -> SubAgent:
    details = result.details if result else NO_SIDE
    decided = outcome(use, result)
    background = given.get("run_in_background") is True or details.is_async is True
    if decided["status"] == "completed" and details.status == "async_launched":
        decided["status"] = "unknown"
        background = True
    elif "output" in decided:
        decided["output"] = _report(decided["output"], details)
    return SubAgent(
        **fields,
        **decided,
        agent_id=string(details.agent_id),
        agent_type=string(given.get("subagent_type")) or string(details.agent_type),
        description=string(given.get("description")),
        prompt=string(given.get("prompt")),
        background=background,
    )


def _report(shown: Content, details: Side) -> Content:
    """Return what the agent reported, without the harness's frame, notes and counts.

    The side record keeps the report's blocks apart; in 2.1 it also counts which of them are
    the harness's, before and after. Without it, only the id that 2.0 appends is known.
    """
    content = details.content
    if isinstance(content, list) and content:
        first = integer(details.harness_note_count) or 0
        last = len(content) - (integer(details.harness_tail_count) or 0)
        return parts(content[first:last])
    final = shown[-1] if len(shown) > 1 else None
    if isinstance(final, Text) and final.text.startswith("agentId: "):
        return shown[:-1]
    return shown


# ------------------------------------------------------------------ plans


def _item(todo: Any) -> PlanItem:
    todo = mapping(todo)
    return PlanItem(
        text=_string(todo.get("content")) or _string(todo.get("subject")) or "",
        status=_item_status(todo.get("status")),
        id=string(todo.get("id")),
    )


def _item_status(value: Any) -> _ItemStatus:
    return value if value in ("pending", "in_progress", "completed") else "unknown"


def _task_items(
    checklist: Checklist, name: str, given: dict[str, Any], result: Result | None
) -> tuple[PlanItem, ...]:
    """Return the checklist as a Task tool's call leaves it, and bring it forward if it did.

    Each call records one change: the list is what all calls so far have made of it. An update
    names its task only by number, its words are those of its creation.
    """
    details = result.details if result else NO_SIDE
    after = dict(checklist)
    match name:
        case "TaskCreate":
            identity = string(mapping(details.task).get("id")) or str(len(after) + 1)
            text = _string(given.get("subject")) or ""
            after[identity] = PlanItem(text=text, status="pending", id=identity)
        case "TaskUpdate":
            identity = string(given.get("taskId")) or ""
            status = given.get("status")
            known = after.get(identity, PlanItem(text="", id=identity or None))
            after[identity] = PlanItem(
                text=_string(given.get("subject")) or known.text,
                status=_item_status(status) if status else known.status,
                id=known.id,
            )
            if status == "deleted":
                del after[identity]
        case "TaskList" if isinstance(details.tasks, list):
            items = [_item(task) for task in details.tasks]
            after = {item.id: item for item in items if item.id}
        case _:
            pass
    if result is not None and not result.block.is_error:
        checklist.clear()
        checklist.update(after)
    return tuple(after.values())


def _proposal(
    use: Use, result: Result | None, fields: dict[str, Any], given: dict[str, Any]
) -> Plan:
    details = result.details if result else NO_SIDE
    text = _string(given.get("plan")) or _string(details.plan)
    return Plan(
        **fields,
        **outcome(use, result),
        form="proposal",
        content=(Text(text=text),) if text else (),
    )


# ------------------------------------------------------------------ searches and questions


def _web_search(
    use: Use, result: Result | None, fields: dict[str, Any], given: dict[str, Any]
) -> WebSearch:
    details = result.details if result else NO_SIDE
    hits = [
        SearchResult(url=string(hit.get("url")), title=string(hit.get("title")))
        for found in sequence(details.results)
        for hit in map(mapping, sequence(mapping(found).get("content")))
        if hit
    ]
    return WebSearch(
        **fields,
        **outcome(use, result),
        query=string(given.get("query")) or string(details.query),
        results=tuple(hits),
    )


def _questions(result: Result | None, given: dict[str, Any]) -> tuple[Question, ...]:
    answers = mapping(result.details.answers) if result else {}
    found: list[Question] = []
    for asked in map(mapping, sequence(given.get("questions"))):
        text = _string(asked.get("question")) or ""
        options = [
            string(mapping(option).get("label")) or (option if isinstance(option, str) else None)
            for option in sequence(asked.get("options"))
        ]
        answer = answers.get(text)
        if isinstance(answer, list):
            answer = ", ".join(one for one in answer if isinstance(one, str))
        found.append(
            Question(
                text=text,
                options=tuple(option for option in options if option),
                answer=_string(answer),
            )
        )
    return tuple(found)
