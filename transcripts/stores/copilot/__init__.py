"""The store of GitHub Copilot CLI: events under ``~/.copilot/session-state/<id>``."""

from transcripts.stores.copilot.faults import Fault, writer_faults
from transcripts.stores.copilot.store import CopilotStore

__all__ = ["CopilotStore", "Fault", "writer_faults"]
