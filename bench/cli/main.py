"""The command `bench`: mounts the verbs and turns errors into one line and an exit code.

Only the module of the verb that is asked for is imported, so that ``bench --help`` stays quick
however much the verbs need.
"""

from __future__ import annotations

import errno
import importlib
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import typer

from data.records.errors import BlindbenchError, UserError

__all__ = ["VERBS", "Verb", "app_for", "run"]

EXIT_SHORT: Final = 1
EXIT_USER: Final = 2
EXIT_INFRASTRUCTURE: Final = 3
MACHINE_FAILURES: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.EMFILE}
)


@dataclass(frozen=True, slots=True)
class Verb:
    """One command: the module that holds it, one line of help, and whether it groups others."""

    module: str
    summary: str
    group: bool = False


VERBS: Final[dict[str, Verb]] = {
    "doctor": Verb("bench.cli.doctor", "Say whether this installation can be trusted."),
    "papers": Verb("bench.cli.papers", "List, check, build and export papers.", group=True),
    "run": Verb("bench.cli.run", "Run the arms of a leaderboard on its papers."),
    "status": Verb("bench.cli.run", "Show how far a leaderboard's runs are."),
    "stop": Verb("bench.cli.run", "Stop a leaderboard that is running."),
    "resume": Verb("bench.cli.run", "Go on with a leaderboard that was interrupted."),
    "grade": Verb("bench.cli.grade", "Grade a finished workspace against its paper."),
    "regrade": Verb("bench.cli.grade", "Grade stored runs anew, under any rubric."),
    "grade-diff": Verb("bench.cli.grade", "List the cells whose grade two rubrics differ on."),
    "store": Verb("bench.cli.store", "Build, query and export the results store.", group=True),
    "leaderboard": Verb("bench.cli.leaderboard", "Rank the arms of a store."),
    "report": Verb("bench.cli.report", "Write a store's report as a static site."),
}


def _placeholder() -> None:
    """Stand in for a verb that was not asked for."""


def _version_line(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        sys.stdout.write(f"blindbench {version('blindbench')}\n")
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False, "--version", help="Print the version.", is_eager=True, callback=_version_line
    ),
) -> None:
    """Benchmark agents that re-implement papers from their methods and data alone."""


def app_for(requested: str | None) -> typer.Typer:
    """Command-line application with the requested verb mounted and the others listed.

    Parameters
    ----------
    requested : str or None
        A verb of `VERBS`; None mounts none, as help does.
    """
    app = typer.Typer(
        name="bench",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name, verb in VERBS.items():
        if name != requested:
            app.command(name, help=verb.summary)(_placeholder)
            continue
        module = importlib.import_module(verb.module)
        if verb.group:
            app.add_typer(module.app, name=name, help=verb.summary)
        else:
            command: Callable[..., Any] = getattr(module, name.replace("-", "_"))
            app.command(name)(command)
    return app


def _print_what_can_be_printed() -> None:
    """Escape what a terminal's encoding lacks, and file names that are no text, on printing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def run() -> None:
    """Entry point of the console script.

    Exit codes: 0 done, 1 something fell short, 2 the user's mistake, 3 infrastructure or
    cannot tell, 130 interrupted.
    """
    _print_what_can_be_printed()
    requested = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    app = app_for(requested if requested in VERBS else None)
    try:
        app()
    except UserError as error:
        sys.stderr.write(f"bench: {error}\n")
        sys.exit(EXIT_USER)
    except BlindbenchError as error:
        sys.stderr.write(f"bench: {error}\n")
        sys.exit(EXIT_INFRASTRUCTURE)
    except OSError as error:
        if error.filename is None and error.errno not in MACHINE_FAILURES:
            raise
        sys.stderr.write(f"bench: {error.filename or 'a file'}: {error.strerror}\n")
        sys.exit(EXIT_INFRASTRUCTURE)
    except KeyboardInterrupt:
        sys.stderr.write("bench: interrupted\n")
        sys.exit(130)
