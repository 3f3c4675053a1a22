"""The session store of GitHub Copilot CLI."""
