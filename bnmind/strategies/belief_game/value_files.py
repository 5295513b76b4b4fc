"""Files of fitted values, and the values that come with bnmind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._files import SMALL_FILE, read_text, write_file
from bnmind.mastermind.channel import Channel
from bnmind.strategies.base.record_json import parse_record
from bnmind.strategies.belief_game.value import FEATURES, BeliefValue, ValueOrigin

__all__ = ["parse_value", "read_value", "shipped_value", "shipped_values", "write_value"]

_FORMAT = "bnmind belief value"
_VERSION = 1
_DEFAULT = ("4x6", "false:0.2")


@checked_if_it_fails
def shipped_value(channel: Channel) -> BeliefValue:
    """Return the value that comes with bnmind for a board and a channel.

    If there is none for both, it is the one of 4x6 and the same channel, otherwise that of 4x6 and
    20 % false replies. Values of other boards are less precise, but the strategies
    need them only to order guesses.

    Parameters
    ----------
    channel
        The channel of the replies.
    """
    values = shipped_values()
    board, name = str(channel.board), channel.name
    for key in ((board, name), (_DEFAULT[0], name), _DEFAULT):
        if key in values:
            return values[key]
    raise AssertionError  # the default is shipped


@lru_cache(maxsize=1)
def shipped_values() -> Mapping[tuple[str, str], BeliefValue]:
    """Return all values that come with bnmind, by board and channel."""
    values: dict[tuple[str, str], BeliefValue] = {}
    folder = files("bnmind.strategies.belief_game").joinpath("models")
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.startswith("value-") and entry.name.endswith(".json"):
            value = parse_value(entry.read_text(encoding="utf-8"), entry.name)
            if value.origin is not None:
                values[value.origin.board, value.origin.channel] = value
    return MappingProxyType(values)


@checked
def read_value(path: Path | str) -> BeliefValue:
    """Read a fitted value from a JSON file.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    ModelFileError
        If the file cannot be read, or does not contain a value.
    """
    return parse_value(read_text(path, most=SMALL_FILE), str(path))


@checked
def write_value(value: BeliefValue, path: Path | str) -> None:
    """Write a value to a JSON file, with its origin.

    Parameters
    ----------
    value
        The fitted value.
    path
        The file.

    Raises
    ------
    FileWriteError
        If the file cannot be written. An existing file is then unchanged.
    """
    document: dict[str, Any] = {"format": _FORMAT, "version": _VERSION}
    if value.origin is not None:
        origin = value.origin
        document["origin"] = {
            "board": origin.board,
            "channel": origin.channel,
            "games": origin.games,
            "rounds": origin.rounds,
            "seed": origin.seed,
            "command": origin.command,
        }
    document["coefficients"] = dict(zip(FEATURES, value.coefficients, strict=True))
    write_file(path, json.dumps(document, indent=1) + "\n")


def parse_value(text: str, where: str) -> BeliefValue:
    """Parse a value; messages name the file as `where`.

    Raises
    ------
    ModelFileError
        If the text does not contain a value.
    """
    return parse_record(text, where, (_FORMAT, _VERSION), _value)


def _value(document: Any) -> BeliefValue:
    origin = document.get("origin")
    return BeliefValue(
        coefficients=tuple(float(document["coefficients"][name]) for name in FEATURES),
        origin=None
        if origin is None
        else ValueOrigin(
            board=origin["board"],
            channel=origin["channel"],
            games=origin["games"],
            rounds=origin["rounds"],
            seed=origin["seed"],
        ),
    )
