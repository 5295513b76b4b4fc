"""After a game: how much each guess lost against the best one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bnmind.cli.shared.terminal import plain_table, show_table, working

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from bnmind.lab.mastermind.live.review import GuessReview
    from bnmind.mastermind import Board, Posterior, Turn

__all__ = ["JUDGING", "review_of", "show_regret", "show_review"]

JUDGING = "judging the guesses"


def show_regret(
    console: Console, start: Posterior, turns: Sequence[Turn], *, won: bool, uniform: bool
) -> None:
    """Print the loss of each guess, in bits of information; and in guesses if replies are true.

    Parameters
    ----------
    console
        The console.
    start
        The belief before the first guess, under the noise of the game.
    turns
        The game.
    won
        Whether the last guess was the code.
    uniform
        Whether all codes were equally probable before the game.
    """
    if not turns:
        return
    reviewed = review_of(start, turns, won=won)
    show_review(console, start.board, turns, reviewed)
    if start.channel.is_exact and uniform:
        from bnmind.lab.mastermind.live.review import review_in_guesses

        judged = working(
            JUDGING, lambda report: review_in_guesses(start.board, turns, progress=report)
        )
        if judged is not None:
            lost = sum(row.regret for row in judged)
            console.print(f"Lost against optimal guesses: {lost:.3f} guesses.")


def review_of(start: Posterior, turns: Sequence[Turn], *, won: bool) -> tuple[GuessReview, ...]:
    """Return each guess beside the most informative one, with the progress shown."""
    import numpy as np

    from bnmind.lab.mastermind.live.review import review_guesses

    return working(
        JUDGING,
        lambda report: review_guesses(
            start, turns, np.random.default_rng(0), won=won, progress=report
        ),
    )


def show_review(
    console: Console, board: Board, turns: Sequence[Turn], reviewed: Sequence[GuessReview]
) -> None:
    """Print a row for each guess of a game: what it could tell, what it told, and the best one."""
    console.print(
        "Each guess beside the most informative one, in bits. The last column is how many bits"
        " the reply really told."
    )
    table = plain_table("guess", "reply", "tells", "best", "tells", "lost", "told")
    for turn, one in zip(turns, reviewed, strict=True):
        table.add_row(
            board.format(one.guess),
            str(turn.reply),
            f"{one.information:.2f}",
            board.format(one.best),
            f"{one.best_information:.2f}",
            f"{one.regret:.2f}",
            f"{one.told:.2f}",
        )
    show_table(console, table)
    lost = sum(one.regret for one in reviewed)
    console.print(f"Lost against the most informative guesses: {lost:.2f} bits.")
