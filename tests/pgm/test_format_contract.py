"""Every format of model files keeps the contract of `bnmind.testing`, and wrong ones break it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from bnmind.errors import ContractError, ModelFileError
from bnmind.pgm import FunctionalCPD, Network, TabularCPD, Variable
from bnmind.pgm.encoded_names import Alphabet
from bnmind.pgm.files import MODEL_FORMATS
from bnmind.pgm.formats.declared import Reading, ReadNetwork
from bnmind.pgm.formats.model_format import TableFormat
from bnmind.pgm.formats.xml import XMLBIF, from_xmlbif, to_xmlbif
from bnmind.testing import check_format

RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet grass", ("dry", "a bit", "very"))
SUM = Variable.of_integers("sum.1", range(4))
NETWORK = Network(
    (
        TabularCPD(RAIN, (), np.array([1 / 3, 2 / 3])),
        TabularCPD(WET, (RAIN,), np.array([[0.7, 0.1], [0.3, 0.2], [0.0, 0.7]])),
        FunctionalCPD.sum_of("sum.1", (RAIN, WET)),
    )
)


@pytest.mark.parametrize("suffix", MODEL_FORMATS)
def test_a_registered_format_keeps_the_contract(suffix: str) -> None:
    check_format(suffix)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", MODEL_FORMATS)
def test_a_registered_format_keeps_the_contract_with_many_networks(suffix: str) -> None:
    check_format(suffix, thorough=True)


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


def _sorted_states(data: bytes, *, max_cells: int, reading: Reading) -> ReadNetwork:
    """Read a network, and forget the order of the states."""
    read = from_xmlbif(data, max_cells=max_cells)
    return replace(read, network=_changed(read.network, lambda states: tuple(sorted(states))))


def _no_last_state(data: bytes, *, max_cells: int, reading: Reading) -> ReadNetwork:
    """Read a network, and give the last of three states another name."""
    read = from_xmlbif(data, max_cells=max_cells)

    def renamed(states: tuple[str, ...]) -> tuple[str, ...]:
        return (*states[:2], "state_2") if len(states) == 3 else states

    return replace(read, network=_changed(read.network, renamed))


def _composed(data: bytes, *, max_cells: int, reading: Reading) -> ReadNetwork:
    """Read a network, and compose the letters of its states."""
    return _renamed(data, max_cells, lambda state: unicodedata.normalize("NFC", state))


def _stripped(data: bytes, *, max_cells: int, reading: Reading) -> ReadNetwork:
    """Read a network, and strip the names of its states."""
    return _renamed(data, max_cells, str.strip)


def _as_numbers(data: bytes, *, max_cells: int, reading: Reading) -> ReadNetwork:
    """Read a network, and turn a state 1.0 into 1."""
    return _renamed(data, max_cells, lambda state: "1" if state == "1.0" else state)


def _renamed(data: bytes, max_cells: int, change: Callable[[str], str]) -> ReadNetwork:
    read = from_xmlbif(data, max_cells=max_cells)
    network = _changed(read.network, lambda states: tuple(change(state) for state in states))
    return replace(read, network=network)


def _other_axes(data: bytes, *, max_cells: int, reading: Reading) -> ReadNetwork:
    """Read a network, and turn the axes of four parents."""
    read = from_xmlbif(data, max_cells=max_cells)
    cpds = []
    for cpd in read.network.cpds:
        values = np.real(cpd.to_factor().values)
        turned = np.moveaxis(values, 1, -1) if len(cpd.parents) == 4 else values
        cpds.append(TabularCPD(cpd.variable, cpd.parents, turned))
    return replace(read, network=Network(tuple(cpds)))


def _no_mark(data: bytes, *, max_cells: int, reading: Reading) -> ReadNetwork:
    """Read a network, but from no file with a byte order mark."""
    if data.startswith(b"\xef\xbb\xbf"):
        raise ModelFileError("model", "expected BIF")
    return from_xmlbif(data, max_cells=max_cells)


def _no_tiny_numbers(network: Network, *, encoded: bool) -> str:
    return to_xmlbif(network, encoded=encoded).replace("5e-324", "0")


def _changed(network: Network, change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Network:
    """Return a network whose variables have other states, with the same numbers."""
    other = {v: Variable(v.name, change(v.states)) for v in network.variables}
    return Network(
        tuple(
            TabularCPD(
                other[cpd.variable],
                tuple(other[v] for v in cpd.parents),
                np.real(cpd.to_factor().values),
            )
            for cpd in network.cpds
        )
    )


@pytest.mark.parametrize(
    ("wrong", "promise"),
    [
        (replace(XMLBIF, write=_rounded), "every number to the last digit"),
        (replace(XMLBIF, parse=_careless), "an error of bnmind|as editors write them"),
        (replace(XMLBIF, parse=_unbounded), "beyond the limit of cells"),
        (replace(XMLBIF, parse=_cut_short), "half a file"),
        (replace(XMLBIF, about=""), "in a line what it is"),
        (
            replace(MODEL_FORMATS[".bif"], alphabet=Alphabet(_ANY, _ANY)),  # type: ignore[type-var]
            "it reads what it writes|it keeps the",
        ),
        (replace(XMLBIF, parse=_composed), "it reads what it writes|the names and the order"),
        (replace(XMLBIF, parse=_stripped), "it reads what it writes|the names and the order"),
        (replace(XMLBIF, parse=_as_numbers), "the names and the order of states"),
        (replace(XMLBIF, parse=_other_axes), "every number .* .four parents"),
        (replace(XMLBIF, parse=_no_mark), "as editors write them .a byte order mark"),
        (replace(XMLBIF, write=_no_tiny_numbers), "every number to the last digit"),
        (replace(XMLBIF, parse=_sorted_states), "the names and the order of states"),
        (replace(XMLBIF, parse=_no_last_state), "the names and the order of states"),
    ],
    ids=[
        *("rounds", "raises ValueError", "ignores the bound", "invents", "no words", "no encoding"),
        *("composes", "strips", "reads numbers", "turns axes", "no mark", "no tiny numbers"),
        *("sorts states", "loses a name"),
    ],
)
def test_the_contract_rejects_a_wrong_format(wrong: TableFormat, promise: str) -> None:
    with pytest.raises(ContractError, match=promise):
        check_format(wrong)
