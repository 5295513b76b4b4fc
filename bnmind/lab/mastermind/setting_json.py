"""Channels and priors as parts of JSON and TOML files.

This module imports pydantic.
"""

from __future__ import annotations

import numpy as np
from pydantic import BaseModel, ConfigDict

from bnmind.errors import BnmindError, ModelFileError, TooLargeError
from bnmind.mastermind.board import Board, digits_of
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.noise_parser import parse_noise
from bnmind.mastermind.priors.code_list import CodeList
from bnmind.mastermind.priors.prior import Prior
from bnmind.mastermind.priors.registry import parse_prior
from bnmind.mastermind.priors.uniform import UniformPrior
from bnmind.mastermind.reply import Reply

__all__ = [
    "ChannelRecord",
    "Part",
    "PriorRecord",
    "is_named_channel",
    "is_named_prior",
    "read_channel",
    "read_prior",
    "written_channel",
    "written_prior",
]

_MOST_LISTED = 2**17  # the most codes of a prior that a file lists


class Part(BaseModel):
    """A part of a file with exactly the declared fields and types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ChannelRecord(Part):
    """A channel."""

    name: str
    reports: list[str]
    matrix: list[list[float]]
    ends: bool


class PriorRecord(Part):
    """A prior, with its codes if its name does not determine it."""

    name: str
    codes: list[tuple[list[int], float]] | None = None


def written_channel(channel: Channel) -> ChannelRecord:
    """Return the record of a channel."""
    return ChannelRecord(
        name=channel.name,
        reports=[str(report) for report in channel.reports],
        matrix=channel.matrix.tolist(),
        ends=channel.ends,
    )


def read_channel(board: Board, model: ChannelRecord) -> Channel:
    """Return the channel of a record."""
    reports = tuple(Reply.parse(report, pegs=board.pegs) for report in model.reports)
    if len({len(row) for row in model.matrix}) > 1:
        raise ModelFileError(f"channel {model.name}: expected rows of one length")
    return Channel(
        board=board,
        reports=reports,
        matrix=np.array(model.matrix),
        name=model.name,
        ends=model.ends,
    )


def is_named_prior(prior: Prior) -> bool:
    """Return whether the name of a prior determines it, wherever the name is read."""
    if prior.name.startswith("file:"):
        return False
    try:
        return bool(parse_prior(prior.board, prior.name) == prior)
    except BnmindError:
        return False


def is_named_channel(channel: Channel) -> bool:
    """Return whether the name of a channel determines it, wherever the name is read."""
    if channel.name.startswith("file:"):
        return False
    try:
        named = parse_noise(channel.board, channel.name)
    except BnmindError:
        return False
    same = (named.reports, named.ends) == (channel.reports, channel.ends)
    return same and np.array_equal(named.matrix, channel.matrix)


def written_prior(prior: Prior | None) -> PriorRecord | None:
    """Return the name of a prior, and its possible codes if the name does not determine it.

    A uniform prior is None.
    """
    if prior is None or isinstance(prior, UniformPrior):
        return None
    if is_named_prior(prior):
        return PriorRecord(name=prior.name)
    if isinstance(prior, CodeList):
        listed = zip(prior.codes.tolist(), prior.probabilities.tolist(), strict=True)
        return PriorRecord(name=prior.name, codes=list(listed))
    p = prior.distribution().probabilities
    possible = np.flatnonzero(p)
    if len(possible) > _MOST_LISTED:
        raise TooLargeError(
            f"expected a prior of at most {_MOST_LISTED:,} possible codes in a file, got"
            f" {prior.name}, which has {len(possible):,}",
            needed=len(possible),
            budget=_MOST_LISTED,
        )
    rows = digits_of(prior.board, possible).tolist()
    return PriorRecord(name=prior.name, codes=list(zip(rows, p[possible].tolist(), strict=True)))


def read_prior(board: Board, model: PriorRecord | None) -> Prior | None:
    """Return the prior of a record."""
    if model is None:
        return None
    if model.codes is None:
        if model.name.startswith("file:"):
            raise ModelFileError(
                f"expected the codes of the prior {model.name} in the transcript", model.name
            )
        return parse_prior(board, model.name)
    codes = [board.checked(code) for code, _ in model.codes]
    probabilities = [probability for _, probability in model.codes]
    return CodeList(board, np.array(codes, dtype=np.uint8), np.array(probabilities), model.name)
