"""The reference implementation: readers and writers of the session stores of coding-agent CLIs."""
