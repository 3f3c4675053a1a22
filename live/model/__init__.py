"""The scripted model: a process that speaks the providers' wires and follows a script."""
