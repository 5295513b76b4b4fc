"""The environment of a run: the versions that took part, and the date."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bnmind._files import SMALL_FILE, parse_document, read_text
from bnmind._front_door import installed_version
from bnmind.errors import ModelFileError
from bnmind.lab.experiments.experiment import Experiment
from bnmind.lab.experiments.game_experiment import GameExperiment
from bnmind.strategies.registry import source_digest

__all__ = ["ENVIRONMENT", "environment_text", "own_sources", "read_environment"]

ENVIRONMENT = "environment.json"
"""The name of the file."""

_SCHEMA, _VERSION = "bnmind-results", 1
_LIBRARIES = ("numpy", "numba", "scipy", "pandas", "pyarrow")


def own_sources(experiment: Experiment) -> dict[str, str]:
    """Return the digest of the source of each strategy of the user's own, by its name in files."""
    settings = experiment.settings if isinstance(experiment, GameExperiment) else ()
    names = {one.source or one.strategy.name for setting in settings for one in setting.players}
    digests = {name: source_digest(name) for name in sorted(names)}
    return {name: digest for name, digest in digests.items() if digest is not None}


def environment_text(sources: Mapping[str, str], before: Mapping[str, Any] | None = None) -> str:
    """Return the content of the file, with the run that begins now after those before.

    Parameters
    ----------
    sources
        The digests of `own_sources`.
    before
        The environment of earlier runs, as `read_environment` returns it.
    """
    now = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: _version(name) for name in _LIBRARIES},
    }
    runs = [] if before is None else list(before["runs"])
    content = {"schema": _SCHEMA, "version": _VERSION, "bnmind": installed_version()}
    return json.dumps({**content, "sources": dict(sources), "runs": [*runs, now]}, indent=2) + "\n"


def read_environment(directory: Path) -> dict[str, Any]:
    """Return the environment of the runs into a directory.

    Returns
    -------
    dict
        ``bnmind``, the version of the library; ``runs``, a dictionary for each run; and
        ``sources``, the digests of `own_sources`.

    Raises
    ------
    ModelFileError
        If the file is missing or damaged.
    """
    path = directory / ENVIRONMENT
    try:
        content = parse_document(read_text(path, most=SMALL_FILE), _SCHEMA, _VERSION)
    except ModelFileError as error:
        raise ModelFileError(
            f"expected the environment of a run in {path}: {error}", str(path)
        ) from error
    content = {"sources": {}, **content}
    kinds = {"bnmind": str, "sources": dict, "runs": list}
    if not all(isinstance(content.get(key), kind) for key, kind in kinds.items()):
        raise ModelFileError(f"expected bnmind, sources and runs in {path}", str(path))
    return content


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None
