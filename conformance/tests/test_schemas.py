"""The committed JSON Schemas are those of the code, and they refuse what is not of the shape."""

from __future__ import annotations

import json

import msgspec
import pytest
from jsonschema import Draft202012Validator

from conformance.generated import ROOT, schema_text
from conformance.kinds import conversation, variants
from conformance.shapes import SHAPES, schema_of
from transcripts.serialise import to_builtins, to_json

SCHEMAS = ROOT / "conformance" / "schemas"


@pytest.mark.parametrize("name", SHAPES)
def test_the_committed_schema_is_the_one_of_the_code(name: str) -> None:
    Draft202012Validator.check_schema(schema_of(name))
    committed = (SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8")
    assert committed == schema_text(name), "run conformance docs"


def test_no_schema_is_left_over() -> None:
    assert {path.name for path in SCHEMAS.iterdir()} == {f"{name}.schema.json" for name in SHAPES}


def test_a_transcript_of_all_kinds_is_of_its_shape() -> None:
    document = json.loads(to_json(conversation(variants())))
    validator = Draft202012Validator(schema_of("transcript"))
    validator.validate(document)
    document["messages"][0]["kind"] = "Rumour"
    assert not validator.is_valid(document)


def test_a_cell_of_another_verdict_is_not_of_its_shape() -> None:
    cell = {"kind": "Plan", "variant": "x", "from": None, "store": "claude", "witness": "file"}
    validator = Draft202012Validator(schema_of("matrix"))
    validator.validate({"cells": [{**cell, "verdict": "exact"}]})
    assert not validator.is_valid({"cells": [{**cell, "verdict": "fine"}]})
    assert not validator.is_valid({"cells": [{**cell, "verdict": "exact", "losses": ["hope"]}]})


def test_documents_survive_their_own_json() -> None:
    whole = conversation(variants())
    decoded = msgspec.convert(to_builtins(whole), type(whole))
    assert decoded == whole
