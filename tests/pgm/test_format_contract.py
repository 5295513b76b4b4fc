"""The contract that every format of model files keeps, and wrong formats that break it."""

from __future__ import annotations

import random
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bnmind.errors import BnmindError, ModelFileError, TooLargeError
from bnmind.pgm import Factor, FactorModel, FunctionalCPD, Network, TabularCPD, Variable
from bnmind.pgm.encoded_names import Alphabet
from bnmind.pgm.files import MODEL_FORMATS, file_names
from bnmind.pgm.formats.declared import ReadNetwork
from bnmind.pgm.formats.model_format import ModelFormat, ModelSource, TableFormat
from bnmind.pgm.formats.reading import Reading
from bnmind.pgm.formats.xmlbif import XMLBIF, from_xmlbif, to_xmlbif
from tests.registries import rejected

RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet grass", ("dry", "a bit", "very"))
SUM = Variable.of_integers("sum.1", range(4))
NETWORK = Network(
    (
        TabularCPD(RAIN, (), np.array([1 / 3, 2 / 3])),
        TabularCPD(WET, (RAIN,), np.array([[0.7, 0.1], [0.3, 0.2], [0.0, 0.7]])),
        FunctionalCPD.sum_of("sum.1", (RAIN, WET)),
    )
)
FACTORS = FactorModel(
    (Factor((RAIN,), np.array([2.0, 0.5])), Factor((RAIN, SUM), np.arange(8.0).reshape(2, 4)))
)


def check_format(suffix: str, form: ModelFormat, directory: Path) -> None:
    """Raise AssertionError unless a format of model files keeps the contract."""
    assert re.fullmatch(r"\.[a-z0-9]+", suffix)
    assert form.about
    assert "\n" not in form.about
    path = directory / f"model{suffix}"
    data = _written(form, NETWORK, path)
    assert _written(form, NETWORK, path) == data
    source = ModelSource(path, data, 10**4)
    for found in (form.read_network(source), form.read(source)):
        assert isinstance(found, Network)
        assert [v.name for v in found.variables] == [v.name for v in NETWORK.variables]
        for cpd in NETWORK.cpds:
            again = found.cpd(cpd.variable.name)
            assert again.scope == cpd.scope
            np.testing.assert_array_equal(again.to_factor().values, cpd.to_factor().values)
    model = form.read_model(source)
    assert {v.name for v in model.variables} == {v.name for v in NETWORK.variables}
    names = form.names_of(NETWORK.variables)
    for variable in NETWORK.variables:
        shown = names.variables.get(variable.name, variable.name)
        texts = form.contents(NETWORK, path, max_cells=100).values()
        assert any(shown in text for text in texts)
    with pytest.raises((TooLargeError, ModelFileError), match="5"):
        form.read_network(ModelSource(path, data, 5))
    check_damage(form, path, data)
    if form.holds_factors:
        again_factors = form.read(ModelSource(path, _written(form, FACTORS, path), 100))
        assert isinstance(again_factors, FactorModel)
        for before, after in zip(FACTORS.potentials, again_factors.potentials, strict=True):
            assert isinstance(before, Factor)
            assert isinstance(after, Factor)
            np.testing.assert_array_equal(after.values, before.values)


def _written(form: ModelFormat, model: Network | FactorModel, path: Path) -> bytes:
    contents = form.contents(model, path, max_cells=100)
    assert path in contents
    for place, text in contents.items():
        place.write_text(text, encoding="utf-8")
    return path.read_bytes()


def check_damage(form: ModelFormat, path: Path, data: bytes) -> None:
    """A damaged file is read or refused with one of our errors, never with another."""
    rng = random.Random(1)
    damaged = [data[:cut] for cut in range(1, len(data), 1 + len(data) // 60)]
    for _ in range(60):
        place = rng.randrange(len(data))
        damaged.append(data[:place] + rng.randbytes(3) + data[place + 2 :])
    for broken in (b"\x00", b"{}", b"model", *damaged):
        with suppress(BnmindError):
            form.read(ModelSource(path, broken, 100))
    with pytest.raises(ModelFileError):
        form.read_network(ModelSource(path, data[: len(data) // 2], 100))


@pytest.mark.parametrize("suffix", MODEL_FORMATS)
def test_a_registered_format_keeps_the_contract(suffix: str, tmp_path: Path) -> None:
    check_format(suffix, MODEL_FORMATS[suffix], tmp_path)
    assert file_names(NETWORK, f"a{suffix}") == MODEL_FORMATS[suffix].names_of(NETWORK.variables)


def test_the_registry_is_read_only() -> None:
    assert not hasattr(MODEL_FORMATS, "__setitem__")


def _rounded(network: Network, *, encoded: bool) -> str:
    text = to_xmlbif(network, encoded=encoded)
    return re.sub(r"0\.\d{4,}", lambda found: f"{float(found[0]):.4f}", text)


def _careless(data: bytes, *, max_cells: int, reading: Reading) -> ReadNetwork:
    if not data.startswith(b"<?xml"):
        raise ValueError("no XML")
    return from_xmlbif(data, max_cells=max_cells)


def _unbounded(data: bytes, *, max_cells: int, reading: Reading) -> ReadNetwork:
    return from_xmlbif(data, max_cells=2**22)


def _cut_short(data: bytes, *, max_cells: int, reading: Reading) -> ReadNetwork:
    if b"</BIF>" not in data:
        return from_xmlbif(to_xmlbif(NETWORK).encode(), max_cells=max_cells)
    return from_xmlbif(data, max_cells=max_cells)


_ANY = re.compile(r".+", re.DOTALL)


@pytest.mark.parametrize(
    "wrong",
    [
        replace(XMLBIF, write=_rounded),
        replace(XMLBIF, parse=_careless),
        replace(XMLBIF, parse=_unbounded),
        replace(XMLBIF, parse=_cut_short),
        replace(XMLBIF, about=""),
        replace(MODEL_FORMATS[".bif"], alphabet=Alphabet(_ANY, _ANY)),  # type: ignore[type-var]
    ],
    ids=["rounds", "raises ValueError", "ignores the bound", "invents", "no words", "no encoding"],
)
def test_the_contract_rejects_a_wrong_format(wrong: TableFormat, tmp_path: Path) -> None:
    assert not rejected(lambda: check_format(".own", XMLBIF, tmp_path))
    assert rejected(lambda: check_format(".own", wrong, tmp_path))
