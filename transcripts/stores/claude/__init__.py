"""The session store of Claude Code."""
