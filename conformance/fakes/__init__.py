"""Known-bad implementations: proof that the suite can fail, and fails where it should."""
