"""Files appear whole and private, or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from transcripts.errors import SessionExists, UnwritableSession
from transcripts.records.placing import place_directory, place_file


def everything(path: Path) -> list[str]:
    return sorted(p.relative_to(path).as_posix() for p in path.rglob("*"))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_private_and_alone(tmp_path: Path):
    place_file(tmp_path / "deep" / "er" / "s.jsonl", b"one\n")
    assert everything(tmp_path) == ["deep", "deep/er", "deep/er/s.jsonl"]
    assert (tmp_path / "deep/er/s.jsonl").read_bytes() == b"one\n"
    assert mode(tmp_path / "deep/er/s.jsonl") == 0o600
    assert mode(tmp_path / "deep") == 0o700


def test_an_existing_file_is_never_replaced(tmp_path: Path):
    target = tmp_path / "s.jsonl"
    target.write_bytes(b"theirs")
    with pytest.raises(SessionExists) as caught:
        place_file(target, b"ours")
    assert str(target) in str(caught.value)
    assert target.read_bytes() == b"theirs"
    assert everything(tmp_path) == ["s.jsonl"]


def test_a_new_directory_appears_with_all_its_files(tmp_path: Path):
    place_directory(tmp_path / "id", {"events.jsonl": b"{}\n", "a/b.txt": b"x"}, ("files",))
    assert everything(tmp_path) == ["id", "id/a", "id/a/b.txt", "id/events.jsonl", "id/files"]
    assert mode(tmp_path / "id") == 0o700
    assert mode(tmp_path / "id/events.jsonl") == 0o600


def test_an_existing_directory_is_never_touched(tmp_path: Path):
    (tmp_path / "id").mkdir()
    with pytest.raises(SessionExists):
        place_directory(tmp_path / "id", {"events.jsonl": b""})
    assert everything(tmp_path) == ["id"]


def test_a_target_under_a_file_is_a_typed_error(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UnwritableSession):
        place_file(tmp_path / "file" / "s.jsonl", b"x")
    with pytest.raises(UnwritableSession):
        place_directory(tmp_path / "file" / "id", {})
    assert everything(tmp_path) == ["file"]
