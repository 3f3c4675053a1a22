"""One module for each command of ``transcripts``, by its name."""
