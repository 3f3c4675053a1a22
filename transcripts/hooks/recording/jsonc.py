"""A JSON file of somebody else's, changed without touching a byte that need not be.

Settings are written by people: with comments, an order, an indentation. So the text is never
read and written anew. It is scanned for where its values stand, and what is added or taken
away is a piece of the text. Comments and commas before a closing bracket are allowed, as in
the files of VS Code; what a harness makes of them is its own affair.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_REST_OF_LINE = re.compile(r"[ \t]*(?://[^\n\r]*|/\*[^\n\r]*?\*/[ \t]*(?=[\r\n]))?")
_INDENT = re.compile(r"\n([ \t]+)\S")
_DEFAULT_INDENT = "  "


class Malformed(Exception):
    """The text is not JSON, not even with comments; ``offset`` is where it stops being so."""

    def __init__(self, why: str, offset: int) -> None:
        self.why = why
        self.offset = offset
        super().__init__(f"{why} at character {offset}")


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A member of an object or an element of an array, and the comma behind it."""

    start: int
    end: int
    key: str | None
    value: Value
    comma: int | None


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A value with its place. ``items`` is None but for objects and arrays."""

    start: int
    end: int
    array: bool = False
    items: tuple[Item, ...] | None = None
    plain: Any = None

    @property
    def is_object(self) -> bool:
        """Whether this is an object."""
        return self.items is not None and not self.array

    def member(self, key: str) -> Item | None:
        """Return the member of that name; Malformed if there are several."""
        found = [item for item in self.items or () if item.key == key]
        if len(found) > 1:
            raise Malformed(f"{key!r} stands there {len(found)} times", found[1].start)
        return found[0] if found else None


class Insertion(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of text that was put at a place."""

    at: int
    text: str


def scan(text: str) -> Value:
    """Return the one value of a text with the places of all that is in it, or Malformed."""
    try:
        value = _value(text, _blank(text, 1 if text.startswith("\ufeff") else 0))
    except RecursionError:
        raise Malformed("it is nested too deeply", 0) from None
    end = _blank(text, value.end)
    if end != len(text):
        raise Malformed("something follows the value", end)
    return value


def append(text: str, container: Value, value: Any, key: str | None = None) -> list[Insertion]:
    """Return the pieces that append a value, laid out as its neighbours are.

    They are in the order of their places, each counted in the text before any of them.
    """
    items = container.items or ()
    last = items[-1] if items else None
    inner = text[container.start : items[0].start if items else container.end]
    if "\n" not in (inner if items else text):
        space = " " if '": ' in text else ""
        piece = _on_one_line(value, key, space)
        if last is None:
            return [Insertion(at=container.end - 1, text=piece)]
        if last.comma is not None:
            return [Insertion(at=last.comma + 1, text=space + piece)]
        return [Insertion(at=last.end, text="," + space + piece)]
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    outer = _indent_at(text, container.start)
    indent = _indent_at(text, items[0].start) if items else outer + unit
    piece = newline + indent + _rendered(value, key, unit, newline + indent)
    if last is None:
        at = _after_comments(text, container.start + 1)
        closing = "" if "\n" in text[at : container.end - 1] else newline + outer
        return [Insertion(at=at, text=piece + closing)]
    if last.comma is not None:
        return [Insertion(at=_line_end(text, last.comma + 1), text=piece)]
    after = _line_end(text, last.end)
    if after == last.end:
        return [Insertion(at=after, text="," + piece)]
    return [Insertion(at=last.end, text=","), Insertion(at=after, text=piece)]


def insert(text: str, pieces: list[Insertion]) -> str:
    """Return the text with the pieces in it."""
    for piece in reversed(pieces):
        text = text[: piece.at] + piece.text + text[piece.at :]
    return text


def remove(text: str, container: Value, item: Item) -> str:
    """Return the text without an item, its comma and the space before it."""
    items = container.items or ()
    position = items.index(item)
    start = _space_before(text, item.start)
    if item.comma is not None:
        return text[:start] + text[item.comma + 1 :]
    if position:
        comma = items[position - 1].comma
        if comma is not None:
            return text[:comma] + text[comma + 1 : start] + text[item.end :]
    return text[:start] + text[item.end :]


def document(value: Mapping[str, Any]) -> str:
    """Return the text of a new file."""
    return json.dumps(value, indent=_DEFAULT_INDENT, ensure_ascii=False) + "\n"


def _value(text: str, at: int) -> Value:
    opening = text[at : at + 1]
    if opening in ("{", "["):
        return _container(text, at, array=opening == "[")
    if opening == '"':
        plain, end = _string(text, at)
        return Value(start=at, end=end, plain=plain)
    found = _SCALAR.match(text, at)
    if found is None:
        raise Malformed("a value is missing" if at < len(text) else "it ends too early", at)
    return Value(start=at, end=found.end(), plain=json.loads(found[0]))


def _container(text: str, start: int, *, array: bool) -> Value:
    closing = "]" if array else "}"
    items: list[Item] = []
    at = _blank(text, start + 1)
    while text[at : at + 1] != closing:
        if items and items[-1].comma is None:
            raise Malformed("a comma is missing" if at < len(text) else "it ends too early", at)
        item = _item(text, at, array=array)
        items.append(item)
        at = _blank(text, item.end if item.comma is None else item.comma + 1)
    return Value(start=start, end=at + 1, array=array, items=tuple(items))


def _item(text: str, start: int, *, array: bool) -> Item:
    key, at = None, start
    if not array:
        key, at = _string(text, start)
        at = _blank(text, at)
        if text[at : at + 1] != ":":
            raise Malformed("a colon is missing", at)
        at = _blank(text, at + 1)
    value = _value(text, at)
    after = _blank(text, value.end)
    comma = after if text[after : after + 1] == "," else None
    return Item(start=start, end=value.end, key=key, value=value, comma=comma)


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    if found is None:
        raise Malformed("a string is missing or torn", at)
    try:
        return json.loads(found[0]), found.end()
    except ValueError:
        raise Malformed("a string has an escape that there is not", at) from None


def _blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _rendered(value: Any, key: str | None, unit: str, newline: str) -> str:
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    return name + json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline)


def _on_one_line(value: Any, key: str | None, space: str) -> str:
    separators = ("," + space, ":" + space)
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + separators[1]
    return name + json.dumps(value, ensure_ascii=False, separators=separators)


def _unit(text: str) -> str:
    found = _INDENT.search(text)
    return found[1] if found else _DEFAULT_INDENT


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line_end(text: str, at: int) -> int:
    """Return where what belongs to an item ends: behind the comment on its line, if any."""
    found = _REST_OF_LINE.match(text, at)
    end = found.end() if found else at
    return end if text[end : end + 1] in ("\n", "\r") and text[at:end].strip() else at


def _after_comments(text: str, at: int) -> int:
    """Return the end of the last comment from here on, or here if there is none."""
    end = _blank(text, at)
    return _space_before(text, end) if text[at:end].strip() else at


def _space_before(text: str, at: int) -> int:
    while at and text[at - 1] in " \t\r\n":
        at -= 1
    return _comment_line(text, at)


def _comment_line(text: str, at: int) -> int:
    """Return the place, or the end of its line if a comment up to there ends with the line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    if "//" not in line:
        return at
    end = text.find("\n", at)
    return at if end < 0 else end
