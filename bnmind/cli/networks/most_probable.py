"""``bnmind query --mpe``: the most probable states of all variables, or of the targets (MAP)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from bnmind.cli.shared.printable import tell, tell_json
from bnmind.cli.shared.work import working
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind.junction import Limits, OrderFinder
    from bnmind.pgm import FactorModel, Network

__all__ = ["check_options", "show_most_probable"]


class Options(Protocol):
    """The options of the command that do not go with ``--mpe``."""

    @property
    def task(self) -> str | None: ...
    @property
    def show_plan(self) -> bool: ...
    @property
    def picture(self) -> object: ...
    @property
    def approximate(self) -> str | None: ...
    @property
    def sums(self) -> object: ...


def check_options(options: Options) -> None:
    """Raise an error if an option does not go with ``--mpe``."""
    for option, given in (
        ("--task", options.task),
        ("--plan", options.show_plan or None),
        ("--svg", options.picture),
        ("--approximate", options.approximate),
        ("--sums", options.sums),
    ):
        if given is not None:
            raise BnmindError(f"{option} does not go with --mpe")


def show_most_probable(
    model: Network | FactorModel,
    known: Mapping[str, str],
    targets: Sequence[str],
    *,
    order: OrderFinder | None,
    limits: Limits,
    as_json: bool,
) -> None:
    """Print the most probable states given evidence, and their probability.

    They are those of the targets, or of all variables without evidence if there are no targets.
    """
    from bnmind.cli.shared.show import plain_table, show_table, terminal
    from bnmind.junction import compile_model

    engine = compile_model(model, order=order, limits=limits)
    found = working(
        "searching", lambda _: engine.map(targets, known) if targets else engine.mpe(known)
    )
    if as_json:
        tell_json({"states": dict(found.states), "log_probability": found.log_probability})
        return
    table = plain_table("variable", "most probable state")
    for name, state in found.states.items():
        table.add_row(name, state)
    show_table(terminal(), table)
    tell(f"log-probability of these states and the evidence {found.log_probability:.6g}")
