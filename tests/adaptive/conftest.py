"""The words of every refusal that a test of this room expects, against the approved ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.approved import Notes, noted_refusals


@pytest.fixture(autouse=True)
def refusals(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Note all refusals of a test, and compare them with those of its file.

    Examples of Hypothesis differ from run to run. A test that no file has yet is left alone.
    """
    if hasattr(getattr(request.node, "obj", None), "hypothesis"):
        yield
        return
    directory = None
    if "tmp_path" in request.fixturenames:
        directory = request.getfixturevalue("tmp_path")
    notes = Notes(request.path, request.node.name, directory)
    with noted_refusals(notes, monkeypatch):
        yield
    notes.check(if_kept=True)
