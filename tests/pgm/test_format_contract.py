"""Every format of model files keeps the contract of `bnmind.testing`, and wrong ones break it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from bnmind.errors import ContractError
from bnmind.pgm import FunctionalCPD, Network, TabularCPD, Variable
from bnmind.pgm.encoded_names import Alphabet
from bnmind.pgm.files import MODEL_FORMATS
from bnmind.pgm.formats.declared import ReadNetwork
from bnmind.pgm.formats.model_format import TableFormat
from bnmind.pgm.formats.reading import Reading
from bnmind.pgm.formats.xmlbif import XMLBIF, from_xmlbif, to_xmlbif
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
        (replace(XMLBIF, parse=_careless), "an error of bnmind"),
        (replace(XMLBIF, parse=_unbounded), "beyond the limit of cells"),
        (replace(XMLBIF, parse=_cut_short), "half a file"),
        (replace(XMLBIF, about=""), "in a line what it is"),
        (
            replace(MODEL_FORMATS[".bif"], alphabet=Alphabet(_ANY, _ANY)),  # type: ignore[type-var]
            "it reads what it writes|it keeps the",
        ),
        (replace(XMLBIF, parse=_sorted_states), "the names and the order of states"),
        (replace(XMLBIF, parse=_no_last_state), "the names and the order of states"),
    ],
    ids=[
        *("rounds", "raises ValueError", "ignores the bound", "invents", "no words", "no encoding"),
        *("sorts states", "loses a name"),
    ],
)
def test_the_contract_rejects_a_wrong_format(wrong: TableFormat, promise: str) -> None:
    with pytest.raises(ContractError, match=promise):
        check_format(wrong)
