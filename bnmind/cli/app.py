"""The commands, put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any

import typer

from bnmind._front_door import installed_version
from bnmind.cli.shared.command import imported, made
from bnmind.cli.shared.errors import OneLineErrors
from bnmind.cli.shared.printable import tell

__all__ = ["GROUPS", "app"]

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

GROUPS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Test people": {
        "learn": ("cli.people:learn", "Learn an item bank from responses."),
        "judge": ("cli.people:judge", "Judge a model of responses and its Q-matrix."),
        "classify": ("cli.people:classify", "Classify examinees by their responses."),
        "simulate": ("cli.tests:simulate", "Compare selectors on the same examinees."),
        "evaluate": ("cli.tests:evaluate", "Compute the results of a test exactly."),
        "tree": ("cli.tests:tree", "Find the best test, and write it on paper."),
        "test": ("cli.administer:run_test", "Run an adaptive test of one examinee."),
        "calibrate": ("cli.people:calibrate", "Calibrate new items, and notice drift."),
    },
    "Query a network": {
        "query": ("cli.networks:query", "Query a Bayesian network in a file."),
        "ask": ("cli.ask:ask", "Ask for the most informative observations."),
        "explain": ("cli.networks:explain", "Explain a conclusion of a network in a file."),
        "predict": (
            "cli.cases:predict",
            "Predict all cases of a file by a Bayesian network.",
        ),
        "fit": ("cli.networks:fit", "Learn the tables of a network from cases."),
        "track": (
            "cli.cases:track",
            "Track a network over time through a file of slices.",
        ),
    },
    "Play and study Mastermind": {
        "play": ("cli.mastermind.play:play", "Guess a code that the computer hides."),
        "assist": (
            "cli.mastermind.assist:assist",
            "Get help, turn by turn, against your code-maker.",
        ),
        "suggest": (
            "cli.mastermind.suggest:suggest",
            "Recommend a guess, and show the doubtful replies.",
        ),
        "regret": ("cli.mastermind.regret:regret", "Show the loss of each guess of a game."),
        "compare": ("cli.mastermind.compare:compare", "Compare strategies on the same games."),
        "strategy": (
            "cli.mastermind.strategy:strategy",
            "Count the guesses of a strategy, exactly.",
        ),
        "network": ("cli.mastermind.vomlel:network", "Show Vomlel's Bayesian network of a board."),
        "fit-weights": (
            "cli.mastermind.fit_weights:fit_weights",
            "Fit the weights of weighted-entropy.",
        ),
        "fit-value": (
            "cli.mastermind.fit_value:fit_value",
            "Fit the value of a belief for look-ahead.",
        ),
    },
    "For everybody": {
        "web": ("web.command:web", "Serve pages to play and to get help, and a JSON API."),
        "examples": ("cli.examples:examples", "List and copy the files that come with bnmind."),
        "warm-up": ("cli.warm_up:warm_up", "Compile ahead, once per machine."),
        "run": ("cli.lab.run:run", "Run an experiment that a file describes."),
        "reproduce": ("cli.lab.reproduce:reproduce", "Compute published figures again."),
    },
}
"""The commands by whom they are for: the function of each, and a line about it."""


class _Commands(Mapping[str, Any]):
    """All commands by their names, each imported when it is first looked up."""

    def __getitem__(self, name: str) -> Any:
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        return (name for members in GROUPS.values() for name in members)

    def __len__(self) -> int:
        return sum(map(len, GROUPS.values()))


@cache
def _command(name: str) -> Any:
    for group, members in GROUPS.items():
        if name in members:
            place, about = members[name]
            return made(imported(f"bnmind.{place}"), name, short=about, group=group)
    raise KeyError(name)


class _AllCommands(OneLineErrors):
    """The commands, of which only the one that runs is imported."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Commands()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands in groups, in the order of the table."""
        widest = max(map(len, self.commands))
        for title, members in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(widest), text) for name, (_, text) in members.items()]
                )


app = typer.Typer(
    cls=_AllCommands,
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
