"""Write the relational Mastermind instances of this directory, with the library.

Run it from the root of the repository with ``python -m models.make_relational``; another directory
may be given. The files are described in relational-mastermind/README.md.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.relational_network import random_turns, write_game
from bnmind._files import write_files
from bnmind.mastermind import Board

HERE = Path(__file__).parent / "relational-mastermind"

INSTANCES = (
    *("03_08_03", "04_08_03", "05_08_03", "06_08_03", "10_08_03"),
    *("03_08_04", "04_08_04", "03_08_05", "10_08_05"),
)
"""Colors, guesses and pegs; all but the last are sizes of the literature."""

SEED = 1


def contents(instance: str) -> dict[str, str]:
    """Return the content of each file of an instance, by the name of the file."""
    colors, guesses, pegs = map(int, instance.split("_"))
    board = Board(pegs, colors)
    turns = random_turns(board, guesses, rng=np.random.default_rng(SEED))
    with TemporaryDirectory() as folder:
        write_game(board, turns, Path(folder, f"relational_{instance}.uai"))
        files = [path for path in sorted(Path(folder).iterdir()) if path.suffix != ".json"]
        return {path.name: path.read_text(encoding="utf-8") for path in files}


def main(directory: Path = HERE) -> None:
    """Write every file, compressed."""
    directory.mkdir(exist_ok=True)
    for instance in INSTANCES:
        packed = {
            directory / f"{name}.gz": gzip.compress(text.encode(), mtime=0)
            for name, text in contents(instance).items()
        }
        write_files(dict(packed))
        print(f"{instance}: {sum(map(len, packed.values())):,} bytes")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
