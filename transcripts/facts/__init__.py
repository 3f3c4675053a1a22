"""What a session comes to: each fact a value, or none with its reason, and what it rests on."""

from transcripts.facts.sheet import Facts, FactsSheet
from transcripts.facts.sheets import facts_of, facts_of_path

__all__ = ["Facts", "FactsSheet", "facts_of", "facts_of_path"]
