"""``bnmind query --task``: the tasks of the UAI competitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bnmind._files import check_writable
from bnmind.cli.shared.named_states import names_of
from bnmind.cli.shared.printable import tell
from bnmind.cli.shared.work import working
from bnmind.errors import BnmindError, UnknownNameError

if TYPE_CHECKING:
    from bnmind.junction import CompetitionTask, Engine

__all__ = ["answer_task", "task_of"]


class TaskOptions(Protocol):
    """The options of the command that matter to tasks."""

    @property
    def model(self) -> Path: ...
    @property
    def targets(self) -> list[str] | None: ...
    @property
    def task(self) -> str | None: ...
    @property
    def query_file(self) -> Path | None: ...
    @property
    def best(self) -> int | None: ...
    @property
    def out(self) -> Path | None: ...
    @property
    def show_plan(self) -> bool: ...
    @property
    def picture(self) -> Path | None: ...
    @property
    def as_json(self) -> bool: ...


def task_of(options: TaskOptions) -> CompetitionTask | None:
    """Return the task, or None; raise an error if an option does not belong to it."""
    from bnmind.junction import COMPETITION_TASKS

    if options.task is None:
        for option, given in (
            ("--query-file", options.query_file),
            ("--best", options.best),
            ("--out", options.out),
        ):
            if given is not None:
                raise BnmindError(f"{option} goes with --task {' or '.join(COMPETITION_TASKS)}")
        return None
    if options.task not in COMPETITION_TASKS:
        raise UnknownNameError("task", options.task, COMPETITION_TASKS)
    task = COMPETITION_TASKS[options.task]
    for option, given in (
        ("--svg", options.picture is not None),
        ("--plan", options.show_plan),
        ("--json", options.as_json),
        ("--targets", options.targets is not None and not task.has_query),
        ("--query-file", options.query_file is not None and not task.has_query),
        ("--best", options.best is not None and task.best is None),
    ):
        if given:
            raise BnmindError(
                f"{option} does not go with --task {options.task}, whose answer has a format of"
                " its own"
            )
    if options.targets is not None and options.query_file is not None:
        raise BnmindError("--targets and --query-file both name the variables; give one of them")
    if options.out is not None:
        check_writable(options.out)
    return task


def answer_task(
    task: CompetitionTask,
    options: TaskOptions,
    engine: Engine,
    samples: Sequence[Mapping[str, str]],
) -> None:
    """Print or write the answer to a task.

    Parameters
    ----------
    task
        The task.
    options
        The options of the command.
    engine
        The model, with the limits of the answer.
    samples
        The findings of each sample.
    """
    from bnmind.pgm.competition import write_competition_text

    names = _query(options, engine.model) if task.has_query else ()
    count = options.best or 1
    text = working("computing", lambda _: task.answers(engine, samples, names, count=count))
    if options.out is None:
        tell(text.removesuffix("\n"))
        return
    write_competition_text(text, options.out)
    tell(f"Written: {options.out}")


def _query(options: TaskOptions, model: Any) -> tuple[str, ...]:
    """Return the variables of a marginal MAP."""
    from bnmind.pgm.competition import read_query

    if options.targets is not None:
        return tuple(names_of(options.targets, {v.name for v in model.variables}))
    if options.query_file is not None:
        return read_query(options.query_file, model)
    name = options.model.name.removesuffix(".gz")
    places = [options.model.with_name(f"{name}.query{end}") for end in ("", ".gz")]
    for place in places:
        if place.exists():
            return read_query(place, model)
    raise BnmindError(
        f"--task {options.task} needs the variables to explain: name them with --targets or"
        f" --query-file, or put them into {places[0]}"
    )
