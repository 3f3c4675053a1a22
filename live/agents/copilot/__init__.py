"""GitHub Copilot CLI, driven without an account: its own provider settings point at loopback.

``driver`` starts it and finds what it wrote; ``words`` puts scripted calls into its tools.
"""

from live.agents.copilot.driver import CopilotDriver

__all__ = ["CopilotDriver"]
