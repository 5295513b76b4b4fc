"""Draw the pictures of the pages for new readers: ``python docs/make_pictures.py``.

The pictures of networks are drawn by `bnmind.views`, the others by matplotlib. The pages hold the
code that computes the numbers; here are the same calls, and what makes a picture of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

import bnmind
from bnmind.adaptive import (
    IRT_MODELS,
    Design,
    MaximalFisher,
    MaximalItems,
    MinimalEntropy,
    Session,
    ability_deviation,
    expected_ability,
    learn,
    learn_irt,
)
from bnmind.datasets import example_path, example_table
from bnmind.lab import compare
from bnmind.lab.plots import finish, line
from bnmind.mastermind import (
    Board,
    Channel,
    TableBelief,
    UnknownNoiseBelief,
    parse_history,
    parse_noise,
)
from bnmind.strategies import Entropy, Knuth
from bnmind.views import belief_view, side_by_side
from bnmind.views.draw import new_figure, polish

IMAGES = Path(__file__).parent / "images"
PEGS = ("#d55e00", "#0072b2", "#009e73", "#f0e442", "#cc79a7", "#e69f00")

FRIEND = "1234 0b2w, 2356 0b3w, 5642 0b2w, 6513 1b1w, 3525 1b1w, 3263 0b1w, 2115 1b2w"
"""The game of docs/tutorial-lying-friend.md."""


def testing() -> Figure:
    """Return the belief during two adaptive tests, one of skills and one of an ability."""
    answers = example_table("fractions-class/responses.csv")
    bank = learn(answers, example_table("fractions-class/qmatrix.csv")).bank
    session = Session.start(Design(bank, MinimalEntropy(), MaximalItems(5)))
    columns = [[session.posterior[skill]["1"] for skill in bank.skills]]
    labels = ["start"]
    for response in (1, 1, 0, 1, 0):
        item = session.next_item()
        session = session.answer(item, response)
        columns.append([session.posterior[skill]["1"] for skill in bank.skills])
        labels.append(f"{item}\n{'right' if response else 'wrong'}")
    figure = new_figure(9.5, 3.4)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    shares = np.array(columns).T
    left.imshow(shares, cmap="RdYlBu", vmin=-0.3, vmax=1.3, aspect="auto", alpha=0.7)
    for (row, column), share in np.ndenumerate(shares):
        left.text(column, row, f"{share:.0%}", ha="center", va="center", fontsize=9)
    left.set_xticks(range(len(labels)), labels)
    left.set_yticks(range(len(bank.skills)), bank.skills)
    left.set_title("CD-CAT: probability of mastery")
    left.tick_params(length=0)

    ability = learn_irt(answers, IRT_MODELS["2PL"]).bank
    test = Session.start(Design(ability, MaximalFisher(), MaximalItems(5)))
    means, widths, names = [expected(test)], [deviation(test)], ["start"]
    for response in (1, 0, 0, 1, 1):
        item = test.next_item()
        test = test.answer(item, response)
        means.append(expected(test))
        widths.append(deviation(test))
        names.append(f"{item}\n{'right' if response else 'wrong'}")
    right.errorbar(range(len(means)), means, yerr=widths, fmt="o-", capsize=4, color="#0072b2")
    right.set_xticks(range(len(names)), names)
    right.set_title("CAT: θ, EAP ± standard deviation")
    polish(right)
    return figure


def expected(session: Session) -> float:
    """Return the EAP estimate of the ability."""
    return float(expected_ability(session.belief))


def deviation(session: Session) -> float:
    """Return the standard deviation of the ability."""
    return float(ability_deviation(session.belief))


def networks() -> str:
    """Return the Asia network before and after two findings, side by side."""
    network = bnmind.read(example_path("diagnosis/asia.xdsl"))
    engine = bnmind.compile_model(network)
    findings = {"smoke": "yes", "dysp": "yes"}
    others = [v.name for v in network.variables if v.name not in findings]
    before = belief_view(network, engine.posterior([v.name for v in network.variables], {}))
    after = belief_view(network, engine.posterior(others, findings), evidence=findings)
    return side_by_side(before, after, titles=("before", "after")).svg()


def mastermind() -> Figure:
    """Return a board with four guesses, their replies, and the doubt about each."""
    board = Board(pegs=4, colors=6)
    game = parse_history(board, "1123 1b1w, 2345 0b2w, 1415 1b2w, 1152 0b1w")
    belief = TableBelief.start(Channel.false_reply(board, 0.2))
    for turn in game:
        belief = belief.update(turn.guess, turn.reply)
    figure = new_figure(6.5, 2.6)
    axes = figure.subplots()
    for row, (turn, doubt) in enumerate(zip(game, belief.misreport_probabilities(), strict=True)):
        y = len(game) - row
        for place, color in enumerate(turn.guess):
            axes.add_patch(Circle((place, y), 0.38, color=PEGS[color - 1], ec="#333333"))
            axes.text(place, y, str(color), ha="center", va="center", fontsize=11)
        small = ["#222222"] * turn.reply.black + ["#ffffff"] * turn.reply.white
        for place, shade in enumerate(small):
            axes.add_patch(Circle((4.4 + 0.4 * place, y), 0.15, fc=shade, ec="#222222"))
        axes.text(6.2, y, str(turn.reply), va="center", fontsize=11, family="monospace")
        axes.barh(y, 2.5 * doubt, left=7.4, height=0.4, color="#d55e00")
        axes.text(7.5 + 2.5 * doubt, y, f"{doubt:.0%}", va="center", fontsize=10)
    for x, words in ((1.5, "guess"), (5.2, "reply"), (8.6, "probability that it is false")):
        axes.text(x, len(game) + 0.75, words, ha="center", fontsize=10, color="#555555")
    axes.set_xlim(-0.6, 11)
    axes.set_ylim(0.4, len(game) + 1.05)
    axes.set_aspect("equal")
    axes.axis("off")
    return figure


def noise_levels() -> Figure:
    """Return the probability of each level of noise after each reply of the tutorial."""
    board = Board(pegs=4, colors=6)
    levels = (0, 0.1, 0.2, 0.3, 0.4)
    belief = UnknownNoiseBelief.start(
        [Channel.false_reply(board, level).revealed() for level in levels]
    )
    rows, labels = [belief.level_probabilities], ["start"]
    for turn in parse_history(board, FRIEND):
        belief = belief.update(turn.guess, turn.reply)
        rows.append(belief.level_probabilities)
        labels.append(f"{board.format(turn.guess)}\n{turn.reply}")
    figure = new_figure(7.2, 3.2)
    axes = figure.subplots()
    bottom = np.zeros(len(rows))
    for number, level in enumerate(levels):
        share = np.array([row[number] for row in rows])
        shade = mpl.colormaps["YlOrRd"](0.1 + 0.18 * number)
        axes.bar(labels, share, bottom=bottom, color=shade, ec="white", label=f"{level:.0%}")
        bottom += share
    axes.set_ylabel("probability of the level")
    figure.legend(title="replies\nreplaced", loc="outside right center", reverse=True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def open_games() -> Figure:
    """Return the share of games that are not over after each guess, of the duel of the tutorial."""
    channel = parse_noise(Board(pegs=4, colors=6), "independent:0.2")
    duel = compare([Entropy(), Knuth()], channel, games=600)
    figure = new_figure(7.2, 3.6)
    axes = figure.subplots()
    for player in ("entropy", "knuth"):
        lengths = np.array([row.guesses for row in duel.rows_of(player)])
        after = np.arange(1.0, 16.0)
        line(axes, player, after, np.array([(lengths > guesses).mean() for guesses in after]))
    axes.set_xlabel("guesses")
    axes.set_ylabel("share of games not yet over")
    axes.set_xticks(range(1, 16))
    finish(axes, "")
    return figure


PICTURES: Mapping[str, Callable[[], Figure | str]] = {
    "start-testing": testing,
    "start-networks": networks,
    "start-mastermind": mastermind,
    "lying-friend-levels": noise_levels,
    "lying-friend-open": open_games,
}
"""Each picture by the name of its file."""


def main() -> None:
    """Write the pictures, or those that are named."""
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "bnmind"  # equal pictures are equal files
    for name in sys.argv[1:] or PICTURES:
        drawn = PICTURES[name]()
        path = IMAGES / f"{name}.svg"
        if isinstance(drawn, str):
            path.write_text(drawn, encoding="utf-8", newline="\n")
        else:
            drawn.savefig(path, metadata={"Date": None})
        sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main()
