"""The forms of the answers about games; see `bnmind.web.base.answer`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from bnmind.web.base.answer import Answer

__all__ = [
    "Advised",
    "Described",
    "Doubted",
    "Known",
    "NoGame",
    "Played",
    "Read",
    "Reviewed",
    "Stage",
    "Watched",
]

Probability = float


class LikelyCode(Answer):
    """A code and its probability."""

    code: str
    probability: Probability = Field(ge=0, le=1)


class TrueReply(Answer):
    """A reply that may be the true one."""

    reply: str = Field(description="Such as 1b1w.")
    probability: Probability = Field(ge=0, le=1)
    words: str = Field(description="The probability in percent.")


class DoubtedRow(Answer):
    """A row of the history, and the doubt about its reply."""

    guess: str
    reply: str
    probability_wrong: Probability = Field(
        ge=0, le=1, description="That the reply is not the true one, given all rows."
    )
    words: str = Field(description="The probability in percent.")
    true_replies: list[TrueReply] = Field(description="The most probable ones, best first.")


class NoiseLevel(Answer):
    """How often replies may be false."""

    level: Probability = Field(ge=0, le=1)
    probability: Probability = Field(ge=0, le=1, description="That this is the level.")


class Noise(Answer):
    """The noise of the replies."""

    assumed: str
    learned: Probability | None = Field(
        ge=0, le=1, description="With noise unknown: how often replies are false, by the rows."
    )
    levels: list[NoiseLevel] = Field(description="With noise unknown: the belief about it.")
    words: str


class AdviceWords(Answer):
    """The answer in sentences; those that do not apply are empty."""

    knowledge: str
    chance: str
    information: str
    contradiction: str


class Doubted(Answer):
    """The doubt about every row."""

    rows: list[DoubtedRow]
    contradictions: int | None = Field(
        description="How many replies must be wrong; null if any may be."
    )
    found: bool = Field(description="Whether the last row found the code.")


class Advised(Doubted):
    """The next guess, the reasons for it, and the belief."""

    guess: str = Field(description="The proposed guess, or the code if it is found.")
    chance: Probability = Field(ge=0, le=1, description="That the guess is the code.")
    information: float = Field(description="What its reply should tell, in bits.")
    expected_entropy: float = Field(description="What should be unknown after it, in bits.")
    entropy: float = Field(description="What is unknown about the code, in bits.")
    possible_codes: int | None = Field(description="Null where the codes are not listed.")
    n_codes: int = Field(description="The number of codes of the board.")
    most_probable: list[LikelyCode]
    noise: Noise
    note: str = Field(description="A remark, usually empty.")
    words: AdviceWords
    positions: list[list[Probability]] | None = Field(
        description="For each position, the probability of each color; null if the code is found."
    )


class DescribedWords(Answer):
    """The answer in sentences."""

    chance: str
    information: str


class Described(Answer):
    """What a guess should tell."""

    guess: str
    information: float = Field(description="In bits.")
    chance: Probability = Field(ge=0, le=1, description="That the guess is the code.")
    words: DescribedWords


class Turn(Answer):
    """A guess and its reply."""

    guess: str
    reply: str


class Read(Answer):
    """A history that was read."""

    turns: list[Turn]


# --- A game against the server --------------------------------------------------------------------


class BoardSize(Answer):
    """The board of a game."""

    pegs: int
    colors: int
    repeats: bool


class PlayedRow(Answer):
    """A guess and its answer."""

    guess: str
    reply: str = Field(description="The reported reply.")
    won: bool
    true: str | None = Field(None, description="The true reply, when the game is over.")
    false: bool | None = Field(
        None, description="Whether the reported reply was false, when the game is over."
    )


class Played(Answer):
    """A game against the server."""

    board: BoardSize
    noise: str
    prior: str
    rows: list[PlayedRow]
    guesses_left: int
    over: bool
    won: bool
    secret: str | None = Field(description="The hidden code, when the game is over.")
    undone: int = Field(description="How many guesses were taken back.")
    hints: int
    words: str


class NoGame(Answer):
    """That no game was begun."""

    board: None


class ReviewedRow(Answer):
    """A guess beside the most informative one."""

    guess: str
    reply: str = Field(description="The reported reply.")
    best: str = Field(
        description="The most informative guess; the guess itself if none tells more."
    )
    information: float = Field(description="What the guess should have told, in bits.")
    best_information: float = Field(description="What the best guess should have told, in bits.")
    regret: float = Field(description="What was lost, in bits.")
    told: float = Field(description="What the reply really told, in bits; negative if it misled.")
    chance: Probability = Field(ge=0, le=1, description="That the guess was the code.")


class Reviewed(Answer):
    """A game that is over, in retrospect."""

    rows: list[ReviewedRow]
    regret: float = Field(description="What all guesses lost, in bits.")
    guesses: float | None = Field(
        description="What they lost in guesses, if replies are true and the board is small."
    )
    words: str


# --- Games of strategies --------------------------------------------------------------------------


class WatchedRow(Answer):
    """A guess of a strategy."""

    guess: str
    reply: str = Field(description="The reported reply.")
    true: str = Field(description="The true reply.")
    false: bool = Field(description="Whether the reported reply is false.")
    won: bool
    entropy: float = Field(description="What is unknown about the code afterwards, in bits.")


class Watched(Answer):
    """A game of a strategy."""

    strategy: str
    seed: int
    secret: str
    rows: list[WatchedRow]
    entropy: float = Field(description="Before the first guess, in bits.")
    won: bool
    words: str


# --- Pictures of a belief -------------------------------------------------------------------------


class Information(Answer):
    """How many guesses tell how much."""

    edges: list[float] = Field(description="In bits; one more than there are numbers of guesses.")
    guesses: list[int] = Field(description="How many guesses tell between two edges.")
    n_guesses: int
    is_sample: bool = Field(description="Whether the guesses are some random ones.")
    best: float
    chosen: float | None = Field(description="What the given guess should tell, in bits.")
    better: int | None = Field(description="How many guesses should tell more.")
    words: str


class Known(Answer):
    """What is known about the code, and how it became known."""

    entropies: list[float] = Field(description="At the start and after each row, in bits.")
    n_codes: int
    found: str | None
    has_network: bool = Field(description="Whether `stage` has pictures of this game.")
    most_probable: list[LikelyCode]
    positions: list[list[Probability]] | None
    information: Information | None


class Clique(Answer):
    """A clique of a junction tree."""

    variables: list[str]
    size: int = Field(description="The number of cells of its table.")
    words: str = Field(description="The number of cells as text, which is exact in any language.")


class Stage(Answer):
    """A stage of Vomlel's network."""

    stage: Literal[1, 2, 3]
    svg: str
    cliques: list[Clique]
    total_size: int
    largest: int
    tree_svg: str
    words: str
