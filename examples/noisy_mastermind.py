"""A game against a code-maker who lies now and then, step by step.

Every reply is with probability 0.2 replaced by a random one. The belief about the code
is updated by Bayes' rule, each guess is the one that promises most information, and in
the end we say which replies we no longer trust.

Run it with ``python examples/noisy_mastermind.py``.
"""

from __future__ import annotations

import numpy as np

from bnmind.information import choose_question
from bnmind.mastermind import Board, Channel, TableBelief, reply

SEED = 1


def main() -> None:
    """Play one game, and print it."""
    board = Board(pegs=4, colors=6)

    # The channel: the chance of every report given every true reply. In the revealed
    # form the code-maker owns up when the code is guessed, so a game that goes on says
    # that it was not.
    channel = Channel.false_reply(board, 0.2).revealed()

    rng = np.random.default_rng(SEED)
    secret = board.code(int(rng.integers(board.n_codes)))
    print(f"Board {board}, noise {channel.name}, secret {board.format(secret)}\n")

    # The belief: a probability for each of the 1296 codes, all equal at first. Beliefs
    # are values: an update returns a new one.
    belief = TableBelief.start(channel)
    print("    guess  reply  bits left  most probable code")
    for turn in range(1, 31):
        # A guess is a question. All that matters about it is how probable it makes each
        # true reply, and what the channel makes of that; no reply is tried out.
        masses = belief.codes.masses()
        choice = choose_question(masses, channel.matrix, preference=belief.codes.probabilities)
        guess = board.code(choice.question)

        # The code-maker works out the true reply, and the channel distorts it.
        true = board.true_replies.index(reply(guess, secret))
        outcome = channel.draw(true, rng.random())
        if outcome == channel.won_index:
            print(f"{turn:3} {board.format(guess):>5}   found")
            break
        report = channel.reports[outcome]

        belief = belief.update(guess, report)
        ((best, probability),) = belief.codes.most_probable(1)
        print(
            f"{turn:3} {board.format(guess):>5}   {report}   {belief.codes.entropy():8.2f}"
            f"   {board.format(board.code(best))} ({probability:.1%})"
        )

    # The doubts: given everything heard, how probable is it that a reply was false?
    print("\n    guess  reply  chance of being wrong  in truth")
    doubts = belief.misreport_probabilities()
    for turn, (heard, doubt) in enumerate(zip(belief.history, doubts, strict=True), start=1):
        truth = reply(heard.guess, secret)
        verdict = "right" if truth == heard.reply else f"{truth}"
        print(
            f"{turn:3} {board.format(heard.guess):>5}   {heard.reply}   {doubt:20.1%}   {verdict}"
        )


if __name__ == "__main__":
    main()
