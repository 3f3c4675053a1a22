"""The session store of Codex."""
