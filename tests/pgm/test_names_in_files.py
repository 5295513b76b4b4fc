"""Any name in any format: encoded where the format cannot hold it, told, and read back."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bnmind.errors import ModelFileError
from bnmind.junction import compile_plan
from bnmind.pgm import Factor, FactorModel, Network, TabularCPD, Variable, noisy_or
from bnmind.pgm.encoded_names import FileNames, decoded
from bnmind.pgm.files import (
    NETWORK_SUFFIXES,
    file_names,
    read_model,
    read_network,
    write_model,
)
from bnmind.pgm.formats import pgmpy_object, quiet_pgmpy
from bnmind.pgm.variable import name_fault
from tests.data_sets import DATA, absent
from tests.modes import examples
from tests.pgmpy_bif import bif_reader

ROOT = Path(__file__).parents[2]
BNREP = DATA / "bnrep"
TABLE_SUFFIXES = (".bif", ".xdsl", ".xmlbif", ".xml", ".net")

# Mixes of what is special to some format or to the encoding itself, and anything else.
TRICKY = st.text(
    st.sampled_from(list("aAxX_0041 .-+,;:|(){}[]<>&\"'/\\%#=ä\u00a0\u2028\t\n\x1b名👩")),
    max_size=8,
)
TRICKY |= st.sampled_from(
    ["_x0041_", "_x_", "_x005F_", "_X0041_", "A", "a", "table1", "default-", "node", "my node"]
)
TEXTS = TRICKY | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NAMES = TEXTS.filter(lambda name: name_fault(name) is None)


@st.composite
def named_networks(draw: st.DrawFn) -> Network:
    """Return a small network whose variables and states have any names."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    variables = tuple(
        Variable(name, tuple(draw(st.lists(TEXTS, min_size=1, max_size=3, unique=True))))
        for name in names
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cpds = []
    for number, v in enumerate(variables):
        parents = variables[max(0, number - 2) : number]
        rows = rng.dirichlet(np.ones(v.n_states), size=[p.n_states for p in parents])
        cpds.append(TabularCPD(v, parents, np.moveaxis(rows, -1, 0)))
    return Network(tuple(cpds))


def assert_same(network: Network, back: Network) -> None:
    assert set(back.variables) == set(network.variables)
    for cpd in network.cpds:
        again = back.cpd(cpd.variable.name).to_tabular()
        assert again.scope == cpd.scope
        np.testing.assert_allclose(again.values, cpd.to_tabular().values, rtol=0, atol=1e-15)


@settings(
    max_examples=examples(150),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(named_networks(), st.sampled_from(NETWORK_SUFFIXES))
def test_any_name_reads_back(tmp_path: Path, network: Network, suffix: str) -> None:
    path = tmp_path / f"network{suffix}"
    names = write_model(network, path)
    assert names == file_names(network, path)
    assert_same(network, read_network(path))
    model = read_model(path)
    assert [v.name for v in model.variables] == [v.name for v in network.variables]
    for name, text in names.variables.items():
        assert decoded(text) == name != text
    for name, of in names.states.items():
        for state, text in of.items():
            assert state in network.variable(name).states
            assert decoded(text) == state != text


READERS = {
    ".xdsl": "XDSLReader",
    ".xml": "XMLBIFReader",
    ".net": "NETReader",
}


@pytest.mark.parametrize(
    ("suffix", "name", "state"),
    [
        (".bif", "stable1", "x"),
        (".bif", "default-1 table2", "x"),
        (".bif", "A", "a,b"),
        (".bif", "A", "a b"),
        (".bif", "b", "x"),
        (".bif", "No of people", "x"),
        (".bif", "a|b", "{}"),
        (".net", "my-node", "x"),
        (".net", "item.1", "x"),
        (".net", "Hören", "č"),
        (".net", "A", "a b"),
        (".net", "A", "100%"),
        (".xdsl", "item.1", ""),
        (".xdsl", "No of people", "a\n"),
        (".xml", " A", "a-b"),
        (".xml", "A", "<"),
    ],
)
def test_names_that_a_format_cannot_hold_are_encoded_for_other_programs(
    tmp_path: Path, suffix: str, name: str, state: str
) -> None:
    first, twin = Variable(name, (state, "other")), Variable("B", ("0", "1"))
    network = Network(
        (
            TabularCPD(first, (), np.array([0.25, 0.75])),
            TabularCPD(twin, (first,), np.array([[0.5, 0.125], [0.5, 0.875]])),
        )
    )
    path = tmp_path / f"network{suffix}"
    names = write_model(network, path)
    assert names
    assert_same(network, read_network(path))
    written = names.variables.get(name, name)
    reader = bif_reader() if suffix == ".bif" else pgmpy_object("pgmpy.readwrite", READERS[suffix])
    with quiet_pgmpy():
        theirs = reader(str(path)).get_model()
    table = theirs.get_cpds(names.variables.get("B", "B"))
    assert set(table.variables[1:]) == {written}
    known = names.states.get(name, {})
    assert list(table.state_names[written]) == [known.get(state, state), "other"]
    np.testing.assert_allclose(table.get_values(), [[0.5, 0.125], [0.5, 0.875]])


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
def test_plain_names_are_written_unchanged(tmp_path: Path, suffix: str) -> None:
    """A file of ours without encoded names has no note of them, and is not decoded."""
    names = ("item_x002E_1", "x1", "my_x_")
    cpds = [TabularCPD(Variable(name, ("_x_", "b")), (), np.full(2, 0.5)) for name in names]
    network = Network(tuple(cpds))
    path = tmp_path / f"network{suffix}"
    written = write_model(network, path)
    assert not written
    assert str(written) == "no name is encoded"
    assert b"bnmind_names" not in path.read_bytes()
    assert b"<bnmind" not in path.read_bytes()
    assert_same(network, read_network(path))


def test_the_report_lists_the_encoded_names() -> None:
    item = Variable("item.1", ("0", "a lot"))
    network = Network((TabularCPD(item, (), np.full(2, 0.5)),))
    names = file_names(network, "bank.net")
    assert str(names) == (
        "item.1 is written as item_x002E_1; state 'a lot' of item.1 is written as a_x0020_lot"
    )
    assert names.variables == {"item.1": "item_x002E_1"}
    assert names.states == {"item.1": {"a lot": "a_x0020_lot"}}
    copy = pickle.loads(pickle.dumps(names))
    assert copy == names
    with pytest.raises(TypeError):
        copy.variables["a"] = "b"
    assert FileNames() == file_names(network, "bank.json") == file_names(network, "bank.uai")


@pytest.mark.parametrize("suffix", TABLE_SUFFIXES)
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"_x0020_", b"_x000A_", "expected an encoded name: .*line breaks"),
        (b"_x0020_a", b"_x0062_", "expected distinct encoded names"),
    ],
)
def test_faulty_encoded_names_are_reported(
    tmp_path: Path, suffix: str, old: bytes, new: bytes, words: str
) -> None:
    cpds = [TabularCPD(Variable(name, ("0", "1")), (), np.full(2, 0.5)) for name in (" a", "b")]
    path = tmp_path / f"network{suffix}"
    write_model(Network(tuple(cpds)), path)
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new))
    with pytest.raises(ModelFileError, match=words):
        read_network(path)


@pytest.mark.parametrize("suffix", NETWORK_SUFFIXES)
def test_a_model_has_its_variables_in_the_order_of_the_file(tmp_path: Path, suffix: str) -> None:
    a, b, c = (Variable(name, ("0", "1")) for name in "abc")
    network = Network(
        (
            TabularCPD(a, (), np.full(2, 0.5)),
            TabularCPD(b, (a,), np.eye(2)),
            noisy_or(c, (b, a), [0.5, 0.25]),
        )
    )
    path = tmp_path / f"network{suffix}"
    write_model(network, path)
    assert [v.name for v in read_model(path).variables] == ["a", "b", "c"]


def test_factors_do_not_change_the_order_of_variables(tmp_path: Path) -> None:
    text = "MARKOV\n4\n2 2 2 2\n2\n2 3 1\n1 2\n4 1 2 3 4\n2 1 1\n"
    (tmp_path / "model.uai").write_text(text)
    model = read_model(tmp_path / "model.uai")
    assert [v.name for v in model.variables] == ["x0", "x1", "x2", "x3"]
    write_model(model, tmp_path / "model.json")
    assert read_model(tmp_path / "model.json").variables == model.variables
    bayes = "BAYES\n2\n2 2\n2\n2 1 0\n1 1\n4 1 0 0 1\n2 0.5 0.5\n"
    (tmp_path / "model.uai").write_text(bayes)
    assert [v.name for v in read_model(tmp_path / "model.uai").variables] == ["x0", "x1"]
    (tmp_path / "model.bif").write_text(
        "network n { }\nvariable child { type discrete [1] { s }; }\n"
        "variable parent { type discrete [1] { s }; }\n"
        "probability ( child | parent ) { table 1; }\nprobability ( parent ) { table 1; }\n"
    )
    assert [v.name for v in read_model(tmp_path / "model.bif").variables] == ["child", "parent"]
    assert [v.name for v in read_network(tmp_path / "model.bif").variables] == ["parent", "child"]


def test_the_order_of_a_model_may_be_given() -> None:
    a, b = (Variable(name, ("0", "1")) for name in "ab")
    pair = Factor((a, b), np.ones((2, 2)))
    assert FactorModel((pair,)).variables == (a, b)
    model = FactorModel((pair,), (b, a))
    assert model.variables == (b, a)
    assert model.variable("a") is a
    assert pickle.loads(pickle.dumps(model)).variables == (b, a)
    other, more = Variable("b", ("0",)), Variable("c", ("0", "1"))
    for wrong in [(a,), (a, a), (a, b, b), (a, other), (a, b, more)]:
        with pytest.raises(ValueError, match="expected the variables a, b of the potentials"):
            FactorModel((pair,), wrong)


def real_networks() -> list[Any]:
    found = sorted(BNREP.glob("*.json.gz")) if BNREP.is_dir() else []
    return [
        pytest.param(
            path,
            id=path.name.removesuffix(".json.gz"),
            marks=[pytest.mark.slow] if number % 8 else [],
        )
        for number, path in enumerate(found)
    ] or [pytest.param(None, marks=pytest.mark.skip(reason=absent("bnrep")))]


@pytest.mark.parametrize("path", real_networks())
def test_real_networks_keep_their_names_in_every_format(path: Path, tmp_path: Path) -> None:
    nodes = json.loads(gzip.decompress(path.read_bytes()))["nodes"]
    variables = {node["name"]: Variable(node["name"], tuple(node["states"])) for node in nodes}
    cpds = []
    for node in nodes:
        scope = [variables[name] for name in (node["name"], *node["parents"])]
        values = np.array(node["prob"], dtype=float).reshape([v.n_states for v in scope])
        if np.isnan(values).any() or np.abs(values.sum(axis=0) - 1).max() > 1e-6:
            pytest.skip("its tables are no distributions")
        cpds.append(TabularCPD(scope[0], tuple(scope[1:]), values))
    network = Network(tuple(cpds))
    first = network.variables[0]
    expected = compile_plan(network, evidence=[first.name]).run({first.name: first.states[0]})
    for suffix in NETWORK_SUFFIXES:
        write_model(network, tmp_path / f"network{suffix}")
        back = read_network(tmp_path / f"network{suffix}")
        assert_same(network, back)
        found = compile_plan(back, evidence=[first.name]).run({first.name: first.states[0]})
        for name, marginal in expected.marginals.items():
            np.testing.assert_allclose(found.marginals[name], marginal, atol=1e-12)
