"""Every way in which a committed recording can go bad is seen by the lint."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.corpus import find_corpus
from conformance.lint import lint

pytest.importorskip("detect_secrets")

NAME = "claude/2.1.332/command-ok"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus of one real case."""
    shutil.copytree(find_corpus() / NAME, tmp_path / NAME)
    return tmp_path


def _faults(corpus: Path) -> list[str]:
    return [f"{where}: {what}" for where, what in lint(corpus)]


def _edit(path: Path, change: Callable[[Any], None]) -> None:
    document = msgspec.json.decode(path.read_bytes())
    change(document)
    path.write_bytes(msgspec.json.encode(document))


def _session(corpus: Path) -> Path:
    (path,) = (corpus / NAME / "home").rglob("*.jsonl")
    return path


def _rewrite(corpus: Path, old: str, new: str) -> None:
    """Change the session, and the digest in case.json with it."""
    path = _session(corpus)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    name = path.relative_to(corpus / NAME / "home").as_posix()
    digest = sha256(path.read_bytes()).hexdigest()
    _edit(corpus / NAME / "case.json", lambda case: case["files"].__setitem__(name, digest))


def test_a_recording_as_committed_has_no_fault(corpus: Path) -> None:
    assert _faults(corpus) == []


def test_a_changed_byte_is_seen(corpus: Path) -> None:
    path = _session(corpus)
    path.write_bytes(path.read_bytes() + b"\n")
    assert any("sha256" in fault for fault in _faults(corpus))


@pytest.mark.parametrize(
    ("new", "seen"),
    [
        ("I'll count them, as I always do here.", "unknown origin"),
        ("I'll count them. You are a gardener's helper.", "unknown origin"),
        ("I'll count them in /opt/jane/garden.", "unknown origin"),
        ("I'll count them in /home/jane/garden.", "a path of the machine"),
        ("I'll count them: ghp_" + "a1B2" * 9, "GitHub Token"),
        ("I'll.", "no file holds its text"),
    ],
)
def test_words_that_do_not_belong_are_seen(corpus: Path, new: str, seen: str) -> None:
    _rewrite(corpus, "I'll count them.", new)
    assert any(seen in fault for fault in _faults(corpus))


@pytest.mark.parametrize(
    ("name", "change", "seen"),
    [
        ("case.json", lambda case: case.pop("integrity"), "integrity"),
        ("case.json", lambda case: case.update(sealt=True), "sealt"),
        ("case.json", lambda case: case.update(release="2.1.333"), "the release is"),
        ("case.json", lambda case: case.update(session_path="elsewhere"), "not under home"),
        (
            "case.json",
            lambda case: case["unrecorded"].append(
                {"message": 99, "fields": None, "why": "x", "proof": "x"}
            ),
            "no message 99",
        ),
        (
            "case.json",
            lambda case: case["unrecorded"][0].update(fields=["nothing"]),
            "has no nothing",
        ),
        ("truth.json", lambda truth: truth.update(messages=[]), "holds no message"),
        ("truth.json", lambda truth: truth.update(revision=7), "truth's revision"),
        ("truth.json", lambda truth: truth.pop("scenario"), "scenario"),
    ],
)
def test_a_document_that_is_not_right_is_seen(
    corpus: Path, name: str, change: Callable[[Any], None], seen: str
) -> None:
    _edit(corpus / NAME / name, change)
    assert any(seen in fault for fault in _faults(corpus))


def test_what_the_vendor_told_the_model_is_seen(corpus: Path) -> None:
    path = corpus / NAME / "model.jsonl"
    lines = path.read_text(encoding="utf-8").split("\n")
    exchange = msgspec.json.decode(lines[0])
    exchange["history"].insert(0, {"role": "system", "type": "text", "text": "Be good."})
    lines[0] = msgspec.json.encode(exchange).decode()
    path.write_text("\n".join(lines), encoding="utf-8")
    assert any("told the model" in fault for fault in _faults(corpus))


@pytest.mark.parametrize("name", ["notes.txt", f"{NAME}/raw.log", "claude/2.1.332/stray.json"])
def test_a_file_that_belongs_to_no_case_is_seen(corpus: Path, name: str) -> None:
    (corpus / name).write_text("x", encoding="utf-8")
    assert f"{name}: belongs to no case" in _faults(corpus)


@pytest.mark.parametrize("name", ["truth.json", "model.jsonl"])
def test_a_missing_document_is_seen(corpus: Path, name: str) -> None:
    (corpus / NAME / name).unlink()
    assert any(f"{name}: missing" in fault for fault in _faults(corpus))
