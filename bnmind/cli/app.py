"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from bnmind._front_door import installed_version
from bnmind.cli.adaptive.administer import TEST_HELP, run_test
from bnmind.cli.adaptive.learn import LEARN_HELP, LearnCommand, learn
from bnmind.cli.adaptive.options import AdaptiveCommand
from bnmind.cli.adaptive.simulate import SIMULATE_HELP, simulate
from bnmind.cli.mastermind.assist import ASSIST_HELP, assist
from bnmind.cli.mastermind.compare import COMPARE_HELP, compare
from bnmind.cli.mastermind.fit_weights import FIT_WEIGHTS_HELP, fit_weights
from bnmind.cli.mastermind.play import PLAY_HELP, play
from bnmind.cli.mastermind.regret import REGRET_HELP, RegretCommand, regret
from bnmind.cli.mastermind.strategy import STRATEGY_HELP, StrategyCommand, strategy
from bnmind.cli.mastermind.suggest import SUGGEST_HELP, suggest
from bnmind.cli.mastermind.vomlel import NETWORK_HELP, NetworkCommand, network
from bnmind.cli.networks.query import QUERY_HELP, QueryCommand, query
from bnmind.cli.shared.errors import OneLineErrors
from bnmind.cli.shared.printable import tell

__all__ = ["app"]

_HELP = """Probabilistic Mastermind, exactly: replies may be false, every guess is reasoned.

\b
Examples:
  bnmind play
  bnmind assist --noise false:0.2
  bnmind suggest --history "1123 1b1w, 2345 0b2w"
  bnmind network --stage 3
  bnmind compare entropy map --out results

Codes are digits (1123) or letters (AABC), from 1 or A to the number of colors;
separated numbers (1 1 12 3) above nine colors. A reply of one black peg (right color,
right position) and two white ones (right color, wrong position) is 1b2w.

Noise is exact; false:P, where a reply is with probability P replaced by a random one, but
the winning one never; independent:P, where each of the two numbers is wrong with
probability P; or file:PATH, a CSV file with the columns true, reported, and count or
probability.
"""

app = typer.Typer(
    cls=OneLineErrors,
    help=_HELP,
    add_completion=False,
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
    "learn": LearnCommand,
    "network": NetworkCommand,
    "query": QueryCommand,
    "regret": RegretCommand,
    "simulate": AdaptiveCommand,
    "strategy": StrategyCommand,
    "test": AdaptiveCommand,
}
"""The commands whose help lists the members of registries."""

for name, command, text, short in (
    ("play", play, PLAY_HELP, "Guess a code that the machine hides."),
    ("assist", assist, ASSIST_HELP, "Get help against a code-maker of your own."),
    ("suggest", suggest, SUGGEST_HELP, "Get one guess, the reasons, the replies to doubt."),
    ("network", network, NETWORK_HELP, "Look at the Bayesian network behind it."),
    ("compare", compare, COMPARE_HELP, "Let strategies play the same games."),
    ("strategy", strategy, STRATEGY_HELP, "Count the guesses of a strategy, exactly."),
    ("regret", regret, REGRET_HELP, "Say what each guess of a game lost."),
    ("fit-weights", fit_weights, FIT_WEIGHTS_HELP, "Fit the weights of weighted-entropy."),
    ("query", query, QUERY_HELP, "Ask any Bayesian network in a file."),
    ("learn", learn, LEARN_HELP, "Learn an item bank from responses."),
    ("simulate", simulate, SIMULATE_HELP, "Let selectors test the same examinees."),
    ("test", run_test, TEST_HELP, "Test one examinee with the items of a bank."),
):
    app.command(name, cls=KINDS.get(name), help=text, short_help=short)(command)
