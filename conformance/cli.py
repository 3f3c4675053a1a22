"""The ``conformance`` command: the matrix, the corpus, recordings and the generated pages.

Exit codes: 0 as it should be; 1 a check failed; 2 misuse, or input that can't be read; 3 could
not run.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NoReturn

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from conformance.adapters.errors import AdapterError
from conformance.checks import check_adapter, known
from conformance.checks import command as checking
from conformance.checks.running import Unusable
from conformance.corpus import CorpusError, case_directories, find_corpus, find_schemas
from conformance.coverage import coverage, faults
from conformance.crossing import all_stores
from conformance.formats import updating
from conformance.formats.judging import judge
from conformance.formats.records import Gathering
from conformance.generated import generated, is_checkout, outdated, write
from conformance.index import INDEX, index_text
from conformance.livechecks import LiveReport, stored
from conformance.matrix import Tick, check, every_cell
from conformance.report import formats, live_page, markdown
from conformance.report.live_terminal import show_live
from conformance.report.page import page
from conformance.report.terminal import show
from conformance.verdicts import Cell, load_floor
from live.checks import names
from live.releases import ReleaseError
from transcripts.errors import TranscriptError
from transcripts.serialise import to_json
from transcripts.stores.base import agents

FAILED, UNREADABLE, COULD_NOT_RUN = 1, 2, 3
_TERMINATED = 128 + signal.SIGTERM

_corpus_option = click.option(
    "--corpus",
    "corpus_directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="The corpus's directory; else TRANSCRIPT_CONFORMANCE_CORPUS, the checkout, or the "
    "copy that the installed package carries.",
)


class CouldNotRun(Exception):
    """Something that the command needs is not here; the message says what to install."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="transcript-conformance")
def conformance() -> None:
    """Golden recordings of coding-agent CLIs, and what survives between their stores."""


# ------------------------------------------------------------------ matrix


@conformance.command("matrix")
@click.option("--live", "lives", is_flag=True, help="Gather the witnesses of the real CLIs anew.")
@click.option("--check", "checks", is_flag=True, help="Exit 1 on lost, stale or under the floor.")
@click.option(
    "--write",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report there; Markdown goes between the markers of a page that has them.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown", "html"]),
    default="text",
    help="For people, for machines or for a page.",
)
@_corpus_option
def matrix(
    lives: bool, checks: bool, target: Path | None, form: str, corpus_directory: Path | None
) -> None:
    """Show what survives: every kind into every store, and recorded conversations across."""
    corpus = find_corpus(corpus_directory)
    with _progress() as tick:
        if lives:
            _gather(corpus, tick)
        cells = every_cell(corpus, all_stores(), tick)
    floor = load_floor()
    failures = check(cells, floor)
    _report(cells, failures, form, target)
    if checks and failures:
        if target is not None or form != "text":
            for cell, why in failures:
                click.echo(f"{cell.name}: {why}", err=True)
        sys.exit(FAILED)


def _report(
    cells: Sequence[Cell], failures: Sequence[tuple[Cell, str]], form: str, target: Path | None
) -> None:
    if form == "text":
        if target is None:
            show(cells, failures, Console())
        else:
            with target.open("w", encoding="utf-8") as file:
                show(cells, failures, Console(file=file, width=120))
        return
    if form == "json":
        text = to_json({"cells": cells})
    elif form == "html":
        text = page(cells, failures)
    else:
        text = markdown.table(cells)
        if target is not None and target.is_file():
            markdown.put(target, text)
            return
    if target is None:
        click.echo(text)
    else:
        target.write_text(f"{text}\n", encoding="utf-8")


def _gather(corpus: Path, tick: Tick) -> None:
    try:
        from conformance.gathering import gather_all  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _without_extra("--live", error) from error
    gather_all(corpus, all_stores(), tick)


def _without_extra(what: str, error: ModuleNotFoundError) -> CouldNotRun:
    return CouldNotRun(f"{what} needs {error.name}; pip install 'transcript-conformance[live]'")


# ------------------------------------------------------------------ record


@conformance.command("record")
@click.argument("release", metavar="AGENT@VERSION")
@click.argument("scenarios", metavar="[SCENARIO]...", nargs=-1)
@click.option("--dialect", help="How this release talks to another kind of model.")
@click.option("--verify", is_flag=True, help="Record twice and compare the bytes.")
@click.option(
    "--hooked",
    is_flag=True,
    help="Run recorded scenarios again with every hook that the release knows, and put what the "
    "hooks were told beside the recordings.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the cases go; the checkout's corpus if not given.",
)
def record(
    release: str,
    scenarios: tuple[str, ...],
    dialect: str | None,
    verify: bool,
    hooked: bool,
    out: Path | None,
) -> None:
    """Record a release of a CLI in scenarios, all if none is named.

    The CLI is installed from npm and driven against a scripted model on loopback.
    """
    agent, version = _release(release)
    if out is None and not is_checkout():
        raise click.UsageError("outside a checkout, say with --out where the cases go")
    try:
        from conformance import recording  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _without_extra("recording", error) from error
    with _progress() as tick:
        try:
            outcomes = recording.record_all(
                agent,
                version,
                scenarios,
                dialect,
                out or find_corpus(),
                verify=verify,
                hooked=hooked,
                tick=tick,
            )
        except recording.UnknownName as error:
            raise click.BadParameter(str(error)) from error
    for outcome in outcomes:
        click.echo(f"{outcome.scenario}: {outcome.what}")
    if any(outcome.failed for outcome in outcomes):
        sys.exit(FAILED)


# ------------------------------------------------------------------ check


@conformance.command("check")
@click.argument("adapter")
@click.option("--store", "stores", multiple=True, help="Only what it offers of this agent's store.")
@click.option("--only", multiple=True, help="Only these checks, such as read.* or write.words.")
@click.option(
    "--known",
    "known_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Failures that are known beforehand: one that passes, or fails otherwise, is a failure.",
)
@click.option("--fix", "fixes", is_flag=True, help="Write the --known list anew from this run.")
@click.option("--jobs", default=2, show_default=True, help="In how many processes it is asked.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="For people or for machines.",
)
@_corpus_option
def check_command(
    adapter: str,
    stores: tuple[str, ...],
    only: tuple[str, ...],
    known_path: Path | None,
    fixes: bool,
    jobs: int,
    form: str,
    corpus_directory: Path | None,
) -> None:
    """Ask an adapter everything that it offers an answer to, and tell what it gets wrong.

    ADAPTER is entry:NAME (entry:claude, entry:codex, entry:copilot are the reference stores),
    py:package.module:Store or exec:COMMAND. Exit 1 if a check failed, 3 if none could be asked.
    """
    if fixes and known_path is None:
        raise click.UsageError("--fix writes the list that --known names")
    if fixes and (stores or only or corpus_directory is not None):
        raise click.UsageError("--fix wants a whole run: no --store, --only or --corpus")
    corpus, schemas = find_corpus(corpus_directory), find_schemas()
    try:
        listed = None if known_path is None else _listed(known_path, fixes)
    except known.BadList as error:
        raise click.UsageError(str(error)) from error
    with _progress() as tick:
        try:
            report = check_adapter(
                adapter,
                corpus,
                schemas,
                stores=stores,
                only=only,
                known=None if fixes else listed,
                jobs=jobs,
                tick=tick,
            )
        except Unusable as error:
            raise CouldNotRun(str(error)) from error
    if fixes and known_path is not None and listed is not None:
        known_path.write_text(known.rewritten(report.results, listed), encoding="utf-8")
        click.echo(f"{known_path} written", err=True)
        return
    if form == "json":
        click.echo(to_json(report))
    else:
        checking.show(report, Console())
    if report.summary.failed:
        sys.exit(FAILED)


def _listed(path: Path, fixes: bool) -> known.Known:
    """Return the list; one that is to be written need not be there yet."""
    return known.Known() if fixes and not path.exists() else known.load(path)


# ------------------------------------------------------------------ live


@conformance.command("live")
@click.argument("cases", metavar="[CASE]...", nargs=-1)
@click.option("--from", "sources", multiple=True, type=click.Choice(agents()), help="Only from it.")
@click.option("--to", "targets", multiple=True, type=click.Choice(agents()), help="Only to it.")
@click.option(
    "--release",
    "releases",
    metavar="AGENT@VERSION",
    multiple=True,
    help="Another release of an agent than the newest one recorded.",
)
@click.option("--control", is_flag=True, help="Also resume what each CLI wrote itself, unmoved.")
@click.option(
    "--every-release",
    "every",
    is_flag=True,
    help="Ask instead every recorded release that resumes: t0 moved into it, and of each CASE its "
    "own session, unmoved.",
)
@click.option(
    "--adapter",
    metavar="ADAPTER",
    help="Who moves the sessions, instead of the reference: entry:NAME, py:package.module:Store "
    "or exec:COMMAND.",
)
@click.option("--jobs", default=2, show_default=True, help="How many CLIs run at a time.")
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the recordings of failed runs at a terminal go.",
)
@click.option(
    "--write",
    "page",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Add the results to those kept beside a page, such as docs/live.md, and write it anew.",
)
@click.option(
    "--real",
    is_flag=True,
    help="Ask your own CLIs, with your logins and a real model; says what that spends, and asks "
    "first.",
)
@click.option("--yes", "agreed", is_flag=True, help="With --real: spend it without being asked.")
@click.option("--clean", is_flag=True, help="With --real: remove the sessions that it made.")
@click.option(
    "--defects",
    "measured",
    metavar="AGENT@VERSION",
    help="Measure instead how a release resumes files with one defect each; kept beside the "
    "schemas.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    help="For people, for machines or for a page.",
)
def live(
    cases: tuple[str, ...],
    sources: tuple[str, ...],
    targets: tuple[str, ...],
    releases: tuple[str, ...],
    control: bool,
    every: bool,
    adapter: str | None,
    jobs: int,
    keep: Path | None,
    page: Path | None,
    real: bool,
    agreed: bool,
    clean: bool,
    measured: str | None,
    form: str,
) -> None:
    """Drive the real CLIs, on loopback, against a scripted model.

    Moves a conversation from each CLI to each and sees whether it is gone on with and what the
    model was shown of it: all checks if no CASE is named; t6 means t6-batch and t6-midstream too.

    Exit 0 if all that ran passed, 1 if a check failed, also one that was listed as impossible and
    passes, 3 if none ran: what was skipped counts as neither.
    """
    if real:
        if releases or control or every or keep or page or measured or form == "markdown":
            raise click.UsageError("--real takes your own CLIs as they are, and keeps no results")
        _live_really(cases, sources, targets, adapter, agreed, clean, form)
    if agreed or clean:
        raise click.UsageError("--yes and --clean go with --real")
    if measured is not None:
        _measure(measured, form)
        return
    if every and (releases or sources):
        raise click.UsageError("--every-release chooses the releases and the sources by itself")
    try:
        from conformance.livechecks import command  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _without_extra("driving a CLI", error) from error
    try:
        checks = command.planned(
            cases, sources, targets, map(_release, releases), control=control, every=every
        )
    except command.Misuse as error:
        raise click.UsageError(str(error)) from error
    with _progress(lines=True) as tick:
        report = command.run(checks, adapter, keep, jobs, tick)
    if form == "json":
        click.echo(to_json(report))
    elif form == "markdown":
        click.echo(live_page.page(report), nl=False)
    else:
        show_live(report, Console(), None if keep is None else str(keep))
    if page is not None:
        _write_live(page, report)
    sys.exit(command.exit_code(report.results))


def _write_live(page: Path, report: LiveReport) -> None:
    """Keep the results beside their page, and make the page of all that is kept."""
    kept = page.with_suffix(".json")
    together = stored.added(stored.only(stored.load(kept), names()), report)
    for path in write({kept: stored.text(together), page: live_page.page(together)}):
        click.echo(f"{path} written", err=True)


def _live_really(
    cases: Sequence[str],
    sources: Sequence[str],
    targets: Sequence[str],
    adapter: str | None,
    agreed: bool,
    clean: bool,
    form: str,
) -> NoReturn:
    try:
        from conformance.livechecks import command  # noqa: PLC0415
        from conformance.livechecks.real import command as real  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _without_extra("driving a CLI", error) from error
    try:
        with command.moved_by(adapter) as mover:
            wanted = real.wanted(cases, sources, targets)
            real.agree(wanted, agreed)
            outcome = real.run(wanted, mover, partial(_progress, lines=True), clean=clean)
    except command.Misuse as error:
        raise click.UsageError(str(error)) from error
    except real.NotAgreed as error:
        raise CouldNotRun(str(error)) from error
    if form == "json":
        click.echo(to_json(outcome.report))
    else:
        real.show(outcome.report)
    sys.exit(FAILED if outcome.harmed else command.exit_code(outcome.report.results))


def _measure(release: str, form: str) -> None:
    """Take a few minutes: the CLI is started once for each defect."""
    agent, version = _release(release)
    if not is_checkout():
        raise CouldNotRun("what is measured is kept in a checkout of the source only")
    try:
        from conformance import resuming  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _without_extra("driving a CLI", error) from error
    with _progress() as tick:
        rules, path = resuming.renew(agent, version, find_schemas(), tick)
    if form == "json":
        click.echo(resuming.text(rules).decode(), nl=False)
    else:
        resuming.show(rules, Console())
        click.echo(f"{path} written", err=True)


def _release(given: str) -> tuple[str, str]:
    agent, at, version = given.partition("@")
    if not at or not version:
        raise click.BadParameter(f"{given!r} is not AGENT@VERSION, such as claude@2.1.332")
    if agent not in agents():
        raise click.BadParameter(f"no driver for {agent!r}: use one of {', '.join(agents())}")
    return agent, version


# ------------------------------------------------------------------ corpus


@conformance.group("corpus")
def corpus_group() -> None:
    """Look after the golden recordings."""


@corpus_group.command("lint")
@_corpus_option
def corpus_lint(corpus_directory: Path | None) -> None:
    """See that every case is whole, of its shape, indexed and clean, and that none is missing."""
    corpus = find_corpus(corpus_directory)
    with _progress() as tick:
        tick("reading every case")
        try:
            from conformance.lint import lint  # noqa: PLC0415

            wrong = list(lint(corpus))
        except ModuleNotFoundError as error:
            raise _without_extra("the lint", error) from error
    if not (corpus / INDEX).is_file() or (corpus / INDEX).read_text("utf-8") != index_text(corpus):
        wrong.append((INDEX, "is not what conformance corpus index generates"))
    covered = coverage(corpus)
    # What must be recorded is said of this project's corpus, not of anybody's own.
    if covered.demand.complete and corpus_directory is None:
        wrong += faults(covered)
    for case, what in wrong:
        click.echo(f"{case}: {what}")
    count = len(case_directories(corpus))
    click.echo(
        f"{count} cases, {len(wrong) or 'no'} fault{'' if len(wrong) == 1 else 's'}", err=True
    )
    if wrong:
        sys.exit(FAILED)


@corpus_group.command("index")
@click.option("--check", "checks", is_flag=True, help="Exit 1 if the index is not up to date.")
@_corpus_option
def corpus_index(checks: bool, corpus_directory: Path | None) -> None:
    """Generate the list of everything recorded."""
    corpus = find_corpus(corpus_directory)
    files = {corpus / INDEX: index_text(corpus)}
    _generate(files, checks, corpus)


# ------------------------------------------------------------------ schema


@conformance.command("schema")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--agent", type=click.Choice(agents()), help="Whose file it is.")
@click.option("--version", help="The release to judge by; else the one that the records name.")
@click.option("--strict", "strictly", is_flag=True, help="Exit 1 on anything new as well.")
@click.option("--recover", is_flag=True, help="Judge what is whole and list the damage.")
@click.option("--update", "updates", is_flag=True, help="Write the snapshots anew, in a checkout.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="For people or for machines.",
)
@click.option(
    "--schemas",
    "schemas_directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="The schemas' directory; else TRANSCRIPT_CONFORMANCE_SCHEMAS, the checkout, or the "
    "copy that the installed package carries.",
)
def schema(
    file: Path | None,
    agent: str | None,
    version: str | None,
    strictly: bool,
    recover: bool,
    updates: bool,
    form: str,
    schemas_directory: Path | None,
) -> None:
    """Hold a session file, its directory or a home against what its release was seen to write.

    Places and types are told, never a value: the file may be anybody's. Exit 1 when something
    that readers count on is missing or of another type; with --strict on anything new.
    """
    if updates:
        if file is not None:
            raise click.UsageError("--update is about the recordings: it takes no FILE")
        _update_snapshots()
        return
    if file is None or agent is None:
        raise click.UsageError("give a FILE and the --agent that wrote it, or --update")
    schemas = find_schemas(schemas_directory)
    document = judge(agent, Gathering(agent, file, recover=recover), schemas, version)
    if form == "json":
        click.echo(to_json(document))
    else:
        formats.show(document, Console())
    if not (document.strict_ok if strictly else document.lenient_ok):
        sys.exit(FAILED)


def _update_snapshots() -> None:
    if not is_checkout():
        raise CouldNotRun("snapshots are written in a checkout of the source only")
    if name := updating.missing():
        raise CouldNotRun(f"--update needs {name}; pip install --group test")
    with _progress() as tick:
        tick("reading every recording")
        corpus = find_corpus()
        try:
            changed = updating.update(corpus, find_schemas())
        except updating.NotUpdated as error:
            raise CouldNotRun(str(error)) from error
    for path in changed:
        click.echo(f"{path.relative_to(corpus.parent)} {'written' if path.exists() else 'removed'}")


# ------------------------------------------------------------------ docs


@conformance.command("docs")
@click.option("--check", "checks", is_flag=True, help="Exit 1 if a page is not up to date.")
def docs(checks: bool) -> None:
    """Generate the JSON Schemas, the corpus's index, the coverage and the fidelity tables."""
    if not is_checkout():
        raise CouldNotRun("pages are generated in a checkout of the source only")
    corpus = find_corpus()
    with _progress() as tick:
        files = generated(corpus, lambda: every_cell(corpus, all_stores(), tick))
    _generate(files, checks, corpus.parent)


def _generate(files: dict[Path, str], checks: bool, base: Path) -> None:
    changed = outdated(files) if checks else write(files)
    for path in changed:
        name = path.relative_to(base) if path.is_relative_to(base) else path
        click.echo(f"{name} {'is not up to date' if checks else 'written'}")
    if checks and changed:
        sys.exit(FAILED)


# ------------------------------------------------------------------ running


@contextmanager
def _progress(*, lines: bool = False) -> Generator[Tick, None, None]:
    """Lend a function that tells on the terminal what is being done.

    Where there is none it is silent, or says a line each: for what takes long.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield (lambda word: click.echo(word, err=True)) if lines else (lambda _: None)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("starting", total=None)
        yield lambda word: progress.update(task, description=word)


def main() -> NoReturn:
    """Run the command; what can't be read is one line on stderr and exit 2."""
    # Ended from outside, it may still have CLIs to end and directories to remove.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))
    try:
        conformance()
    except (
        AdapterError,
        CorpusError,
        TranscriptError,
        markdown.NoMarkers,
        stored.NotStored,
    ) as error:
        click.echo(f"conformance: {error}", err=True)
        sys.exit(UNREADABLE)
    except (CouldNotRun, ReleaseError) as error:
        click.echo(f"conformance: {error}", err=True)
        sys.exit(COULD_NOT_RUN)
    sys.exit(0)
