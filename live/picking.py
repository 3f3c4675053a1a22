"""A session chosen from a CLI's own list of sessions, as a person finds it.

The list is a line for each session, one of them marked; what a session is called there is its
first prompt, cut where the column ends. The person looks for it, moves the mark to it and opens
it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

import msgspec

from live.conversation import Conversation
from live.terminal import DOWN, ENTER, UP, Terminal

_LIST_SECONDS = 90.0
_REST_SECONDS = 1.0
"""How long a list must have stood as it is before the mark is moved: lists are filled, and
sorted anew, while one looks at them."""

_MOVED_SECONDS = 20.0
_OPENED_SECONDS = 30.0
_STEPS = 60
_OPENINGS = 4
_BEGINNING = 12
_FRAMES = "│┃▎ "
_CUT = re.compile(r"…|\.\.\.|\s{2}|│")

_Running = TypeVar("_Running", bound=Conversation)


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """What a release's list looks like: a pattern for what stands there only as long as the list
    does, and the sign before the marked line."""

    stands: str
    mark: str

    def stands_in(self, shown: str) -> bool:
        """Return whether the list is on the screen."""
        return re.search(self.stands, shown, re.MULTILINE) is not None


def opened(running: _Running, terminal: Terminal, listing: Listing, words: str) -> _Running:
    """Open the session whose first prompt ``words`` are, and wait until it takes a prompt.

    Silent if no line of the list shows them; the process is then gone.
    """
    try:
        choose(terminal, listing, words)
        running.begin()
    except BaseException:
        running.kill()
        raise
    return running


def choose(
    terminal: Terminal, listing: Listing, words: str, seconds: float = _LIST_SECONDS
) -> None:
    """Wait so long for a line that shows the words, move the mark there and press Enter."""
    terminal.wait(listing.stands_in, "list its sessions")
    terminal.wait(
        lambda shown: _place(shown, _showing(words)) is not None and terminal.still(_REST_SECONDS),
        f"list a session that begins with {words!r}",
        seconds,
    )
    _mark(terminal, listing, words)
    for _ in range(_OPENINGS):
        terminal.press(ENTER)
        if terminal.comes(lambda shown: not listing.stands_in(shown), _OPENED_SECONDS):
            return
    raise terminal.silent(f"did not open the session that begins with {words!r}")


def _mark(terminal: Terminal, listing: Listing, words: str) -> None:
    """Move the mark to the line that shows the words."""
    for _ in range(_STEPS):
        shown = terminal.look()
        marked, wanted = _place(shown, _marked(listing)), _place(shown, _showing(words))
        if marked == wanted and marked is not None and terminal.still(_REST_SECONDS):
            return
        if marked is None or wanted is None or marked == wanted:
            terminal.comes(lambda _: terminal.still(_REST_SECONDS), _MOVED_SECONDS)
            continue
        terminal.press(DOWN if marked < wanted else UP)
        terminal.comes(
            lambda now, before=marked: _place(now, _marked(listing)) != before, _MOVED_SECONDS
        )
    raise terminal.silent(f"did not let the session be marked that begins with {words!r}")


def _marked(listing: Listing) -> Callable[[str], bool]:
    """Return how to tell the marked line."""
    return lambda line: line.lstrip(_FRAMES).startswith(listing.mark)


def _showing(words: str) -> Callable[[str], bool]:
    return lambda line: shows(line, words)


def shows(line: str, words: str) -> bool:
    """Return whether a line of a list shows a prompt, or as much of its beginning as there is
    room for.

    Of a prompt of several lines it shows the first, or all with blanks between them.
    """
    return any(
        _begins(line, " ".join(wanted.split()))
        for wanted in (words, words.strip().split("\n", 1)[0])
    )


def _begins(line: str, wanted: str) -> bool:
    at = line.find(wanted[:_BEGINNING])
    if at < 0 or not wanted:
        return False
    shown = _CUT.split(line[at:])[0].rstrip()
    return wanted.startswith(shown) or re.match(rf"{re.escape(wanted)}(?!\w)", shown) is not None


def _place(shown: str, wanted: Callable[[str], bool]) -> int | None:
    """Return the number of the first line that is wanted, or None."""
    return next((at for at, line in enumerate(shown.split("\n")) if wanted(line)), None)
