"""How far a long command has come, on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(unit: str) -> Iterator[Callable[[int, int], None]]:
    """Yield what is to be told of the progress; it is shown on terminals only."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    from bnmind.cli.show import terminal

    console = terminal(stderr=True)
    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        unit,
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(unit, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
