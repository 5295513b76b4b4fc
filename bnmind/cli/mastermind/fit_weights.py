"""``bnmind fit-weights``: weights for weighted-entropy, by random search."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bnmind._files import check_writable
from bnmind.cli.mastermind.setting import DEFAULT_COLORS, DEFAULT_PEGS, Colors, NoRepeats, Pegs
from bnmind.cli.shared.command import Count, Json, Seed
from bnmind.cli.shared.terminal import tell, tell_json, working

__all__ = ["fit_weights"]


@dataclass(frozen=True, kw_only=True)
class FitWeightsOptions:
    """The options of the command.

    Parameters
    ----------
    out
        The file for the weights.
    turns
        Number of turns with separate weights.
    evaluations
        Number of weights to try.
    start
        Initial weights. [default: equal ones]
    """

    out: Path
    pegs: Pegs = DEFAULT_PEGS
    colors: Colors = DEFAULT_COLORS
    no_repeats: NoRepeats = False
    turns: Count = 1
    evaluations: Count = 2000
    start: Path | None = None
    seed: Seed = 0
    as_json: Json = False


def fit_weights(options: FitWeightsOptions) -> None:
    """Fit the weights of weighted-entropy to a board, and write them to a file.

    The random search changes a few weights at a time, and keeps a change if the total number of
    guesses does not grow. The seed determines the result. At 4x6 an evaluation takes about a
    hundredth of a second.

    Examples
    --------
    bnmind fit-weights --evaluations 5000 --out weights.json
    bnmind fit-weights --turns 4 --start weights.json --out by-turn.json
    bnmind strategy weighted-entropy --weights by-turn.json
    """
    from bnmind.mastermind import Board
    from bnmind.strategies import fit_weights as fit
    from bnmind.strategies import read_weights, write_weights

    check_writable(options.out)
    board = Board(options.pegs, options.colors, repeats=not options.no_repeats)
    start = None if options.start is None else read_weights(options.start)
    fitted = working(
        "fitting",
        lambda report: fit(
            board,
            turns=options.turns,
            evaluations=options.evaluations,
            seed=options.seed or 0,
            start=start,
            progress=lambda number, _: report(number, options.evaluations),
        ),
    )
    write_weights(fitted.score, options.out)
    if options.as_json:
        result = {
            "board": str(fitted.score.board),
            "total": fitted.total,
            "start": fitted.start,
            "evaluations": fitted.evaluations,
            "weights": [list(turn) for turn in fitted.score.weights],
            "file": str(options.out),
        }
        tell_json(result)
        return
    tell(
        f"{fitted.total:,} guesses in all, from {fitted.start:,}, after {fitted.evaluations:,} "
        f"evaluations. Written: {options.out}"
    )
