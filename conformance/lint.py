"""The corpus held against its own rules: whole, of its shape, listed, and clean.

Cleanliness is proved by provenance (every string is from the script, a placeholder, a
structural value or a known marker: :mod:`live.lint`), and looked at a second time by
detect-secrets, whose entropy plugins are off: ids and digests are what recordings are made of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import orjson
from jsonschema import Draft202012Validator

from conformance.corpus import (
    CANNOT,
    HOOK_LOG,
    HOOKED,
    Case,
    CorpusError,
    case_directories,
    impossible,
    load_case,
    odd_names,
    wrong_digests,
)
from conformance.handmade import HAND_MADE, REASONED, MadeLog, hand_made, made_directories
from conformance.shapes import schema_of
from live import lint as origins
from live.hooklog import LOGS
from live.sanitise import Unfaithful

_FEW = 8
"""So many cases are not worth starting processes for."""
_TOP_LEVEL = frozenset({"case.json", "truth.json", "model.jsonl", "expected.json"})
_DIRECTORIES = frozenset({"home", HOOKED, "stream"})
# Whatever else lies on a machine has no origin; people's homes are named besides.
_MACHINE_PATHS = re.compile(rb"/(?:home/(?!robin)|Users/)\w+")
_ENTROPY = frozenset({"Base64HighEntropyString", "HexHighEntropyString"})
# Both look for words beside a value ("token: …"); the scenarios are full of such words, and
# the addresses are loopback's.
_WORDY = frozenset({"KeywordDetector", "IPPublicDetector"})


def lint(corpus: Path) -> Iterator[tuple[str, str]]:
    """Yield everything that is wrong with a corpus: the case (or file) and what it is."""
    names = [path.relative_to(corpus).as_posix() for path in case_directories(corpus)]
    for name in odd_names(names):
        yield name, "not agent/release/scenario in plain characters"
    for path in sorted(corpus.rglob("*")):
        relative = path.relative_to(corpus)
        if path.is_file() and not _belongs(relative, corpus):
            yield relative.as_posix(), "belongs to no case"
    for place, cannot in impossible(corpus):
        if not place.startswith(f"{cannot.agent}/{cannot.release}/{cannot.scenario}"):
            yield place, f"{CANNOT} is about {cannot.agent} {cannot.release} {cannot.scenario}"
    yield from _cases(corpus)
    yield from _hand_made(corpus)


def _cases(corpus: Path) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with each case, of a large corpus by as many processes as there are."""
    directories = case_directories(corpus)
    one = partial(_case, corpus)
    if len(directories) < _FEW:
        yield from chain.from_iterable(map(one, directories))
        return
    with ProcessPoolExecutor() as pool:
        yield from chain.from_iterable(pool.map(one, directories, chunksize=_FEW))


def _case(corpus: Path, directory: Path) -> list[tuple[str, str]]:
    name = directory.relative_to(corpus).as_posix()
    return [(name, wrong) for wrong in lint_case(directory, corpus)]


def lint_case(directory: Path, corpus: Path) -> Iterator[str]:
    """Yield everything that is wrong with one case."""
    yield from _schema("case", directory / "case.json")
    yield from _schema("truth", directory / "truth.json")
    yield from _exchanges(directory / "model.jsonl")
    try:
        case = load_case(directory, corpus)
    except CorpusError as error:
        yield str(error)
        return
    yield from wrong_digests(case)
    yield from _names(case)
    yield from _unrecorded(case)
    if case.hooked is not None:
        yield from (f"{HOOKED}: {wrong}" for wrong in _hooked(case, case.hooked))
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        yield from (f"{path.relative_to(directory)}: {wrong}" for wrong in _unclean(path))
    yield from _origins(directory)


# ------------------------------------------------------------------ shape


def _belongs(relative: Path, corpus: Path) -> bool:
    if len(relative.parts) == 1:
        return relative.name in ("index.json", "README.md")
    if len(relative.parts) < 4:
        return False
    place = corpus / Path(*relative.parts[:3])
    if relative.parts[0] == HAND_MADE:
        return len(relative.parts) == 4 and relative.name in (HOOK_LOG, REASONED)
    if not (place / "case.json").is_file():
        return relative.parts[3:] == (CANNOT,)
    inside = relative.parts[3:]
    return inside[0] in _DIRECTORIES if len(inside) > 1 else inside[0] in _TOP_LEVEL


def _schema(shape: str, path: Path) -> Iterator[str]:
    if not path.is_file():
        yield f"{path.name}: missing"
        return
    try:
        document = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        yield f"{path.name}: not JSON: {error}"
        return
    yield from _violations(shape, document, path.name)


def _exchanges(path: Path) -> Iterator[str]:
    if not path.is_file():
        yield f"{path.name}: missing"
        return
    lines = path.read_bytes().split(b"\n")
    if lines[-1]:
        yield f"{path.name}: the last line has no end"
    for number, line in enumerate(lines[:-1], 1):
        try:
            exchange = msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            yield f"{path.name}:{number}: not JSON: {error}"
            continue
        yield from _violations("exchange", exchange, f"{path.name}:{number}")
        if exchange.get("seq") != number - 1:
            yield f"{path.name}:{number}: seq is {exchange.get('seq')}"
        for entry in exchange.get("history", ()):
            if entry.get("role") in ("system", "developer"):
                yield f"{path.name}:{number}: holds what the vendor told the model"
                break


def _violations(shape: str, document: Any, place: str) -> Iterator[str]:
    validator = Draft202012Validator(schema_of(shape))
    for error in sorted(validator.iter_errors(document), key=lambda error: error.json_path):
        yield f"{place}: {error.json_path}: {error.message[:200]}"


def _names(case: Case) -> Iterator[str]:
    agent, release, scenario = case.name.split("/")
    dialect = f".{case.facts.dialect}" if case.facts.dialect else ""
    for what, said, named in (
        ("agent", case.facts.agent, agent),
        ("release", case.facts.release, release),
        ("scenario", case.facts.scenario, scenario.removesuffix(dialect) if dialect else scenario),
        ("truth's agent", case.truth.agent, agent),
        ("truth's release", case.truth.release, release),
        ("truth's scenario", case.truth.scenario, case.facts.scenario),
        ("truth's revision", case.truth.revision, case.facts.revision),
    ):
        # A release's default dialect needs no suffix.
        if said != named and not (what == "scenario" and said == scenario):
            yield f"the {what} is {said!r}, the directory says {named!r}"
    if not case.truth.messages:
        yield "truth.json holds no message"
    if not (case.home / case.facts.session_path).exists():
        yield f"session_path {case.facts.session_path} is not under home/"


def _hooked(case: Case, hooked: Case) -> Iterator[str]:
    """Yield what is wrong with a case's run with hooks."""
    run = case.facts.hooked
    if run is None:
        return
    yield from _exchanges(hooked.directory / "model.jsonl")
    yield from _unrecorded(hooked)
    if run.revision != case.facts.revision:
        yield f"is of revision {run.revision}, the recording of {case.facts.revision}"
    if not (hooked.home / run.session_path).exists():
        yield f"session_path {run.session_path} is not under its home/"
    seen: Counter[str] = Counter()
    for log in sorted(hooked.directory.glob(LOGS)):
        yield from _hook_log(log, seen)
    if seen != run.seen:
        yield f"the logs hold {dict(sorted(seen.items()))}, case.json says {dict(run.seen)}"
    for event in sorted(set(seen) - set(run.registered)):
        yield f"nobody registered a hook for {event}"


def _hook_log(log: Path, seen: Counter[str]) -> Iterator[str]:
    before = ""
    for number, line in _lines(log):
        try:
            row = msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            yield f"{log.name}:{number}: not JSON: {error}"
            continue
        wrong = list(_violations("hook", row, f"{log.name}:{number}"))
        yield from wrong
        if wrong:
            continue
        seen[row["event"]] += 1
        if row["observed_at"] < before:
            yield f"{log.name}:{number}: observed before the line above"
        before = row["observed_at"]


def _hand_made(corpus: Path) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the logs made by hand: nobody recorded them, so they have no
    origin to prove; their shape, their marks and the lines that they speak of can be looked at."""
    for directory in made_directories(corpus):
        name = directory.relative_to(corpus).as_posix()
        wrong = list(_schema("hand-made", directory / REASONED))
        yield from ((name, one) for one in wrong)
        for path in sorted(directory.iterdir()):
            yield from ((name, f"{path.name}: {one}") for one in _unclean(path))
    try:
        made = hand_made(corpus)
    except CorpusError as error:
        yield HAND_MADE, str(error)
        return
    for one in made:
        yield from ((one.name, wrong) for wrong in _of_made(one))


def _of_made(made: MadeLog) -> Iterator[str]:
    """Yield what a log and what was reasoned of it do not agree on without being read as one."""
    reasoned = made.reasoned
    if made.directory.parent.name != reasoned.agent:
        yield f"is of {reasoned.agent!r}, the directory says {made.directory.parent.name!r}"
    if not reasoned.shapes:
        yield f"{REASONED} does not say where the shapes are known from"
    seen: Counter[str] = Counter()
    yield from _hook_log(made.log, seen)
    spoken = [
        *reasoned.workspace_events,
        *reasoned.phantoms,
        *(line for one in reasoned.sessions for line in one.outside),
        *(line for one in reasoned.sessions for turn in one.turns for line in turn.events),
    ]
    if sorted(spoken) != list(range(1, sum(seen.values()) + 1)):
        yield f"{REASONED} does not give each line of the log one place"


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    lines = path.read_bytes().split(b"\n") if path.is_file() else [b""]
    yield from enumerate(lines[:-1] if not lines[-1] else lines, 1)


def _unrecorded(case: Case) -> Iterator[str]:
    for unrecorded in case.facts.unrecorded:
        if not 0 <= unrecorded.message < len(case.truth.messages):
            yield f"unrecorded: there is no message {unrecorded.message}"
            continue
        message = case.truth.messages[unrecorded.message]
        for field in unrecorded.fields or ():
            if field not in message:
                yield f"unrecorded: message {unrecorded.message} has no {field}"
        if not unrecorded.why or not unrecorded.proof:
            yield f"unrecorded: message {unrecorded.message} gives no reason or no proof"


# ------------------------------------------------------------------ cleanliness


def _origins(directory: Path) -> Iterator[str]:
    """Yield what comes from nowhere, and what the truth asks for that is no longer there."""
    try:
        yield from (f"of unknown origin: {place}" for place in origins.provenance(directory))
        yield from origins.alive(directory)
    except (Unfaithful, ValueError, KeyError, FileNotFoundError) as error:
        yield f"can't be looked through: {error}"


def _unclean(path: Path) -> Iterator[str]:
    content = path.read_bytes()
    for match in _MACHINE_PATHS.finditer(content):
        line = content.count(b"\n", 0, match.start()) + 1
        yield f"line {line}: a path of the machine: {match[0].decode()}"
    yield from _secrets(path)


def _secrets(path: Path) -> Iterator[str]:
    # Part of the extra "live", like everything else that only makers of recordings need.
    from detect_secrets.core.plugins.util import (  # noqa: PLC0415
        get_mapping_from_secret_type_to_class,
    )
    from detect_secrets.core.scan import scan_file  # noqa: PLC0415
    from detect_secrets.settings import transient_settings  # noqa: PLC0415

    plugins = [
        {"name": plugin.__name__}
        for plugin in get_mapping_from_secret_type_to_class().values()
        if plugin.__name__ not in _ENTROPY | _WORDY
    ]
    with transient_settings({"plugins_used": plugins}):
        for secret in scan_file(str(path)):
            yield f"line {secret.line_number}: {secret.type}"
