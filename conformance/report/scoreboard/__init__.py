"""How a scoreboard of tools is shown: on a terminal, and as pages."""
