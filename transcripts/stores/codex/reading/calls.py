"""A call, its result and its evidence into the message of the kind that it is.

What the model saw (a result's text) and what the harness recorded (an event's fields) are
kept apart: ``output`` is the text without Codex's frame, an exit status is a field's where
there is one and the frame's otherwise.
"""

from __future__ import annotations

from typing import Any, Literal

from transcripts.model import (
    AnyMessage,
    CommandExecution,
    Content,
    FileChange,
    Plan,
    PlanItem,
    Question,
    Status,
    Structured,
    SubAgent,
    Text,
    ToolCall,
    UserQuestion,
)
from transcripts.narration import content_text
from transcripts.records import jsonlines
from transcripts.stores.codex import patches, tools
from transcripts.stores.codex.dialects.responses import content_of
from transcripts.stores.codex.foreign import items, json_object, mapping, text
from transcripts.stores.codex.reading.drafts import Called, Evidence

_PLAN_STATUSES = ("pending", "in_progress", "completed")


def call_message(draft: Called, common: dict[str, Any]) -> AnyMessage:
    """Return the message of a call; ``common``, which it makes its own, every message has."""
    return _Call(draft, common).message()


class _Call:
    """One call, its result and its evidence, on the way to the message that it is."""

    def __init__(self, draft: Called, common: dict[str, Any]) -> None:
        self._draft = draft
        self._evidence = draft.evidence
        self._common = common
        common["external_id"] = draft.call_id
        common["author"] = "model"
        common["ended_at"] = draft.ended_at
        if self._evidence is not None:
            self._common["duration_ms"] = self._evidence.duration_ms
            if draft.ended_at is None:
                self._common["ended_at"] = self._evidence.at
        if draft.namespace is not None and tools.server_of(draft.namespace) is None:
            self._common["provenance"] = draft.namespace
        if draft.caller is not None:
            self._common |= {
                "caller": draft.caller.id,
                "caller_evidence": "derived",
                "in_context": False,
            }
        output = draft.output
        self._text = output if isinstance(output, str) else None
        self._has_output = draft.has_output
        self._closed: Status | None = None if self._text is None else tools.closed(self._text)
        if self._closed is not None:
            self._text, self._has_output = None, False

    def message(self) -> AnyMessage:
        """Return the message of the kind that the tool's name and the evidence tell."""
        draft, evidence = self._draft, self._evidence
        kind = evidence.kind if evidence is not None else None
        name = draft.name
        if kind == "patch" or (draft.has_call and name == tools.PATCH):
            return self._file_change()
        if name in tools.COMMANDS and draft.has_call:
            return self._command_or_patch()
        if kind == "command":
            return self._command()
        if kind == "agent" and not draft.has_call:
            name = tools.SPAWN if evidence and evidence.name == "spawn_agent" else name
        server = tools.server_of(draft.namespace)
        if server is None:
            match name:
                case tools.PLAN:
                    return self._plan()
                case tools.QUESTION:
                    return self._question()
                case tools.SPAWN:
                    return self._sub_agent()
                case tools.SCRIPT if draft.custom:
                    return self._script()
                case _:
                    pass
        return self._tool(server)

    # ------------------------------------------------------------------ what came of it

    def _result(self, content: Content | None) -> dict[str, Any]:
        """Return status, output and error of a call whose result has no frame of its own."""
        if not self._has_output and content is None:
            return {"status": self._without_result()}
        bare = self._text
        evidence = self._evidence
        if evidence is not None and evidence.error is not None:
            return {"status": evidence.status, "error": evidence.error}
        failed = tools.failure(bare) if bare is not None else None
        if failed is not None:
            return {"status": failed, "error": bare}
        return {
            "status": "completed",
            "output": content,
            "output_extent": _extent(bare),
        }

    def _without_result(self) -> Status:
        if self._closed is not None:
            return self._closed
        if self._evidence is not None and self._evidence.status is not None:
            return self._evidence.status
        return "cancelled" if self._draft.interrupted else "unresolved"

    # ------------------------------------------------------------------ commands

    def _command_or_patch(self) -> AnyMessage:
        command, workdir = tools.asked_command(self._draft.name, self._draft.arguments)
        words = mapping(self._draft.arguments).get("command")
        if isinstance(words, list) and len(words) == 2 and words[0] == tools.PATCH:
            return self._file_change(text(words[1]), workdir)
        intercepted = patches.patch_in_command(command) if command else None
        if intercepted is not None and (self._evidence is None or self._evidence.kind == "patch"):
            patch, moved = intercepted
            base = patches.resolve(workdir, self._draft.cwd) if workdir else self._draft.cwd
            return self._file_change(patch, patches.resolve(moved, base) if moved else base)
        if command is None:
            return self._tool(None)
        return self._command(command, workdir)

    def _command(self, command: str | None = None, workdir: str | None = None) -> AnyMessage:
        draft, evidence = self._draft, self._evidence
        if evidence is not None and evidence.kind != "command":
            evidence = None
        fields: dict[str, Any] = {}
        result = None if self._text is None else tools.command_result(draft.name, self._text)
        if result is not None:
            fields["output"] = (Text(text=result.body),)
            fields["output_extent"] = "truncated" if result.is_cut else _extent(result.body)
            fields["background_id"] = result.background_id
        elif self._text is not None and draft.has_call:
            broken_off = tools.words_of_broken_off(self._text)
            failed = tools.failure(self._text) or _unhappy(evidence) or "failed"
            return CommandExecution(
                **self._common,
                **self._command_fields(evidence, command, workdir),
                status=failed if broken_off is None else "cancelled",
                error=self._text if broken_off is None else broken_off,
            )
        elif self._has_output and self._text is None:
            fields["output"] = content_of(draft.output)
        elif evidence is not None and evidence.output is not None:
            fields["output"] = (Text(text=evidence.output),)
            fields["output_extent"] = _extent(evidence.output)
        code, source = self._exit_code(evidence, result)
        fields |= {"exit_code": code, "exit_code_source": source}
        fields["status"] = self._command_status(evidence, code, result)
        return CommandExecution(
            **self._common, **self._command_fields(evidence, command, workdir), **fields
        )

    def _command_fields(
        self, evidence: Evidence | None, command: str | None, workdir: str | None
    ) -> dict[str, Any]:
        draft = self._draft
        cwd = patches.resolve(workdir, draft.cwd) if workdir else draft.cwd
        arguments = draft.arguments
        streams: tuple[str | None, str | None] = (None, None)
        if evidence is not None and (evidence.stdout or evidence.stderr):
            streams = evidence.stdout, evidence.stderr
        if evidence is not None:
            command = command if command is not None else evidence.command
            cwd = evidence.cwd or cwd
        return {
            "name": draft.name or "exec_command",
            "arguments": arguments if draft.has_call else None,
            "command": command or "",
            "cwd": cwd,
            "stdout": streams[0],
            "stderr": streams[1],
        }

    def _exit_code(
        self, evidence: Evidence | None, result: tools.Framed | None
    ) -> tuple[int | None, str]:
        if evidence is not None and evidence.exit_code is not None:
            return evidence.exit_code, "field"
        if result is not None and result.exit_code is not None:
            return result.exit_code, "text"
        if self._draft.later_exit_code is not None:
            return self._draft.later_exit_code, "text"
        return None, "none"

    def _command_status(
        self, evidence: Evidence | None, code: int | None, result: tools.Framed | None
    ) -> Status:
        if code is not None:
            return "completed" if code == 0 else "failed"
        if evidence is not None and evidence.status is not None:
            return evidence.status
        if result is None and not self._has_output:
            return self._without_result()
        if result is not None and result.background_id is not None:
            return "cancelled" if self._draft.interrupted else "unresolved"
        return "completed"

    # ------------------------------------------------------------------ edits

    def _file_change(self, patch: str | None = None, workdir: str | None = None) -> FileChange:
        draft, evidence = self._draft, self._evidence
        if patch is None and draft.has_call:
            asked = draft.arguments
            patch = asked if isinstance(asked, str) else text(mapping(asked).get("input"))
        asked_edits = patches.parse(patch) if patch else []
        done = patches.recorded(evidence.changes) if evidence is not None else []
        fields: dict[str, Any] = {
            "name": draft.name or tools.PATCH,
            "arguments": draft.arguments if draft.has_call else None,
            "changes": patches.merge(asked_edits, done, workdir or draft.cwd),
        }
        result = None if self._text is None else tools.patch_result(self._text)
        if result is not None:
            failed = result.exit_code not in (0, None)
            fields["status"] = "failed" if failed else "completed"
            fields["error" if failed else "output"] = (
                result.body if failed else (Text(text=result.body),)
            )
        elif self._text is not None:
            failure = tools.patch_failure(self._text)
            known = evidence.status if evidence is not None else None
            status = failure or known or "completed"
            fields["status"] = status
            if status in ("completed", "unresolved"):
                fields["output"] = (Text(text=self._text),)
            else:
                fields["error"] = self._text
        else:
            fields["status"] = self._without_result()
            if evidence is not None and evidence.stdout:
                fields["output"] = (Text(text=evidence.stdout),)
        return FileChange(**self._common, **fields)

    # ------------------------------------------------------------------ other tools

    def _tool(self, server: str | None) -> ToolCall:
        draft, evidence = self._draft, self._evidence
        name, arguments = draft.name, draft.arguments
        if not draft.has_call and evidence is not None:
            name, arguments = evidence.name or name, evidence.arguments
        if evidence is not None and evidence.kind == "mcp":
            server = evidence.server
            name = evidence.name or name
        elif server is None:
            name, server = tools.of_server(name)
        fields: dict[str, Any] = {"name": name, "server": server, "arguments": arguments}
        if evidence is not None and evidence.kind in ("mcp", "tool"):
            fields["status"] = evidence.status or "completed"
            if evidence.error is not None:
                return ToolCall(**self._common, **fields, error=evidence.error)
            content = evidence.content
            if content is None and self._has_output:
                content = self._shown(server)
            return ToolCall(**self._common, **fields, output=content)
        if name == tools.STDIN and self._text is not None:
            result = tools.command_result(tools.EXEC, self._text)
            if result is not None:
                extent = "truncated" if result.is_cut else _extent(result.body)
                output = (Text(text=result.body),)
                return ToolCall(**self._common, **fields, output=output, output_extent=extent)
        fields |= self._result(self._shown(server) if self._has_output else None)
        return ToolCall(**self._common, **fields)

    def _shown(self, server: str | None) -> Content:
        """Return a result as the model was shown it, without the frame around an MCP tool's."""
        if self._text is None:
            parts = items(self._draft.output)
            first = text(mapping(parts[0]).get("text")) if parts else None
            if first is not None and tools.tool_result(first) == "":
                parts = parts[1:]
            if len(parts) == 1 and set(mapping(parts[0])) == {"tools"}:
                return (Structured(value=parts[0]["tools"]),)
            return content_of(parts)
        body = self._text if server is None else tools.tool_result(self._text)
        return _blocks(body) if server is not None else (Text(text=body),)

    def _script(self) -> ToolCall:
        draft = self._draft
        fields: dict[str, Any] = {"name": draft.name, "arguments": draft.arguments}
        result = tools.script_result(draft.output) if self._has_output else None
        if result is None:
            content = content_of(draft.output) if self._has_output else None
            return ToolCall(**self._common, **fields, **self._result(content))
        if result.status == "failed":
            return ToolCall(**self._common, **fields, status="failed", error=result.body)
        return ToolCall(
            **self._common,
            **fields,
            status=result.status,
            output=self._printed(result.body),
            output_extent=_extent(result.body),
        )

    def _printed(self, body: str) -> Content:
        """Return what a script printed, as one text, and the pictures that it showed."""
        shown = [part for part in content_of(self._draft.output) if not isinstance(part, Text)]
        return (*([Text(text=body)] if body or not shown else []), *shown)

    def _plan(self) -> Plan:
        value = mapping(self._draft.arguments)
        steps = [mapping(step) for step in items(value.get("plan"))]
        explanation = text(value.get("explanation"))
        return Plan(
            **self._common,
            name=self._draft.name,
            arguments=self._draft.arguments,
            form="checklist",
            content=() if explanation is None else (Text(text=explanation),),
            items=tuple(
                PlanItem(text=text(step.get("step")) or "", status=_plan_status(step.get("status")))
                for step in steps
            ),
            **self._result(self._shown(None) if self._has_output else None),
        )

    def _question(self) -> UserQuestion:
        value = mapping(self._draft.arguments)
        answers = mapping(json_object(self._text or "").get("answers"))
        questions: list[Question] = []
        for asked in map(mapping, items(value.get("questions"))):
            answer = mapping(answers.get(str(asked.get("id")))).get("answers")
            given = [one for one in items(answer) if isinstance(one, str)]
            options = [text(mapping(one).get("label")) for one in items(asked.get("options"))]
            questions.append(
                Question(
                    text=text(asked.get("question")) or "",
                    options=tuple(one for one in options if one is not None),
                    answer=", ".join(given) if given else None,
                )
            )
        return UserQuestion(
            **self._common,
            name=self._draft.name,
            arguments=self._draft.arguments,
            questions=tuple(questions),
            **self._result(self._shown(None) if self._has_output else None),
        )

    def _sub_agent(self) -> SubAgent:
        draft, evidence = self._draft, self._evidence
        value = mapping(draft.arguments)
        told = json_object(self._text or "")
        fields = self._result(self._shown(None) if self._has_output else None)
        agent_id = text(told.get("agent_id"))
        if evidence is not None:
            agent_id = agent_id or evidence.agent_id
        launched = "agent_id" in told or "task_name" in told
        if fields["status"] == "completed" and draft.report is not None:
            fields["output"] = (Text(text=draft.report),)
        elif fields["status"] == "completed" and draft.failure is not None:
            fields |= {"status": "failed", "output": None, "error": draft.failure}
        elif fields["status"] == "completed" and (launched or not self._has_output):
            # The call returns at once; what it returned is not the agent's report.
            fields |= {"status": "unresolved", "output": None}
        prompt = text(value.get("message")) or (evidence.prompt if evidence else None)
        if prompt is None and value.get("items") is not None:
            prompt = content_text(content_of(value["items"]))
        return SubAgent(
            **self._common,
            name=tools.SPAWN,
            arguments=draft.arguments if draft.has_call else None,
            agent_id=agent_id,
            agent_type=text(value.get("agent_type"))
            or (evidence.agent_type if evidence is not None else None),
            description=text(value.get("task_name")),
            prompt=prompt,
            background=launched,
            **fields,
        )


def _unhappy(evidence: Evidence | None) -> Status | None:
    status = None if evidence is None else evidence.status
    match status:
        case "completed" | "unresolved":
            return None
        case _:
            return status


def _extent(body: str | None) -> Literal["full", "truncated"]:
    return "truncated" if body is not None and tools.is_truncated(body) else "full"


def _blocks(body: str) -> Content:
    """Return an MCP result's text, or the content blocks that it is the JSON of."""
    if body.startswith('[{"'):
        try:
            value = jsonlines.parse_text(body)
        except ValueError:
            return (Text(text=body),)
        blocks = [mapping(one) for one in items(value)]
        if blocks and all(isinstance(one.get("type"), str) for one in blocks):
            return content_of(blocks)
    return (Text(text=body),)


def _plan_status(value: Any) -> Any:
    return value if value in _PLAN_STATUSES else "unknown"
