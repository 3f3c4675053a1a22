"""Where Claude Code keeps things: one JSON-lines file a session, in a folder named after the cwd.

``projects/<slug>/<session id>.jsonl`` under the configuration directory. The slug is lossy, so
it is only ever a hint: which project a session belongs to is said by the ``cwd`` of its rows.
What a subagent did lies beside the session (2.0) or in a folder of the session's own (2.1).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath

import msgspec

from transcripts.errors import AmbiguousSession
from transcripts.stores.base import leads_out

_LONGEST_SLUG = 200
_AGENT_FILE = re.compile(r"agent-(?P<agent>.+)\.jsonl")
_BASE36 = "0123456789abcdefghijklmnopqrstuvwxyz"


def configuration_directory(home: Path | None) -> Path:
    """Return where the CLI keeps its data: under ``home``, else where the environment says."""
    if home is not None:
        return home / ".claude"
    configured = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(configured) if configured else Path.home() / ".claude"


def root_of(path: Path) -> Path:
    """Return the store's root for a session file: above ``projects``, else the file's folder."""
    path = path.absolute()
    for parent in path.parents:
        if parent.name == "projects":
            return parent.parent
    return path.parent


# ------------------------------------------------------------------ slugs


class DecodedSlug(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder's name says of the directory that it stands for: never one path for sure.

    ``candidates`` are plausible spellings; ``ambiguous`` is True whenever another directory
    could have the same slug, which is so for every slug with a dash or an ellipsis hash in it.
    """

    slug: str
    candidates: tuple[str, ...]
    ambiguous: bool


def encode_slug(cwd: str) -> str:
    """Return the folder name for a working directory, as the newest releases spell it.

    Every UTF-16 code unit outside A-Z, a-z and 0-9 becomes a dash (the CLI's regular
    expression has no unicode flag, so a character outside the BMP gives two). Past 200 units
    releases since 2.1 cut the name and append a hash; 2.0 did not (:func:`full_slug`).
    """
    slug = full_slug(cwd)
    if len(slug) <= _LONGEST_SLUG:
        return slug
    return f"{slug[:_LONGEST_SLUG]}-{_base36(abs(_string_hash(cwd)))}"


def full_slug(cwd: str) -> str:
    """Return the folder name without the length limit, as 2.0 spells it."""
    return "".join(
        character
        if character.isascii() and character.isalnum()
        else "-" * (2 if ord(character) > 0xFFFF else 1)
        for character in cwd
    )


def decode_slug(slug: str) -> DecodedSlug:
    """Return what a slug may stand for: the all-slashes and the all-but-last reading."""
    if "-" not in slug:
        return DecodedSlug(slug=slug, candidates=(slug,), ambiguous=False)
    candidates = [slug.replace("-", "/")]
    head, _, tail = slug.rpartition("-")
    second_head, dash, second_tail = head.rpartition("-")
    if dash:
        for joint in "-_.":
            candidates.append(f"{second_head.replace('-', '/')}/{second_tail}{joint}{tail}")
    drive = re.match(r"([A-Za-z])--(.*)", slug)
    if drive:
        candidates.append(str(PureWindowsPath(f"{drive[1]}:/", *drive[2].split("-"))))
    return DecodedSlug(slug=slug, candidates=tuple(candidates), ambiguous=True)


def _string_hash(text: str) -> int:
    """Return the 32-bit signed hash (times 31, UTF-16 units) that the CLI appends to long slugs."""
    value = 0
    units = text.encode("utf-16-le", "surrogatepass")
    for index in range(0, len(units), 2):
        value = (value * 31 + int.from_bytes(units[index : index + 2], "little")) & 0xFFFFFFFF
    return value - 0x100000000 if value & 0x80000000 else value


def _base36(number: int) -> str:
    digits = ""
    while True:
        number, rest = divmod(number, 36)
        digits = _BASE36[rest] + digits
        if not number:
            return digits


# ------------------------------------------------------------------ files


def agent_of_file(name: str) -> str | None:
    """Return the agent id in a subagent file's name, or None for any other file."""
    found = _AGENT_FILE.fullmatch(name)
    return found["agent"] if found else None


def session_files(root: Path) -> Iterator[Path]:
    """Yield the session files of a store: subagent files are none."""
    projects = root / "projects"
    if not projects.is_dir():
        return
    for folder in sorted(projects.iterdir()):
        if folder.is_dir():
            yield from sorted(
                path
                for path in folder.glob("*.jsonl")
                if path.is_file() and agent_of_file(path.name) is None
            )


def orphan_folders(root: Path) -> Iterator[Path]:
    """Yield the folders of sessions of which only the subagents' files are left."""
    projects = root / "projects"
    if not projects.is_dir():
        return
    for folder in sorted(projects.iterdir()):
        if folder.is_dir():
            yield from sorted(own for own in folder.iterdir() if is_orphan(own))


def is_orphan(folder: Path) -> bool:
    """Whether a folder holds subagents' files of a session whose own file is not there."""
    subagents = folder / "subagents"
    return (
        subagents.is_dir()
        and any(subagents.rglob("agent-*.jsonl"))
        and not folder.with_name(f"{folder.name}.jsonl").exists()
    )


def session_file(root: Path, cwd: str, session_id: str) -> Path:
    """Return where a session of a working directory belongs."""
    return root / "projects" / encode_slug(cwd) / f"{session_id}.jsonl"


def find(root: Path, session_id: str) -> Path | None:
    """Return the file of a session id, or the folder of an orphan; None if there is neither.

    The same id in two project folders happens after a move (anthropics/claude-code#29342);
    which one is meant only the caller can say.
    """
    if not session_id or Path(session_id).name != session_id or "\0" in session_id:
        return None
    projects = root / "projects"
    if not projects.is_dir():
        return None
    folders = sorted(projects.iterdir())
    found = [path for one in folders if (path := one / f"{session_id}.jsonl").is_file()]
    found = found or [path for one in folders if is_orphan(path := one / session_id)]
    if len(found) > 1:
        raise AmbiguousSession(
            f"session {session_id} lies in {len(found)} project folders: "
            + ", ".join(path.relative_to(root).as_posix() for path in found),
            next_step="give the path of the one that is meant",
        )
    return found[0] if found else None


def agent_files(session_path: Path, session_id: str) -> list[Path]:
    """Return the subagent files that may belong to a session, sorted by name.

    Those in the session's own folder do; those beside the session may be another session's
    (2.0 names only the agent in the file name), so the caller looks at their rows. What a link
    leads to outside of the store is none.
    """
    root = root_of(session_path)
    own = session_path.parent / session_id / "subagents"
    inside = sorted(own.rglob("agent-*.jsonl")) if own.is_dir() else []
    beside = sorted(session_path.parent.glob("agent-*.jsonl"))
    return [
        path
        for path in [*inside, *beside]
        if path.is_file() and not leads_out(path.absolute(), root)
    ]
