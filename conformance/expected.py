"""What our reader makes of a case, kept beside it: a lock against regressions, never a witness.

A change of a reader shows in these files before anybody looks for it. They judge nothing else:
whether a reading is right, the script says (:mod:`conformance.truth`).
"""

from __future__ import annotations

import json
from typing import Any

from transcripts.model import Transcript
from transcripts.serialise import to_builtins


def expected_text(transcript: Transcript) -> str:
    """Return the text of ``expected.json``: what ``transcripts show`` prints, a message a line."""
    document: dict[str, Any] = to_builtins(transcript)
    members = [f"{_text(key)}: {_lines(value)}" for key, value in document.items()]
    return "{\n" + ",\n".join(members) + "\n}\n"


def _lines(value: Any) -> str:
    if isinstance(value, list | tuple) and value:
        return "[\n" + ",\n".join(f" {_text(one)}" for one in value) + "\n]"
    return _text(value)


def _text(value: Any) -> str:
    # Half a surrogate pair, which no UTF-8 holds, is written as its escape.
    return json.dumps(value, ensure_ascii=not _encodes(value), separators=(",", ":"))


def _encodes(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
