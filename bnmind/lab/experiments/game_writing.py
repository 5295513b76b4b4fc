"""Experiments with games as plain values; `game_reading` makes them again.

This module imports pydantic.
"""

from __future__ import annotations

from typing import Any

from bnmind._messages import shown
from bnmind.errors import BnmindError, ExperimentFileError
from bnmind.lab.experiments.faults import Faults
from bnmind.lab.experiments.game_experiment import GameExperiment
from bnmind.lab.mastermind.ending_names import parse_ending
from bnmind.lab.mastermind.endings import Declared, Ending
from bnmind.lab.mastermind.setting import GameSetting, Player, ending_text, leads_to
from bnmind.lab.mastermind.setting_json import (
    is_named_channel,
    is_named_prior,
    written_channel,
    written_prior,
)
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.priors.code_list import CodeList
from bnmind.mastermind.priors.prior import Prior

__all__ = ["game_content"]


def game_content(experiment: GameExperiment) -> dict[str, Any]:
    """Return an experiment as plain values, from which `game_experiment_from` makes it again.

    Raises
    ------
    ExperimentFileError
        If a strategy or an ending has no name, or a prior has neither a name nor a list of codes.
        The error lists all faults.
    """
    faults = Faults()
    content: dict[str, Any] = {
        "kind": experiment.kind,
        "version": experiment.version,
        "games": "all" if experiment.games is None else experiment.games,
        "seed": experiment.seed,
        "match": experiment.match,
        "turns": experiment.turns,
    }
    if experiment.batch_games is not None:
        content["batch_games"] = experiment.batch_games
    content["settings"] = [
        _written_setting(setting, f"settings {number}", faults)
        for number, setting in enumerate(experiment.settings, start=1)
    ]
    if faults.found:
        raise ExperimentFileError(faults.found, experiment)
    return content


def _written_setting(setting: GameSetting, place: str, faults: Faults) -> dict[str, Any]:
    board = setting.board
    content: dict[str, Any] = {"board": f"{board.pegs}x{board.colors}"}
    if not board.repeats:
        content["repeats"] = False
    content["noise"] = _written_noise(setting.channel)
    if setting.prior is not None:
        prior = setting.prior
        content["prior"] = faults.at(f"{place}, prior", _written_prior, prior)
    content["ending"] = faults.at(f"{place}, ending", _written_ending, setting.ending)
    content["max_guesses"] = setting.ending.limit
    content["strategies"] = [
        faults.at(f"{place}, strategies {n}", _written_player, player)
        for n, player in enumerate(setting.players, start=1)
    ]
    return content


def _written_noise(channel: Channel) -> str | dict[str, Any]:
    return channel.name if is_named_channel(channel) else written_channel(channel).model_dump()


def _written_prior(prior: Prior) -> str | dict[str, Any]:
    if is_named_prior(prior):
        return prior.name
    if not isinstance(prior, CodeList):
        raise ExperimentFileError(
            [f"expected a prior of bnmind or a CodeList, got {prior.name}, which no file can name"],
            prior,
        )
    record = written_prior(prior)
    assert record is not None
    content = record.model_dump()
    content["codes"] = [[list(code), probability] for code, probability in content["codes"]]
    return content


def _written_ending(ending: Ending) -> str:
    text = (
        f"declared:{float(ending.certainty)!r}"
        if isinstance(ending, Declared)
        else ending_text(ending)
    )
    try:
        same = parse_ending(text, ending.limit) == ending
    except BnmindError:
        same = False
    if not same:
        raise ExperimentFileError(
            [f"expected an ending that a file can name, got {type(ending).__name__}"], ending
        )
    return text


def _written_player(player: Player) -> str | dict[str, Any]:
    name = player.source or player.strategy.name
    if not leads_to(name, player.strategy):
        raise ExperimentFileError(
            [
                f"the name {shown(name)} does not lead to the strategy; give Player the source by"
                " which it is found, such as module:name"
            ],
            player,
        )
    if player.assumed is None and player.assumed_prior is None:
        return name
    content: dict[str, Any] = {"name": name}
    if player.assumed is not None:
        content["assume"] = _written_noise(player.assumed)
    if player.assumed_prior is not None:
        content["assume_prior"] = _written_prior(player.assumed_prior)
    return content
