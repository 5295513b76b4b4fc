"""The registry of strategies, and strategies of the user's own modules."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import inspect
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import MappingProxyType
from typing import cast

from bnmind._arguments import checked_if_it_fails
from bnmind._registry import Registered, as_registered, made_by_name
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.strategies.belief_search import Best, LookAhead, LookAheadTwo
from bnmind.strategies.bernier import BernierGenetic, BernierRandom, GeneticElitist
from bnmind.strategies.estimation_of_distribution import EstimationOfDistribution, LocalEntropy
from bnmind.strategies.evolutionary import Annealing, Genetic, annealing_tuned, genetic_tuned
from bnmind.strategies.metropolis import MetropolisHastings
from bnmind.strategies.planning import Optimal, deeper
from bnmind.strategies.players import (
    SUBSET_ARGUMENT,
    Entropy,
    Knuth,
    MapCode,
    Myopic,
    RandomCode,
    Subset,
    UnknownNoise,
    first_possible,
    subset_strategy,
)
from bnmind.strategies.sampled_players import SampledEntropy, SampledMap
from bnmind.strategies.scores import SCORES, EntropyLeft, Score
from bnmind.strategies.snyder import LEARNED_THETA, ExponentialScoring
from bnmind.strategies.strategy import Strategy


def _one_guess_ahead(name: str, make_score: Callable[[], Score]) -> Strategy:
    """Return the strategy that chooses the guess of the best score."""
    return Myopic(make_score(), name=name)


STRATEGIES: Mapping[str, Registered[Strategy]] = MappingProxyType(
    {
        "entropy": Registered("the least expected entropy; models noise and priors", Entropy),
        "map": Registered("the most probable code; models noise and priors", MapCode),
        "knuth": Registered("the smallest worst case, with Knuth's way to break ties", Knuth),
        **{
            name: Registered(score.about, partial(_one_guess_ahead, name, score))
            for name, score in SCORES.items()
        },
        "shapiro": Registered("the first possible code", first_possible),
        "random": Registered("a random possible code", RandomCode),
        "random-consistent": Registered(
            "the same as random, by the name in the literature",
            partial(RandomCode, "random-consistent"),
        ),
        "subset": Registered(
            "the best score in a random subset of the possible codes; subset:20:entropy",
            partial(Subset, score=EntropyLeft()),
            SUBSET_ARGUMENT,
            lambda argument: subset_strategy(*argument),
        ),
        "eda": Registered(
            "estimation of distributions, until a code agrees with all replies",
            EstimationOfDistribution,
        ),
        "eda-entropy": Registered(
            "the same, with local entropy in the fitness",
            partial(EstimationOfDistribution, name="eda-entropy", local_entropy=True),
        ),
        "local-entropy": Registered(
            "the possible code that, with all guesses, uses the colors most evenly", LocalEntropy
        ),
        "optimal": Registered("proven to take the fewest guesses in total", Optimal),
        "optimal-worst": Registered(
            "proven to take the fewest guesses in the worst case",
            partial(Optimal, "optimal-worst", in_worst_case=True),
        ),
        "snyder": Registered("Snyder's exponential scores before learning", ExponentialScoring),
        "snyder-learned": Registered(
            "Snyder's exponential scores with the weights that she learned",
            partial(ExponentialScoring, "snyder-learned", LEARNED_THETA),
        ),
        "metropolis-hastings": Registered(
            "Snyder's random walk to a code that fits the replies; boards of any size",
            MetropolisHastings,
        ),
        "lookahead": Registered("the least expected value of the belief; models noise", LookAhead),
        "entropy-unknown-noise": Registered(
            "as entropy, and learns the level of the noise", UnknownNoise
        ),
        "map-unknown-noise": Registered(
            "as map, and learns the level of the noise", partial(UnknownNoise, MapCode())
        ),
        "best": Registered("the best known play on the board and under the noise", Best),
        "lookahead2": Registered("looks two guesses ahead; models noise", LookAheadTwo),
        "deeper": Registered("looks further ahead than one guess", deeper),
        "genetic": Registered("the most informative code found by a genetic algorithm", Genetic),
        "genetic-tuned": Registered("a genetic algorithm set for large boards", genetic_tuned),
        "genetic-elitist": Registered("the best code of an elitist genetic search", GeneticElitist),
        "bernier-random": Registered("the first random code that fits", BernierRandom),
        "bernier-genetic": Registered("the first code that fits of a population", BernierGenetic),
        "annealing": Registered("the best code of simulated annealing", Annealing),
        "annealing-tuned": Registered(
            "the most informative code of many annealings", annealing_tuned
        ),
        "entropy-sampled": Registered(
            "the least expected entropy, estimated from samples; boards of any size",
            SampledEntropy,
        ),
        "map-sampled": Registered(
            "the most probable of sampled codes; boards of any size", SampledMap
        ),
    }
)
"""The strategy of each name; every score of `SCORES` is the strategy of its name.

To add a strategy, write a class and add one line here. The command line takes
its names from here, and the contract tests run over every member.
"""

_NEEDED = ("name", "deterministic", "needs", "start", "choose")
_PARAMETERS = {"start": ("channel", "prior"), "choose": ("belief", "rng", "situation")}


@checked_if_it_fails
def strategy_by_name(name: str) -> Strategy:
    """Return the strategy with a name.

    Parameters
    ----------
    name
        A key of `STRATEGIES`, with its argument if it takes one, as in ``subset:20:entropy``; or
        ``module:name`` or ``module.py:name`` for a strategy of your own. The name in the module
        refers to a strategy, or to a class or function that returns a strategy when called
        without arguments. The module may be in the current directory.

    Raises
    ------
    UnknownNameError
        If no strategy has the name, or the module has no such name.
    InvalidArgumentError
        If the argument is missing or wrong, the module cannot be imported, or the object is not
        a strategy.

    Examples
    --------
    >>> strategy_by_name("knuth")
    Knuth(name='knuth')
    """
    if ":" not in name:
        name = as_registered(STRATEGIES, name)  # in any case of letters
    if name in STRATEGIES:
        return STRATEGIES[name]()
    if is_registered(name):
        return made_by_name("strategy", STRATEGIES, name)
    module_name, separator, attribute = name.partition(":")
    module_name = module_name.removesuffix(".py")
    if not (separator and module_name and attribute):
        raise UnknownNameError("strategy", name, ("module:name", *STRATEGIES))
    try:
        with _current_directory_importable():
            module = importlib.import_module(module_name)
            loaded = getattr(module, attribute, None)
            strategy = loaded() if callable(loaded) and _is_maker(loaded) else loaded
    except Exception as error:  # the user's module may raise anything
        if isinstance(error, ModuleNotFoundError) and module_name in STRATEGIES:
            return made_by_name("strategy", STRATEGIES, name)  # raises: it takes no argument
        reason = " ".join(str(error).split()) or "no message"
        raise InvalidArgumentError(
            f"cannot load the strategy {name!r}: {type(error).__name__}: {reason}", name
        ) from error
    if loaded is None:
        known = [public for public in vars(module) if not public.startswith("_")]
        raise UnknownNameError(f"name in the module {module_name}", attribute, known)
    missing = [needed for needed in _NEEDED if not hasattr(strategy, needed)]
    if missing:
        raise InvalidArgumentError(
            f"{name!r} is not a strategy: {type(strategy).__name__} without {', '.join(missing)};"
            " inherit from ModelsNoise, TrustsReplies, UsesSamples or UsesHistory",
            strategy,
        )
    for method, parameters in _PARAMETERS.items():
        try:
            inspect.signature(getattr(strategy, method)).bind(*parameters)
        except TypeError:
            raise InvalidArgumentError(
                f"{name!r} is not a strategy: expected {method}({', '.join(parameters)}), got "
                f"{method}{inspect.signature(getattr(strategy, method))}",
                strategy,
            ) from None
    return cast(Strategy, strategy)


def is_registered(name: str) -> bool:
    """Return whether a name refers to a member of `STRATEGIES`, rather than to your own module.

    A name such as ``subset:Mine`` refers to your own module if there is one.
    """
    member, _, argument = name.partition(":")
    if member not in STRATEGIES or not argument:
        return name in STRATEGIES
    if STRATEGIES[member].argument is None:
        return False
    with _current_directory_importable():
        return not (argument.isidentifier() and importlib.util.find_spec(member))


def source_digest(name: str) -> str | None:
    """Return a digest of the source of a strategy of your own; None for a registered one.

    It covers the module, and each module that it imports, directly or indirectly, except those of
    Python, of bnmind and of installed packages. Nothing is imported to find them. Files that the
    code reads do not count.

    Parameters
    ----------
    name
        The name, as for `strategy_by_name`.
    """
    if is_registered(name):
        return None
    first = name.partition(":")[0].removesuffix(".py")
    found: dict[str, str] = {}
    waiting = [first]
    with _current_directory_importable():
        while waiting:
            for spec in _own_specs(waiting.pop(), first.partition(".")[0]):
                if spec.name in found or not spec.has_location or spec.origin is None:
                    continue
                content = _content(spec.loader, spec.origin)
                found[spec.name] = hashlib.sha256(content).hexdigest()
                waiting += _imported(content, spec)
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()[:16]


def _own_specs(module: str, first: str) -> Iterator[ModuleSpec]:
    """Yield where a module and the packages that hold it are found, if they are the user's own."""
    top, *names = module.split(".")
    loaded = sys.modules.get(top)
    if loaded is not None and loaded.__spec__ is None:  # a script, or a module made by hand
        spec = importlib.util.spec_from_file_location(top, getattr(loaded, "__file__", None))
    else:
        spec = importlib.util.find_spec(top) if top else None
    if spec is None or top == "bnmind" or (top != first and _is_installed(spec)):
        return
    yield spec
    for name in names:
        path = spec.submodule_search_locations
        spec = None if path is None else PathFinder.find_spec(f"{spec.name}.{name}", path)
        if spec is None:
            return
        yield spec


def _is_installed(spec: ModuleSpec) -> bool:
    """Return whether a module is one of Python or of an installed package."""
    place = Path(spec.origin or next(iter(spec.submodule_search_locations or ()), ""))
    if not {"site-packages", "dist-packages"}.isdisjoint(place.parts):
        return True
    return any(place.is_relative_to(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))


def _imported(content: bytes, spec: ModuleSpec) -> Iterator[str]:
    """Yield the full names of what the source of a module imports."""
    with suppress(SyntaxError, ValueError):  # a module in machine code
        for node in ast.walk(ast.parse(content)):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                package = spec.name if spec.submodule_search_locations else spec.parent or ""
                above = f"{package}.".rsplit(".", node.level)[0] + "." if node.level else ""
                base = above + (f"{node.module}." if node.module else "")
                yield from (base + alias.name for alias in node.names)


def _content(loader: object, path: str) -> bytes:
    """Return a file, which may be in an archive; empty if it is not there any more."""
    with suppress(OSError):
        content: bytes = getattr(loader, "get_data", lambda path: Path(path).read_bytes())(path)
        return content
    return b""


def _is_maker(found: object) -> bool:
    """Return whether a callable makes a strategy, rather than being a callable strategy."""
    return isinstance(found, type) or not hasattr(found, "choose")


@contextmanager
def _current_directory_importable() -> Iterator[None]:
    """Make modules of the current directory importable, as ``python -m`` does."""
    before = list(sys.path)
    sys.path.insert(0, "")
    try:
        yield
    finally:
        sys.path[:] = before
