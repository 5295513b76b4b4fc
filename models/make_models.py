"""Write the ready networks of this directory, with the library.

Run it with ``python models/make_models.py``; another directory may be given. What the
files hold is described in README.md.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bnmind.mastermind import Board, Channel, reduced_to_guess, vomlel_network
from bnmind.pgm import Network
from bnmind.pgm.files import write_model

HERE = Path(__file__).parent


def networks() -> dict[str, Network]:
    """Return the network of every file, by the name of the file."""
    small = Board(pegs=3, colors=4)
    full = vomlel_network(small, channel=Channel.independent_error(small, 0.1))
    board = Board(pegs=4, colors=6)
    after_guess = reduced_to_guess(
        board, board.parse("1123"), channel=Channel.false_reply(board, 0.2)
    )
    return {
        "mastermind-3x4.bif": full,
        "mastermind-3x4.xdsl": full,
        "mastermind-4x6-after-1123.bif": after_guess,
    }


def main(directory: Path = HERE) -> None:
    """Write every file."""
    for name, network in networks().items():
        write_model(network, directory / name)
        print(f"{name}: {len(network.variables)} variables")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
