"""Draw the charts of `results.md`, and write its last table, from the pages with the figures.

    python -m docs.draw_results

writes ``docs/images/results-*.png``; with ``--out DIR``, it writes elsewhere. Nothing is computed:
`bnmind reproduce all --page docs/reproductions.md` and the commands on the other pages renew the
tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bnmind._messages import counted
from bnmind.views.draw import new_figure, polish
from docs.result_tables import (
    DOCS,
    REPRODUCTIONS,
    STANDINGS,
    Row,
    figures,
    number,
    sections,
    tables,
    value,
    with_table,
)

BLUE, ORANGE, GREEN, RED, GRAY, BLACK = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#999999", "#000000"),
)

AWAY: Mapping[str, Any] = {"textcoords": "offset points"}


def points(axes: Any, x: Sequence[float], rows: Sequence[Row], **style: Any) -> None:
    """Draw our figures with bars of two standard errors to each side."""
    errors = [2 * number(row["std error"]) if row.get("std error") else 0.0 for row in rows]
    axes.errorbar(
        x,
        [number(row["bnmind"]) for row in rows],
        yerr=errors,
        **{
            **{"marker": "o", "color": BLUE, "label": "bnmind", "capsize": 3, "linestyle": "none"},
            **style,
        },
    )


def others(axes: Any, x: Sequence[float], rows: Sequence[Row]) -> None:
    """Draw the figures that ours are compared with, and say where they stand."""
    (column,) = {name for name in STANDINGS if rows[0].get(name)}
    y = [number(row[column]) for row in rows]
    label = {"our own": "our own check"}.get(column, column)
    axes.plot(x, y, "D", color=ORANGE, markersize=8, label=label, zorder=1.5)


def agreement(path: Path) -> None:
    """Draw how far every simulated figure is from the other one, in standard errors."""
    colors = dict(zip(STANDINGS, (BLUE, ORANGE, GREEN), strict=True))
    shown: dict[str, list[tuple[float, str, str]]] = {}
    for name, text in sections(REPRODUCTIONS).items():
        for row in (row for t in tables(text) for row in t if row.get("std error")):
            if number(row["std error"]) > 0:
                for column in (column for column in STANDINGS if row.get(column)):
                    off = (number(row["bnmind"]) - number(row[column])) / number(row["std error"])
                    shown.setdefault(name, []).append((off, column, row["verdict"]))
    figure = new_figure(8, 0.32 * len(shown) + 1.8)
    axes = figure.add_subplot()
    axes.axvspan(-3, 3, color="#e8f1f8", zorder=0)
    for place, points in enumerate(shown.values()):
        for off, column, verdict in points:
            word = verdict.split(",")[0]
            axes.plot(
                off,
                place,
                {"agrees": "o", "too few games to tell": "o", "better": "^"}.get(word, "X"),
                color=colors[column],
                markerfacecolor="none" if word.startswith("too few") else colors[column],
                alpha=0.8,
            )
    for column, color in colors.items():
        axes.plot([], [], "s", color=color, label=column)
    axes.plot([], [], "o", color=GRAY, label="agrees")
    axes.plot([], [], "o", color=GRAY, markerfacecolor="none", label="too few games to tell")
    axes.plot([], [], "^", color=GRAY, label="better")
    axes.plot([], [], "X", color=GRAY, label="differs")
    axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=4, fontsize="small")
    axes.set_yticks(range(len(shown)), shown)
    axes.invert_yaxis()
    axes.set_xlabel("bnmind minus the other figure, in our standard errors")
    polish(axes, grid="both")
    figure.savefig(path, dpi=100)


def heuristics(path: Path) -> None:
    """Draw the guesses of the published heuristics on 4x6, and when they find the codes."""
    rows = figures("heuristics")
    names = ["kooi", "irving", "larmouth", "neuwirth", "knuth", "shapiro"]
    figure = new_figure(9, 3.4)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
    optimum = value(figures("vomlel-bounds"), "Koyama and Lai, total")
    for column, label, marker, color, size in (
        ("publication", "publication", "D", ORANGE, 9),
        ("bnmind", "bnmind", "o", BLUE, 5),
    ):
        shown = [name for name in names if rows[f"{name}, total"][column]]
        more = [value(rows, f"{name}, total", column) - optimum for name in shown]
        places = [names.index(name) for name in shown]
        left.plot(more, places, marker, color=color, markersize=size, label=label)
    for place, name in enumerate(names):
        total = value(rows, f"{name}, total")
        left.annotate(f"{total:,.0f}", (total - optimum, place), (8, 0), va="center", **AWAY)
    left.set_yticks(range(len(names)), names)
    left.set_xscale("log")
    left.set_xlim(20, 9000)
    left.set_xlabel(f"guesses beyond the optimum, {optimum:,.0f}")
    left.legend(loc="upper right")
    begin = np.zeros(len(names))
    colors = ["#08306b", "#2171b5", "#6baed6", "#c6dbef", "#fdd0a2", "#f16913", "#a63603"]
    for guess in range(3, 10):
        counts = np.array(
            [
                sum(
                    value(rows, key)
                    for g in ((1, 2, 3) if guess == 3 else (guess,))
                    if (key := f"{name}, codes found at guess {g}") in rows
                )
                for name in names
            ]
        )
        label = "1 to 3" if guess == 3 else str(guess)
        right.barh(names, counts, left=begin, color=colors[guess - 3], label=label, zorder=2)
        begin += counts
    right.set_xlim(0, 1296)
    right.set_xlabel("codes found at guess")
    right.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=7, handlelength=1, frameon=False)
    right.tick_params(labelleft=False)
    for axes in (left, right):
        axes.set_ylim(len(names) - 0.5, -0.5)
        polish(axes, grid="x")
    figure.savefig(path, dpi=100)


def network_sizes(path: Path) -> None:
    """Draw the sizes of the junction trees of Vomlel's network."""
    rows = figures("vomlel-sizes")
    shown = {
        "full network": "4x6, stage 1",
        "guess inserted": "4x6, stage 2",
        "… without the arc P → C": "4x6, stage 2 without the arc P → C",
        "table of C factorized": "4x6, stage 3",
        "states pruned to 1123 instead": "4x6, stage 2 pruned to the guess 1123",
    }
    figure = new_figure(8, 2.9)
    axes = figure.add_subplot()
    for place, (label, name) in enumerate(shown.items()):
        ours, row = value(rows, name), rows[name]
        axes.barh(label, ours, color=BLUE, zorder=2)
        axes.text(ours * 1.25, place, f"{ours:,.0f}", va="center")
        if row["publication"]:
            axes.plot(number(row["publication"]), place, "D", color=ORANGE, zorder=3)
    axes.plot([], [], "D", color=ORANGE, label="in the paper")
    axes.set_xscale("log")
    axes.set_xlim(1e4, 4e11)
    axes.invert_yaxis()
    axes.set_xlabel("total size of the junction tree, cells")
    axes.legend(loc="lower right")
    polish(axes, grid="x")
    figure.savefig(path, dpi=100)


def snyder(path: Path) -> None:
    """Draw Snyder's random walk on growing boards: guesses, and codes examined."""
    rows = figures("snyder-table-5")
    boards = ["3x5", "4x6", "5x7", "6x8", "7x9", "8x10"]
    figure = new_figure(9, 3.4)
    left, right = figure.subplots(1, 2)
    x = np.arange(len(boards), dtype=float)
    for axes, what in ((left, "guesses"), (right, "codes and one walk")):
        chosen = [rows[f"{board}, {what}"] for board in boards]
        others(axes, x.tolist(), chosen)
        points(axes, x.tolist(), chosen, markersize=4)
        axes.set_xticks(x, boards)
        axes.set_xlabel("board, pegs x colors")
        polish(axes)
    left.set_ylabel("mean number of guesses")
    codes = [int(b.split("x")[1]) ** int(b.split("x")[0]) for b in boards]
    right.plot(x, codes, color=GRAY, linestyle="--", label="all codes of the board")
    right.set_yscale("log")
    right.set_ylabel("codes examined in a game")
    left.legend(loc="upper left")
    right.legend(loc="upper left")
    figure.savefig(path, dpi=100)


def evolutionary(path: Path) -> None:
    """Draw the evolutionary players beside the best published ones, on boards up to 8x12."""
    boards = ["4x6", "5x8", "5x9", "6x9", "6x10", "7x10", "8x12"]
    figure = new_figure(8, 3.6)
    axes = figure.add_subplot()
    rows = {
        key: row
        for name in ("evolutionary-genetic", "evolutionary-annealing", "evolutionary-sampled")
        for key, row in figures(name).items()
    }
    best = [rows[f"{board}, genetic"] for board in boards]
    others(axes, list(range(len(boards))), best)
    styles = {
        "genetic": ("o", BLUE, -0.15),
        "annealing-tuned": ("s", GREEN, 0.15),
        "entropy-sampled": ("^", RED, 0.28),
    }
    for player, (marker, color, shift) in styles.items():
        places = [i for i, board in enumerate(boards) if f"{board}, {player}" in rows]
        chosen = [rows[f"{boards[i]}, {player}"] for i in places]
        x = [i + shift for i in places]
        points(axes, x, chosen, marker=marker, color=color, label=player, markersize=5)
    axes.set_xticks(range(len(boards)), boards)
    axes.set_xlabel("board, pegs x colors")
    axes.set_ylabel("mean number of guesses")
    axes.legend(loc="upper left")
    polish(axes)
    figure.savefig(path, dpi=100)


def noise(path: Path) -> None:
    """Draw the means under false replies between the lower bounds and the most probable code."""
    rows, bounds = figures("noisy-means"), figures("noisy-bounds")
    levels = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5]
    figure = new_figure(8, 3.8)
    axes = figure.add_subplot()
    for label, name, color, marker, shift in (
        ("most probable code", "map random ties", RED, "s", 0.005),
        ("minimal entropy after 1123", "min expected entropy opening 1123", BLUE, "o", -0.005),
    ):
        chosen = [rows[f"{name}, p = {p:g}"] for p in levels]
        x = [p + shift for p in levels]
        others(axes, x, chosen)
        points(axes, x, chosen, color=color, marker=marker, label=f"bnmind: {label}")
    proven = [p for p in levels if f"lower bound, p = {p:g}" in bounds]
    axes.plot(
        proven,
        [value(bounds, f"lower bound, p = {p:g}") for p in proven],
        color=BLACK,
        label="proven: no strategy is below",
    )
    axes.plot(
        proven,
        [value(bounds, f"lower bound, p = {p:g}", "our own") for p in proven],
        color=GRAY,
        linestyle="--",
        label="an earlier bound of our own",
    )
    axes.set_xlabel("probability p of a random reply")
    axes.set_ylabel("mean number of guesses")
    handles, labels = axes.get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    axes.legend(unique.values(), unique.keys(), loc="upper left")
    polish(axes)
    figure.savefig(path, dpi=100)


def adaptive(path: Path) -> None:
    """Draw the accuracies of adaptive tests beside those of cdcatR, and of replayed tests."""
    rows = figures("cdcatr-accuracy")
    figure = new_figure(9, 3.5)
    left, right = figure.subplots(1, 2)
    lengths = [1, 3, 5, 10]
    for name, color, marker in (
        ("gdi", BLUE, "o"),
        ("jsd", BLACK, "x"),
        ("mpwkl", GREEN, "^"),
        ("pwkl", RED, "s"),
    ):
        chosen = [rows[f"{name}, pattern accuracy after {counted(n, 'item')}"] for n in lengths]
        others(left, lengths, chosen)
        left.plot(lengths, [number(row["bnmind"]) for row in chosen], marker=marker, color=color)
        left.plot([], [], marker=marker, color=color, label=f"bnmind: {name}")
    left.set_xticks(lengths)
    left.set_ylabel("share of examinees classified right")
    for data, color in (("fractions", BLUE), ("aced", GREEN)):
        replay = figures(f"replay-{data}")
        for name, line in (("entropy", "solid"), ("random", "dotted")):
            places = [0, 3, 5, 10]
            chosen = [replay[f"{name}, share predicted after {counted(n, 'item')}"] for n in places]
            others(right, places, chosen)
            label = f"{'fraction subtraction' if data == 'fractions' else 'ACED'}, {name}"
            points(right, places, chosen, color=color, linestyle=line, label=label, markersize=4)
    right.set_ylabel("share of answers predicted")
    for axes in (left, right):
        axes.set_xlabel("items asked")
        handles, labels = axes.get_legend_handles_labels()
        unique = dict(zip(labels, handles, strict=True))
        axes.legend(unique.values(), unique.keys(), loc="lower right", fontsize="small")
        polish(axes)
    figure.savefig(path, dpi=100)


def inference(path: Path) -> None:
    """Draw the seconds of the first query on twelve networks, with evidence on leaves."""
    text = sections(DOCS / "inference-benchmarks.md")["Seconds"]
    rows = [row for row in next(tables(text)) if row["network, evidence"].endswith(", leaves")]
    rows.sort(key=lambda row: number(row["bnmind"]))
    names = [row["network, evidence"].removesuffix(", leaves") for row in rows]
    figure = new_figure(8, 4.2)
    axes = figure.add_subplot()
    for column, label, color, marker in (
        ("bnmind", "bnmind", BLUE, "o"),
        ("Lazy", "pyAgrum, LazyPropagation", RED, "s"),
        ("pyAgrum VE", "pyAgrum, VariableElimination", ORANGE, "^"),
        ("pgmpy VE", "pgmpy, VariableElimination", GREEN, "D"),
    ):
        cells = [row[column] for row in rows]
        done = [i for i, cell in enumerate(cells) if not cell.startswith(">")]
        late = [i for i, cell in enumerate(cells) if cell.startswith(">")]
        edge = 20 * 1.2 ** (1 + len(axes.lines) // 2)  # one behind the other
        style: dict[str, Any] = {"marker": marker, "color": color, "linestyle": "none"}
        axes.plot([number(cells[i]) for i in done], done, label=label, **style)
        axes.plot([edge] * len(late), late, markerfacecolor="white", **style)
    axes.plot([], [], "o", color=GRAY, markerfacecolor="white", label="stopped after 20 s")
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("seconds until all posteriors are known (first query)")
    axes.legend(loc="lower right")
    polish(axes, grid="both")
    figure.savefig(path, dpi=100)


def sensitivity(path: Path) -> None:
    """Draw the time of a gradient by all table entries beside that of the peer."""
    rows = next(tables(sections(DOCS / "sensitivity.md")["Time"]))
    names = [row["network"] for row in rows]
    figure = new_figure(8, 4)
    axes = figure.add_subplot()
    for column, label, color, marker in (
        ("relevant only", "bnmind, tables that matter", BLUE, "o"),
        ("gradient", "bnmind, all tables", GREEN, "^"),
        ("peer", "two contractions, as YODO", RED, "s"),
    ):
        axes.plot([number(row[column]) for row in rows], names, marker, color=color, label=label)
    axes.set_xscale("log")
    axes.invert_yaxis()
    axes.set_xlabel("milliseconds")
    axes.legend(loc="upper right", fontsize="small")
    polish(axes, grid="both")
    figure.savefig(path, dpi=100)


def competition(path: Path) -> None:
    """Draw the seconds of planning and of the run for each file of UAI 2014."""
    text = sections(DOCS / "competitions.md")["UAI 2014"]
    answered = [row for row in next(tables(text)) if row["largest difference"] != "–"]
    rows = sorted(answered, key=lambda row: number(row["run s"]))
    figure = new_figure(9, 3.6)
    axes = figure.add_subplot()
    for column, label, color, marker, size in (
        ("published s", "published run, other machine", ORANGE, "D", 8),
        ("planning s", "planning", GRAY, "_", 9),
        ("run s", "run", BLUE, "o", 5),
    ):
        shown = [i for i, row in enumerate(rows) if row[column]]
        seconds = [number(rows[i][column]) for i in shown]
        axes.plot(shown, seconds, marker, color=color, markersize=size, label=label)
    axes.set_yscale("log")
    axes.set_xticks(range(len(rows)), [row["file"] for row in rows], rotation=90, fontsize=7)
    axes.set_ylabel("seconds")
    axes.legend(loc="upper left")
    polish(axes)
    figure.savefig(path, dpi=100)


def optimum(path: Path) -> None:
    """Draw what the entropy strategy loses against the optimum, on boards where this is proven."""
    text = sections(DOCS / "optimal-strategies.md")["Proven totals"]
    rows = [row for row in next(tables(text)) if row["one-ply entropy"]]
    rows.sort(key=lambda row: number(row["codes"]))
    names = [f"{row['board']}: {row['mean']}" for row in rows]
    lost = [100 * (number(row["one-ply entropy"]) / number(row["total"]) - 1) for row in rows]
    figure = new_figure(8, 4.4)
    axes = figure.add_subplot()
    axes.barh(names, lost, color=BLUE, zorder=2)
    axes.invert_yaxis()
    axes.set_ylabel("board: mean of the optimum")
    axes.set_xlabel("guesses that the entropy strategy adds to the optimum, %")
    polish(axes, grid="x")
    figure.savefig(path, dpi=100)


CHARTS: Mapping[str, Callable[[Path], None]] = {
    "results-agreement": agreement,
    "results-heuristics": heuristics,
    "results-network-sizes": network_sizes,
    "results-snyder": snyder,
    "results-evolutionary": evolutionary,
    "results-noise": noise,
    "results-adaptive": adaptive,
    "results-inference": inference,
    "results-competition": competition,
    "results-sensitivity": sensitivity,
    "results-optimum": optimum,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw all charts, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=DOCS / "images")
    out = parser.parse_args(arguments).out
    for name, draw in CHARTS.items():
        draw(out / f"{name}.png")
    page = DOCS / "results.md"
    if out == DOCS / "images":
        page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
