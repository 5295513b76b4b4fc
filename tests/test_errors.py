"""Errors carry what they speak of, also across processes."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path

import pytest

from bnmind import errors
from bnmind.errors import (
    BnmindError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
    InvalidModelError,
    MissingLibraryError,
    TableError,
    TooFewSamplesError,
    TooLargeError,
    UnknownNameError,
    WorkersError,
)

EXAMPLES: list[BnmindError] = [
    InvalidArgumentError("expected a code, got 12", "12"),
    InvalidModelError(["expected this", "expected that"]),
    ImpossibleEvidenceError("expected possible evidence", {"a": "b"}),
    TooLargeError("expected less", needed=3, budget=2),
    UnknownNameError("strategy", "x", ("map", "entropy")),
    TableError(["row 3, column wet: expected no or yes"], count=7),
    MissingLibraryError("pgmpy must be installed", "pgmpy"),
    WorkersError("the cluster has no workers", "tcp://10.0.0.1:8786"),
    TooFewSamplesError("expected more samples", n_samples=10, effective_samples=1.5),
]


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_attributes_and_message_survive_pickling(error: BnmindError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert copy.__dict__ == error.__dict__


def test_the_library_raises_no_bare_error() -> None:
    """A caller can tell errors apart by their class; the command line only shows them."""
    package = Path(errors.__file__).parent
    texts = {path.relative_to(package): path.read_text("utf-8") for path in package.rglob("*.py")}
    bare = [
        f"{path}:{node.lineno}"
        for path, text in texts.items()
        if path.parts[0] != "cli" and "BnmindError(" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "BnmindError"
    ]
    assert not bare


def test_every_error_is_also_a_value_or_lookup_error() -> None:
    for name in errors.__all__:
        kind = getattr(errors, name)
        assert issubclass(kind, BnmindError)
        assert kind is BnmindError or issubclass(kind, ValueError | LookupError)


def test_all_faults_are_listed() -> None:
    assert str(EXAMPLES[1]) == "expected this; expected that"
    assert str(EXAMPLES[4]) == "expected a strategy among map, entropy; got 'x'"


def test_an_unknown_name_is_reported_with_those_spelled_alike() -> None:
    error = UnknownNameError("state", "HIHG", ("LOW", "NORMAL", "HIGH"))
    assert error.close == ("HIGH",)
    assert str(error).endswith("among LOW, NORMAL, HIGH; got 'HIHG'; did you mean HIGH?")
    assert UnknownNameError("state", "high", ("LOW", "HIGH")).close == ("HIGH",)
    several = UnknownNameError("variable", "x1", ("x10", "x11", "y"))
    assert str(several).endswith("; did you mean x11 or x10?")


def test_all_names_are_listed_if_they_fit_on_two_lines() -> None:
    short = tuple(f"s{number}" for number in range(30))
    assert f"among {', '.join(short)}; got" in str(UnknownNameError("state", "x", short))
    many = tuple(f"state_{number}" for number in range(100))
    assert "state_11, …; got" in str(UnknownNameError("state", "x", many))


@pytest.mark.parametrize("name", ["junk", "", "x" * 10_000, 7, None, ("LOW",), "LOW"])
def test_no_close_name_is_made_up(name: object) -> None:
    error = UnknownNameError("state", name, ("LOW", "HIGH"))
    assert error.close == ()
    assert "did you mean" not in str(error)
