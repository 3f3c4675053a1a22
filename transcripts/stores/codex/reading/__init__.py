"""A rollout's records into messages: the parts of the reader."""
