"""The vocabularies in which Codex tells the same conversation.

``flat`` lifts the oldest files into the envelope of the later ones, ``responses`` reads the
items that the model's wire carries, ``events`` the harness's own account of them: event
echoes up to 0.145, completed items from 0.150.
"""
