"""Which events belong together, and why: ids first, then evidence, else an orphan."""
