"""Messages into events that Copilot CLI resumes: the parts of the writer."""
