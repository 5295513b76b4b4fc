"""The answers to questions about a game, ready to be sent as JSON; pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bnmind.web.base import words
from bnmind.web.mastermind.games import (
    MOST_ROWS,
    UNKNOWN,
    GameQuestion,
    GuessQuestion,
    HistoryText,
    Setting,
    WhatIfQuestion,
)

if TYPE_CHECKING:
    from bnmind.lab.mastermind.advice import Advice, Doubt
    from bnmind.mastermind import Posterior, Turn

__all__ = ["describe", "doubts", "read_history", "suggest", "what_if"]

_SHARED = 256  # how many answers are kept for the next one who asks the same
_LIKELY = 4  # how many true replies of a row are listed


def suggest(question: GameQuestion, *, once: bool = True) -> dict[str, Any]:
    """Return the next guess and why, the doubts about every row, and the belief.

    With ``once``, compiled code is not loaded for a board that is quick without it. Visitors with
    equal games, such as all who begin on the same board, share the work.
    """
    return dict(_suggested(question, once=once))


@lru_cache(maxsize=_SHARED)
def _suggested(question: GameQuestion, *, once: bool) -> dict[str, Any]:
    import numpy as np

    from bnmind.lab.mastermind.advice import advise, ending, found
    from bnmind.lab.mastermind.explanation import color_probabilities, winning_probability

    turns = question.history()
    if ending(question.channel(), turns, goes_on=question.goes_on):
        last = turns[-1]
        belief = _belief(question, turns[:-1])
        return _answer(question, found(belief, last), 1.0, None)
    belief = _belief(question, turns)
    # Of equal questions the answers are equal: chance enters only by this generator.
    advice = advise(belief, np.random.default_rng(0), prior=question.drawn_from(), once=once)
    guess = belief.board.parse(advice.guess)
    answer = _answer(question, advice, winning_probability(belief, guess), belief)
    return answer | {"positions": color_probabilities(belief)}


def doubts(question: GameQuestion) -> dict[str, Any]:
    """Return how probably each reply is wrong, and the most probable true replies of each row."""
    from bnmind.lab.mastermind.advice import contradictions, doubts_of, ending, found

    turns = question.history()
    if ending(question.channel(), turns, goes_on=question.goes_on):
        advice = found(_belief(question, turns[:-1]), turns[-1])
        return {
            "rows": [_row(doubt, None) for doubt in advice.doubts],
            "contradictions": advice.contradictions,
            "found": True,
        }
    belief = _belief(question, turns)
    return {
        "rows": _rows(belief, doubts_of(belief)),
        "contradictions": contradictions(belief),
        "found": False,
    }


def what_if(question: WhatIfQuestion, *, once: bool = True) -> dict[str, Any]:
    """Return `suggest` for a game in which one row is left out or had another reply."""
    from bnmind.lab.mastermind.explanation import changed
    from bnmind.mastermind import Reply

    turns = question.history()
    instead = question.instead
    reply = None if instead is None else Reply.parse(instead, pegs=question.pegs)
    other = changed(turns, question.row, reply)
    board = question.board()
    rows = [{"guess": board.format(turn.guess), "reply": str(turn.reply)} for turn in other]
    fields = {name: getattr(question, name) for name in GameQuestion.model_fields}
    return suggest(GameQuestion.model_validate(fields | {"turns": rows}), once=once)


def describe(question: GuessQuestion) -> dict[str, Any]:
    """Return what a guess of the player's own should tell."""
    from bnmind.lab.mastermind.explanation import is_estimated, winning_probability
    from bnmind.strategies import describe_guess

    belief = _belief(question, question.history())
    guess = belief.board.parse(question.guess)
    told = describe_guess(belief, guess)
    probability = winning_probability(belief, guess)
    return {
        "guess": belief.board.format(guess),
        "information": told.information,
        "chance": probability,
        "words": {
            "chance": words.chance(probability, estimated=is_estimated(belief)),
            "information": words.told(told.information, belief.entropy()),
        },
    }


def read_history(question: HistoryText) -> dict[str, Any]:
    """Return the turns of a history that is written as text."""
    from bnmind.errors import InvalidArgumentError
    from bnmind.mastermind import parse_history

    board = question.board()
    turns = parse_history(board, question.text)
    if len(turns) > MOST_ROWS:
        raise InvalidArgumentError(f"expected at most {MOST_ROWS} rows, got {len(turns)}", turns)
    return {
        "turns": [{"guess": board.format(turn.guess), "reply": str(turn.reply)} for turn in turns]
    }


def _belief(question: Setting, turns: Sequence[Turn]) -> Posterior:
    from bnmind.lab.mastermind.advice import belief_after

    return belief_after(question.start(), turns)


def _answer(
    question: Setting, advice: Advice, chance: float, belief: Posterior | None
) -> dict[str, Any]:
    """Return advice; without a belief the game is over."""
    board = question.board()
    rows = [_row(doubt, None) for doubt in advice.doubts]
    return {
        "guess": advice.guess,
        "chance": chance,
        "information": advice.information,
        "expected_entropy": advice.expected_entropy,
        "entropy": advice.entropy,
        "possible_codes": advice.possible_codes,
        "n_codes": board.n_codes,
        "most_probable": [
            {"code": code, "probability": probability} for code, probability in advice.most_probable
        ],
        "rows": rows if belief is None else _rows(belief, advice.doubts),
        "contradictions": advice.contradictions,
        "noise": _noise(question, belief),
        "found": advice.found,
        "note": advice.note,
        "words": _words(advice, chance),
        "positions": None,
    }


def _words(advice: Advice, chance: float) -> dict[str, str]:
    tells = ", but its reply is the most informative" if not chance and not advice.found else ""
    wrong = advice.contradictions or 0
    return {
        "knowledge": words.knowledge(advice),
        "chance": f"It {words.chance(chance, estimated=advice.possible_codes is None)}{tells}.",
        "information": "" if advice.found else words.told(advice.information, advice.entropy),
        "contradiction": f"The replies contradict each other: at least"
        f" {words.counted(wrong, 'reply is', 'replies are')} wrong."
        if wrong
        else "",
    }


def _rows(belief: Posterior, doubted: Sequence[Doubt]) -> list[dict[str, Any]]:
    return [
        _row(doubt, _true_replies(belief, turn))
        for doubt, turn in zip(doubted, belief.history, strict=True)
    ]


def _row(doubt: Doubt, true: list[dict[str, Any]] | None) -> dict[str, Any]:
    return {
        "guess": doubt.guess,
        "reply": doubt.reply,
        "probability_wrong": doubt.probability_wrong,
        "words": words.percent(doubt.probability_wrong),
        "true_replies": true or [],
    }


def _true_replies(belief: Posterior, turn: Turn) -> list[dict[str, Any]]:
    from bnmind.lab.mastermind.explanation import true_replies

    return [
        {"reply": str(reply), "probability": probability, "words": words.percent(probability)}
        for reply, probability in true_replies(belief, turn.guess)[:_LIKELY]
    ]


def _noise(question: Setting, belief: Posterior | None) -> dict[str, Any]:
    """Return the noise that the belief assumes, and what it has learned about the level."""
    from bnmind.lab.mastermind.explanation import learned_noise
    from bnmind.mastermind import UnknownNoiseBelief

    mean = None if belief is None else learned_noise(belief)
    if mean is None or not isinstance(belief, UnknownNoiseBelief):
        return {"assumed": question.noise, "learned": None, "levels": [], "words": ""}
    levels = [
        {"level": float(level.name.partition(":")[2]), "probability": float(probability)}
        for level, probability in zip(belief.levels, belief.level_probabilities, strict=True)
    ]
    return {"assumed": UNKNOWN, "learned": mean, "levels": levels, "words": words.noise(mean)}
