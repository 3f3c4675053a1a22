"""Events that are linked, put together as workspaces, sessions, turns and nodes."""
