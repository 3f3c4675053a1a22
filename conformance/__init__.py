"""The suite: what survives, what drifted, and whether an adapter conforms."""
