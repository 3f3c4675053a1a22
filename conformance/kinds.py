"""One telling conversation for every kind of message and its awkward variants.

Each variant is a whole small conversation (a prompt, what the variant is about, closing words),
made in the normalised model and owned by no CLI, so that all variants together form one long
conversation as well. Its *subjects* are the messages that the cell is about; what frames them
anchors their order. Everything that must be found again carries a planted token of its own.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from transcripts.ids import derive
from transcripts.model import (
    AgentMessage,
    AnyMessage,
    Asset,
    CommandExecution,
    CompactBoundary,
    Content,
    Error,
    FileChange,
    FileEdit,
    Opaque,
    Other,
    PermissionRequest,
    Plan,
    PlanItem,
    Question,
    Reasoning,
    SearchResult,
    Status,
    Structured,
    SubAgent,
    Superseded,
    Text,
    ToolCall,
    Transcript,
    UserMessage,
    UserQuestion,
    WebSearch,
)

MADE = "made"
"""The agent's name of a transcript that no CLI recorded."""

CWD = "/srv/project"
STARTED = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d494844520000000100000001080600000"
    "01f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


class Variant(NamedTuple):
    """A cell's conversation: which kind it is about, and which of its messages are judged.

    ``crosses`` says that it is written into another store first and read back from there.
    """

    kind: str
    name: str
    title: str
    messages: tuple[AnyMessage, ...]
    crosses: bool = False

    @property
    def subjects(self) -> tuple[AnyMessage, ...]:
        """The messages that are judged: all of the variant's kind."""
        return tuple(message for message in self.messages if message.kind == self.kind)


def variants() -> tuple[Variant, ...]:
    """Return every variant, by kind in the order of the matrix."""
    return (
        *_user_messages(),
        *_agent_messages(),
        *_reasoning(),
        *_commands(),
        *_file_changes(),
        *_tool_calls(),
        *_plans(),
        *_web_searches(),
        *_sub_agents(),
        *_user_questions(),
        *_permission_requests(),
        *_compactions(),
        *_errors(),
        *_others(),
    )


def conversation(chosen: Iterable[Variant]) -> Transcript:
    """Join variants into one transcript: times rise, each message follows the one before it."""
    ordered = in_order(chosen)
    messages: list[AnyMessage] = []
    for variant in ordered:
        for message in variant.messages:
            messages.append(
                replace(
                    message,
                    at=STARTED + timedelta(seconds=2 * len(messages)),
                    at_source="record",
                    follows=messages[-1].id if messages else None,
                )
            )
    return Transcript(
        agent=MADE,
        session_id=derive(MADE, *(f"{variant.kind}/{variant.name}" for variant in ordered)),
        cwd=CWD,
        created_at=STARTED,
        updated_at=STARTED + timedelta(seconds=2 * len(messages)),
        messages=tuple(messages),
    )


def in_order(chosen: Iterable[Variant]) -> list[Variant]:
    """Order variants for one conversation: compacted ones go first.

    What stands before a compaction is out of the model's sight.
    """
    return sorted(chosen, key=lambda variant: variant.kind != "CompactBoundary")


def token(*parts: str) -> str:
    """Return the planted word of a place: the same each time, and found nowhere else."""
    name = "/".join(parts)
    letters = "".join(letter for letter in parts[-1].upper() if letter.isalpha())[:5]
    return f"{letters or 'WORD'}-{zlib.crc32(name.encode()):010d}"


# ------------------------------------------------------------------ framing


def _variant(
    kind: str,
    name: str,
    title: str,
    body: Sequence[AnyMessage],
    *,
    asks: AnyMessage | None = None,
    closes: bool = True,
    crosses: bool = False,
) -> Variant:
    place = f"{kind}/{name}"
    prompt = asks or _asks(f"Please see to {title}. {token(place, 'asked')}")
    closing = [_says(f"That is done. {token(place, 'closed')}")] if closes else []
    messages = [prompt, *body, *closing]
    turn = derive(MADE, place, "turn")
    return Variant(
        kind,
        name,
        title,
        tuple(_placed(message, place, turn, index) for index, message in enumerate(messages)),
        crosses,
    )


def _placed(message: AnyMessage, place: str, turn: str, index: int) -> AnyMessage:
    response = message.response and derive(MADE, place, "response", message.response)
    identified = replace(message, id=derive(MADE, place, index), turn=turn, response=response)
    if isinstance(identified, CommandExecution | FileChange | ToolCall | SubAgent | UserQuestion):
        return replace(identified, external_id=f"call_{zlib.crc32(identified.id.encode()):08x}")
    if isinstance(identified, WebSearch) or (isinstance(identified, Plan) and identified.name):
        return replace(identified, external_id=f"call_{zlib.crc32(identified.id.encode()):08x}")
    return identified


def _text(*texts: str) -> Content:
    return tuple(Text(text=text) for text in texts)


def _asks(*texts: str) -> UserMessage:
    return UserMessage(id="", author="human", content=_text(*texts))


def _says(*texts: str) -> AgentMessage:
    return AgentMessage(id="", author="model", content=_text(*texts))


def _image() -> Asset:
    return Asset(
        sha256=sha256(_PIXEL).hexdigest(),
        media_type="image/png",
        data=b64encode(_PIXEL).decode(),
        size=len(_PIXEL),
    )


# ------------------------------------------------------------------ words


def _user_messages() -> Iterable[Variant]:
    def one(name: str, title: str, *texts: str) -> Variant:
        words = (*texts[:-1], f"{texts[-1]} {token('UserMessage', name)}")
        return _variant("UserMessage", name, title, (), asks=_asks(*words))

    yield one("plain", "one plain prompt", "Name the tree by the gate.")
    yield _variant(
        "UserMessage",
        "equal-twice",
        "two equal prompts, which are two messages",
        (_says(f"First time. {token('equal-twice', 'first')}"), _asks(_AGAIN)),
        asks=_asks(_AGAIN),
    )
    yield one(
        "unicode",
        "text of many scripts",
        "Grüße, 你好, שלום, नमस्ते, e\u0301 and é, 👩\u200d🌾 in a row,\u2028a line separator,"
        "\u0085a next-line and \ufeff a mark.",
    )
    yield one(
        "fences",
        "fences, tags and quotes",
        "Quote this as it is:\n```python\nprint(\"it's \\\\ `here`\", '''$(pwd)''')\n```\n"
        "<note>a & b < c</note> \"quotes\" 'single' \\n stays two characters\n\n    indented",
    )
    yield one("markup", "a prompt that begins like a harness's tag", "<div>centre me</div>")
    yield one("crlf", "line ends of another system", "first\r\nsecond\r\n\r\nlast\ttabbed")
    yield one("two-parts", "a prompt of two parts", "The first part.", "The second part.")
    yield one("long", "a prompt of 60 KB", "Keep all of this. " + "gravel and sand, " * 3500)
    yield one("half-pair", "half of a surrogate pair", "An emoji cut in two: \ud83d here.")
    yield _variant(
        "UserMessage",
        "image",
        "a prompt with a picture",
        (),
        asks=UserMessage(
            id="",
            author="human",
            content=(Text(text=f"What is this? {token('UserMessage', 'image')}"), _image()),
        ),
    )


_AGAIN = f"Once more, please. {token('UserMessage', 'equal-twice')}"


def _agent_messages() -> Iterable[Variant]:
    def one(name: str, title: str, text: str) -> Variant:
        return _variant(
            "AgentMessage",
            name,
            title,
            (_says(f"{text} {token('AgentMessage', name)}"),),
            closes=False,
        )

    yield one("plain", "one plain answer", "A rowan stands by the gate.")
    yield one("unicode", "an answer of many scripts", "Ærøskøbing, Ελλάδα, 日本, 🪵🌲, a\u0308.")
    yield one(
        "fences",
        "an answer with code",
        "Use this:\n\n```sh\necho \"a 'b' $c\" | sed 's/\\\\/\\//'\n```\n\n> quoted\n\n1. one\n",
    )
    yield one(
        "exit-words",
        "an answer that talks of exit codes",
        "The job exited with code 3, as you said:\nExit code: 4\nOutput:",
    )
    yield one("marked-words", "an answer that begins like a thought", "(thinking) is a word.")
    yield _variant(
        "AgentMessage",
        "two-in-a-row",
        "two answers in a row",
        (
            _says(f"The first half. {token('AgentMessage', 'two', 'first')}"),
            _says(f"The second half. {token('AgentMessage', 'two', 'second')}"),
        ),
        closes=False,
    )


def _reasoning() -> Iterable[Variant]:
    def thinks(text: str, *more: Opaque) -> Reasoning:
        return Reasoning(id="", author="model", content=(Text(text=text), *more))

    word = token("Reasoning", "plain")
    yield _variant("Reasoning", "plain", "a thought", (thinks(f"The gate is old. {word}"),))
    word = token("Reasoning", "signed")
    yield _variant(
        "Reasoning",
        "signed",
        "a thought with a provider's signature",
        (
            thinks(
                f"I must not guess. {word}",
                Opaque(form="signature", data="bm90IGEgc2lnbmF0dXJl", provider="anthropic"),
            ),
        ),
    )
    yield _variant(
        "Reasoning",
        "between-calls",
        "a thought between two calls",
        (
            _command("between-a", "echo before", "before\n"),
            thinks(f"Before is fine.\nNow after. {token('Reasoning', 'between')}"),
            _command("between-b", "echo after", "after\n"),
        ),
    )
    yield _variant(
        "Reasoning",
        "hollow",
        "a thought that only its provider can read",
        (
            Reasoning(
                id="",
                author="model",
                content=(Opaque(form="encrypted", data="b3BhcXVl", provider="openai"),),
            ),
        ),
    )


# ------------------------------------------------------------------ commands


def _command(
    name: str,
    run: str,
    output: str | None,
    exit_code: int | None = 0,
    *,
    status: Status | None = None,
    response: str | None = None,
) -> CommandExecution:
    word = token("command", name)
    command = f"{run} # {word}"
    known: Status = "completed" if exit_code == 0 else "failed"
    if exit_code is None:
        known = "unresolved" if output is None else "completed"
    return CommandExecution(
        id="",
        author="model",
        name="shell",
        arguments={"command": command},
        command=command,
        output=None if output is None else _text(output),
        exit_code=exit_code,
        exit_code_source="none" if exit_code is None else "field",
        status=status or known,
        response=response,
    )


def _commands() -> Iterable[Variant]:
    def one(
        name: str,
        title: str,
        run: str,
        output: str | None,
        exit_code: int | None = 0,
        status: Status | None = None,
    ) -> Variant:
        said = output and output.replace("TOKEN", token("CommandExecution", name, "output"))
        command = _command(name, run, said, exit_code, status=status)
        return _variant("CommandExecution", name, title, (command,))

    yield one("exit-zero", "a command that succeeds", "ls", "gate.txt TOKEN\n", 0)
    yield one("exit-null", "a command whose status nobody recorded", "ls", "pond TOKEN\n", None)
    yield one("exit-three", "a command that fails", "make", "no rule TOKEN\n", 3)
    yield one(
        "exit-words",
        "a success whose output says otherwise",
        "cat log",
        "TOKEN\nthe old job exited with code 3\n",
        0,
    )
    yield one(
        "exit-words-failing",
        "a failure whose output names another status",
        "sh run",
        "child exited with code 3\nTOKEN\n",
        7,
    )
    yield one(
        "exit-words-same",
        "output that names its own status",
        "sh run",
        "TOKEN exited with code 3",
        3,
    )
    yield one(
        "exit-header", "output that looks like a header", "cat x", "Exit code: 9\nOutput:\nTOKEN\n"
    )
    yield one("exit-127", "a command not found", "frobnicate", "frobnicate: not found TOKEN\n", 127)
    yield one("silent", "a command without output", "true", "", 0)
    yield one("silent-failure", "a failure without output", "false", "", 1)
    yield one("unresolved", "a command without result", "sleep 600", None, None)
    yield one("declined", "a command that the person declined", "rm -r x", None, None, "declined")
    yield one("unicode", "a command of many scripts", "echo 'Ωμέγα 🪵'", "Ωμέγα 🪵 TOKEN\n", 0)
    yield one(
        "quotes",
        "a command with a here-document",
        "cat <<'EOF' > \"a b.txt\"\nit's $HOME \\ `x`\nEOF\nprintf '%s\\n' \"$?\" '\\'",
        "0 TOKEN\n\\\n",
        0,
    )
    yield one(
        "spaces",
        "output whose blanks matter",
        "cat x",
        "  indented TOKEN\n\n\n  after two\t\n  end",
        0,
    )
    yield one(
        "control",
        "output with colours and control characters",
        "ls",
        "\x1b[31mred TOKEN\x1b[0m\x07\r\n",
    )
    yield one("half-pair", "output cut inside an emoji", "head -c 9 x", "cut \ud83d TOKEN\n", 0)
    yield one(
        "big",
        "a result of 500 KB",
        "cat big",
        "".join(f"line {number} of the long result\n" for number in range(16_000)) + "TOKEN\n",
        0,
    )
    yield _variant(
        "CommandExecution",
        "parallel",
        "three commands at once",
        [
            _command(
                f"parallel-{name}", f"measure {name}", f"{name} {length}\n", code, response="r"
            )
            for name, length, code in (("north", 11, 0), ("middle", 22, 2), ("south", 33, 0))
        ],
    )
    yield _variant(
        "CommandExecution",
        "mixed",
        "commands among words, thoughts and other calls",
        (
            _says(f"First I look. {token('mixed', 'first')}"),
            _command("mixed-a", "look", "seen\n"),
            Reasoning(id="", author="model", content=_text(f"Seen. {token('mixed', 'thought')}")),
            _tool("mixed", "measure", {"pond": "north"}, "north 11"),
            _says(f"Then I dig. {token('mixed', 'second')}"),
            _command("mixed-b", "dig", "stone\n", 1),
        ),
    )


# ------------------------------------------------------------------ files


def _change(
    name: str, *changes: FileEdit, said: str | None = None, status: Status = "completed"
) -> FileChange:
    failed = status == "failed"
    return FileChange(
        id="",
        author="model",
        name="edit",
        arguments=None,
        changes=changes,
        content=_text(said) if said else (),
        output=None if failed else _text(f"changed {token('FileChange', name, 'output')}"),
        error=f"no match in file {token('FileChange', name, 'error')}" if failed else None,
        status=status,
    )


def _path(name: str, suffix: str = ".txt") -> str:
    return f"{CWD}/{name}-{zlib.crc32(name.encode()):08x}{suffix}"


def _file_changes() -> Iterable[Variant]:
    def one(name: str, title: str, change: FileChange, *, crosses: bool = False) -> Variant:
        return _variant("FileChange", name, title, (change,), crosses=crosses)

    def words(name: str, which: Literal["old", "new"]) -> str:
        return f"{which} plank {token('FileChange', name, which)}\n"

    def update(name: str) -> FileEdit:
        return FileEdit(
            path=_path(name),
            operation="update",
            before=words(name, "old"),
            after=words(name, "new"),
        )

    def create(name: str, content: str) -> FileEdit:
        return FileEdit(path=_path(name), operation="add", after=content, whole=True)

    yield one("create", "a new file", _change("create", create("create", words("create", "new"))))
    yield one("update", "an edit without words", _change("update", update("update")))
    yield one(
        "update-said",
        "an edit with words",
        _change(
            "update-said",
            update("update-said"),
            said=f"I changed the plank. {token('FileChange', 'update-said', 'said')}",
        ),
    )
    yield one(
        "update-bare",
        "an edit of which only the path is known",
        _change("update-bare", FileEdit(path=_path("update-bare"), operation="update")),
    )
    yield one(
        "update-diff",
        "an edit of which only a diff is known",
        _change(
            "update-diff",
            FileEdit(
                path=_path("update-diff"),
                operation="update",
                diff=f"@@ -1 +1 @@\n-{words('update-diff', 'old')}+{words('update-diff', 'new')}",
            ),
        ),
    )
    yield one(
        "delete",
        "a deleted file",
        _change(
            "delete",
            FileEdit(
                path=_path("delete"), operation="delete", before=words("delete", "old"), whole=True
            ),
        ),
    )
    yield one(
        "rename",
        "a renamed file",
        _change(
            "rename",
            FileEdit(path=_path("rename"), operation="move", moved_to=_path("renamed")),
        ),
    )
    yield one(
        "several",
        "one change of three files",
        _change(
            "several",
            create("several-a", words("several-a", "new")),
            update("several-b"),
            update("several-c"),
        ),
    )
    yield one("failed", "an edit that fails", _change("failed", update("failed"), status="failed"))
    yield one(
        "unicode",
        "a file of many scripts without a last line end",
        _change(
            "unicode",
            create(
                "unicode",
                f"Ωμέγα\n\n\t'''\"``` </x> \\n 🪵\r\nend {token('FileChange', 'unicode', 'new')}",
            ),
        ),
    )
    yield one("empty", "an empty file", _change("empty", create("empty", "")))
    yield one(
        "crossing",
        "an edit that crosses twice",
        _change("crossing", update("crossing")),
        crosses=True,
    )


# ------------------------------------------------------------------ tools


def _tool(
    place: str,
    name: str,
    arguments: Any,
    output: str | None,
    *,
    server: str | None = None,
    error: str | None = None,
    parts: Content = (),
    response: str | None = None,
) -> ToolCall:
    status: Status = "completed"
    if error is not None:
        status = "failed"
    elif output is None and not parts:
        status = "unresolved"
    word = token("ToolCall", place, "argument")
    given = {**arguments, "mark": word} if isinstance(arguments, dict) else f"{arguments} {word}"
    said = () if output is None else _text(output)
    return ToolCall(
        id="",
        author="model",
        name=name,
        server=server,
        arguments=given,
        output=None if status != "completed" else (*said, *parts),
        error=error,
        status=status,
        response=response,
    )


def _tool_calls() -> Iterable[Variant]:
    def result(name: str) -> str:
        return f"found it {token('ToolCall', name, 'output')}"

    def one(name: str, title: str, *calls: ToolCall) -> Variant:
        return _variant("ToolCall", name, title, calls)

    yield one(
        "plain",
        "a call of a tool",
        _tool("plain", "survey_site", {"site": "gate"}, result("plain")),
    )
    yield one(
        "error",
        "a tool that fails",
        _tool("error", "survey_site", {}, None, error=f"no such site {token('ToolCall', 'error')}"),
    )
    yield one(
        "error-exit-words",
        "a tool's error that talks of exit codes",
        _tool(
            "error-exit-words",
            "survey_site",
            {"site": "x"},
            None,
            error=f"helper exited with code 3 {token('ToolCall', 'error-exit-words', 'error')}",
        ),
    )
    yield one("unresolved", "a call without result", _tool("unresolved", "survey_site", {}, None))
    yield one(
        "mcp",
        "a call of an MCP server's tool",
        _tool("mcp", "lookup_badge", {"badge": 17}, result("mcp"), server="registry"),
    )
    yield one(
        "mcp-failed",
        "an MCP server's tool that fails",
        _tool(
            "mcp-failed",
            "lookup_badge",
            {"badge": -1},
            None,
            server="registry",
            error=f"unknown badge {token('ToolCall', 'mcp-failed', 'error')}",
        ),
    )
    yield one(
        "mcp-underscores",
        "an MCP name with underscores of its own",
        _tool(
            "mcp-underscores",
            "find__all_things",
            {"of": "kind"},
            result("mcp-underscores"),
            server="yard_tools",
        ),
    )
    yield one(
        "arguments",
        "arguments of every JSON type",
        _tool(
            "arguments",
            "survey_site",
            {
                "nested": {
                    "list": [1, 2.5, None, True, {"deep": "a \"b\" 'c' \\ \n"}],
                    "empty": {},
                },
                "zero": 0,
                "false": False,
                "none": None,
                "text": "Ωμέγα 🪵 </x>",
                "long": 9007199254740991,
                "order_z": 1,
                "order_a": 2,
            },
            result("arguments"),
        ),
    )
    yield one(
        "no-arguments", "a call with hardly an argument", _tool("no", "ping_yard", {}, "pong")
    )
    yield one(
        "free-text",
        "a call with free text for arguments",
        _tool("free-text", "run_notes", "write this\n'down'", result("free-text")),
    )
    yield one(
        "structured",
        "a JSON value for a result",
        _tool(
            "structured",
            "survey_site",
            {"as": "json"},
            None,
            parts=(Structured(value={"ponds": [11, 22], "mark": token("ToolCall", "structured")}),),
        ),
    )
    yield one(
        "image",
        "a picture for a result",
        _tool("image", "take_picture", {"of": "gate"}, result("image"), parts=(_image(),)),
    )
    yield one("silent", "a call with an empty result", _tool("silent", "survey_site", {"a": 1}, ""))
    yield one(
        "big",
        "a result of 500 KB",
        _tool(
            "big",
            "survey_site",
            {"all": True},
            "".join(f"site {number} is surveyed\n" for number in range(20_000)) + result("big"),
        ),
    )
    yield one(
        "equal-twice",
        "two equal calls",
        _tool("equal-twice", "survey_site", {"again": True}, result("equal-twice")),
        _tool("equal-twice", "survey_site", {"again": True}, result("equal-twice")),
    )
    yield one(
        "parallel",
        "two calls at once, one of which fails",
        _tool("parallel-a", "survey_site", {"at": "a"}, result("parallel-a"), response="r"),
        _tool(
            "parallel-b",
            "survey_site",
            {"at": "b"},
            None,
            error=f"fog {token('ToolCall', 'parallel-b', 'error')}",
            response="r",
        ),
    )


# ------------------------------------------------------------------ plans and delegation


def _plans() -> Iterable[Variant]:
    def word(name: str) -> str:
        return token("Plan", name)

    yield _variant(
        "Plan",
        "checklist",
        "a checklist",
        (
            Plan(
                id="",
                author="model",
                name="todo",
                form="checklist",
                items=(
                    PlanItem(text=f"Measure {word('first')}", status="completed"),
                    PlanItem(text=f"Dig {word('second')}", status="in_progress"),
                    PlanItem(text=f"Plant {word('third')}", status="pending"),
                ),
                output=_text("noted"),
            ),
        ),
    )
    yield _variant(
        "Plan",
        "proposal",
        "a proposed plan",
        (
            Plan(
                id="",
                author="model",
                name="",
                form="proposal",
                content=_text(f"# Plan\n\n1. Measure {word('one')}\n2. Dig {word('two')}\n"),
            ),
        ),
    )


def _web_searches() -> Iterable[Variant]:
    yield _variant(
        "WebSearch",
        "results",
        "a search of the web",
        (
            WebSearch(
                id="",
                author="model",
                name="web_search",
                query=f"rowan care {token('WebSearch', 'query')}",
                results=(
                    SearchResult(
                        url=f"https://example.org/{token('WebSearch', 'url')}",
                        title=f"Rowans {token('WebSearch', 'title')}",
                    ),
                ),
                output=_text(f"Water them. {token('WebSearch', 'output')}"),
            ),
        ),
    )
    yield _variant(
        "WebSearch",
        "query-only",
        "a search of which only the query is known",
        (
            WebSearch(
                id="", author="model", name="", query=f"rowan bark {token('WebSearch', 'bare')}"
            ),
        ),
    )


def _sub_agents() -> Iterable[Variant]:
    def agent(name: str, **more: Any) -> SubAgent:
        values: dict[str, Any] = {
            "agent_type": "explorer",
            "description": f"Count gates {token('SubAgent', name, 'task')}",
            "prompt": f"Count all gates and report. {token('SubAgent', name, 'prompt')}",
            "output": _text(f"There are 17. {token('SubAgent', name, 'report')}"),
            **more,
        }
        return SubAgent(id="", author="model", name="delegate", **values)

    yield _variant("SubAgent", "report", "a task handed to another agent", (agent("report"),))
    yield _variant(
        "SubAgent",
        "failed",
        "another agent that fails",
        (
            agent(
                "failed",
                output=None,
                error=f"it ran away {token('SubAgent', 'failed', 'error')}",
                status="failed",
            ),
        ),
    )
    yield _variant(
        "SubAgent",
        "background",
        "another agent in the background",
        (agent("background", background=True),),
    )


def _user_questions() -> Iterable[Variant]:
    def question(name: str, answer: str | None) -> UserQuestion:
        asked = f"Which gate? {token('UserQuestion', name, 'text')}"
        return UserQuestion(
            id="",
            author="model",
            name="ask",
            questions=(Question(text=asked, options=("north", "south"), answer=answer),),
            output=None if answer is None else _text(answer),
            status="unresolved" if answer is None else "completed",
        )

    answer = f"the south one {token('UserQuestion', 'answered', 'answer')}"
    yield _variant(
        "UserQuestion", "answered", "a question and its answer", (question("answered", answer),)
    )
    yield _variant(
        "UserQuestion", "unanswered", "a question nobody answered", (question("unanswered", None),)
    )


def _permission_requests() -> Iterable[Variant]:
    def request(name: str, decision: Literal["allowed", "denied"] | None) -> PermissionRequest:
        return PermissionRequest(
            id="",
            author="harness",
            in_context=False,
            request_id=f"permission-{name}",
            tool="shell",
            arguments={"command": f"rm gate {token('PermissionRequest', name, 'command')}"},
            reason=f"it deletes {token('PermissionRequest', name, 'reason')}",
            decision=decision,
            decided_by="human" if decision else None,
        )

    yield _variant(
        "PermissionRequest", "allowed", "a permission given", (request("yes", "allowed"),)
    )
    yield _variant(
        "PermissionRequest", "denied", "a permission refused", (request("no", "denied"),)
    )


# ------------------------------------------------------------------ the harness


def _compactions() -> Iterable[Variant]:
    def replaced(message: AnyMessage, boundary: str) -> AnyMessage:
        return replace(message, superseded_by=Superseded(id=boundary, why="compaction"))

    for name, summary in (("summary", True), ("bare", False)):
        word = token("CompactBoundary", name, "summary")
        whole = _variant(
            "CompactBoundary",
            name,
            "a compaction" + (" with its summary" if summary else " that left no summary"),
            (
                _says(f"Long talk. {token('CompactBoundary', name, 'before')}"),
                CompactBoundary(
                    id="",
                    author="harness",
                    trigger="manual",
                    pre_tokens=15000,
                    post_tokens=900 if summary else None,
                    summary=_text(f"They talked of gates. {word}") if summary else None,
                ),
                _asks(f"Go on. {token('CompactBoundary', name, 'after')}"),
            ),
        )
        prompt, reply, boundary, *rest = whole.messages
        yield whole._replace(
            messages=(replaced(prompt, boundary.id), replaced(reply, boundary.id), boundary, *rest)
        )


def _errors() -> Iterable[Variant]:
    def failure(name: str, kind: str, status: int) -> Error:
        return Error(
            id="",
            author="harness",
            in_context=False,
            status="failed",
            text=f"The provider refused: {kind} {token('Error', name)}",
            failure=kind,
            status_code=status,
        )

    yield _variant(
        "Error",
        "recovered",
        "a failure that was overcome",
        (failure("recovered", "overloaded", 529),),
    )
    yield _variant(
        "Error", "final", "a failure at the end", (failure("final", "auth", 401),), closes=False
    )


def _others() -> Iterable[Variant]:
    yield _variant(
        "Other",
        "record",
        "a record that has no kind of its own",
        (
            Other(
                id="",
                author="harness",
                in_context=False,
                record="made/weather-note",
                value={"note": f"it rains {token('Other', 'record')}"},
            ),
        ),
    )
