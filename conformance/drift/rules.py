"""The rules of drift: how bad a kind of change is, in both directions.

*Reader*: the CLI writes, we read. *Writer*: we write, the CLI resumes. ``warning`` is for what is
not decided by what was seen: a set of words is never seen whole. A rule's *mirror* is what the same
change is called with the sides swapped; where a mirror's severities are not these swapped, the
rule says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "info"]

Direction = Literal["reader", "writer"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""From the most severe on."""


class Rule(NamedTuple):
    """One kind of change.

    ``found_by`` is the module of this package that finds it, ``text`` what happened, ``{before}``
    and ``{after}`` to be filled in, ``doc`` what it does to whom. ``waiver`` says why its mirror's
    severities are not its own swapped.
    """

    id: str
    reader: Severity
    writer: Severity
    found_by: str
    mirror: str
    text: str
    doc: str
    waiver: str | None = None


_TABLE = (
    # ---------------------------------------------------------- files
    Rule(
        "file-added", "warning", "info", "layouts", "file-removed",
        "there are files {after}",
        "A reader that does not look there misses what moved there.",
        "A file that is no longer written is missed by readers; one that is new may hold copies.",
    ),
    Rule(
        "file-removed", "error", "info", "layouts", "file-added",
        "there are no files {before} any more",
        "A reader that looks there finds nothing.",
        "A file that is no longer written is missed by readers; one that is new may hold copies.",
    ),
    Rule(
        "file-moved", "error", "error", "layouts", "file-moved",
        "{before} is now {after}",
        "Readers look, and writers put files, in the old place.",
    ),
    # ---------------------------------------------------------- kinds of record
    Rule(
        "kind-added", "warning", "info", "kinds", "kind-removed",
        "a new kind of record",
        "Readers that know a closed set of kinds stop, or drop it.",
        "A kind that is gone takes what it said with it; a new one may say nothing of use.",
    ),
    Rule(
        "kind-removed", "error", "info", "kinds", "kind-added",
        "no such record is written any more",
        "What readers took from it is missing.",
        "A kind that is gone takes what it said with it; a new one may say nothing of use.",
    ),
    Rule(
        "kind-renamed", "error", "error", "kinds", "kind-renamed",
        "the record {before} is now {after}, with nearly the same fields",
        "Readers and writers know the old name.",
    ),
    Rule(
        "kind-wrapped", "error", "error", "kinds", "kind-unwrapped",
        "the record {before} now stands inside {after}",
        "Every field lies one step deeper.",
    ),
    Rule(
        "kind-unwrapped", "error", "error", "kinds", "kind-wrapped",
        "what stood inside {before} is now a record of its own: {after}",
        "Every field lies one step higher.",
    ),
    Rule(
        "shape-added", "warning", "info", "fields", "shape-removed",
        "a new shape of block: {after}",
        "Readers that know a closed set of blocks stop, or drop it.",
        "A shape that is gone takes what it said with it; a new one may say nothing of use.",
    ),
    Rule(
        "shape-removed", "error", "info", "fields", "shape-added",
        "no block of the shape {before} any more",
        "What readers took from it is missing.",
        "A shape that is gone takes what it said with it; a new one may say nothing of use.",
    ),
    # ---------------------------------------------------------- fields
    Rule(
        "field-added", "info", "info", "fields", "field-removed",
        "a new field, {after}",
        "Readers pass over it; writers need it only if the CLI does, which resuming shows.",
        "Nobody counts on a field before it is there.",
    ),
    Rule(
        "field-removed", "error", "info", "fields", "field-added",
        "the field is gone (it was {before})",
        "Readers that take it find nothing.",
        "Nobody counts on a field before it is there.",
    ),
    Rule(
        "field-renamed", "error", "error", "kinds", "field-renamed",
        "the field is now called {after}",
        "Readers and writers know the old name.",
    ),
    Rule(
        "field-moved", "error", "error", "kinds", "field-moved",
        "the field now stands at {after}",
        "Readers and writers know the old place.",
    ),
    Rule(
        "field-became-optional", "error", "info", "fields", "field-became-required",
        "was always there, now {after}",
        "Readers that take it as given stop where it is missing.",
    ),
    Rule(
        "field-became-required", "info", "error", "fields", "field-became-optional",
        "was there {before}, now always",
        "The CLI may now count on it in files that it resumes.",
    ),
    # ---------------------------------------------------------- types and values
    Rule(
        "became-nullable", "error", "info", "fields", "no-longer-null",
        "may now be null",
        "Readers that use it without looking stop.",
    ),
    Rule(
        "no-longer-null", "info", "error", "fields", "became-nullable",
        "was null at times, now never",
        "The CLI may now count on a value in files that it resumes.",
    ),
    Rule(
        "type-widened", "error", "info", "fields", "type-narrowed",
        "was {before}, may now be {after}",
        "Readers that count on the type stop.",
    ),
    Rule(
        "type-narrowed", "info", "error", "fields", "type-widened",
        "could be {before}, is now only {after}",
        "Files with the other types may no longer be resumed.",
    ),
    Rule(
        "type-changed", "error", "error", "fields", "type-changed",
        "was {before}, is now {after}",
        "Readers and writers know the old type.",
    ),
    Rule(
        "word-added", "warning", "info", "fields", "word-removed",
        "a new word: {after}",
        "Readers that know a closed set of words stop, or take it for something else.",
    ),
    Rule(
        "word-removed", "info", "warning", "fields", "word-added",
        "the word {before} is not seen any more",
        "The CLI may no longer understand it in files that it resumes.",
    ),
    Rule(
        "encoding-changed", "warning", "warning", "fields", "encoding-changed",
        "was written as {before}, is now {after}",
        "Readers may not understand the new way, the CLI may not understand the old one.",
    ),
    # ---------------------------------------------------------- order and links
    Rule(
        "link-changed", "error", "error", "links", "link-changed",
        "pointed to {before}, now to {after}",
        "The order of a conversation is read, and written, by these pointers.",
    ),
    Rule(
        "grouping-changed", "error", "error", "links", "grouping-changed",
        "a response of the model was {before}, is now {after}",
        "Who takes a record for a response counts calls and tokens wrongly.",
    ),
    # ---------------------------------------------------------- text that is parsed
    Rule(
        "wording-added", "warning", "info", "wordings", "wording-removed",
        "words that are parsed appear: {after}",
        "Readers that parse the text may take it for output.",
        "A wording that is gone leaves a value unread; a new one is at worst read as text.",
    ),
    Rule(
        "wording-removed", "error", "info", "wordings", "wording-added",
        "words that are parsed are gone: {before}",
        "What is read from the text alone (an exit code) is no longer found.",
        "A wording that is gone leaves a value unread; a new one is at worst read as text.",
    ),
    Rule(
        "wording-changed", "error", "info", "wordings", "wording-changed",
        "{before} is now {after}",
        "What is read from the text alone (an exit code) is no longer found.",
        "Text is written for a model, which understands either.",
    ),
    Rule(
        "numbering-changed", "error", "info", "wordings", "numbering-changed",
        "the lines of a file that was read had {before}, now {after}",
        "The numbers are taken for what stands in the file, or what stands there for numbers.",
        "Text is written for a model, which understands either.",
    ),
    # ---------------------------------------------------------- what is kept at all
    Rule(
        "value-lost", "error", "info", "abilities", "value-kept",
        "what happened is no longer in the files: {after}",
        "No reader can tell what the CLI did not write down.",
        "What the CLI keeps of its own sessions says nothing of what it resumes.",
    ),
    Rule(
        "value-kept", "info", "info", "abilities", "value-lost",
        "what happened was not in the files, and is now: {before}",
        "Readers may find more than they used to.",
        "What the CLI keeps of its own sessions says nothing of what it resumes.",
    ),
    # ---------------------------------------------------------- what a release can do
    Rule(
        "tool-added", "info", "info", "abilities", "tool-removed",
        "the model is offered a new tool",
        "Its calls are of a name that readers don't know.",
        "Calls of a tool that is gone stay in files that are resumed.",
    ),
    Rule(
        "tool-removed", "info", "warning", "abilities", "tool-added",
        "the model is no longer offered this tool",
        "A call of it that a writer makes up is no call that the model could make.",
        "Calls of a tool that is gone stay in files that are resumed.",
    ),
    Rule(
        "scenario-became-impossible", "info", "warning", "abilities", "scenario-became-possible",
        "can't be done any more: {after}",
        "What a release can't do it does not write.",
        "What became possible brings kinds of its own, which are told as such.",
    ),
    Rule(
        "scenario-became-possible", "info", "info", "abilities", "scenario-became-impossible",
        "could not be done: {before}",
        "What was not there before is written now.",
        "What became possible brings kinds of its own, which are told as such.",
    ),
    # ---------------------------------------------------------- how files are resumed
    Rule(
        "resume-tightened", "info", "error", "abilities", "resume-loosened",
        "a file in which it is so was resumed as {before}, is now {after}",
        "Files that writers made are no longer gone on with whole.",
        "That a release now takes more does readers no harm.",
    ),
    Rule(
        "resume-loosened", "info", "info", "abilities", "resume-tightened",
        "a file in which it is so was resumed as {before}, is now {after}",
        "Writers may do with less, for this release and later ones.",
        "That a release now takes more does readers no harm.",
    ),
    Rule(
        "resume-forgets", "info", "error", "abilities", "resume-remembers",
        "resumed, the model is no longer shown {after}",
        "A conversation that was moved is not gone on with whole, whoever wrote it.",
        "That a release shows more does readers no harm.",
    ),
    Rule(
        "resume-remembers", "info", "info", "abilities", "resume-forgets",
        "resumed, the model was not shown {before}, and is now",
        "A conversation is gone on with whole.",
        "That a release shows more does readers no harm.",
    ),
)  # fmt: skip

RULES: Mapping[str, Rule] = MappingProxyType({rule.id: rule for rule in _TABLE})
