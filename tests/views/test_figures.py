"""Figures in given rows, pictures of junction trees, and the figures of Vomlel's paper."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given, settings

from bnmind.errors import InvalidArgumentError
from bnmind.junction import junction_tree
from bnmind.mastermind import Board, Channel, stage, stage_figure, tree_figure
from bnmind.pgm import Network
from bnmind.views import junction_tree_view
from bnmind.views.figures import Node, draw_rows
from tests.modes import examples
from tests.networks import networks
from tests.views.test_views import SVG, parsed, texts

BOARD = Board(4, 6)


def rows_of(root: Element) -> list[list[str]]:
    """Return the labels of the boxes, row by row from left to right."""
    rows: dict[float, list[tuple[float, str]]] = {}
    for group in root.iter(f"{SVG}g"):
        if group.find(f"{SVG}title") is None:
            continue
        (label,) = texts(group)
        x, y = re.findall(r"[\d.]+", group.attrib["transform"])
        width = float(group.findall(f"{SVG}rect")[0].attrib["width"])
        rows.setdefault(float(y), []).append((float(x) + width / 2, label))
    return [[label for _, label in sorted(row)] for _, row in sorted(rows.items())]


def numbered(letter: str, n: int) -> list[str]:
    return [f"{letter}{'₀₁₂₃₄₅₆₇₈₉'[i]}" for i in range(1, n + 1)]


def test_figure_1_has_the_variables_in_the_order_of_the_paper() -> None:
    root = parsed(stage_figure(stage(BOARD, 1)))
    assert rows_of(root) == [
        [*numbered("T", 4), *numbered("H", 4)],
        [*numbered("G", 6), *numbered("C", 6), *numbered("P", 4)],
        [*numbered("M", 6), "P"],
        ["C"],
    ]
    lines = [path for path in root.iter(f"{SVG}path") if not path.attrib["d"].endswith("z")]
    network = stage(BOARD, 1).model
    assert isinstance(network, Network)
    assert len(lines) == sum(len(cpd.parents) for cpd in network.cpds)


def test_figure_2_shows_the_reports_of_a_channel() -> None:
    noisy = stage(BOARD, 2, channel=Channel.independent_error(BOARD, 0.1))
    assert rows_of(parsed(stage_figure(noisy)))[-2:] == [["C", "P′"], ["C′"]]


def test_figure_3_joins_b_to_its_neighbors_without_arrows() -> None:
    root = parsed(stage_figure(stage(BOARD, 3)))
    assert rows_of(root) == [
        numbered("H", 4),
        [*numbered("C", 6), *numbered("P", 4)],
        [*numbered("M", 6), "P"],
        ["B"],
        ["C"],
    ]
    lines = [path.attrib["d"] for path in root.iter(f"{SVG}path")]
    assert not [line for line in lines if line.endswith("z")]
    # 6 pairs of H and 6 of P_j, 24 C_i–H_j, 6 M_i–C_i, 4 P_j–H_j, 4 P_j–P, 7 with B, and C–B.
    assert len(lines) == len(set(lines)) == 6 + 6 + 24 + 6 + 4 + 4 + 7 + 1


def test_figure_4_shows_all_cliques_with_their_sizes() -> None:
    shown = stage(BOARD, 3)
    root = parsed(tree_figure(shown))
    told = [" ".join(texts(group)) for group in root.iter(f"{SVG}g") if texts(group)]
    assert "214,775 cells" in root.attrib["aria-label"]
    for number in range(1, 7):
        color = "₀₁₂₃₄₅₆"[number]
        assert f"H₁ H₂ H₃ H₄ C{color} B 32,400" in told
        assert f"C{color} M{color} B 125" in told


@settings(max_examples=examples(30))
@given(networks())
def test_junction_trees_are_drawn_whole_and_without_overlap(network: Network) -> None:
    tree = junction_tree(network)
    view = junction_tree_view(tree)
    assert str(view) == str(tree)
    root = parsed(view.svg())
    boxes = []
    for group in root.iter(f"{SVG}g"):
        if group.find(f"{SVG}title") is not None:
            x, y = map(float, re.findall(r"-?[\d.]+", group.attrib["transform"]))
            rect = group.findall(f"{SVG}rect")[0]
            if "rx" in rect.attrib:
                width, height = float(rect.attrib["width"]), float(rect.attrib["height"])
                boxes.append((x, y, x + width, y + height))
    assert len(boxes) == len(tree.cliques)
    assert len(list(root.iter(f"{SVG}path"))) == len(tree.edges)
    for i, (left, top, right, bottom) in enumerate(boxes):
        for a, b, c, d in boxes[:i]:
            assert right <= a or c <= left or bottom <= b or d <= top


def test_long_cliques_are_shortened_and_whole_in_the_tooltip() -> None:
    board = Board(9, 3)
    root = parsed(tree_figure(stage(board, 3)))
    titles = [title.text or "" for title in root.iter(f"{SVG}title")]
    assert any("H1, H2, H3, H4, H5, H6, H7, H8, H9, C1, B" in title for title in titles)


def test_figures_need_distinct_nodes_and_known_ends() -> None:
    node = Node("a", "a")
    for rows, arcs in (([[]], []), ([[node, node]], []), ([[node]], [("a", "b")])):
        with pytest.raises(InvalidArgumentError, match="distinct nodes"):
            draw_rows(rows, arcs=arcs, caption="")
    svg = draw_rows([[Node("<a>", "<b>", "x & y")]], caption='"quoted"')
    assert texts(parsed(svg)) == ["<b>"]
