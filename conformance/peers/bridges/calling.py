"""A call as a tool gives it, and the message of the model that it becomes.

Many tools hand a call on as the CLI recorded it: its name, what it was given, the text of the
result. What that says in each CLI's own words is read in ``claude_calls.py``, ``codex_calls.py``
and ``copilot_calls.py``, for every bridge alike, so that no tool is better for its bridge. What a
tool did not hand on is not there.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from saying import Json, words_of

_SERVER = re.compile(r"mcp__(.+?)__(.+)")


@dataclass
class Called:
    """A call merged with its result.

    ``output`` is the content of the result, or None while there is none; ``failed`` is what the
    tool says of it, None if it says nothing. ``details`` and ``denial`` are what the CLI recorded
    of the result beside its text, where a tool hands that on. ``fields`` are those of any message.
    """

    name: str
    arguments: Any = None
    output: list[Json] | None = None
    failed: bool | None = None
    server: str | None = None
    cwd: str | None = None
    release: str | None = None
    details: Any = None
    denial: str | None = None
    fields: Json = field(default_factory=dict[str, Any])

    @property
    def given(self) -> Json:
        """The arguments, where they are an object."""
        return self.arguments if isinstance(self.arguments, dict) else {}

    @property
    def words(self) -> str:
        """The words of the result."""
        return words_of(self.output)

    def common(self) -> Json:
        """Return the fields of a call of any kind; how it ended comes on top."""
        fields: Json = {"author": "model", "name": self.name, "server": self.server}
        return {**fields, "arguments": self.arguments, **self.fields}

    def result(self) -> Json:
        """Return output, error and status of a call whose result has no frame."""
        if self.output is None:
            return {"status": "unresolved"}
        if self.failed:
            return {"status": "failed", "error": self.words}
        return {"status": "completed", "output": self.output}


def parsed(arguments: Any) -> Any:
    """Return arguments that a tool left as the JSON of an object, as that object."""
    if isinstance(arguments, str) and arguments.lstrip().startswith("{"):
        try:
            return json.loads(arguments)
        except ValueError:
            return arguments
    return arguments


def of_server(name: str) -> tuple[str, str | None]:
    """Return a tool's own name and its MCP server, from the name that the model knows."""
    found = _SERVER.fullmatch(name)
    return (found[2], found[1]) if found else (name, None)


def string(value: Any) -> str | None:
    """Return a string, and nothing else."""
    return value if isinstance(value, str) else None


def objects(value: Any) -> list[Json]:
    """Return the objects of a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def answered(questions: Any, answers: dict[str, str | None], key: str = "question") -> list[Json]:
    """Return what was asked, each with its options and the answer that stands under ``key``."""
    return [
        {
            "text": string(asked.get("question")) or "",
            "options": [
                label for one in asked.get("options") or () if (label := _label(one)) is not None
            ],
            "answer": answers.get(str(asked.get(key))),
        }
        for asked in objects(questions)
    ]


def _label(option: Any) -> str | None:
    return string(option.get("label")) if isinstance(option, dict) else string(option)
