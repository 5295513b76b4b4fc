"""Our JSON: functions stay functions, versions, and all faults with their paths."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from bnmind.errors import ModelFileError
from bnmind.pgm import (
    Addition,
    FactorModel,
    FunctionalCPD,
    Network,
    TabularCPD,
    Variable,
    functions,
)
from bnmind.pgm.files import read, read_model, read_network, write_model
from bnmind.pgm.formats.records import function_to_record
from bnmind.pgm.functions import (
    Equality,
    Exactly,
    Function,
    Maximum,
    Minimum,
    Parity,
    Positions,
    Restricted,
    Threshold,
)
from bnmind.pgm.noisy import NoisyExtremum, NoisyMaximum, NoisyMinimum
from tests.modes import examples
from tests.networks import networks

A, B = Variable("A", ("x", "y")), Variable("B", ("0", "1", "2"))
ROOTS = (TabularCPD(A, (), np.array([0.25, 0.75])), TabularCPD(B, (), np.array([0.5, 0.25, 0.25])))
FUNCTIONS: tuple[Function, ...] = (
    Addition.of([2, 3], signs=[1, -1]),
    Minimum(),
    Maximum(),
    Parity(),
    Equality(),
    Threshold(2),
    Threshold(1, ((1,), (0, 2))),
    Exactly(2),
    Exactly(1, ((0,), (1,))),
    Restricted(Addition(((0, 1, 5), (0, 1, 2, 4)), 4), ((0, 1), (3, 0, 1))),
    Restricted(Maximum(), ((0, 2), (1,), (0, 1, 2)), (1, 2)),
    Restricted(Restricted(Minimum(), ((0, 1, 2), (0, 2, 1))), ((1, 2), (0, 1, 2))),
)


def functional(function: Function) -> FunctionalCPD:
    return FunctionalCPD(Variable.of_integers("C", range(4)), (A, B), function)


@pytest.mark.parametrize("function", FUNCTIONS, ids=repr)
def test_functions_stay_functions(tmp_path: Path, function: Function) -> None:
    network = Network((*ROOTS, functional(function)))
    write_model(network, tmp_path / "network.json")
    assert read_network(tmp_path / "network.json").cpd("C") == network.cpd("C")
    assert network.cpd("C") in read_model(tmp_path / "network.json").potentials


def test_every_registered_function_has_a_record_with_its_fields() -> None:
    ours: set[object] = {
        kind
        for kind in vars(functions).values()
        if dataclasses.is_dataclass(kind) and kind.__module__ == functions.__name__
    }
    # A listed function is its table, and steps are how a function is computed.
    assert ours - {functions.Listed, functions.Steps} == {type(f) for f in FUNCTIONS}
    for function in FUNCTIONS:
        record = function_to_record(function)
        assert record is not None
        assert record.pop("function") == type(function).__name__.lower()
        named = {"of" if f.name == "function" else f.name for f in dataclasses.fields(function)}  # type: ignore[arg-type]
        assert set(record) == named


def test_a_sum_of_thirty_parents_takes_a_few_lines(tmp_path: Path) -> None:
    parents = tuple(Variable(f"X{i}", ("no", "yes")) for i in range(30))
    network = Network(
        (
            *(TabularCPD(v, (), np.array([0.5, 0.5])) for v in parents),
            FunctionalCPD.sum_of("S", parents),
        )
    )
    path = tmp_path / "network.json"
    write_model(network, path)
    assert path.stat().st_size < 10_000
    assert read_network(path).cpd("S") == network.cpd("S")


@pytest.mark.parametrize("kind", [NoisyMaximum, NoisyMinimum])
def test_noisy_extrema_keep_their_class(
    tmp_path: Path, kind: type[NoisyMaximum] | type[NoisyMinimum]
) -> None:
    links = (np.array([[1, 0.5], [0, 0.3], [0, 0.2]]), np.full((3, 3), 1 / 3))
    noisy = kind(Variable("N", ("a", "b", "c")), (A, B), links, np.array([0.7, 0.2, 0.1]))
    network = Network((*ROOTS, noisy))
    write_model(network, tmp_path / "network.json")
    back = read_network(tmp_path / "network.json").cpd("N")
    assert type(back) is kind
    assert isinstance(back, NoisyExtremum)
    assert back.scope == noisy.scope
    for before, after in zip(noisy.contributions, back.contributions, strict=True):
        np.testing.assert_array_equal(after, before)


@settings(max_examples=examples(40), suppress_health_check=[
    HealthCheck.function_scoped_fixture
])  # fmt: skip
@given(networks())
def test_networks_round_trip(tmp_path: Path, network: Network) -> None:
    write_model(network, tmp_path / "network.json")
    back = read_network(tmp_path / "network.json")
    for cpd in network.cpds:
        again = back.cpd(cpd.variable.name)
        assert type(again) is type(cpd)
        assert again.scope == cpd.scope
        if isinstance(cpd, FunctionalCPD):
            assert again == cpd
        else:
            np.testing.assert_array_equal(again.to_factor().values, cpd.to_factor().values)


class _Alternating:
    """A function that is not ours."""

    def __call__(self, *arguments: Positions) -> Positions:
        return np.asarray((arguments[0] - arguments[1]) % 3, dtype=np.intp)

    def restrict(self, states: Sequence[Sequence[int]]) -> Function:
        return Restricted.of(self, states)


@pytest.mark.parametrize(
    "function", [_Alternating(), Restricted(_Alternating(), ((0, 1), (0, 2, 1)))]
)
def test_a_custom_function_becomes_a_table(tmp_path: Path, function: Function) -> None:
    network = Network((*ROOTS, functional(function)))
    write_model(network, tmp_path / "network.json")
    back = read_network(tmp_path / "network.json").cpd("C")
    assert isinstance(back, TabularCPD)
    np.testing.assert_array_equal(back.values, network.cpd("C").to_factor().values)


# --- Versions and faults --------------------------------------------------------------------------

VERSION_1 = {
    "schema": "bnmind-model",
    "version": 1,
    "variables": [{"name": "A", "states": ["x", "y"]}],
    "potentials": [{"scope": ["A"], "values": [1.0, -0.5]}],
}


def told(tmp_path: Path, record: object) -> str:
    path = tmp_path / "model.json"
    path.write_text(record if isinstance(record, str) else json.dumps(record))
    with pytest.raises(ModelFileError) as caught:
        read_model(path)
    return str(caught.value)


def test_the_first_version_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(VERSION_1))
    assert np.real(read_model(path).potentials[0].values).tolist() == [1.0, -0.5]  # type: ignore[union-attr]
    with pytest.raises(ModelFileError, match=r"a network, got at potentials\.0: a factor over A"):
        read_network(path)


@pytest.mark.parametrize("version", [3, 10**12, 0, -1])
def test_other_versions_are_refused_by_name(tmp_path: Path, version: int) -> None:
    text = told(tmp_path, {**VERSION_1, "version": version, "something": "new"})
    assert text.startswith("expected bnmind-model of version 1 or 2, got version ")
    assert ("made by a newer bnmind" in text) == (version > 2)


def test_another_schema_is_refused_by_name(tmp_path: Path) -> None:
    text = told(tmp_path, {**VERSION_1, "schema": "bnmind-game"})
    assert text.startswith("expected schema bnmind-model, got 'bnmind-game' at schema")


def with_potentials(*potentials: Any, **more: Any) -> dict[str, Any]:
    return {
        "schema": "bnmind-model",
        "version": 2,
        "variables": [{"name": "A", "states": ["x", "y"]}, {"name": "B", "states": ["0", "1"]}],
        "potentials": [{"kind": "table", "scope": ["A"], "values": [0.5, 0.5]}, *potentials],
        **more,
    }


def function_of_a(**function: Any) -> dict[str, Any]:
    return {"kind": "function", "scope": ["B", "A"], "function": function}


SQUARES = [[0, 2 ** min(i, 30)] for i in range(40)]


@pytest.mark.parametrize(
    ("potential", "words"),
    [
        ({"scope": ["B"], "values": [1, 1]}, "potentials.1: Unable to extract tag"),
        ({"kind": "tale", "scope": ["B"], "values": [1, 1]}, "potentials.1: Input tag 'tale'"),
        ({"kind": "table", "scope": [], "values": [1, 1]}, "potentials.1.table.scope: expected at"),
        ({"kind": "table", "scope": ["B"], "values": [1, "1"]}, "potentials.1.table.values.1:"),
        ({"kind": "table", "scope": ["B"], "values": [0.6, 0.6]}, "potentials.1: expected the t"),
        ({"kind": "table", "scope": ["B"], "values": [1.5, -0.5]},
            "potentials.1: the table of B must hold probabilities"),
        ({"kind": "factor", "scope": ["B"] * 70, "values": [1]}, "potentials.1.factor.scope: List"),
        (function_of_a(function="modulo"), "potentials.1.function.function: Input tag 'modulo'"),
        (function_of_a(function="parity", of=1), "function.parity: unknown fields: 'of'"),
        (function_of_a(function="addition", terms=[[0, 1]], modulus=0), "modulus: expected at"),
        (function_of_a(function="addition", terms=[[0, 1]], modulus=10**30), "addition.modulus:"),
        (function_of_a(function="addition", terms=[[0, 1], [0]], modulus=2), "potentials.1: exp"),
        (function_of_a(function="addition", terms=[[0]], modulus=2), "potentials.1: expected"),
        (function_of_a(function="addition", terms=[[0, 3]], modulus=9), "results below 2 for B"),
        (function_of_a(function="threshold", least=1, counted=[]), "expected 0 arg"),
        (function_of_a(function="restricted", states=[[0, 1], [0, 1]], of={"function": "parity"}),
            "expected 2 arguments of the function restricted, got 1"),
        (function_of_a(function="restricted", states=[[0]], of={"function": "parity"}),
            "expected 0 arguments of the function restricted, got 1"),
        (function_of_a(function="restricted", states=[[0, 1]], of={"function": "restricted",
            "states": [[0, 1]] * 2, "of": {"function": "parity"}}),
            "expected 2 arguments of the function restricted, got 1"),
        (function_of_a(function="restricted", states=[[]], of={"function": "parity"}), "states.0:"),
        (function_of_a(function="restricted", states=[[0, 9]], of={"function": "addition",
            "terms": [[0, 1]], "modulus": 2}), "at potentials.1: expected a function"),
        ({"kind": "noisy_maximum", "scope": ["B", "A"], "links": [[[1], [0, 1]]], "leak": [1, 0]},
            "at potentials.1: expected an array of numbers in the link from A to B"),
        ({"kind": "noisy_minimum", "scope": ["B"], "links": [], "leak": [1, 0]},
            "at potentials.1: B must have at least one parent"),
    ],
)  # fmt: skip
def test_a_fault_is_reported_with_its_path(
    tmp_path: Path, potential: dict[str, Any], words: str
) -> None:
    assert words in told(tmp_path, with_potentials(potential))


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_sum_with_too_many_partial_sums_is_refused_before_they_are_made(
    tmp_path: Path, *, wrapped: bool
) -> None:
    names = [f"v{i}" for i in range(40)]
    terms = [[0, 2 ** min(i, 30)] for i in range(40)]
    function: dict[str, Any] = {"function": "addition", "terms": terms, "modulus": 2**31}
    if wrapped:
        function = {"function": "restricted", "states": [[0, 1]] * 40, "of": function}
    record = with_potentials(
        {"kind": "function", "scope": ["B", *names], "function": function},
        variables=[{"name": name, "states": ["0", "1"]} for name in ("A", "B", *names)],
    )
    assert "at potentials.1: expected a function checked within 33,554,432 cells, got 171," in told(
        tmp_path, record
    )


def test_faults_of_the_network_are_reported(tmp_path: Path) -> None:
    table = {"kind": "table", "scope": ["B", "A"], "values": [0.5] * 4}
    path = tmp_path / "model.json"
    record = with_potentials(table)
    record["potentials"][0] = {"kind": "table", "scope": ["A", "B"], "values": [0.5] * 4}
    path.write_text(json.dumps(record))
    with pytest.raises(ModelFileError, match=r"at potentials: the network has a cycle: (A|B)"):
        read_network(path)
    path.write_text(json.dumps(with_potentials(table, table)))
    with pytest.raises(
        ModelFileError, match="at potentials: expected one distribution of B, got 2"
    ):
        read_network(path)
    assert "at potentials: expected at least one" in told(
        tmp_path, with_potentials(variables=[], potentials=[])
    )


def test_a_parent_without_a_table_is_refused(tmp_path: Path) -> None:
    """It used to count as a variable with all weights 1, so that probabilities summed to 2."""
    path = tmp_path / "model.json"
    record = with_potentials({"kind": "table", "scope": ["B", "A"], "values": [0.5] * 4})
    record["potentials"] = [p for p in record["potentials"] if p["scope"] != ["A"]]
    path.write_text(json.dumps(record))
    for reads in (read, read_model, read_network):
        with pytest.raises(ModelFileError, match="of A, got 0; A is a parent of B"):
            reads(path)
    record["potentials"].append({"kind": "factor", "scope": ["A"], "values": [2, 1]})
    path.write_text(json.dumps(record))
    assert isinstance(read(path), FactorModel)


@pytest.mark.parametrize("text", ["[" * 10**6, '{"a":' * 10**6, '{"version": ' + "9" * 10**4 + "}"])
def test_hostile_text_is_refused(tmp_path: Path, text: str) -> None:
    assert "Invalid JSON: " in told(tmp_path, text)


def test_very_many_faults_are_summarized(tmp_path: Path) -> None:
    text = told(tmp_path, with_potentials(*[{"kind": "function"}] * 1000))
    assert "; and at least 988 more, in" in text
    assert len(text) < 1000
