"""Documents of this project as JSON, whatever the text in them."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import orjson


def to_builtins(document: Any) -> Any:
    """Return the document as plain JSON values; times become RFC 3339 strings in UTC."""
    return msgspec.to_builtins(document, enc_hook=str)


def to_json(document: Any) -> str:
    """Return the document as indented JSON that encodes as UTF-8 without an error.

    Half a surrogate pair, which no UTF-8 holds, is written as its escape.
    """
    value = to_builtins(document)
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        return json.dumps(value, indent=2, ensure_ascii=True)
