"""A game of Mastermind that is played elsewhere: questions, their answers, their addresses.

The server keeps nothing between requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Request
from pydantic import Field

from bnmind.errors import BnmindError, InvalidArgumentError, TooLargeError
from bnmind.web.forms import Form, Probability
from bnmind.web.work import work_of

if TYPE_CHECKING:
    from bnmind.lab.mastermind.advice import Advice, Doubt
    from bnmind.mastermind import Board, Channel, Posterior, Prior, Turn

UNKNOWN = "unknown"
"""The noise of a code-maker whose replies are false nobody knows how often."""

MOST_PEGS, MOST_COLORS, MOST_ROWS = 12, 20, 40
_MOST_LISTED = 2**18
"""Boards with more codes are believed by samples, which takes less time."""
_MOST_CODES = 10**12

Code = Annotated[str, Field(max_length=80, examples=["1123"])]
ReplyText = Annotated[str, Field(max_length=16, examples=["1b1w"])]


class Setting(Form):
    """The board, the noise of the replies, and how the code was chosen."""

    pegs: int = Field(4, ge=1, le=MOST_PEGS)
    """Positions of a code."""
    colors: int = Field(6, ge=2, le=MOST_COLORS)
    """Colors that a peg can have."""
    repeats: bool = True
    """Whether a color may occur more than once in a code."""
    noise: str = Field(
        "exact",
        max_length=40,
        description="exact: every reply is true. false:P: with probability P, a random reply"
        " replaces the true one. independent:P: each of the two numbers is wrong with probability"
        " P. unknown: like false:P with a P that is learned from the replies.",
    )
    prior: str = Field("uniform", max_length=80)
    """How the code was chosen; uniform: all codes alike."""

    def board(self) -> Board:
        """Return the board.

        Raises
        ------
        InvalidArgumentError
            If there are fewer colors than pegs without repeats.
        TooLargeError
            If the board has too many codes for this server.
        """
        from bnmind.mastermind import Board

        board = Board(self.pegs, self.colors, repeats=self.repeats)
        if board.n_codes > _MOST_CODES:
            raise TooLargeError(
                f"this server answers boards of at most {_MOST_CODES:,} codes; the board {board}"
                f" has {board.n_codes:,}",
                needed=board.n_codes,
                budget=_MOST_CODES,
            )
        return board

    def channel(self) -> Channel:
        """Return the channel; with noise `UNKNOWN` one of its kind.

        Raises
        ------
        InvalidArgumentError
            If the noise is none that this server knows.
        """
        from bnmind.mastermind import Channel, parse_noise

        noise = self.noise.strip()
        if noise == UNKNOWN:
            return Channel.false_reply(self.board(), 0.2)
        if noise.partition(":")[0] not in ("exact", "false", "independent"):
            raise InvalidArgumentError(
                f"expected noise as exact, false:P, independent:P or {UNKNOWN}, got {noise!r}",
                noise,
            )
        return parse_noise(self.board(), noise)

    def drawn_from(self) -> Prior | None:
        """Return the prior; None if all codes are equally probable.

        Raises
        ------
        InvalidArgumentError
            If the prior is none that this server knows; it reads no files.
        """
        from bnmind.mastermind import parse_prior

        prior = self.prior.strip()
        if prior == "uniform":
            return None
        if prior.partition(":")[0] == "file":
            raise InvalidArgumentError("expected a prior without a file", prior)
        return parse_prior(self.board(), prior)

    def start(self) -> Posterior:
        """Return the belief before the first guess."""
        from bnmind.lab.mastermind.advice import start, start_learning
        from bnmind.mastermind import SampledBelief

        channel, prior = self.channel(), self.drawn_from()
        board = channel.board
        if self.noise.strip() == UNKNOWN:
            return start_learning(channel, prior)
        if board.n_codes > _MOST_LISTED:
            return SampledBelief.start(channel.revealed(), prior)
        return start(channel, prior)


class Row(Form):
    """A guess and its reported reply."""

    guess: Code
    reply: ReplyText


class Rows(Setting):
    """A game: its setting and its history."""

    turns: tuple[Row, ...] = Field((), max_length=MOST_ROWS)
    """The guesses and the replies, oldest first."""

    def history(self) -> tuple[Turn, ...]:
        """Return the turns.

        Raises
        ------
        InvalidArgumentError
            If a guess or a reply is not possible; the message names the row.
        """
        from bnmind.mastermind import Reply, Turn

        board = self.board()
        turns: list[Turn] = []
        for number, row in enumerate(self.turns, start=1):
            try:
                turns.append(Turn(board.parse(row.guess), Reply.parse(row.reply, pegs=board.pegs)))
            except BnmindError as fault:
                raise InvalidArgumentError(f"row {number}: {fault}", row) from fault
        return tuple(turns)


class GameQuestion(Rows):
    """A game, and whether it goes on."""

    goes_on: bool = False
    """The game goes on, even if the last reply reports all pegs black."""


class WhatIfQuestion(GameQuestion):
    """A game in which one row is left out, or had another reply."""

    row: int = Field(ge=0, le=MOST_ROWS)
    """The row, from 0."""
    instead: ReplyText | None = None
    """The reply that the row has instead; null leaves the row out."""


class HistoryText(Setting):
    """A history as text."""

    text: str = Field(max_length=4000, examples=["1123 1b1w, 2345 0b2w"])


class GuessQuestion(GameQuestion):
    """A game, and a guess of your own."""

    guess: Code


# --- The forms of answers -------------------------------------------------------------------------


class LikelyCode(Form):
    """A code and its probability."""

    code: str
    probability: Probability


class TrueReply(Form):
    """A reply that may be the true one."""

    reply: str
    """Such as 1b1w."""
    probability: Probability
    words: str
    """The probability in percent."""


class DoubtedRow(Form):
    """A row of the history, and the doubt about its reply."""

    guess: str
    reply: str
    probability_wrong: Probability
    """That the reply is not the true one, given all rows."""
    words: str
    """The probability in percent."""
    true_replies: list[TrueReply]
    """The most probable ones, best first."""


class NoiseLevel(Form):
    """How often replies may be false."""

    level: Probability
    probability: Probability
    """That this is the level."""


class Noise(Form):
    """The noise of the replies."""

    assumed: str
    learned: Probability | None
    """With noise unknown: how often replies are false, by the rows."""
    levels: list[NoiseLevel]
    """With noise unknown: the belief about it."""
    words: str


class AdviceWords(Form):
    """The answer in sentences; those that do not apply are empty."""

    knowledge: str
    chance: str
    information: str
    contradiction: str


class Doubted(Form):
    """The doubt about every row."""

    rows: list[DoubtedRow]
    contradictions: int | None
    """How many replies must be wrong; null if any may be."""
    found: bool
    """Whether the last row found the code."""


class Advised(Doubted):
    """The next guess, the reasons for it, and the belief."""

    guess: str
    """The proposed guess, or the code if it is found."""
    chance: Probability
    """That the guess is the code."""
    information: float
    """What its reply should tell, in bits."""
    expected_entropy: float
    """What should be unknown after it, in bits."""
    entropy: float
    """What is unknown about the code, in bits."""
    possible_codes: int | None
    """Null where the codes are not listed."""
    n_codes: int
    """The number of codes of the board."""
    most_probable: list[LikelyCode]
    noise: Noise
    note: str
    """A remark, usually empty."""
    words: AdviceWords
    positions: tuple[tuple[float, ...], ...] | None
    """For each position, the probability of each color; null if the code is found."""


class DescribedWords(Form):
    """The answer in sentences."""

    chance: str
    information: str


class Described(Form):
    """What a guess should tell."""

    guess: str
    information: float
    """In bits."""
    chance: Probability
    """That the guess is the code."""
    words: DescribedWords


class Read(Form):
    """A history that was read."""

    turns: list[Row]


# --- Answers --------------------------------------------------------------------------------------

_SHARED = 256  # how many answers are kept for the next one who asks the same
_LIKELY = 4  # how many true replies of a row are listed


@lru_cache(maxsize=_SHARED)
def advice_on(question: GameQuestion, *, once: bool = True) -> Advised:
    """Return the next guess and why, the doubts about every row, and the belief.

    With ``once``, compiled code is not loaded for a board that is quick without it. Visitors with
    equal games, such as all who begin on the same board, share the work.
    """
    import numpy as np

    from bnmind.lab.mastermind.advice import (
        advise,
        color_probabilities,
        ending,
        found,
        winning_probability,
    )

    turns = question.history()
    if ending(question.channel(), turns, goes_on=question.goes_on):
        return _advised(question, found(_belief(question, turns[:-1]), turns[-1]), 1.0)
    belief = _belief(question, turns)
    # Of equal questions the answers are equal: chance enters only by this generator.
    advice = advise(belief, np.random.default_rng(0), prior=question.drawn_from(), once=once)
    chance = winning_probability(belief, belief.board.parse(advice.guess))
    return _advised(question, advice, chance, belief, color_probabilities(belief))


def doubts_about(question: GameQuestion) -> Doubted:
    """Return how probably each reply is wrong, and the most probable true replies of each row."""
    from bnmind.lab.mastermind.advice import contradictions, doubts_of, ending, found

    turns = question.history()
    if ending(question.channel(), turns, goes_on=question.goes_on):
        advice = found(_belief(question, turns[:-1]), turns[-1])
        rows = _rows(advice.doubts)
        return Doubted(rows=rows, contradictions=advice.contradictions, found=True)
    belief = _belief(question, turns)
    rows = _rows(doubts_of(belief), belief)
    return Doubted(rows=rows, contradictions=contradictions(belief), found=False)


def advice_if(question: WhatIfQuestion, *, once: bool = True) -> Advised:
    """Return advice on a game in which one row is left out or had another reply."""
    from bnmind.lab.mastermind.advice import changed
    from bnmind.mastermind import Reply

    instead = question.instead
    reply = None if instead is None else Reply.parse(instead, pegs=question.pegs)
    other = changed(question.history(), question.row, reply)
    return advice_on(game_of(question, other, goes_on=question.goes_on), once=once)


def game_of(setting: Setting, turns: Sequence[Turn], *, goes_on: bool) -> GameQuestion:
    """Return the question about a game with other turns."""
    fields = {name: getattr(setting, name) for name in Setting.model_fields}
    rows = written(setting.board(), turns)
    return GameQuestion.model_validate(fields | {"turns": rows, "goes_on": goes_on})


def written(board: Board, turns: Sequence[Turn]) -> tuple[Row, ...]:
    """Return turns as text."""
    return tuple(Row(guess=board.format(turn.guess), reply=str(turn.reply)) for turn in turns)


def description_of(question: GuessQuestion) -> Described:
    """Return what a guess of the player's own should tell."""
    from bnmind.lab.mastermind import words
    from bnmind.lab.mastermind.advice import is_estimated, winning_probability
    from bnmind.strategies import describe_guess

    belief = _belief(question, question.history())
    guess = belief.board.parse(question.guess)
    told = describe_guess(belief, guess)
    probability = winning_probability(belief, guess)
    return Described(
        guess=belief.board.format(guess),
        information=told.information,
        chance=probability,
        words=DescribedWords(
            chance=words.chance(probability, estimated=is_estimated(belief)),
            information=words.told(told.information, belief.entropy()),
        ),
    )


def history_of(question: HistoryText) -> Read:
    """Return the turns of a history that is written as text."""
    from bnmind.mastermind import parse_history

    board = question.board()
    turns = parse_history(board, question.text)
    if len(turns) > MOST_ROWS:
        raise InvalidArgumentError(f"expected at most {MOST_ROWS} rows, got {len(turns)}", turns)
    return Read(turns=list(written(board, turns)))


def _belief(question: Setting, turns: Sequence[Turn]) -> Posterior:
    from bnmind.lab.mastermind.advice import belief_after

    return belief_after(question.start(), turns)


def _advised(
    question: Setting,
    advice: Advice,
    chance: float,
    belief: Posterior | None = None,
    positions: tuple[tuple[float, ...], ...] | None = None,
) -> Advised:
    """Return advice; without a belief the game is over."""
    return Advised(
        guess=advice.guess,
        chance=chance,
        information=advice.information,
        expected_entropy=advice.expected_entropy,
        entropy=advice.entropy,
        possible_codes=advice.possible_codes,
        n_codes=question.board().n_codes,
        most_probable=likely_codes(advice.most_probable),
        rows=_rows(advice.doubts, belief),
        contradictions=advice.contradictions,
        noise=_noise(question, belief),
        found=advice.found,
        note=advice.note,
        words=_words(advice, chance),
        positions=positions,
    )


def likely_codes(codes: Sequence[tuple[str, float]]) -> list[LikelyCode]:
    """Return codes with their probabilities."""
    return [LikelyCode(code=code, probability=probability) for code, probability in codes]


def _words(advice: Advice, chance: float) -> AdviceWords:
    from bnmind.lab.mastermind import words

    tells = ", but its reply is the most informative" if not chance and not advice.found else ""
    wrong = words.counted(advice.contradictions or 0, "reply is", "replies are")
    return AdviceWords(
        knowledge=words.knowledge(advice),
        chance=f"It {words.chance(chance, estimated=advice.possible_codes is None)}{tells}.",
        information="" if advice.found else words.told(advice.information, advice.entropy),
        contradiction=f"The replies contradict each other: at least {wrong} wrong."
        if advice.contradictions
        else "",
    )


def _rows(doubted: Sequence[Doubt], belief: Posterior | None = None) -> list[DoubtedRow]:
    """Return the doubts about the rows; without a belief there are no true replies to list."""
    from bnmind.lab.mastermind import words
    from bnmind.lab.mastermind.advice import true_replies

    rows = []
    for number, doubt in enumerate(doubted):
        true = () if belief is None else true_replies(belief, belief.history[number].guess)
        rows.append(
            DoubtedRow(
                guess=doubt.guess,
                reply=doubt.reply,
                probability_wrong=doubt.probability_wrong,
                words=words.percent(doubt.probability_wrong),
                true_replies=[
                    TrueReply(reply=str(reply), probability=p, words=words.percent(p))
                    for reply, p in true[:_LIKELY]
                ],
            )
        )
    return rows


def _noise(question: Setting, belief: Posterior | None) -> Noise:
    """Return the noise that the belief assumes, and what it has learned about the level."""
    from bnmind.lab.mastermind import words
    from bnmind.lab.mastermind.advice import learned_noise
    from bnmind.mastermind import UnknownNoiseBelief

    mean = None if belief is None else learned_noise(belief)
    if mean is None or not isinstance(belief, UnknownNoiseBelief):
        return Noise(assumed=question.noise, learned=None, levels=[], words="")
    levels = [
        NoiseLevel(level=float(level.name.partition(":")[2]), probability=float(probability))
        for level, probability in zip(belief.levels, belief.level_probabilities, strict=True)
    ]
    return Noise(assumed=UNKNOWN, learned=mean, levels=levels, words=words.noise(mean))


# --- Addresses ------------------------------------------------------------------------------------

router = APIRouter(prefix="/api", tags=["A game played elsewhere"])


@router.post("/suggest", summary="The next guess, and why")
async def suggest(question: GameQuestion, request: Request) -> Advised:
    """Return the guess of least expected entropy, the reasons for it, and the belief.

    `rows` holds, for each row of the history, the probability that its reply is wrong, and the most
    probable true replies. `positions` holds the probability of each color at each position.
    """
    work = work_of(request)
    return await work.run(request, partial(advice_on, question, once=not work.is_warm))


@router.post("/doubts", summary="Which replies are probably wrong")
async def doubts(question: GameQuestion, request: Request) -> Doubted:
    """Return the probability that each reply is wrong, without looking for a guess."""
    return await work_of(request).run(request, partial(doubts_about, question))


@router.post("/what-if", summary="The same game with one row different")
async def what_if(question: WhatIfQuestion, request: Request) -> Advised:
    """Return what `suggest` would say if a row were left out, or had another reply."""
    work = work_of(request)
    return await work.run(request, partial(advice_if, question, once=not work.is_warm))


@router.post("/guess", summary="What a guess of your own should tell")
async def guess(question: GuessQuestion, request: Request) -> Described:
    """Return the expected information of a guess, in bits, and its chance to be the code."""
    return await work_of(request).run(request, partial(description_of, question))


@router.post("/history", summary="Read a history that is written as text")
async def history(question: HistoryText, request: Request) -> Read:
    """Return the rows of a text such as `1123 1b1w, 2345 0b2w`."""
    return await work_of(request).run(request, partial(history_of, question))
