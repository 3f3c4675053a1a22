"""Messages into a rollout that Codex resumes: the parts of the writer."""
