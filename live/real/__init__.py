"""The person's own CLIs, logged in, with a real model behind them: found and asked."""

from live.real.case import RealCase, load, names, selected
from live.real.own import May, NotHere, OwnCli, Reply, agents, ask, find, own_cli

__all__ = [
    "May",
    "NotHere",
    "OwnCli",
    "RealCase",
    "Reply",
    "agents",
    "ask",
    "find",
    "load",
    "names",
    "own_cli",
    "selected",
]
