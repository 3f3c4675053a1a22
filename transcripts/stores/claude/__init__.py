"""The store of Claude Code: sessions as JSON lines under ``~/.claude/projects``."""

from transcripts.stores.claude.layout import DecodedSlug, decode_slug, encode_slug
from transcripts.stores.claude.store import ClaudeStore

__all__ = ["ClaudeStore", "DecodedSlug", "decode_slug", "encode_slug"]
