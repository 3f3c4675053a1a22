"""The golden recordings: where they are, what each holds, and one opened for reading.

The corpus is data, and so are the formats' schemas beside it. Both are found in the checkout, or
in the zip that the installed package carries, unpacked once into the user's cache; an option and
an environment variable each (:data:`VARIABLE`, :data:`SCHEMAS_VARIABLE`) come before that.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, TypeVar

import msgspec

_T = TypeVar("_T")

VARIABLE = "TRANSCRIPT_CONFORMANCE_CORPUS"
SCHEMAS_VARIABLE = "TRANSCRIPT_CONFORMANCE_SCHEMAS"
ARCHIVE = "corpus.zip"
CANNOT = "cannot.json"
EXPECTED = "expected.json"
HOOKED = "hooked"
HOOK_LOG = "hooks.jsonl"
DATABASE_TEXT = ".sql"


class CorpusError(Exception):
    """The corpus is missing or not as it says it is; the message says what to do."""


# ------------------------------------------------------------------ shapes


class Platform(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a case was recorded."""

    os: str
    arch: str
    node: str | None = None


class Unrecorded(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the script caused and the CLI did not keep, proved by a search of its bytes.

    ``message`` is an index into the truth's messages; ``fields`` names the values that are
    missing, None the whole message.
    """

    message: int
    fields: tuple[str, ...] | None
    why: str
    proof: Any


class OneSided(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which of the truth's messages only the session's files hold, and which only the stream
    that the CLI wrote for programs."""

    files_only: tuple[int, ...]
    stream_only: tuple[int, ...]


class HookedRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A case's second run, in which every hook was registered that the release knows.

    ``registered`` are the events asked for, ``seen`` how often each was told. The names in
    ``files`` are relative to the case's ``hooked``, ``session_path`` to the home in it. The truth
    is the first run's; ``unrecorded`` is what this run's own files do not hold of it.
    """

    revision: int
    sanitiser: int
    session_id: str
    session_path: str
    registered: tuple[str, ...]
    seen: Mapping[str, int]
    files: Mapping[str, str]
    unrecorded: tuple[Unrecorded, ...] = ()


class CaseFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``case.json``: what was recorded, from which package, and the digest of each file.

    ``session_path`` and the names in ``files`` are relative to the case's ``home``.
    ``resumed`` says that the CLI itself went on with the sanitised session as it did with the
    raw one; ``why_not`` what it said when it goes on with neither; ``forgets`` names the
    truth's messages that the CLI has in its files and does not show its model again.
    ``streams`` are what the CLI wrote for programs while it ran, a file a process, and
    ``one_sided`` what only one of the two holds. ``hooked`` is the run with hooks, ``unhooked`` why
    there can't be one.
    """

    format: int
    agent: str
    release: str
    dialect: str | None = None
    integrity: str
    platform: Platform
    scenario: str
    revision: int
    sanitiser: int
    sealed: bool
    session_id: str
    session_path: str
    cwd: str
    files: Mapping[str, str]
    unrecorded: tuple[Unrecorded, ...] = ()
    resumed: bool
    why_not: str | None = None
    forgets: tuple[int, ...] = ()
    streams: Mapping[str, str] = {}
    one_sided: OneSided | None = None
    hooked: HookedRun | None = None
    unhooked: str | None = None


class CannotFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``cannot.json``, alone in a scenario's place: why this release can't do what it asks."""

    format: int
    agent: str
    release: str
    dialect: str | None = None
    integrity: str
    scenario: str
    revision: int
    why: str


class TruthFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``truth.json``: what a reader must find, from the script and the model's log.

    Each message has ``kind``, ``author``, ``thread``, ``turn``, ``response``, ``status`` and
    the values that the script chose for it.
    """

    format: int
    agent: str
    release: str
    scenario: str
    revision: int
    messages: tuple[Mapping[str, Any], ...]


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One recording of the corpus: its directory and its two documents."""

    directory: Path
    name: str
    facts: CaseFile
    truth: TruthFile

    @property
    def home(self) -> Path:
        """The recorded home as it is committed: databases are still text in it."""
        return self.directory / "home"

    @property
    def hooked(self) -> Case | None:
        """The run with hooks as a case of its own: of the same truth, with its own files."""
        run = self.facts.hooked
        if run is None:
            return None
        facts = msgspec.structs.replace(
            self.facts,
            revision=run.revision,
            sanitiser=run.sanitiser,
            session_id=run.session_id,
            session_path=run.session_path,
            files={
                name.removeprefix("home/"): digest
                for name, digest in run.files.items()
                if name.startswith("home/")
            },
            unrecorded=run.unrecorded,
            streams={},
            one_sided=None,
            hooked=None,
        )
        directory = self.directory / HOOKED
        return Case(
            directory=directory, name=f"{self.name}/{HOOKED}", facts=facts, truth=self.truth
        )


# ------------------------------------------------------------------ finding


def find_corpus(given: Path | None = None) -> Path:
    """Return the directory of the corpus; :class:`CorpusError` if there is none."""
    return _found("corpus", given, VARIABLE)


def find_schemas(given: Path | None = None) -> Path:
    """Return the directory of the formats' schemas; :class:`CorpusError` if there is none."""
    return _found("schemas", given, SCHEMAS_VARIABLE)


def _found(name: str, given: Path | None, variable: str) -> Path:
    named = given or (Path(value) if (value := os.environ.get(variable)) else None)
    if named is not None:
        if not named.is_dir():
            raise CorpusError(f"{named}: no such {name} directory; check --{name} and {variable}")
        return named
    beside = Path(__file__).parent.parent / name
    if (beside.parent / "pyproject.toml").is_file():
        return beside
    shipped = files("conformance") / ARCHIVE
    if not shipped.is_file():
        raise CorpusError(
            f"no {name}: neither a checkout nor a wheel that carries it; name it with --{name}"
        )
    with as_file(shipped) as archive:
        return _unpacked(archive) / name


def cache_directory() -> Path:
    """Return where this user's machine keeps what the project can make again."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "transcript-conformance"


def _unpacked(archive: Path) -> Path:
    """Unpack an archive into the cache once, under its digest; others never see a part of it."""
    target = cache_directory() / "corpus" / sha256(archive.read_bytes()).hexdigest()[:16]
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix="unpacking-", dir=target.parent))
    try:
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(partial)
        try:
            partial.rename(target)
        except OSError:
            # Another process was first: its copy has the same digest, so it is this one.
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return target


# ------------------------------------------------------------------ cases


def case_directories(corpus: Path) -> list[Path]:
    """Return the directories of all cases, sorted by agent, release (as a version), scenario."""
    found = [path.parent for path in corpus.glob("*/*/*/case.json")]
    return sorted(found, key=lambda path: _order(path.relative_to(corpus)))


def impossible(corpus: Path) -> list[tuple[str, CannotFile]]:
    """Return the scenarios that a release can't do, by the place that they would have."""
    found = sorted(path.parent for path in corpus.glob(f"*/*/*/{CANNOT}"))
    ordered = sorted(found, key=lambda path: _order(path.relative_to(corpus)))
    return [
        (path.relative_to(corpus).as_posix(), _document(path / CANNOT, CannotFile))
        for path in ordered
    ]


def cases(corpus: Path, agent: str | None = None, release: str | None = None) -> Iterator[Case]:
    """Yield the corpus's cases in order, all or those of an agent or a release."""
    for directory in case_directories(corpus):
        named_agent, named_release, _ = directory.relative_to(corpus).parts
        if agent in (None, named_agent) and release in (None, named_release):
            yield load_case(directory, corpus)


def load_case(directory: Path, corpus: Path) -> Case:
    """Read a case's documents; :class:`CorpusError` when they are not of their shape."""
    name = directory.relative_to(corpus).as_posix()
    return Case(
        directory=directory,
        name=name,
        facts=_document(directory / "case.json", CaseFile),
        truth=_document(directory / "truth.json", TruthFile),
    )


def releases(corpus: Path, agent: str) -> list[str]:
    """Return an agent's recorded releases, oldest first."""
    found = {path.parent.name for path in case_directories(corpus) if path.parts[-3] == agent}
    return sorted(found, key=version_key)


def version_key(version: str) -> tuple[Any, ...]:
    """Order releases by their numbers; one with a suffix comes before the release itself."""
    numbers, _, suffix = version.partition("-")
    parts = [int(part) if part.isdigit() else 0 for part in numbers.split(".")]
    return (*parts, 0 if suffix else 1, suffix)


@contextmanager
def opened(case: Case) -> Generator[Path, None, None]:
    """Open a case's home for reading: as it is, or a copy in which its databases are built."""
    texts = [path for path in case.home.rglob(f"*{DATABASE_TEXT}") if path.is_file()]
    if not texts:
        yield case.home
        return
    with tempfile.TemporaryDirectory(prefix="case-") as temporary:
        home = Path(temporary) / "home"
        shutil.copytree(case.home, home)
        for text in texts:
            build_database(home / text.relative_to(case.home))
        yield home


def build_database(text: Path) -> Path:
    """Make the database whose canonical text this is, in its place, and remove the text."""
    database = text.with_suffix("")
    with closing(sqlite3.connect(database)) as connection:
        # It is thrown away again: nobody needs it safe on the disk.
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(text.read_text(encoding="utf-8"))
        connection.commit()
    text.unlink()
    return database


def wrong_digests(case: Case) -> list[str]:
    """Say which files and streams are missing, unlisted or not what ``case.json`` says."""
    streams, hooked = case.directory / "stream", case.directory / HOOKED
    told = {} if case.facts.hooked is None else case.facts.hooked.files
    return [
        *_wrong(_files(case.home, case.home), case.facts.files),
        *_wrong(_files(streams, case.directory), case.facts.streams),
        *(f"{HOOKED}/{wrong}" for wrong in _wrong(_files(hooked, hooked), told)),
    ]


def _files(directory: Path, root: Path) -> dict[str, Path]:
    return {
        path.relative_to(root).as_posix(): path
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def _wrong(present: Mapping[str, Path], listed: Mapping[str, str]) -> list[str]:
    wrong = [f"{name}: listed but missing" for name in sorted(set(listed) - set(present))]
    wrong += [f"{name}: not listed" for name in sorted(set(present) - set(listed))]
    for name in sorted(set(listed) & set(present)):
        if sha256(present[name].read_bytes()).hexdigest() != listed[name]:
            wrong.append(f"{name}: its sha256 is not the one in case.json")
    return wrong


def _order(relative: Path) -> tuple[Any, ...]:
    agent, release, scenario = relative.parts
    return (agent, version_key(release), scenario)


def _document(path: Path, shape: type[_T]) -> _T:
    try:
        return msgspec.json.decode(path.read_bytes(), type=shape)
    except FileNotFoundError as error:
        raise CorpusError(f"{path}: missing") from error
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise CorpusError(f"{path}: {error}") from error


_SAFE = re.compile(r"[a-z0-9][a-z0-9.-]*")


def odd_names(names: Sequence[str]) -> list[str]:
    """Return the case names that are not agent/release/scenario in plain characters."""
    return [
        name
        for name in names
        if len(parts := name.split("/")) != 3 or not all(_SAFE.fullmatch(part) for part in parts)
    ]
