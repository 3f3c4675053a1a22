"""The ``conformance`` command: the matrix, the corpus, recordings and the generated pages.

Exit codes: 0 as it should be; 1 a check failed; 2 misuse, or input that can't be read; 3 could
not run; 130 and 143 stopped from outside.
"""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

import click

from conformance.adapters.errors import AdapterError
from conformance.commands.check import check_command
from conformance.commands.corpus import corpus_group
from conformance.commands.docs import docs
from conformance.commands.drift import drift_command
from conformance.commands.live import live
from conformance.commands.matrix import matrix
from conformance.commands.record import record
from conformance.commands.review import review
from conformance.commands.running import COULD_NOT_RUN, UNREADABLE, CouldNotRun
from conformance.commands.schema import schema
from conformance.commands.scoreboard import scoreboard
from conformance.commands.timeline import timeline
from conformance.corpus import CorpusError
from conformance.drift.timeline_data import TimelineError
from conformance.livechecks import stored
from conformance.peers import PeerError
from conformance.peers.stored import NotStored
from conformance.report import markdown
from live.releases import ReleaseError
from transcripts.errors import TranscriptError

_INTERRUPTED, _TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="transcript-conformance")
def conformance() -> None:
    """Golden recordings of coding-agent CLIs, and what survives between their stores."""


for _command in (
    matrix,
    record,
    check_command,
    live,
    drift_command,
    timeline,
    corpus_group,
    review,
    schema,
    scoreboard,
    docs,
):
    conformance.add_command(_command)


def main() -> NoReturn:
    """Run the command; what can't be read is one line on stderr and exit 2."""
    # Ended from outside, it may still have CLIs to end and directories to remove.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
    # click's own end would be 1, which says that a check failed.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: sys.exit(_INTERRUPTED))
    try:
        conformance()
    except (
        AdapterError,
        CorpusError,
        TimelineError,
        TranscriptError,
        NotStored,
        PeerError,
        markdown.NoMarkers,
        stored.NotStored,
    ) as error:
        click.echo(f"conformance: {error}", err=True)
        sys.exit(UNREADABLE)
    except (CouldNotRun, ReleaseError) as error:
        click.echo(f"conformance: {error}", err=True)
        sys.exit(COULD_NOT_RUN)
    sys.exit(0)
