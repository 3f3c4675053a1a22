"""A shell command's words as the shell would part them, so that quoted text is no command.

What stands in a here-document, in a comment or between quotes is nobody's command. A command
handed to a shell (``bash -lc '…'``) is one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import dropwhile

_HEREDOC = re.compile(r"<<-?\s*(?P<quote>['\"]?)(?P<end>[A-Za-z_][A-Za-z0-9_]*)(?P=quote)")
_SEPARATORS = frozenset({";", "&", "&&", "|", "||", "|&", "(", ")", ";;", "\n"})
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_LEADING = frozenset({"sudo", "env", "command", "exec", "time", "nohup", "then", "do", "else", "!"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_DEEPEST = 4


def commands(script: str, deeper: int = _DEEPEST) -> Iterator[list[str]]:
    """Yield the words of each simple command of a script, the inner ones instead of the shells."""
    for told in _simple(_without_heredocs(script)):
        words = list(dropwhile(_is_before, told))
        if not words:
            continue
        inner = _inner(words) if deeper else None
        if inner is None:
            yield words
        else:
            yield from commands(inner, deeper - 1)


def _is_before(word: str) -> bool:
    """Whether a word stands before the command that it changes."""
    return word in _LEADING or _ASSIGNMENT.match(word) is not None


def _inner(words: list[str]) -> str | None:
    """Return the script that a shell is given on its command line."""
    if words[0].rsplit("/", 1)[-1] not in _SHELLS:
        return None
    for at, word in enumerate(words[1:-1], 1):
        if word.startswith("-") and not word.startswith("--") and word.endswith("c"):
            return words[at + 1]
    return None


def _simple(script: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(script, posix=True, punctuation_chars=";&|()\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    comment = False
    try:
        for token in lexer:
            if token in _SEPARATORS or (token and not token.strip(";&|()\n")):
                if words:
                    yield words
                words = []
                comment = comment and "\n" not in token
            elif comment or (token.startswith("#") and not words):
                comment = True
            else:
                words.append(token)
    except ValueError:
        # A quote without an end: a shell would refuse the rest too.
        return
    if words:
        yield words


def _without_heredocs(script: str) -> str:
    script = script.replace("\\\n", " ")
    if "<<" not in script:
        return script
    kept: list[str] = []
    ends: list[str] = []
    for line in script.split("\n"):
        if ends:
            if line.strip() == ends[0]:
                ends.pop(0)
            continue
        kept.append(line)
        ends += [found["end"] for found in _HEREDOC.finditer(line)]
    return "\n".join(kept)
