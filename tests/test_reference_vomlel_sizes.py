"""The sizes of the stages of Vomlel's network are those in the reference file."""

from __future__ import annotations

from typing import Any

import pytest

from bnmind.junction import MinWeight, junction_tree
from bnmind.lab.reproductions import published
from bnmind.mastermind import Board, reduced_to_guess, stage

REFERENCE = published("vomlel_sizes")


def name(entry: dict[str, Any]) -> str:
    return f"{entry['board']}-stage{entry['stage']}{'' if entry['arc'] else '-no-arc'}"


@pytest.mark.parametrize("entry", REFERENCE["size"], ids=name)
def test_stages_have_the_smallest_size_there_is(entry: dict[str, Any]) -> None:
    board = Board(*map(int, entry["board"].split("x")))
    tree = stage(board, entry["stage"], arc=entry["arc"]).tree
    assert tree.total_size == entry["proven"]
    assert tree.order.proven
    assert entry.get("published", entry["proven"]) == entry["proven"]
    greedy = stage(board, entry["stage"], arc=entry["arc"], order=MinWeight()).tree
    assert greedy.total_size >= entry["proven"]
    assert greedy.total_size == entry.get("greedy", greedy.total_size)


@pytest.mark.parametrize(("guess", "size"), sorted(REFERENCE["reduced-to-guess"].items()))
def test_networks_reduced_to_a_guess(guess: str, size: int) -> None:
    board = Board(4, 6)
    tree = junction_tree(reduced_to_guess(board, board.parse(guess)))
    assert tree.total_size == size
    assert tree.order.proven
