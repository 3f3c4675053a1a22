"""cc-session-core, asked over the wire: the records of its sessions (``Session.load``) as messages.

Its session layer has the same typed records for Claude Code and, normalised, for Codex. What a
record's own flags say (meta, a compaction's summary, a failure of the provider) is taken from them.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from calling import parsed
from cc_session_core import AssistantRecord, Session, UserRecord, tool_result_text
from cc_session_core.models import (
    AttachmentRecord,
    ImageBlock,
    RedactedThinkingBlock,
    SystemRecord,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from finding import session_file
from halves import Telling
from saying import Json, picture, text
from wire import serve, tool


def read(request: Json) -> Json:
    """Return a session."""
    agent, session_id = request["agent"], request["session_id"]
    path = session_file(request["home"], agent, session_id)
    with tool("read"):
        session = Session.load(path)
        records = [record for _, record in session.ordered()]
    telling = Telling(agent, session_id)
    for record in records:
        if isinstance(record, (AssistantRecord, UserRecord, SystemRecord)):
            telling.about(cwd=record.cwd, cli_version=record.version, git_branch=record.git_branch)
            _tell(telling, record)
        elif isinstance(record, AttachmentRecord) and record.attachment.type == "queued_command":
            queued = record.attachment.prompt
            said = text(queued) if isinstance(queued, str) else list(_output(queued))
            author = "harness" if record.attachment.is_meta else "human"
            telling.prompt(said, author=author, delivery="queued", at=_at(record))
    return {"transcript": telling.transcript()}


def _at(record: Any) -> str | None:
    return None if record.timestamp is None else record.timestamp.isoformat()


def _tell(telling: Telling, record: Any) -> None:
    fields: Json = {"at": _at(record), "external_id": record.uuid}
    if record.is_sidechain:
        fields["agent"] = record.agent_id or "agent"
    if isinstance(record, AssistantRecord):
        _tell_answer(telling, record, fields)
    elif isinstance(record, UserRecord):
        _tell_prompt(telling, record, fields)
    elif record.compact_metadata is not None or record.subtype == "codex_compacted":
        trigger = getattr(record.compact_metadata, "trigger", None)
        summary = text(record.content) if record.subtype == "codex_compacted" else None
        telling.boundary(summary=summary, trigger=trigger, **fields)
    elif record.error is not None:
        words = record.error.message or record.error.formatted or ""
        telling.failure(words, record.error.status, **fields)
    else:
        telling.prompt(text(record.content), author="harness", **fields)


def _tell_answer(telling: Telling, record: AssistantRecord, fields: Json) -> None:
    for block in record.message.content:
        if isinstance(block, TextBlock) and record.is_api_error_message:
            telling.failure(block.text, record.api_error_status, **fields)
        elif isinstance(block, TextBlock):
            telling.answer(block.text, **fields)
        elif isinstance(block, ThinkingBlock):
            sealed = _sealed("signature", block.signature)
            telling.thought([*text(block.thinking), *sealed], **fields)
        elif isinstance(block, RedactedThinkingBlock):
            telling.thought(_sealed("redacted", block.data), **fields)
        elif isinstance(block, ToolUseBlock):
            telling.begin(block.id, block.name, parsed(block.input), **fields)


def _sealed(form: str, data: str | None) -> list[Json]:
    return [{"type": "opaque", "form": form, "data": data}] if data else []


def _tell_prompt(telling: Telling, record: UserRecord, fields: Json) -> None:
    content = record.message.content
    said: list[Json] = []
    for block in [TextBlock(type="text", text=content)] if isinstance(content, str) else content:
        if isinstance(block, ToolResultBlock):
            telling.end(
                block.tool_use_id,
                list(_output(block.content)),
                block.is_error,
                details=record.tool_use_result,
                denial=record.tool_denial_kind,
            )
        elif isinstance(block, TextBlock):
            said += text(block.text)
        elif isinstance(block, ImageBlock):
            said.append(_picture(block.source))
    if said and record.is_compact_summary:
        telling.boundary(summary=said, trigger=None, **fields)
    elif said:
        telling.prompt(said, author="harness" if record.is_meta else "human", **fields)


def _output(content: Any) -> Iterator[Json]:
    """Return a result: its words as the tool shows them, and its pictures."""
    if isinstance(content, str):
        yield from text(content)
        return
    for block in content:
        if isinstance(block, dict) and block.get("type") == "image":
            yield _picture(block.get("source"))
        else:
            yield from text(tool_result_text([block]))


def _picture(source: Any) -> Json:
    given = source if isinstance(source, dict) else {}
    url = given.get("url")
    if isinstance(url, str) and url.startswith("data:"):
        head, _, data = url.partition(",")
        return picture(data, head.removeprefix("data:").partition(";")[0])
    return picture(given.get("data"), given.get("media_type"))


serve(
    {"name": "cc-session-core", "version": version("cc-session-core"), "language": "Python"},
    {"claude": {"read": True}, "codex": {"read": True}},
    {"read": read},
)
