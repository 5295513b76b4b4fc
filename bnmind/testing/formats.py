"""The promises of formats of networks: what is written is read again, and damage is reported."""

from __future__ import annotations

import random
import re
import tempfile
from pathlib import Path

import numpy as np

from bnmind._arguments import checked
from bnmind.errors import BnmindError, ModelFileError, TooLargeError
from bnmind.pgm import Factor, FactorModel, FunctionalCPD, Network, TabularCPD, Variable
from bnmind.pgm.files import MODEL_FORMATS, file_names
from bnmind.pgm.formats.model_format import ModelFormat, ModelSource
from bnmind.testing.promises import Promises
from bnmind.testing.registered import Family

__all__ = ["check_format"]

_FAMILY = Family(
    "format of networks",
    room="bnmind.pgm.files",
    registry=MODEL_FORMATS,
    commands=("query", "fit", "explain", "network"),
    suffixes=True,
)
_CELLS = 10**4


@checked
def check_format(form: ModelFormat | str, *, thorough: bool = False) -> None:
    """Check that a format of model files keeps the promises of formats.

    It says in a line what it is. A network that is written and read is the same: its variables in
    their order, the names and the order of their states, the parents of each in their order, and
    every number to the last digit. Names with blanks, quotes, letters of any alphabet, or words of
    the format are no exception. The same network is written as the same text each time. A file
    that is too large is refused before its tables are made, and a damaged one is read or refused
    by an error of bnmind, never by another.

    Parameters
    ----------
    form
        The format, or the suffix of a registered one, such as ``".bif"``.
    thorough
        Whether to try more networks and more damage.

    Raises
    ------
    ContractError
        If a promise is broken.
    UnknownNameError
        If no format has the suffix.

    Examples
    --------
    >>> check_format(".bif")
    """
    suffix = ".own"
    if isinstance(form, str):
        promises = _FAMILY.check_name(form)
        suffix, form = form, MODEL_FORMATS[form]
        network = _NETWORKS["sums and odd names"]
        promises.keep(
            file_names(network, f"a{suffix}") == form.names_of(network.variables),
            "`file_names` knows the names that it encodes",
        )
    promises = Promises("format of networks", form)
    promises.about()
    promises.has("holds_factors", "names_of", "contents", "read_network", "read_model", "read")
    networks = {**_NETWORKS, **_random_networks(20 if thorough else 3)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"model{suffix}"
        for about, network in networks.items():
            _check_network(promises, form, network, path, about)
        data = _written(promises, form, _NETWORKS["sums and odd names"], path)
        _check_text(promises, form, path, data)
        _check_size(promises, form, path, data)
        _check_damage(promises, form, path, data, 300 if thorough else 40)
        if form.holds_factors:
            _check_factors(promises, form, path)


_RAIN, _WET = Variable("rain", ("no", "yes")), Variable("wet grass", ("dry", "a bit", "very"))
_ODD = Variable('für "alle" & <jeden>', ("x\\y", "probability", "ø", "1.5", "true"))
_NEARLY = (
    *("x y", "x_y", "x.y", " x y", "x y ", "X Y", "1", "1.0", "01", "true", "True", "no", "NO"),
    *("o\u0308", "\u00f6", "\u65e5\u672c", "\U0001f642", "", "a\tb", "a,b;c|d", "'q'"),
)


def _of_many_parents() -> Network:
    """Return a network in which a variable has four parents of two states each."""
    parents = tuple(Variable(name, ("low", "high")) for name in "wxyz")
    chance = np.random.default_rng(4).random((2,) * 4)
    child = TabularCPD(Variable("child", ("no", "yes")), parents, np.stack([1 - chance, chance]))
    return Network((*(TabularCPD(v, (), np.array([0.5, 0.5])) for v in parents), child))


_NETWORKS = {
    "sums and odd names": Network(
        (
            TabularCPD(_RAIN, (), np.array([1 / 3, 2 / 3])),
            TabularCPD(_WET, (_RAIN,), np.array([[0.7, 0.1], [0.3, 0.2], [0.0, 0.7]])),
            FunctionalCPD.sum_of("sum.1", (_RAIN, _WET)),
        )
    ),
    "states in no order of letters": Network(
        (
            TabularCPD(Variable("b", ("z", "a", "m")), (), np.array([0.5, 0.25, 0.25])),
            TabularCPD(_ODD, (), np.array([0.1, 0.2, 0.3, 0.25, 0.15])),
            TabularCPD(Variable("c", ("1.0", "0.50", "-0")), (), np.array([0.25, 0.5, 0.25])),
        )
    ),
    "certain states, and tiny numbers": Network(
        (
            TabularCPD(Variable("sure", ("always", "never")), (), np.array([1.0, 0.0])),
            TabularCPD(_RAIN, (), np.array([1e-300, 1 - 1e-300])),
            TabularCPD(Variable("hardly", ("yes", "no")), (), np.array([5e-324, 1.0])),
        )
    ),
    "names that are nearly the same": Network(
        tuple(
            TabularCPD(Variable(name, _NEARLY), (), np.full(len(_NEARLY), 1 / len(_NEARLY)))
            for name in ("a b", "a_b", "a.b", "A b", "a  b", "u\u0308", "\u00fc", "\U0001f642")
        )
    ),
    "four parents of as many states": _of_many_parents(),
}


def _random_networks(n: int) -> dict[str, Network]:
    """Return networks whose parents, children and states are in no order of letters."""
    networks = {}
    for seed in range(n):
        rng = np.random.default_rng(seed)
        names = rng.permutation(list("dbaecf")).tolist()
        variables: list[Variable] = []
        cpds = []
        for name in names:
            k = int(rng.integers(2, 4))
            labels = rng.permutation([f"{name}{i}" for i in range(k)]).tolist()
            variable = Variable(name, tuple(labels))
            n_parents = min(len(variables), int(rng.integers(0, 3)))
            chosen = rng.permutation(len(variables))[:n_parents].tolist()
            parents = tuple(variables[i] for i in chosen)
            shape = [v.n_states for v in parents]
            table = np.moveaxis(rng.dirichlet(np.full(k, 0.7), shape), -1, 0)
            cpds.append(TabularCPD(variable, parents, table))
            variables.append(variable)
        networks[f"random network {seed + 1}"] = Network(tuple(cpds))
    return networks


def _written(
    promises: Promises, form: ModelFormat, model: Network | FactorModel, path: Path
) -> bytes:
    with promises.no_error("it writes every model that it holds"):
        contents = form.contents(model, path, max_cells=_CELLS)
    promises.keep(path in contents, "it writes the file that it is asked to write")
    for place, text in contents.items():
        place.write_text(text, encoding="utf-8")
    return path.read_bytes()


def _check_network(
    promises: Promises, form: ModelFormat, network: Network, path: Path, about: str
) -> None:
    with promises.pure(network, example=about):
        data = _written(promises, form, network, path)
        again = _written(promises, form, network, path)
    promises.keep(data == again, "it writes the same text each time", about)
    source = ModelSource(path, data, _CELLS)
    for reads in (form.read_network, form.read):
        with promises.no_error("it reads what it writes", about):
            found = reads(source)
        promises.keep(isinstance(found, Network), "it reads a network as a network", about)
        assert isinstance(found, Network)
        promises.keep(
            [v.name for v in found.variables] == [v.name for v in network.variables],
            "it keeps the variables and their order",
            f"{about}: {[v.name for v in found.variables]}",
        )
        for before, after in zip(network.variables, found.variables, strict=True):
            promises.keep(
                before.states == after.states,
                "it keeps the names and the order of states",
                f"{about}, {before.name}: {list(after.states)}, not {list(before.states)}",
            )
        for cpd in network.cpds:
            other = found.cpd(cpd.variable.name)
            promises.keep(
                [v.name for v in other.parents] == [v.name for v in cpd.parents],
                "it keeps the parents and their order",
                f"{about}, {cpd.variable.name}",
            )
            promises.keep(
                np.array_equal(other.to_factor().values, cpd.to_factor().values),
                "it keeps every number to the last digit",
                f"{about}, {cpd.variable.name}",
            )
    with promises.no_error("it reads a network as a product of factors", about):
        model = form.read_model(source)
    promises.keep(
        {v.name for v in model.variables} == {v.name for v in network.variables},
        "it reads a network as a product of factors",
        about,
    )
    names = form.names_of(network.variables)
    texts = list(form.contents(network, path, max_cells=_CELLS).values())
    for variable in network.variables:
        shown = names.variables.get(variable.name, variable.name)
        escaped = (shown, shown.replace('"', '\\"'), re.sub(r"[&<>\"\\]", "", shown))
        promises.keep(
            any(one in text for text in texts for one in escaped[:2]) or shown != escaped[2],
            "`names_of` says how a name is written",
            f"{about}: {variable.name} as {shown}",
        )


def _check_text(promises: Promises, form: ModelFormat, path: Path, data: bytes) -> None:
    """Check that files of other editors are read, too."""
    expected = form.read_network(ModelSource(path, data, _CELLS))
    for about, other in (
        ("a byte order mark", b"\xef\xbb\xbf" + data),
        ("line ends of Windows", data.replace(b"\n", b"\r\n")),
        ("empty lines at the end", data + b"\n\n"),
    ):
        with promises.no_error("it reads files as editors write them", about):
            found = form.read_network(ModelSource(path, other, _CELLS))
        promises.keep(
            found.variables == expected.variables, "it reads files as editors write them", about
        )


def _check_size(promises: Promises, form: ModelFormat, path: Path, data: bytes) -> None:
    promises.refuse(
        lambda: form.read_network(ModelSource(path, data, 5)),
        "it refuses tables beyond the limit of cells",
        "limit of 5 cells",
        kinds=(TooLargeError, ModelFileError),
    )


def _check_damage(promises: Promises, form: ModelFormat, path: Path, data: bytes, n: int) -> None:
    """Check that a damaged file is read or refused with one of our errors, never with another."""
    rng = random.Random(1)
    damaged = {
        f"cut after {cut} bytes": data[:cut] for cut in range(1, len(data), 1 + len(data) // n)
    }
    for number in range(n):
        place = rng.randrange(len(data))
        damaged[f"damage {number + 1} at byte {place}"] = (
            data[:place] + rng.randbytes(3) + data[place + 2 :]
        )
    damaged |= {"a zero byte": b"\x00", "braces": b"{}", "a word": b"model", "nothing": b""}
    for about, broken in damaged.items():
        try:
            form.read(ModelSource(path, broken, 100))
        except BnmindError as error:
            promises.keep(str(error).strip(), "it refuses damage with words", about)
        except Exception as fault:
            promises.broken(
                "it reads a damaged file, or refuses it by an error of bnmind",
                f"{about}: {type(fault).__name__}",
            )
    promises.refuse(
        lambda: form.read_network(ModelSource(path, data[: len(data) // 2], 100)),
        "it refuses half a file by a ModelFileError",
        kinds=ModelFileError,
    )


def _check_factors(promises: Promises, form: ModelFormat, path: Path) -> None:
    total = Variable.of_integers("sum.1", range(4))
    factors = FactorModel(
        (
            Factor((_RAIN,), np.array([2.0, 0.5])),
            Factor((_RAIN, total), np.arange(8.0).reshape(2, 4)),
        )
    )
    data = _written(promises, form, factors, path)
    with promises.no_error("it reads the factors that it writes"):
        again = form.read(ModelSource(path, data, 100))
    promises.keep(isinstance(again, FactorModel), "it reads factors as factors")
    for before, after in zip(factors.potentials, again.potentials, strict=True):
        promises.keep(
            isinstance(after, Factor)
            and isinstance(before, Factor)
            and np.array_equal(after.values, before.values),
            "it keeps every number of factors",
        )
