"""What the user sees while runs are under way: a live bar, or one line a run where no terminal is.

Nothing here decides anything; `RunDisplay` is told what happens and shows it.
"""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Final

from bench.runs.execute import Event, Happening
from data.records.runs import RunStatus

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

__all__ = ["STATUS_STYLES", "RunDisplay"]

STATUS_STYLES: Final[dict[RunStatus, str]] = {
    RunStatus.FINISHED: "green",
    RunStatus.TIMED_OUT: "yellow",
    RunStatus.LIMIT_REACHED: "yellow",
    RunStatus.REFUSED: "red",
    RunStatus.INFRA_FAILED: "red",
    RunStatus.INVALID: "red",
}
SHOWN_AT_ONCE: Final = 6


class RunDisplay:
    """Shows a leaderboard's runs as they start and end.

    Parameters
    ----------
    console : Console
    total : int
        Runs to come.
    """

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._done = 0
        self._under_way: dict[str, float] = {}
        self._lock = threading.Lock()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> RunDisplay:
        """Start the bar where there is a terminal."""
        if self._console.is_terminal:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
            from rich.progress import TimeElapsedColumn as Elapsed

            self._progress = Progress(
                BarColumn(24),
                MofNCompleteColumn(),
                Elapsed(),
                TextColumn("{task.description}"),
                console=self._console,
                transient=True,
            )
            self._task = self._progress.add_task("", total=self._total)
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take the bar away."""
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, happening: Happening) -> None:
        """Show one thing that happened; called from several threads."""
        with self._lock:
            if happening.event is Event.STARTED:
                self._under_way[happening.place] = time.monotonic()
            elif happening.event is Event.ENDED:
                self._under_way.pop(happening.place, None)
                self._done += 1
                self._print_end(happening)
            elif happening.event is Event.ELSEWHERE:
                self._done += 1
                self._console.print(f"{happening.place}: another process has it", style="yellow")
            self._refresh()

    def _print_end(self, happening: Happening) -> None:
        from rich.text import Text

        attempt = happening.attempt
        if attempt is None:
            return
        line = Text()
        line.append(f"{attempt.status.value:<13}", style=STATUS_STYLES.get(attempt.status, ""))
        line.append(f"{attempt.wall_seconds:6.1f} s  {happening.place}")
        if attempt.signal and not attempt.limit_hit:
            line.append(f"  signal {attempt.signal}", style="dim")
        elif attempt.exit_code:
            line.append(f"  exit {attempt.exit_code}", style="dim")
        if attempt.cause:
            line.append(f"  {attempt.cause}", style="dim")
        self._console.print(line)

    def _refresh(self) -> None:
        if self._progress is None or self._task is None:
            return
        shown = sorted(self._under_way, key=lambda place: self._under_way[place])
        more = len(shown) - SHOWN_AT_ONCE
        words = ", ".join(shown[:SHOWN_AT_ONCE]) + (f" and {more} more" if more > 0 else "")
        self._progress.update(self._task, completed=self._done, description=words)
