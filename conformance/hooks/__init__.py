"""Whether a correlator of hook events can be believed: conversations whose truth is known.

A generator makes true conversations and loses, doubles and reorders their events
(:mod:`conversations`); an oracle lists every assignment that the evidence allows (:mod:`oracle`);
named checks hold any printed tree against both (:mod:`checks`, :mod:`changes`). Nothing here
shares code with the correlator that users run, and correlators broken on purpose
(:mod:`conformance.fakes.correlators`) show that each check can fail.
"""

from conformance.choices import Choices, Seeded, Tape
from conformance.hooks.changes import OF_SEVERAL_TREES, same_tree
from conformance.hooks.checks import OF_ONE_TREE, Correlate, Finding, judged
from conformance.hooks.conversations import SMALL, Size, conversation, conversations
from conformance.hooks.happenings import Conversation
from conformance.hooks.oracle import decided
from conformance.hooks.payloads import BY_NAME, DIALECTS
from conformance.hooks.traps import traps

__all__ = [
    "BY_NAME",
    "DIALECTS",
    "OF_ONE_TREE",
    "OF_SEVERAL_TREES",
    "SMALL",
    "Choices",
    "Conversation",
    "Correlate",
    "Finding",
    "Seeded",
    "Size",
    "Tape",
    "conversation",
    "conversations",
    "decided",
    "judged",
    "same_tree",
    "traps",
]
