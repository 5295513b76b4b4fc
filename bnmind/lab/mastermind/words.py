"""Plain sentences about the noise of a game, a belief and a guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bnmind.lab.mastermind.advice import Advice


def percent(probability: float) -> str:
    """Return a probability in percent; only certain events get 0 % or 100 %.

    >>> percent(0.0512), percent(0.342), percent(0.9999), percent(0.00004), percent(1.0)
    ('5.1 %', '34 %', '>99 %', '<0.1 %', '100 %')
    """
    if 0 < probability < 0.001:
        return "<0.1 %"
    if 0.99 < probability < 1:
        return ">99 %"
    if 0 < probability < 0.0995:
        return f"{100 * probability:.1f} %"
    return f"{100 * probability:.0f} %"


def counted(number: float, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "code"), counted(1296, "code"), counted(2, "reply", "replies")
    ('1 code', '1,296 codes', '2 replies')
    """
    return f"{number:,.0f} {one if number == 1 else many or one + 's'}"


def worth(entropy: float) -> str:
    """Return an entropy as a number of codes that would be equally probable.

    >>> worth(3.0), worth(0.0)
    ('8 equally likely codes', '1 equally likely code')
    """
    return counted(max(1, round(2**entropy)), "equally likely code")


def false_replies(false: int, replies: int) -> str:
    """Return how many replies of a game that is over were false.

    >>> false_replies(0, 1), false_replies(0, 2)
    ('The reply was true.', 'All replies were true.')
    >>> false_replies(1, 4), false_replies(2, 4)
    ('1 of 4 replies was false.', '2 of 4 replies were false.')
    """
    if replies == 1:
        return f"The reply was {'false' if false else 'true'}."
    if false in (0, replies):
        return f"All replies were {'false' if false else 'true'}."
    return f"{false} of {replies:,} replies {'was' if false == 1 else 'were'} false."


def knowledge(advice: Advice) -> str:
    """Return how much is known about the code."""
    if advice.found:
        return f"Found, in {counted(len(advice.doubts), 'guess', 'guesses')}."
    likely = f"as much doubt as between {worth(advice.entropy)}"
    if advice.possible_codes is None:
        return f"About {likely}, by samples of the codes."
    if advice.possible_codes == 1:
        return "Only one code is left."
    if abs(2**advice.entropy - advice.possible_codes) < 0.5:
        return f"{counted(advice.possible_codes, 'code')} could be the secret, all equally likely."
    return f"{counted(advice.possible_codes, 'code')} could be the secret; {likely}."


def chance(probability: float, *, estimated: bool = False) -> str:
    """Return the probability that a guess is the code, in words.

    Parameters
    ----------
    probability
        The probability.
    estimated
        Whether it is estimated from samples, so that 0 does not mean impossible.

    Examples
    --------
    >>> chance(0.05), chance(0.0), chance(1.0)
    ('could be the code: 5.0 %', 'cannot be the code', 'is the code')
    >>> chance(0.0, estimated=True)
    'is hardly the code'
    """
    if estimated and (probability <= 0 or probability >= 1):
        return "is hardly the code" if probability <= 0 else "is very probably the code"
    if probability <= 0:
        return "cannot be the code"
    if probability >= 1:
        return "is the code"
    return f"could be the code: {percent(probability)}"


def told(information: float, entropy: float) -> str:
    """Return what the reply to a guess should tell, in bits and in words."""
    factor = 2**information
    fewer = f", as if {factor:.1f} times fewer codes were left" if factor >= 1.05 else ""
    return f"Its reply should tell {information:.2f} of {entropy:.2f} bits{fewer}."


def noise(level: float) -> str:
    """Return how often replies are false, as learned from a game.

    >>> noise(0.25)
    'Judging by the rows, a reply is replaced with probability 25 %.'
    """
    return f"Judging by the rows, a reply is replaced with probability {percent(level)}."


def replied(black: int, white: int) -> str:
    """Return the meaning of a reply.

    >>> replied(1, 2)
    '1 peg has the right color at the right place; 2 pegs have a right color at a wrong place'
    """
    if not black and not white:
        return "no peg has a color of the code"
    has = [counted(n, "peg has", "pegs have") if n else "no peg has" for n in (black, white)]
    return f"{has[0]} the right color at the right place; {has[1]} a right color at a wrong place"


def noise_in_words(name: str) -> str:
    """Return how often replies are false, by the name of a channel.

    >>> noise_in_words("exact"), noise_in_words("file:channel.csv")
    ('Every reply is true.', 'The noise is that of file:channel.csv.')
    >>> noise_in_words("false:0.2")
    'With probability 0.2, a random reply replaces the true one (false:0.2).'
    """
    clause = noise_clause(name)
    return f"{clause[0].upper()}{clause[1:]}."


def noise_clause(name: str) -> str:
    """Return the same as the part of a sentence that follows "that".

    >>> noise_clause("independent:0.1")
    'each number of a reply is wrong with probability 0.1 (independent:0.1)'
    """
    kind, _, level = name.partition(":")
    if kind == "exact":
        return "every reply is true"
    if kind == "false" and level:
        return f"with probability {level}, a random reply replaces the true one ({name})"
    if kind == "independent" and level:
        return f"each number of a reply is wrong with probability {level} ({name})"
    if kind == "unknown":
        return "a reply is false with an unknown probability, learned from the game (unknown)"
    return f"the noise is that of {name}"
