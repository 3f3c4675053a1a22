"""Hook payloads: recorded by a recorder of our own, and read back as a conversation."""
