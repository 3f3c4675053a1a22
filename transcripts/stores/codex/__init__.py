"""The store of Codex: rollout files in three vocabularies under ``~/.codex/sessions``."""

from transcripts.stores.codex.store import CodexStore

__all__ = ["CodexStore"]
