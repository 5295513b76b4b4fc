"""Total sizes of the stages of Vomlel's network, out of the general search."""

from __future__ import annotations

import pytest

from bnmind.junction import BestOrder, JunctionTree, MinFill
from tests.graphs import vomlel_graph

# J. Vomlel, "Bayesian networks in Mastermind", names 20,526,445 and 214,775 (4x6 without the
# arc from P to C); the others were computed here and proven.
TOTALS = [
    (4, 6, 2, False, 20_526_445),
    (4, 6, 2, True, 61_835_025),
    (4, 6, 3, False, 214_775),
    (4, 6, 1, False, 2_390_550_205),
    (4, 6, 1, True, 7_574_862_625),
    (3, 4, 2, False, 21_760),
    (3, 4, 2, True, 73_728),
    (3, 4, 1, False, 804_000),
    (3, 4, 1, True, 2_510_848),
    (5, 8, 2, False, 55_057_259_456),
    (5, 8, 2, True, 147_016_147_968),
    (5, 8, 3, False, 9_963_876),
    (5, 8, 1, False, 13_209_104_402_112),
    (5, 8, 1, True, 44_910_845_273_088),
]


@pytest.mark.parametrize(("pegs", "colors", "stage", "arc", "total"), TOTALS)
def test_total_size_is_the_smallest(
    pegs: int, colors: int, stage: int, arc: bool, total: int
) -> None:
    graph = vomlel_graph(pegs, colors, stage=stage, arc=arc)
    found = BestOrder()(graph)
    assert found.total_size == total
    assert found.proven
    assert JunctionTree.from_order(graph, found).total_size == total


def test_one_pass_is_not_enough() -> None:
    assert MinFill()(vomlel_graph(4, 6, stage=2, arc=True)).total_size == 101_854_225


def test_cliques_of_the_published_trees() -> None:
    graph = vomlel_graph(4, 6, stage=2)
    tree = JunctionTree.from_order(graph, BestOrder()(graph))
    sizes = sorted((clique.size for clique in tree.cliques), reverse=True)
    assert sizes == [20_250_000, 78_125, *[32_400] * 6, 2_592, 864, 288, 96, 80]
    graph = vomlel_graph(4, 6, stage=3)
    tree = JunctionTree.from_order(graph, BestOrder()(graph))
    sizes = sorted((clique.size for clique in tree.cliques), reverse=True)
    assert sizes == [*[32_400] * 6, 12_960, 4_320, 1_440, 480, 400, *[125] * 6, 25]
