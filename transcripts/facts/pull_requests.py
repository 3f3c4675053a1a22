"""Which pull requests were opened or merged, by the CLI's own links and by commands that ran.

What somebody says of a pull request is no evidence, nor is a command in a text that was printed.
A command that failed counts only where what it printed shows that the request is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from transcripts.facts.fact import Fact
from transcripts.facts.shell import commands
from transcripts.facts.words import words_of
from transcripts.model import CommandExecution, Message
from transcripts.stores.notes import LinkedPullRequest

_URL = re.compile(r"https?://[^\s/]+/(?P<repository>[\w.-]+/[\w.-]+)/pull/(?P<number>\d+)")
_MERGED = re.compile(r"(?:Merged|Squashed and merged|Rebased and merged) pull request \S*?#(\d+)")
_VALUED = frozenset(
    [
        "-R",
        "--repo",
        "-t",
        "--title",
        "-b",
        "--body",
        "-F",
        "--body-file",
        "-B",
        "--base",
        "-H",
        "--head",
        "-a",
        "--assignee",
        "-l",
        "--label",
        "-m",
        "--milestone",
        "-p",
        "--project",
        "-r",
        "--reviewer",
        "-T",
        "--template",
        "--recover",
        "--subject",
        "--match-head-commit",
        "-A",
        "--author-email",
    ]
)
"""The options of the two commands that take a value."""

Action = Literal["create", "merge", "link"]


class PullRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One pull request and what was done; ``link`` where the CLI only connected it."""

    repository: str | None
    number: int | None
    url: str | None
    action: Action


class PullRequestsFold:
    """The pull requests of one thread."""

    def __init__(self) -> None:
        self._found: list[tuple[PullRequest, str]] = []
        self._by_text: list[str] = []

    def take(self, message: Message) -> None:
        """Take in a message of the thread's own: a command that the model had run."""
        if not isinstance(message, CommandExecution) or message.author != "model":
            return
        if "pr" not in message.command or "gh" not in message.command:
            return
        asked = [one for words in commands(message.command) if (one := _asked(words)) is not None]
        if not asked or (message.output is None and message.stdout is None):
            return
        printed = words_of(message.output or ()) or message.stdout or ""
        shown = [(one["repository"], int(one["number"])) for one in _URL.finditer(printed)]
        urls = [one[0] for one in _URL.finditer(printed)]
        for action, repository, named in asked:
            found = _answered(action, repository, named, printed, shown, urls, alone=len(asked) < 2)
            if found is not None and (message.status == "completed" or found.url in urls):
                self._found.append((found, message.id))
                if found.url in urls:
                    self._by_text.append(message.id)

    def fact(self, linked: Sequence[LinkedPullRequest] = ()) -> Fact[list[PullRequest]]:
        """Return each request once for each thing that was done with it."""
        known: dict[tuple[str, Action], PullRequest] = {}
        for told, message in self._found:
            found = _completed(told, [one for one, _ in self._found])
            known.setdefault((_key(found, message), found.action), found)
        numbers = {(one.number, one.url) for one in known.values()}
        for link in linked:
            if (link.number, link.url) not in numbers:
                repository = link.repository or _repository(link.url)
                request = PullRequest(
                    repository=repository, number=link.number, url=link.url, action="link"
                )
                known.setdefault((link.url or f"#{link.number}", "link"), request)
        return Fact(
            value=list(known.values()),
            evidence=tuple(dict.fromkeys(message for _, message in self._found)),
            records=tuple(link.source for link in linked),
            by_text=tuple(dict.fromkeys(self._by_text)),
        )


def _key(found: PullRequest, message: str) -> str:
    if found.number is None:
        return message
    return f"{found.repository}#{found.number}"


def _completed(found: PullRequest, others: Iterable[PullRequest]) -> PullRequest:
    """Return a request with the address that another command printed of the same number."""
    if found.url is not None or found.number is None:
        return found
    same = {
        (one.repository, one.url)
        for one in others
        if one.number == found.number
        and one.url is not None
        and found.repository in (None, one.repository)
    }
    if len(same) != 1:
        return found
    repository, url = same.pop()
    return msgspec.structs.replace(found, repository=repository, url=url)


def _repository(url: str | None) -> str | None:
    found = _URL.match(url or "")
    return found["repository"] if found else None


def _asked(words: list[str]) -> tuple[Action, str | None, str | None] | None:
    """Return what a command asks of ``gh``: the action, the repository and what it names."""
    if words[0].rsplit("/", 1)[-1] != "gh":
        return None
    plain: list[str] = []
    repository: str | None = None
    rest = iter(words[1:])
    for word in rest:
        name, equals, value = word.partition("=")
        if name in _VALUED:
            value = value if equals else next(rest, "")
            repository = value if name in ("-R", "--repo") else repository
        elif word in ("--help", "-h", "--dry-run", "--web", "-w"):
            return None
        elif not word.startswith("-"):
            plain.append(word)
    if len(plain) < 2 or plain[0] != "pr":
        return None
    match plain[1]:
        case "create":
            return "create", repository, None
        case "merge":
            return "merge", repository, plain[2] if len(plain) > 2 else None
        case _:
            return None


def _answered(
    action: Action,
    repository: str | None,
    named: str | None,
    printed: str,
    shown: Sequence[tuple[str, int]],
    urls: Sequence[str],
    *,
    alone: bool,
) -> PullRequest | None:
    """Return the request that a command is about, as far as it and what it printed say."""
    if action == "create":
        if not shown:
            return PullRequest(repository=repository, number=None, url=None, action=action)
        found, number = shown[-1] if alone else shown[0]
        url = urls[-1] if alone else urls[0]
        return PullRequest(repository=found, number=number, url=url, action=action)
    address = _URL.match(named or "")
    if address is not None:
        number = int(address["number"])
        return PullRequest(
            repository=address["repository"], number=number, url=address[0], action=action
        )
    merged = _MERGED.search(printed)
    if named is not None and named.lstrip("#").isdigit():
        number = int(named.lstrip("#"))
    else:
        number = int(merged[1]) if merged else None
    return PullRequest(repository=repository, number=number, url=None, action=action)
