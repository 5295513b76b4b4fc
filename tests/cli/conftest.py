"""What the tests of commands share: a process that runs commands, and how they end as a rule."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.test_matrix import COMMANDS, Whole, case_of, prepared
from tests.command_server import CommandServer


@pytest.fixture(scope="session")
def server() -> Iterator[CommandServer]:
    with CommandServer() as running:
        yield running


@pytest.fixture(scope="session")
def wholes(server: CommandServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Whole]:
    """Return how every command ends when nothing is broken."""
    found = {}
    for name in COMMANDS:
        here = prepared(tmp_path_factory.mktemp("here"))
        found[name] = Whole(server.run(case_of(name, {}), here), here)
    return found
