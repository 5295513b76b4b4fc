"""``bnmind regret``: what each guess of a game lost against the best guess at that point."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind.cli.options import DEFAULT_COLORS, DEFAULT_PEGS, Colors, Json, NoRepeats, Pegs
from bnmind.errors import BnmindError, TooLargeError

if TYPE_CHECKING:
    from bnmind.mastermind import Board, Turn
    from bnmind.strategies import GuessRegret

__all__ = ["REGRET_HELP", "regret"]

OPTIMAL = "optimal"
SCORE_ELSE = "neuwirth"
"""By which strategy guesses are judged where the optimum is out of reach."""

MOST_TRIED = 10**6
"""How many guesses may be tried for the optimum: half a minute."""

REGRET_HELP = """Say what each guess of a game lost against the best guess at that point.

Replies are taken for the truth. Guesses are judged by the mean number of guesses that the game
still takes if all that follow are optimal; where that is out of reach, or with --by NAME, by the
score of a strategy: knuth, irving, neuwirth, larmouth, kooi, weighted-entropy.

\b
Examples:
  bnmind regret "1122 0b1w, 3456 1b1w, 3344 0b0w"
  bnmind regret "1111 1b0w, 1234 1b1w" --by irving --json
"""


def regret(
    history: Annotated[
        str,
        typer.Argument(
            metavar="HISTORY", help='Guesses and the replies, like "1123 1b1w, 2345 0b2w".'
        ),
    ],
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="NAME", help="optimal, or a strategy by whose score."),
    ] = None,
    pegs: Pegs = DEFAULT_PEGS,
    colors: Colors = DEFAULT_COLORS,
    no_repeats: NoRepeats = False,
    as_json: Json = False,
) -> None:
    """Print a row for each guess."""
    from bnmind.mastermind import Board, parse_history
    from bnmind.strategies import exact_regrets
    from bnmind.strategies.branch_and_bound import SearchRules

    board = Board(pegs, colors, repeats=not no_repeats)
    turns = parse_history(board, history)
    if not turns:
        raise BnmindError("expected a game of at least one guess, got none")
    if by in (None, OPTIMAL):
        try:
            found = exact_regrets(board, turns, rules=SearchRules(max_tried=MOST_TRIED))
            judge = OPTIMAL
        except TooLargeError:
            if by == OPTIMAL:
                raise
            found, judge = _by_score(board, turns, SCORE_ELSE), SCORE_ELSE
    else:
        found, judge = _by_score(board, turns, str(by)), str(by)
    if as_json:
        typer.echo(json.dumps(_as_json(board, turns, found, judge), indent=2))
    else:
        _show(board, turns, found, judge)


def _by_score(board: Board, turns: tuple[Turn, ...], name: str) -> tuple[GuessRegret, ...]:
    from bnmind.strategies import regrets, strategy_by_name
    from bnmind.strategies.exact_tree import myopic_rule

    rule = myopic_rule(strategy_by_name(name))
    if rule is None:
        raise BnmindError(f"expected optimal or a strategy of one score for --by, got {name}")
    return regrets(board, turns, rule.score)


def _show(
    board: Board, turns: tuple[Turn, ...], found: tuple[GuessRegret, ...], judge: str
) -> None:
    from bnmind.cli.show import plain_table, show_table, terminal

    console = terminal()
    what = "guesses to come" if judge == OPTIMAL else f"the score of {judge}"
    console.print(f"Judged by {what}:")
    table = plain_table("guess", "reply", "codes", "value", "best", "value", "lost")
    for turn, row in zip(turns, found, strict=True):
        table.add_row(
            board.format(row.guess),
            str(turn.reply),
            f"{row.codes:,}",
            f"{row.value:.3f}",
            board.format(row.best),
            f"{row.best_value:.3f}",
            f"{row.regret:.3f}",
        )
    show_table(console, table)
    if judge == OPTIMAL:
        console.print(f"Lost in all: {sum(row.regret for row in found):.3f} guesses.")


def _as_json(
    board: Board, turns: tuple[Turn, ...], found: tuple[GuessRegret, ...], judge: str
) -> dict[str, object]:
    return {
        "board": str(board),
        "by": judge,
        "guesses": [
            {
                "guess": board.format(row.guess),
                "reply": str(turn.reply),
                "possible_codes": row.codes,
                "is_possible": row.is_possible,
                "value": row.value,
                "best": board.format(row.best),
                "best_value": row.best_value,
                "regret": row.regret,
            }
            for turn, row in zip(turns, found, strict=True)
        ],
        "regret": sum(row.regret for row in found),
    }
