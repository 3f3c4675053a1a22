"""The real CLIs, driven and recorded against a scripted model. Knows no reader."""
