"""A game of Mastermind as an adaptive test: the code is the skills, the guesses are the items.

Twice. First the board 3x4 becomes an item bank like any other: three skills with four
levels each, the pegs of the code, and 64 items, the guesses, whose responses are the
replies; a session of an adaptive test finds the code. Then the selectors of adaptive tests
play on the board 4x6 with the beliefs of Mastermind, which speak the same small protocol:
the masses of causes, and channels. Both ask what the entropy strategy would guess.

Run it with ``python examples/mastermind_as_a_test.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bnmind.adaptive import (
    Design,
    DiscriminationIndex,
    ItemBank,
    MinimalEntropy,
    ModifiedPosteriorWeightedKL,
    ProfileCertain,
    QuestionBelief,
    ScoringSelector,
    Session,
)
from bnmind.information import Floats, information
from bnmind.mastermind import Board, Channel, ExactBelief, TableBelief, replies_to
from bnmind.mastermind.masses import guess_masses
from bnmind.pgm import Network, TabularCPD, Variable
from bnmind.strategies import Entropy

NOISE = 0.1
SEED = 4


def bank_of_guesses(channel: Channel) -> ItemBank:
    """Return the bank in which each peg of the code is a skill and each guess an item."""
    board = channel.board
    colors = tuple(str(color) for color in range(1, board.colors + 1))
    pegs = tuple(Variable(f"peg_{number}", colors) for number in range(1, board.pegs + 1))
    uniform = np.full(board.colors, 1 / board.colors)
    cpds = [TabularCPD(peg, (), uniform) for peg in pegs]
    replies = tuple(str(reply) for reply in channel.reports)
    names = [board.format(board.code(number)) for number in range(board.n_codes)]
    for number, name in enumerate(names):
        true = replies_to(board, board.code(number))  # of every code
        chances = channel.matrix[true].T.reshape(-1, *(board.colors,) * board.pegs)
        cpds.append(TabularCPD(Variable(name, replies), pegs, chances))
    return ItemBank.from_network(
        Network(tuple(cpds)), [peg.name for peg in pegs], names
    ).with_title(f"Mastermind {board}")


@dataclass(frozen=True)
class Guesses:
    """All guesses of a board as the questions of a test."""

    channel: Channel

    def position(self, item: str) -> int:
        """Return the place of a guess among all."""
        return self.channel.board.index(self.channel.board.parse(item))

    def channels(self, items: Sequence[str]) -> Floats:
        """Return the channel of each guess: it is the same for all."""
        return np.broadcast_to(self.channel.matrix, (len(items), *self.channel.matrix.shape))


@dataclass(frozen=True)
class CodeBelief:
    """A belief of Mastermind that selectors understand: true replies are the causes."""

    belief: ExactBelief

    @property
    def bank(self) -> Guesses:
        """The guesses."""
        return Guesses(self.belief.channel)

    def masses(self, items: Sequence[str]) -> Floats:
        """Return how probable each true reply to each guess is."""
        board, codes = self.belief.board, self.belief.codes.probabilities
        return np.array([guess_masses(board, codes, board.parse(item)) for item in items])

    def information(self, items: Sequence[str]) -> Floats:
        """Return the information that each guess promises, in bits."""
        return information(self.masses(items), self.belief.channel.matrix)


def by_a_session() -> None:
    """Find a code of three pegs by a session of an adaptive test."""
    rng = np.random.default_rng(SEED)
    board = Board(3, 4)
    # In a test nobody says that it is over: the replies alone must tell.
    channel = Channel.false_reply(board, NOISE)
    bank = bank_of_guesses(channel)
    secret = int(rng.integers(board.n_codes))
    print(f"{bank.title}: {len(bank.items)} items, {len(bank.skills)} skills with 4 levels each")

    session = Session.start(Design(bank, stopper=ProfileCertain(0.9), rules=()))
    belief: ExactBelief = TableBelief.start(channel)
    print("\n     item  reply  tells  bits left  most about  the strategy's guess tells")
    while not session.stop_reason:
        item, told = session.next_item(), session.selection.score
        about = next(row.skill for row in session.rank() if row.item == item)
        own = Entropy().choose(belief, rng)[1].information
        guess = board.parse(item)
        heard = channel.draw(int(replies_to(board, guess)[secret]), rng.random())
        session = session.answer(item, heard)
        belief = belief.update(guess, channel.reports[heard])
        print(
            f"{len(session.state.asked):3}  {item:4}  {channel.reports[heard]}   {told:5.3f}"
            f"  {session.belief.entropy:9.2f}  {about:10}  {own:26.3f}"
        )
    profile = session.report().to_dict()["profile"]
    found = "".join(profile.values())
    print(f"\n{session.stop_reason}: {found}; it is {board.format(board.code(secret))}")


def by_selectors() -> None:
    """Play with selectors of adaptive tests on the usual board, and compare with the strategy."""
    board = Board(4, 6)
    channel = Channel.exact(board).revealed()
    selectors: dict[str, ScoringSelector[QuestionBelief]] = {
        "entropy": MinimalEntropy(),
        "discrimination index": DiscriminationIndex(),
        "divergence (MPWKL)": ModifiedPosteriorWeightedKL(),
    }
    secret = board.parse("3632")
    print(f"\nMastermind {board}, secret {board.format(secret)}\n")
    for name, selector in selectors.items():
        belief: ExactBelief = TableBelief.start(channel)
        moves = []
        while True:
            # Without noise, what is not possible any more need not be asked here.
            possible = np.flatnonzero(belief.codes.probabilities)
            items = [board.format(board.code(int(number))) for number in possible]
            guess = board.parse(selector.select(CodeBelief(belief), items).item)
            reply = board.true_replies[int(replies_to(board, guess)[board.index(secret)])]
            moves.append(f"{board.format(guess)} {reply}")
            if reply == board.winning:
                break
            belief = belief.update(guess, reply)
        print(f"{name:21} {', '.join(moves)}")

    every = [board.format(board.code(number)) for number in range(board.n_codes)]
    belief = TableBelief.start(channel)
    same = []
    for _ in range(4):
        selection = MinimalEntropy().select(CodeBelief(belief), every)
        _, info = Entropy().choose(belief, np.random.default_rng(0))
        same.append(abs(selection.score - info.information) < 1e-9)
        guess = board.parse(selection.item)
        reply = board.true_replies[int(replies_to(board, guess)[board.index(secret)])]
        if reply == board.winning:
            break
        belief = belief.update(guess, reply)
    print(f"\nAmong all guesses, as much information as the strategy's: {all(same)}")


if __name__ == "__main__":
    by_a_session()
    by_selectors()
