"""A run's files made clean and the same every time, without breaking what they say."""

from live.sanitise.documents import Document, Unfaithful, encode, load, restore, stored_name
from live.sanitise.engine import REVISION, Sanitiser
from live.sanitise.ordering import without_chance
from live.sanitise.provenance import Provenance, hook_words, script_patterns, script_strings
from live.sanitise.renaming import Clock
from live.sanitise.rules import markers, rules

__all__ = [
    "REVISION",
    "Clock",
    "Document",
    "Provenance",
    "Sanitiser",
    "Unfaithful",
    "encode",
    "hook_words",
    "load",
    "markers",
    "restore",
    "rules",
    "script_patterns",
    "script_strings",
    "stored_name",
    "without_chance",
]
