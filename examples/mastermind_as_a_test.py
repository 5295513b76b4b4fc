"""A game of Mastermind as an adaptive test: the code is the skills, the guesses are the items.

The board 3x4 becomes an item bank like any other: three skills with four levels each, the pegs
of the code, and 64 items, the guesses, whose responses are the replies. A session of an adaptive
test finds the code. It asks what the entropy strategy would guess.

Run it with ``python examples/mastermind_as_a_test.py``.
"""

from __future__ import annotations

import numpy as np

from bnmind.adaptive import (
    Design,
    ItemBank,
    ProfileCertain,
    Session,
)
from bnmind.mastermind import Board, Channel, ExactBelief, TableBelief, replies_to
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


def main() -> None:
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


if __name__ == "__main__":
    main()
