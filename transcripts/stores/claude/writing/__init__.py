"""Messages into rows that Claude Code resumes: the parts of the writer."""
