"""The reference implementation: readers and writers of the session stores of coding-agent CLIs.

>>> transcript = read_path("~/.claude/projects/-srv-app/1b4e28ba-….jsonl")
>>> open_store("codex").write(transcript, session_id="0190f5c6-…", cwd="/srv/app")
"""

from transcripts.errors import TranscriptError
from transcripts.model import Message, Transcript
from transcripts.reading import iter_path, read_path
from transcripts.stores import agents, open_store

__all__ = [
    "Message",
    "Transcript",
    "TranscriptError",
    "agents",
    "iter_path",
    "open_store",
    "read_path",
]
