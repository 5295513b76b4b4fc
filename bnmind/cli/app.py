"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from bnmind._front_door import installed_version
from bnmind.cli.adaptive.administer import TEST_HELP, run_test
from bnmind.cli.adaptive.calibrate import CALIBRATE_HELP, calibrate
from bnmind.cli.adaptive.classify import CLASSIFY_HELP, classify
from bnmind.cli.adaptive.evaluate import EVALUATE_HELP, evaluate
from bnmind.cli.adaptive.judge import JUDGE_HELP, judge
from bnmind.cli.adaptive.learn import LEARN_HELP, LearnCommand, learn
from bnmind.cli.adaptive.options import AdaptiveCommand
from bnmind.cli.adaptive.simulate import SIMULATE_HELP, simulate
from bnmind.cli.adaptive.tree import TREE_HELP, TreeCommand, tree
from bnmind.cli.examples import EXAMPLES_HELP, examples
from bnmind.cli.lab.reproduce import REPRODUCE_HELP, ReproduceCommand, reproduce
from bnmind.cli.lab.run import RUN_HELP, run
from bnmind.cli.mastermind.assist import ASSIST_HELP, assist
from bnmind.cli.mastermind.compare import COMPARE_HELP, compare
from bnmind.cli.mastermind.fit_value import FIT_VALUE_HELP, fit_value
from bnmind.cli.mastermind.fit_weights import FIT_WEIGHTS_HELP, fit_weights
from bnmind.cli.mastermind.play import PLAY_HELP, play
from bnmind.cli.mastermind.regret import REGRET_HELP, RegretCommand, regret
from bnmind.cli.mastermind.setting import GameCommand, PriorCommand
from bnmind.cli.mastermind.strategy import STRATEGY_HELP, StrategyCommand, strategy
from bnmind.cli.mastermind.suggest import SUGGEST_HELP, suggest
from bnmind.cli.mastermind.vomlel import NETWORK_HELP, NetworkCommand, network
from bnmind.cli.networks.ask import ASK_HELP, AskCommand, ask_about
from bnmind.cli.networks.explain import EXPLAIN_HELP, ExplainCommand, explain
from bnmind.cli.networks.fit import FIT_HELP, FitCommand, fit
from bnmind.cli.networks.predict import PREDICT_HELP, PredictCommand, predict
from bnmind.cli.networks.query import QUERY_HELP, QueryCommand, query
from bnmind.cli.networks.track import TRACK_HELP, TrackCommand, track
from bnmind.cli.shared.errors import OneLineErrors
from bnmind.cli.shared.printable import tell
from bnmind.cli.warm_up import WARM_UP_HELP, warm_up
from bnmind.web.command import WEB_HELP, web

__all__ = ["app"]

_HELP = """Adaptive testing with Bayesian networks: test people, query a network, or play
Mastermind with false replies.

\b
Examples:
  bnmind examples --copy .
  bnmind learn models/fractions-class/responses.csv --qmatrix models/fractions-class/qmatrix.csv
  bnmind test models/banks/fractions.json
  bnmind query models/diagnosis/asia.xdsl --evidence smoke=yes --targets lung
  bnmind ask models/diagnosis/asia.xdsl --about lung
  bnmind suggest --history "1123 1b1w, 2345 0b2w" --noise false:0.2
  bnmind web --open
"""

_MASTERMIND = """Codes are digits (1123; of ten colors, 0 is the tenth), letters (AABC) or, with
more colors, separated numbers (1 1 12 3). The reply 1b2w has one black peg (right color, right
position) and two white ones (right color, wrong position).

Noise describes how replies are falsified. exact: every reply is true. false:P: with probability P,
a random reply replaces the true one; a win is always reported, and never reported falsely.
independent:P: each of the two numbers is wrong with probability P. file:PATH: a CSV file with the
columns true, reported, and count or probability.
"""

app = typer.Typer(
    cls=OneLineErrors,
    help=_HELP,
    epilog=_MASTERMIND,
    add_completion=True,
    # Plain help is short, reads the same without color, and starts in half the time.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version, and exit.")
    ] = False,
) -> None:
    if version:
        tell(f"bnmind {installed_version()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        tell(context.get_help())


KINDS = {
    "ask": AskCommand,
    "assist": PriorCommand,
    "compare": GameCommand,
    "evaluate": AdaptiveCommand,
    "explain": ExplainCommand,
    "fit": FitCommand,
    "learn": LearnCommand,
    "network": NetworkCommand,
    "play": GameCommand,
    "predict": PredictCommand,
    "query": QueryCommand,
    "regret": RegretCommand,
    "reproduce": ReproduceCommand,
    "simulate": AdaptiveCommand,
    "strategy": StrategyCommand,
    "suggest": PriorCommand,
    "test": AdaptiveCommand,
    "track": TrackCommand,
    "tree": TreeCommand,
}
"""The commands whose help lists the members of registries."""

GROUPS = (
    (
        "Test people",
        ("learn", learn, LEARN_HELP, "Learn an item bank from responses."),
        ("judge", judge, JUDGE_HELP, "Judge a model of responses and its Q-matrix."),
        ("classify", classify, CLASSIFY_HELP, "Classify examinees by their responses."),
        ("simulate", simulate, SIMULATE_HELP, "Compare selectors on the same examinees."),
        ("evaluate", evaluate, EVALUATE_HELP, "Compute the results of a test exactly."),
        ("tree", tree, TREE_HELP, "Find the best test, and write it on paper."),
        ("test", run_test, TEST_HELP, "Run an adaptive test of one examinee."),
        ("calibrate", calibrate, CALIBRATE_HELP, "Calibrate new items, and notice drift."),
    ),
    (
        "Query a network",
        ("query", query, QUERY_HELP, "Query a Bayesian network in a file."),
        ("ask", ask_about, ASK_HELP, "Ask for the most informative observations."),
        ("explain", explain, EXPLAIN_HELP, "Explain a conclusion of a network in a file."),
        ("predict", predict, PREDICT_HELP, "Predict all cases of a file by a Bayesian network."),
        ("fit", fit, FIT_HELP, "Learn the tables of a network from cases."),
        ("track", track, TRACK_HELP, "Track a network over time through a file of slices."),
    ),
    (
        "Play and study Mastermind",
        ("play", play, PLAY_HELP, "Guess a code that the computer hides."),
        ("assist", assist, ASSIST_HELP, "Get help, turn by turn, against your code-maker."),
        ("suggest", suggest, SUGGEST_HELP, "Recommend a guess, and show the doubtful replies."),
        ("regret", regret, REGRET_HELP, "Show the loss of each guess of a game."),
        ("compare", compare, COMPARE_HELP, "Compare strategies on the same games."),
        ("strategy", strategy, STRATEGY_HELP, "Count the guesses of a strategy, exactly."),
        ("network", network, NETWORK_HELP, "Show Vomlel's Bayesian network of a board."),
        ("fit-weights", fit_weights, FIT_WEIGHTS_HELP, "Fit the weights of weighted-entropy."),
        ("fit-value", fit_value, FIT_VALUE_HELP, "Fit the value of a belief for look-ahead."),
    ),
    (
        "For everybody",
        ("web", web, WEB_HELP, "Serve pages to play and to get help, and a JSON API."),
        ("examples", examples, EXAMPLES_HELP, "List and copy the files that come with bnmind."),
        ("warm-up", warm_up, WARM_UP_HELP, "Compile ahead, once per machine."),
        ("run", run, RUN_HELP, "Run an experiment that a file describes."),
        ("reproduce", reproduce, REPRODUCE_HELP, "Compute published figures again."),
    ),
)
"""The commands by whom they are for, each with its help."""

for group, *commands in GROUPS:
    for name, command, text, short in commands:
        app.command(name, cls=KINDS.get(name), help=text, short_help=short, rich_help_panel=group)(
            command
        )
