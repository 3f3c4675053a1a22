"""The sessions of a store, told by the first records of each file and by its last.

A file is read up to its first prompt, however far that is, so a listing is not fooled by what
comes first; and a file's name and its times on disk say nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from transcripts.errors import TranscriptError
from transcripts.model import Damage, SessionInfo, UserMessage
from transcripts.narration import content_text
from transcripts.records import jsonlines
from transcripts.stores.base import LEADS_OUT, Listing, Unlisted, leads_out
from transcripts.stores.codex import layout
from transcripts.stores.codex.foreign import mapping, moment, text
from transcripts.stores.codex.reader import AGENT, lineage_of
from transcripts.stores.codex.reading.drafts import Draft, Spoken
from transcripts.stores.codex.reading.gathering import Gathering
from transcripts.stores.codex.reading.messages import Thread
from transcripts.stores.codex.reading.state import State

_TAIL = 8 * 1024
_NEVER = datetime.min.replace(tzinfo=UTC)


def sessions(root: Path, cwd: str | None) -> Listing:
    """List the sessions under Codex's directory, newest first."""
    seen = 0
    found: list[SessionInfo] = []
    failed: list[Unlisted] = []
    paths = sorted(layout.rollouts(root))
    named = {layout.id_in_name(path) for path in paths}
    for path in paths:
        if layout.goes_on(path) in named:
            # Part of a session that is listed by the file in which it began.
            continue
        seen += 1
        if leads_out(path, root):
            failed.append(Unlisted(path=path.relative_to(root).as_posix(), why=LEADS_OUT))
            continue
        try:
            info = _info(path, root)
        except (TranscriptError, OSError) as error:
            name = path.relative_to(root).as_posix()
            failed.append(Unlisted(path=name, why=str(error)))
            continue
        if cwd is None or info.cwd == cwd:
            found.append(info)
    found.sort(key=lambda info: (info.updated_at or _NEVER, info.session_id), reverse=True)
    return Listing(found, seen, failed)


def find(root: Path, session_id: str) -> Path | None:
    """Return the file whose first record says that it is the session; None if none does."""
    for path in sorted(layout.rollouts(root)):
        with path.open("rb") as file:
            try:
                value = mapping(jsonlines.parse(file.readline().strip()))
            except ValueError:
                continue
        if text(mapping(value.get("payload") or value).get("id")) == session_id:
            return path
    return None


def _info(path: Path, root: Path) -> SessionInfo:
    state, prompt = _head(path, root)
    meta = state.meta
    session_id = text(meta.get("id"))
    if session_id is None:
        raise TranscriptError("no session_meta record says which session this is", path=path)
    return SessionInfo(
        agent=AGENT,
        session_id=session_id,
        path=path.relative_to(root).as_posix(),
        cwd=text(meta.get("cwd")),
        updated_at=_last_time(path) or state.last_at or moment(meta.get("timestamp")),
        title=state.title,
        first_user_message=prompt,
        cli_version=text(meta.get("cli_version")),
        lineage=lineage_of(meta),
    )


def _head(path: Path, root: Path) -> tuple[State, str | None]:
    damage: list[Damage] = []
    gathered = Gathering(path.relative_to(root).as_posix())
    read = 0
    for record in jsonlines.iterate(path, root, damage, recover=True, at_once=jsonlines.FEW):
        gathered.feed([record])
        drafts = gathered.state.drafts[read:]
        read = len(gathered.state.drafts)
        prompt = _prompt([draft for draft in drafts if isinstance(draft, Spoken)])
        if prompt is not None:
            return gathered.state, prompt
    return gathered.state, None


def _prompt(drafts: list[Draft]) -> str | None:
    for message in Thread("").messages(drafts):
        if isinstance(message, UserMessage) and message.author == "human":
            return content_text(message.content)
    return None


def _last_time(path: Path) -> datetime | None:
    """Return the time of the last record that is whole."""
    size = path.stat().st_size
    with path.open("rb") as file:
        reach = _TAIL
        while True:
            start = max(0, size - reach)
            file.seek(start)
            lines = file.read(size - start).split(b"\n")
            for line in reversed(lines if start == 0 else lines[1:]):
                try:
                    at = moment(mapping(jsonlines.parse(line)).get("timestamp"))
                except ValueError:
                    continue
                if at is not None:
                    return at
            if start == 0:
                return None
            reach *= 4
