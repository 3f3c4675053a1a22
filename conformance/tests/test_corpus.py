"""The corpus is found, opened and shipped: from a directory, a checkout or an installed zip."""

from __future__ import annotations

import sqlite3
import threading
import zipfile
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from conformance import corpus
from conformance.corpus import CorpusError
from conformance.packaging import TooLarge, pack


def _case(root: Path, name: str, files: dict[str, bytes] | None = None) -> Path:
    agent, release, scenario = name.split("/")
    directory = root / name
    truth = {
        "format": 1,
        "agent": agent,
        "release": release,
        "scenario": scenario,
        "revision": 1,
        "messages": [],
    }
    contents = {
        "truth.json": msgspec.json.encode(truth),
        "home/.made/s.jsonl": b"{}\n",
        **(files or {}),
    }
    for relative, content in contents.items():
        (directory / relative).parent.mkdir(parents=True, exist_ok=True)
        (directory / relative).write_bytes(content)
    facts = {
        "format": 1,
        "agent": agent,
        "release": release,
        "dialect": None,
        "integrity": "sha512-x",
        "platform": {"os": "linux", "arch": "x64", "node": "v22"},
        "scenario": scenario,
        "revision": 1,
        "sanitiser": 1,
        "sealed": True,
        "session_id": "s",
        "session_path": ".made/s.jsonl",
        "cwd": "/srv/project",
        "resumed": True,
        "files": {
            name.removeprefix("home/"): sha256(content).hexdigest()
            for name, content in contents.items()
            if name.startswith("home/")
        },
    }
    (directory / "case.json").write_bytes(msgspec.json.encode(facts))
    return directory


def test_a_named_directory_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given, named = tmp_path / "given", tmp_path / "named"
    given.mkdir()
    named.mkdir()
    monkeypatch.setenv(corpus.VARIABLE, str(named))
    assert corpus.find_corpus(given) == given
    assert corpus.find_corpus() == named
    monkeypatch.delenv(corpus.VARIABLE)
    assert corpus.find_corpus() == Path(corpus.__file__).parent.parent / "corpus"


def test_a_directory_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no such corpus directory"):
        corpus.find_corpus(tmp_path / "nowhere")


def test_cases_come_in_the_order_of_releases_not_of_letters(tmp_path: Path) -> None:
    for name in ("made/2.0.9/b", "made/2.0.77/b", "made/2.0.77-beta.1/b", "made/2.0.77/a"):
        _case(tmp_path, name)
    assert [case.name for case in corpus.cases(tmp_path)] == [
        "made/2.0.9/b",
        "made/2.0.77-beta.1/b",
        "made/2.0.77/a",
        "made/2.0.77/b",
    ]
    assert corpus.releases(tmp_path, "made") == ["2.0.9", "2.0.77-beta.1", "2.0.77"]


def test_only_the_cases_asked_for(tmp_path: Path) -> None:
    for name in ("made/1.0.0/a", "made/1.0.1/a", "other/1.0.0/a"):
        _case(tmp_path, name)
    assert [case.name for case in corpus.cases(tmp_path, "made", "1.0.1")] == ["made/1.0.1/a"]


def test_a_misspelt_key_of_a_case_is_an_error(tmp_path: Path) -> None:
    directory = _case(tmp_path, "made/1.0.0/a")
    facts = msgspec.json.decode((directory / "case.json").read_bytes())
    (directory / "case.json").write_bytes(msgspec.json.encode({**facts, "sealt": True}))
    with pytest.raises(CorpusError, match="sealt"):
        list(corpus.cases(tmp_path))


def test_a_database_is_built_on_opening_and_the_corpus_stays_as_it_was(tmp_path: Path) -> None:
    text = b"CREATE TABLE t (a TEXT);\nINSERT INTO t VALUES ('\xe2\x98\x83 1');\n"
    directory = _case(tmp_path, "made/1.0.0/a", {"home/.made/index.db.sql": text})
    case = corpus.load_case(directory, tmp_path)
    with corpus.opened(case) as home:
        assert (home / ".made/s.jsonl").read_bytes() == b"{}\n"
        assert not (home / ".made/index.db.sql").exists()
        with closing(sqlite3.connect(home / ".made/index.db")) as connection:
            assert connection.execute("SELECT a FROM t").fetchall() == [("☃ 1",)]
    assert corpus.wrong_digests(case) == []
    assert not home.exists()


def test_every_change_of_a_recording_is_noticed(tmp_path: Path) -> None:
    directory = _case(tmp_path, "made/1.0.0/a", {"home/.made/gone.txt": b"x"})
    case = corpus.load_case(directory, tmp_path)
    assert corpus.wrong_digests(case) == []
    (directory / "home/.made/s.jsonl").write_bytes(b"{} \n")
    (directory / "home/.made/more.txt").write_bytes(b"")
    (directory / "home/.made/gone.txt").unlink()
    assert corpus.wrong_digests(case) == [
        ".made/gone.txt: listed but missing",
        ".made/more.txt: not listed",
        ".made/s.jsonl: its sha256 is not the one in case.json",
    ]


def test_the_zip_has_equal_bytes_whatever_the_order_and_times(tmp_path: Path) -> None:
    for root, names in (("one", ("a/1/x", "a/1/y")), ("two", ("a/1/y", "a/1/x"))):
        for name in names:
            _case(tmp_path / root / "corpus", name)
        pack(tmp_path / root, ("corpus", "schemas"), tmp_path / f"{root}.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_a_corpus_too_large_for_a_wheel_is_refused(tmp_path: Path) -> None:
    _case(tmp_path / "corpus", "a/1/x")
    with pytest.raises(TooLarge):
        pack(tmp_path, ("corpus",), tmp_path / "corpus.zip", largest=100)


def test_the_installed_zip_is_unpacked_once_under_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _case(tmp_path / "corpus", "made/1.0.0/a")
    installed = tmp_path / "site" / "conformance"
    installed.mkdir(parents=True)
    pack(tmp_path, ("corpus",), installed / corpus.ARCHIVE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(corpus.VARIABLE, raising=False)
    monkeypatch.setattr(corpus, "__file__", str(installed / "corpus.py"))
    monkeypatch.setattr(corpus, "files", lambda _: installed)

    found = [Path()] * 4
    threads = [
        threading.Thread(target=lambda i=i: found.__setitem__(i, corpus.find_corpus()))
        for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert found[0].is_relative_to(tmp_path / "cache")
    assert [case.name for case in corpus.cases(found[0])] == ["made/1.0.0/a"]
    assert [path.name for path in found[0].parent.parent.iterdir()] == [found[0].parent.name]


def test_the_schemas_are_found_as_the_corpus_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, named, installed = tmp_path / "given", tmp_path / "named", tmp_path / "site"
    for place in (given, named, installed, tmp_path / "schemas" / "made" / "1.0.0"):
        place.mkdir(parents=True)
    (tmp_path / "schemas/made/1.0.0/a.json").write_text("{}", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(corpus.SCHEMAS_VARIABLE, str(named))
    assert corpus.find_schemas(given) == given
    assert corpus.find_schemas() == named
    monkeypatch.delenv(corpus.SCHEMAS_VARIABLE)
    assert corpus.find_schemas() == Path(corpus.__file__).parent.parent / "schemas"
    with pytest.raises(CorpusError, match="no such schemas directory; check --schemas"):
        corpus.find_schemas(tmp_path / "nowhere")
    pack(tmp_path, ("schemas",), installed / corpus.ARCHIVE)
    monkeypatch.setattr(corpus, "__file__", str(installed / "corpus.py"))
    monkeypatch.setattr(corpus, "files", lambda _: installed)
    assert (corpus.find_schemas() / "made/1.0.0/a.json").read_bytes() == b"{}"


def test_an_installed_package_without_a_corpus_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(corpus.VARIABLE, raising=False)
    monkeypatch.setattr(corpus, "__file__", str(tmp_path / "conformance" / "corpus.py"))
    monkeypatch.setattr(corpus, "files", lambda _: tmp_path)
    with pytest.raises(CorpusError, match="--corpus"):
        corpus.find_corpus()


def test_the_zip_holds_files_that_unpack_to_what_they_were(tmp_path: Path) -> None:
    awkward = {"home/.made/\u00fc b.jsonl": '{"a": "\u2028"}\r\n'.encode()}
    _case(tmp_path / "corpus", "made/1.0.0/a", awkward)
    pack(tmp_path, ("corpus",), tmp_path / "corpus.zip")
    with zipfile.ZipFile(tmp_path / "corpus.zip") as packed:
        packed.extractall(tmp_path / "out")
    (case,) = corpus.cases(tmp_path / "out" / "corpus")
    assert corpus.wrong_digests(case) == []
