"""The CLI's own words in the user's place, told from what a person typed.

Text that starts with ``<`` is not the harness by itself: people paste markup. Only the
wrappers that the CLI is known to write count, and only where they wrap the whole text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from transcripts.model import Author

_INTERRUPTED = re.compile(r"\[Request interrupted[^\]]*\]")
_WRAPPED = re.compile(r"<(?P<tag>[a-z][a-z-]*)(?:\s[^<>]*)?>.*</(?P=tag)>", re.DOTALL)
_COMMAND_TAG = re.compile(
    r"<command-(?P<field>name|message|args|contents)>(?P<text>.*?)</command-(?P=field)>", re.DOTALL
)
_SHELL_INPUT = re.compile(r"<bash-input>(?P<text>.*)</bash-input>", re.DOTALL)

_HARNESS_TAGS = frozenset(
    {
        "bash-stderr",
        "bash-stdout",
        "local-command-caveat",
        "local-command-stderr",
        "local-command-stdout",
        "system-reminder",
        "task-notification",
        "tick",
        "user-prompt-submit-hook",
    }
)
_AGENT_TAGS = frozenset({"agent-message", "cross-session-message", "teammate-message"})

OWN_COMMAND = "own-command"
"""Wraps a command that the CLI carries out itself: the name stands before the message, behind it
where the command is a prompt."""

WRAPPERS = (
    _HARNESS_TAGS | _AGENT_TAGS | {OWN_COMMAND, "slash-command", "bash-input", "interruption"}
)
"""What a text is called of which only its wrapper tells what it is."""

REJECTED = (
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
)
_DENIED = re.compile(
    r"Claude requested permissions? to .* haven't granted it yet"
    r"|Permission to use \S+ (?:with command .* )?(?:has been (?:auto-)?denied|denied by plugin)",
    re.DOTALL,
)

_API_ERROR = re.compile(r"API Error: (?P<status>[1-5]\d\d)\b")

_STOPPED = "stopped while running"
"""2.1.332 corrects its own sentence where its input is a stream: the call was never refused."""

_STOCK_REFUSAL = re.compile(
    r"The user doesn't want to (?:proceed with this tool use|take this action right now)\."
    r"(?: The tool use was rejected \(eg\. [^()]*\)\.)?"
    r"(?: STOP what you are doing [^.]*\.)?"
)

_PERSISTED = re.compile(
    r"<persisted-output>.*?saved to: (?P<path>[^\n]+)\n\n"
    r"Preview \(first [^\n]*\n(?P<preview>.*?)(?:\n\.\.\.)?\n?</persisted-output>",
    re.DOTALL,
)
_USAGE_LIMIT = re.compile(
    r"You've hit your (?:session|5-hour|weekly|[^\n]*) limit\b"
    r"|Claude AI usage limit reached|[^\n]*\bweekly limit reached\b"
)

CALL_INTERRUPTED = "[Tool call interrupted: no result was recorded]"
"""What the writer answers a call that has no result with; read back as unresolved."""
CODE_NOT_RECORDED = "the exit code was not recorded"
"""What the writer says in the place of a code of which nobody knows whether it was 0."""

NO_ERROR = "no error"
"""What the writer says in the place of a code that the CLI did not take for an error."""

_CODE_IN_WORDS = (2, 0, 77)
_RELEASE = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)")
_FILE_ORDER = (2, 1, 112)
_NOT_RUN = re.compile(r"<tool_use_error>|InputValidationError\b|PreToolUse:|.* blocked by hook\b")

_CALL_INTERRUPTED = re.compile(r"\[Tool call interrupted(?:\W|$)")


class Typed(NamedTuple):
    """What a user text really is: its words, whose they are, and which wrapper says so.

    ``author`` is None where the words alone don't tell.
    """

    text: str
    author: Author | None = None
    wrapper: str | None = None


def typed(text: str) -> Typed:
    """Look behind the wrappers of a user text."""
    bare = text.strip()
    if not bare.startswith(("<", "[")):
        # No wrapper of any kind: most of what is said.
        return Typed(text)
    if _INTERRUPTED.fullmatch(bare):
        return Typed(text, "harness", "interruption")
    command = _slash_command(bare)
    if command is not None:
        own = bare.startswith("<command-name>")
        return Typed(command, "human", OWN_COMMAND if own else "slash-command")
    shell = _SHELL_INPUT.fullmatch(bare)
    if shell:
        return Typed(f"! {shell['text']}", "human", "bash-input")
    wrapped = _WRAPPED.fullmatch(bare)
    if wrapped and wrapped["tag"] in _HARNESS_TAGS:
        return Typed(text, "harness", wrapped["tag"])
    if wrapped and wrapped["tag"] in _AGENT_TAGS:
        return Typed(text, "agent", wrapped["tag"])
    return Typed(text)


def _slash_command(text: str) -> str | None:
    """Return a typed slash command as one line, None if the text is more or less than one."""
    fields = {match["field"]: match["text"].strip() for match in _COMMAND_TAG.finditer(text)}
    name = fields.get("name")
    if not name or _COMMAND_TAG.sub("", text).strip():
        return None
    return f"{name} {fields['args']}" if fields.get("args") else name


def slash_command(text: str) -> str:
    """Return the wrapper that the CLI records for a typed slash command."""
    name, _, arguments = text.partition(" ")
    return (
        f"<command-message>{name.removeprefix('/')}</command-message>\n"
        f"<command-name>{name}</command-name>"
        + (f"\n<command-args>{arguments}</command-args>" if arguments else "")
    )


def own_command(text: str) -> str:
    """Return the wrapper that the CLI records for a command that it carries out itself."""
    name, _, arguments = text.partition(" ")
    return (
        f"<command-name>{name}</command-name>\n"
        f"<command-message>{name.removeprefix('/')}</command-message>\n"
        f"<command-args>{arguments}</command-args>"
    )


def shell_input(text: str) -> str:
    """Return the wrapper that the CLI records for a shell command typed after ``!``."""
    return f"<bash-input>{text.removeprefix('! ')}</bash-input>"


def is_refusal(text: str) -> bool:
    """Whether a tool's error says that the person or a permission rule refused the call."""
    return text.startswith(REJECTED) or _DENIED.match(text) is not None


def is_interruption(text: str) -> bool:
    """Whether a tool's error says that the person stopped the call while it ran."""
    return text.startswith(REJECTED) and _STOPPED in text


def is_stock_refusal(text: str) -> bool:
    """Whether a refusal is only the CLI's own sentence, without a reason or a rule."""
    return _STOCK_REFUSAL.fullmatch(text.strip()) is not None


def stated_status(text: str) -> int | None:
    """Return the HTTP status that a failure names; older releases have no field for it."""
    found = _API_ERROR.search(text)
    return int(found["status"]) if found else None


class Persisted(NamedTuple):
    """An output too long to be shown: how it begins, and the file that holds all of it."""

    preview: str
    path: str


def persisted(preview: str, path: str) -> str:
    """Word a result of which the model sees the beginning, and where the rest lies."""
    return (
        f"<persisted-output>\nOutput saved to: {path}\n\n"
        f"Preview (first {len(preview)} characters):\n{preview}\n...\n</persisted-output>"
    )


def persisted_output(text: str) -> Persisted | None:
    """Return what a result says of an output that was put into a file; None if it is none."""
    bare = text.strip()
    found = _PERSISTED.fullmatch(bare) if bare.startswith("<persisted-output>") else None
    return Persisted(found["preview"], found["path"].strip()) if found else None


def is_usage_limit(text: str) -> bool:
    """Whether a failure says that an allowance is used up: older releases have no field for it,
    and the provider's status and token are those of any request that came too soon."""
    return _USAGE_LIMIT.match(text) is not None


def words_exit_codes(release: str | None) -> bool:
    """Whether a release says with which code a command failed: 2.0.77 does, 2.0.0 does not."""
    return _is_since(_CODE_IN_WORDS, release)


def goes_by_file_order(release: str | None) -> bool:
    """Whether a release takes the last row of a file for the newest: 2.1.112 does, 2.1.50 goes
    by the times."""
    return _is_since(_FILE_ORDER, release)


def _is_since(first: tuple[int, int, int], release: str | None) -> bool:
    found = _RELEASE.match(release or "")
    return not found or tuple(int(number) for number in found.groups()) >= first


def is_commands_own(text: str) -> bool:
    """Whether an old release's error of a shell is what the command printed.

    Such a release marks a command that failed like a call that was never run: only by its own
    words is the latter told.
    """
    return _NOT_RUN.match(text) is None


def is_interrupted_call(text: str) -> bool:
    """Whether a result says only that the call's outcome was never recorded."""
    return _CALL_INTERRUPTED.match(text) is not None
