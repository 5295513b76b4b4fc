"""``bnmind network --relational N``: the relational network of a random game, as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bnmind.cli.shared.command import check_place
from bnmind.cli.shared.terminal import tell, tell_json, working

__all__ = ["RelationalOptions", "show_relational"]


@dataclass(frozen=True, kw_only=True)
class RelationalOptions:
    """The options that count for the relational network."""

    n_guesses: int
    pegs: int
    colors: int
    seed: int | None
    out: Path | None
    as_json: bool


def show_relational(options: RelationalOptions) -> None:
    """Show the size of the network and the game; write the files if a place is given."""
    import numpy as np

    from bnmind._files import write_files
    from bnmind.mastermind import Board, format_history
    from bnmind.mastermind.network import (
        random_turns,
        relational_contents,
        relational_network,
        relational_size,
    )

    if options.out is not None:
        check_place(options.out, (".uai",), "network with its evidence and answers")
    board = Board(options.pegs, options.colors)
    size = relational_size(relational_network(board, options.n_guesses))
    turns = random_turns(board, options.n_guesses, rng=np.random.default_rng(options.seed))
    if options.out is not None:
        place = options.out
        write_files(
            working(
                "computing the exact answers", lambda _: relational_contents(board, turns, place)
            )
        )
    if options.as_json:
        played = [{"guess": board.format(t.guess), "reply": str(t.reply)} for t in turns]
        shown = {"pegs": board.pegs, "colors": board.colors}
        tell_json({"board": shown, **size._asdict(), "turns": played})
        return
    guesses = "1 guess" if options.n_guesses == 1 else f"{options.n_guesses} guesses"
    tell(f"Relational network, {board}, {guesses}: {size}")
    tell(f"game: {format_history(board, turns)}")
    if options.out is not None:
        tell(f"written to {options.out}, with .json, .evid, .MAR and .PR")
