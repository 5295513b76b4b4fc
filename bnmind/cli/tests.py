"""Commands for adaptive tests: simulate and evaluate them, and find the best one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from bnmind import adaptive, lab
from bnmind._display import Result, parts_of
from bnmind._files import write_file
from bnmind._messages import counted, listed
from bnmind._registry import as_registered
from bnmind.cli import inputs
from bnmind.cli.shared import command
from bnmind.cli.shared.terminal import Report, printable, say, until_interrupted, working
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind.adaptive.optimal_tests import FixedTest, OptimalTest

T = TypeVar("T")

DEFAULT_SELECTORS = ("entropy", "random")
DEFAULT_EXAMINEES = 1000
DEFAULT_FOLDS = 10
DEFAULT_DEPTH = 5
_FORMATS = "bnmind.adaptive:ITEM_TREE_FORMATS"
_AIMS = "bnmind.adaptive:AIMS"


# --- Simulation -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SimulateOptions:
    """Who is tested, and how.

    Parameters
    ----------
    bank
        The file of the item bank.
    responses
        Recorded answers to replay: CSV, Excel, SPSS, …
    profiles
        The true levels of the skills of these examinees: a column for each skill, and perhaps a
        column examinee with their names; else the rows are in the same order. Needs a bank and
        --responses, and no --folds.
    qmatrix
        A Q-matrix to learn from, instead of a bank.
    folds
        Learn the parameters for each of N folds from the others. [default: 10 with --qmatrix]
    max_guess
        Limit the learned probability of a guess.
    max_slip
        Limit the learned probability of a slip.
    starts
        Number of starts of the learning. [default: 1]
    selector
        The selector, from the list below. Repeat the option to compare several. [default:
        entropy random]
    examinees
        Number of examinees to draw. [default: 1000]
    svg
        Write the plots as SVG files, too.
    posteriors
        Write the probability of each level of each skill after every answer, too.
    """

    bank: Path | None = None
    _: KW_ONLY
    responses: Path | None = None
    profiles: Path | None = None
    qmatrix: Path | None = None
    folds: Annotated[int | None, typer.Option(min=2)] = None
    max_guess: command.Share | None = None
    max_slip: command.Share | None = None
    starts: command.Count | None = None
    examinees: command.Count | None = None
    out: command.ResultsDirectory = None
    svg: bool = False
    posteriors: bool = False
    selector: list[inputs.SelectorName] | None = None

    @property
    def learns(self) -> bool:
        """Whether the tests of each fold use parameters learned from the others."""
        return self.qmatrix is not None or self.folds is not None

    def check(self) -> None:
        """Raise BnmindError if the options contradict each other."""
        if (self.bank is None) == (self.qmatrix is None):
            got = "neither" if self.bank is None else "both"
            raise BnmindError(f"expected either a bank or --qmatrix, got {got}")
        if self.responses is None and self.learns:
            raise BnmindError("expected --responses to learn from with --qmatrix or --folds")
        if not self.learns and (self.max_guess, self.max_slip, self.starts) != (None,) * 3:
            raise BnmindError(
                "--max-guess, --max-slip and --starts need --qmatrix or --folds; nothing is learned"
                " without them"
            )
        inputs.check_shares({"--max-guess": self.max_guess, "--max-slip": self.max_slip})
        if self.profiles is not None and (self.responses is None or self.learns):
            raise BnmindError("--profiles needs a bank and --responses, without --folds")
        if self.responses is not None and self.examinees is not None:
            raise BnmindError("expected either --responses or --examinees, got both")


def simulate(
    options: SimulateOptions,
    test: inputs.DesignOptions,
    file: inputs.TableOptions,
    *,
    workers: command.Workers = 1,
    seed: command.Seed = None,
) -> Result:
    """Let selectors test the same examinees, and compare the results.

    By default, the examinees are drawn from the bank. With --responses, recorded answers are
    replayed: the CSV file has a column for each item and a row for each examinee, and is empty
    where there is no answer. With --folds, the parameters for each fold are learned from all other
    folds, so that no examinee is tested with a bank that knows the answers. With --qmatrix, no
    bank is needed. With --profiles, the profiles found are compared with the true ones. With
    --design and --selector, the selector of the design is compared with the others.

    The command writes tables (summary, curves, steps, exposure, lengths, people, attributes) and
    plots to the directory of --out. people.csv has the final profile of each examinee. After
    Ctrl-C, it writes the results of the examinees (or folds) whose tests are finished.

    Examples
    --------
    bnmind simulate models/banks/fractions.json --stop items:10
    bnmind simulate BANK.json --selector gdi --selector random --stop certainty:0.9 --out gdi
    bnmind simulate models/banks/fractions.json --design models/designs/fractions.toml
    bnmind simulate --qmatrix Q.csv --responses R.csv --max-guess .6 --stop items:10 --json
    """
    names = [as_registered(adaptive.SELECTORS, name) for name in options.selector or ()]
    if len(set(names)) < len(names):
        raise BnmindError(f"expected different selectors, got {', '.join(names)}")
    directory, new = command.results_place(options.out)
    options.check()
    first = _model(options, file)  # learning starts from it, whatever the tests start from
    tests = _Tests.of(first, names, test, seed=seed, workers=workers, posteriors=options.posteriors)
    if options.responses is None:
        n = options.examinees or DEFAULT_EXAMINEES
        people = working(
            "drawing examinees",
            lambda _: adaptive.Responses.drawn(tests.bank, n, seed=tests.options.seed),
        )
        result = tests.simulated(people)
    elif not options.learns:
        people = file.answers(options.responses, tests.bank)
        if options.profiles is not None:
            levels = inputs.profiles_in(options.profiles, tests.bank, people.examinees).levels
            skills = tuple(tests.bank.variable(name) for name in tests.bank.skills)
            people = replace(people, skills=skills, levels=levels)
        result = tests.simulated(people)
        result = replace(result, examinees=people.examinees[: len(result)])
    else:
        first = replace(tests.bank, network=first.network)
        answers = file.answers(options.responses, first)
        result = tests.cross_validated(first, answers, options)
    _tell_exposure(result, tests.designs)
    written = lab.save_simulation(result, directory, vector=options.svg)
    written += _counts_written(tests.designs, directory)
    where = f"Written: {counted(len(written), 'file')} in {directory}"
    files = list(map(str, written))
    return command.Outcome.of(result, where, *new, seed=tests.options.seed, files=files)


def _model(options: SimulateOptions, file: inputs.TableOptions) -> adaptive.ItemBank:
    """Return the bank, or that of a Q-matrix; learning starts from its parameters."""
    if options.qmatrix is None:
        assert options.bank is not None
        return adaptive.read_bank(options.bank)
    assert options.responses is not None
    q = inputs.qmatrix_for(options.qmatrix, options.responses, file.fixed_width)
    return adaptive.ItemBank.from_qmatrix(
        q.needs, guess=0.2, slip=0.2, items=q.items, skill_names=q.skills
    )


@dataclass(frozen=True)
class _Tests:
    """The tests to be run, whoever is tested."""

    designs: dict[str, adaptive.Design]
    """Designs that differ only in their selectors."""
    options: adaptive.SimulationOptions
    prior: object
    """What the tests of banks that are learned on the way start from; see `prior_of`."""

    @classmethod
    def of(
        cls,
        bank: adaptive.ItemBank,
        names: Sequence[str],
        test: inputs.DesignOptions,
        *,
        seed: int | None,
        **more: Any,
    ) -> _Tests:
        """Return the tests with some selectors, by a design or by other options.

        A file that names no selector leaves the choice to the others, if there are any.
        """
        from bnmind.adaptive.items.skill_distributions import BANK_PRIOR

        content = test.content(seed=seed)
        select = content.get("select", {})
        select = {"by": select} if isinstance(select, str) else select
        stated = select.get("by")
        if stated is not None:
            own = as_registered(adaptive.SELECTORS, stated)
            names = [name for name in names if name != own]
            if names:
                say(f"note: the selector of the design, {printable(own)}, is compared, too")
            names = [stated, *names]
        usual = DEFAULT_SELECTORS if test.design is None else (inputs.DEFAULT_SELECTOR,)
        for name in names:
            if name != stated:
                adaptive.selector_by_name(name)  # a wrong one is no fault of the file
        designs = {
            name: test.of({**content, "select": {**select, "by": name}}, bank)
            for name in names or usual
        }
        first = next(iter(designs.values()))
        options = adaptive.SimulationOptions(seed=first.seed, rules=first.rules, **more)
        return cls(designs, options, content.get("prior", BANK_PRIOR))

    @property
    def bank(self) -> adaptive.ItemBank:
        """The bank, with the prior, testlets and enemies of the design."""
        return next(iter(self.designs.values())).bank

    def simulated(self, people: adaptive.Responses) -> adaptive.SimulationResult:
        """Return the tests of examinees, whose answers are known."""

        def calibrated(design: adaptive.Design) -> adaptive.Design:
            return working(
                "calibrating the exposure",
                lambda _: adaptive.calibrated(design, people, options=self.options),
            )

        for name, design in self.designs.items():
            if design.eligibility is not None and not design.eligibility.eligible.any():
                self.designs[name] = calibrated(design)

        def run(report: Report, until: Callable[[], bool]) -> adaptive.SimulationResult:
            options = replace(self.options, until=until)
            return adaptive.simulate_designs(self.designs, people, options=options, progress=report)

        return _as_far(
            "testing",
            run,
            lambda result: (
                f"interrupted; the results are those of the first {len(result):,} of"
                f" {len(people):,} examinees"
            ),
            later=True,
        )

    def cross_validated(
        self, model: adaptive.ItemBank, answers: adaptive.Responses, options: SimulateOptions
    ) -> adaptive.SimulationResult:
        """Return tests of examinees in folds, whose banks are learned from the other folds."""
        from bnmind.adaptive.bank_files import prior_of
        from bnmind.adaptive.learning.learn import learn

        if any(design.eligibility is not None for design in self.designs.values()):
            raise BnmindError("expected a design without r_max for --qmatrix or --folds")
        guess, slip = (1.0 if p is None else p for p in (options.max_guess, options.max_slip))
        learning = adaptive.LearningOptions(
            starts=options.starts or 1,
            seed=self.options.seed,
            bounds=adaptive.Bounds((0.0, guess), (0.0, slip)),
        )
        return _as_far(
            "learning and testing",
            lambda report, until: adaptive.replay(
                lambda others: prior_of(self.prior, learn(others, model, options=learning).bank),
                answers,
                {name: design.selector for name, design in self.designs.items()},
                next(iter(self.designs.values())).stopper,
                folds=options.folds or DEFAULT_FOLDS,
                options=replace(self.options, until=until),
                progress=report,
            ),
            lambda result: (
                f"interrupted; the results are those of the {len(result):,} of"
                f" {len(answers):,} examinees in the folds done"
            ),
            later=True,
        )


def _as_far(
    what: str,
    run: Callable[[Report, Callable[[], bool]], T],
    message: Callable[[T], str],
    *,
    later: bool = False,
) -> T:
    """Return the result of some work; after Ctrl-C what there is, with a message about it."""
    result, interrupted = until_interrupted(what, run)
    if interrupted:
        command.exit_interrupted(message(result), later=later)
    return result


def _tell_exposure(
    result: adaptive.SimulationResult, designs: Mapping[str, adaptive.Design]
) -> None:
    """Print a note on each design whose items exceed the largest exposure that it allows."""
    for name, design in designs.items():
        if design.eligibility is not None:
            limit, exposure = design.eligibility.limit, result.run_of(name).exposure
            error = math.sqrt(limit * (1 - limit) / len(result))
            if n := int((exposure > limit + 2 * error).sum()):
                most = printable(result.items[int(exposure.argmax())])
                say(
                    f"note: {name} asks {counted(n, 'item')} more often than r_max {limit:g} and"
                    f" two standard errors ({error:.3f} each), {most} most ({exposure.max():.3f})"
                )


def _counts_written(designs: Mapping[str, adaptive.Design], directory: Path) -> tuple[Path, ...]:
    """Write the counts of exposure controls, for the key ``counts`` of designs."""
    written = []
    for number, design in enumerate(designs.values(), start=1):
        if (control := design.eligibility) is not None:
            counts = zip(control.eligible.tolist(), control.asked.tolist(), strict=True)
            pairs = zip(design.bank.item_names, counts, strict=True)
            content = {name: list(map(int, pair)) for name, pair in pairs}
            path = directory / ("counts.json" if len(designs) == 1 else f"counts-{number}.json")
            write_file(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
            written.append(path)
    return tuple(written)


# --- Tests without luck ---------------------------------------------------------------------------


def _design(
    bank: adaptive.ItemBank, selector: str | None, test: inputs.DesignOptions
) -> adaptive.Design:
    """Return the design of a test; a note says which of its items are left out."""
    design = test.of(test.content(selector), bank)
    if design.pilot is not None:
        names = listed(design.pilot.items).replace("; ", ", ")
        say(
            f"note: the new items {printable(names)} are left out; the results are those"
            " of the test of the other items"
        )
    return design


def evaluate(
    bank: Path,
    *,
    min_probability: command.Share = 0.0,
    max_beliefs: command.Count | None = None,
    selector: inputs.SelectorName | None = None,
    test: inputs.DesignOptions,
) -> Result:
    """Compute the expected results of an adaptive test exactly, without simulation.

    A selector that draws no random numbers makes a test a tree: each response leads to the next
    item. The command follows all paths of the tree, weighted by their probabilities in the bank,
    and reports the expected accuracy, entropy, length and cost of the whole test, and how often
    each item is asked.

    If the tree is too large, it is cut at its least probable beliefs. All results are then
    intervals that certainly contain the exact values. Ctrl-C cuts it where the evaluation is.

    Parameters
    ----------
    bank
        The file of the item bank.
    min_probability
        Do not follow beliefs that are reached with a smaller probability.
    max_beliefs
        Evaluate at most N beliefs, the most probable ones. [default: 1,048,576]

    Examples
    --------
    bnmind evaluate models/banks/fractions.json --stop items:10
    bnmind evaluate BANK.json --selector gdi --stop certainty:0.9 --stop items:12 --json
    bnmind evaluate BANK.json --design DESIGN.toml
    bnmind evaluate BANK.json --stop items:20 --min-probability 1e-5
    """
    from bnmind.adaptive.evaluation import DEFAULT_BELIEFS

    inputs.check_shares({"--min-probability": min_probability})
    design = _design(adaptive.read_bank(bank), selector, test)
    return _as_far(
        "evaluating the test",
        lambda report, ended: adaptive.evaluate_design(
            design,
            min_probability=min_probability,
            max_beliefs=max_beliefs or DEFAULT_BELIEFS,
            progress=report,
            until=ended,
        ),
        lambda _: "interrupted; the tree is cut here, and the results so far are intervals",
    )


# --- The best test --------------------------------------------------------------------------------


@dataclass(frozen=True)
class TreeOptions:
    """What is searched for.

    Parameters
    ----------
    bank
        The file of the item bank.
    depth
        Ask at most N items. [default: 5]
    minimize
        What to minimize, from the list below. [default: entropy]
    price
        The price of one unit of the cost of items, in the unit of the aim; the test ends early
        where no item is worth it.
    fixed
        Find the best list of --depth items instead of a tree.
    max_beliefs
        End the search before it keeps more beliefs. [default: 4,000,000]
    out
        Write the tree, in a format from the list below.
    selector
        Write the tree of a selector, without a search. The selector, from the list below.
    """

    bank: Path
    _: KW_ONLY
    depth: command.Count | None = None
    minimize: Annotated[str | None, "AIM", command.OneOf(_AIMS, "Aims")] = None
    price: command.Share | None = None
    fixed: bool = False
    max_beliefs: command.Count | None = None
    out: Annotated[
        Path | None, command.Place("tree", _FORMATS), command.OneOf(_FORMATS, "Formats of trees")
    ] = None
    selector: inputs.SelectorName | None = None

    def check(self, test: inputs.DesignOptions) -> None:
        """Raise BnmindError if the options contradict each other."""
        follows = self.selector is not None or test.design is not None
        if self.fixed and follows:
            raise BnmindError("expected --fixed, or --selector or --design, got both")
        if test.stop and not follows:
            raise BnmindError("--stop goes with --selector or --design; the search takes --depth")
        searched = {"--minimize": self.minimize, "--price": self.price, "--depth": self.depth}
        names = [name for name, given in searched.items() if given is not None]
        if follows and names:
            raise BnmindError(
                f"--selector and --design search for nothing; leave out {' and '.join(names)}"
            )
        if self.price is not None and not self.price >= 0:
            raise BnmindError(f"expected --price of at least 0, got {self.price:g}")


def tree(options: TreeOptions, test: inputs.DesignOptions) -> Result:
    """Find the best adaptive test of a bank, with a proof, and write it as a paper test.

    The test is a tree: each response to an item leads to the next item. The command searches for
    the tree of at most --depth items whose expected entropy, loss or cost is smallest, and shows
    what the greedy test loses, which asks the most informative item each time. Ctrl-C ends the
    search with the best tree so far, and says how far it may be from the best one.

    --fixed finds the best list of items instead, for a test in which everybody answers the same
    items. --selector and --design write the tree of a selector or a design, without a search.

    Examples
    --------
    bnmind tree models/banks/fraction-subtraction.json --depth 5
    bnmind tree BANK.json --depth 4 --out test.html
    bnmind tree BANK.json --minimize cost:0.9 --depth 6 --out tree.svg
    bnmind tree BANK.json --fixed --depth 10
    bnmind tree BANK.json --selector gdi --stop items:6 --out tree.json
    """
    options.check(test)
    aim = adaptive.aim_by_name(options.minimize or "entropy")
    bank = adaptive.read_bank(options.bank)
    parts: list[Any] = []
    record: dict[str, Any] = {}
    found: adaptive.ItemTree | OptimalTest | FixedTest
    if options.selector is not None or test.design is not None:
        design = _design(bank, options.selector, test)
        found = working("following the selector", lambda _: adaptive.design_tree(design))
        name = options.selector or str(test.design)
        record, parts = {"test_of": name}, [f"The test of {name}:"]
    else:
        bank = inputs.with_named_prior(bank, test.prior)
        _say_neglected(bank)
        found = _best(options, bank, aim)
    parts += parts_of(found)
    record |= found.to_dict()
    if options.out is not None:
        whole = found if isinstance(found, adaptive.ItemTree) else found.tree
        adaptive.write_item_tree(whole, options.out)
        record["file"] = str(options.out)
        parts.append(f"Written: {options.out} ({counted(len(whole.points), 'point')}).")
    return command.Outcome(record, parts)


def _say_neglected(bank: adaptive.ItemBank) -> None:
    """Name the properties of the items that the searches do not consider."""
    has_testlets = any(item.testlet for item in bank.items)
    has_content = any(item.content for item in bank.items)
    if named := ["testlets"] * has_testlets + ["content codes"] * has_content:
        say(f"note: the search does not consider the {' and '.join(named)} of the bank")


def _best(
    options: TreeOptions, bank: adaptive.ItemBank, aim: adaptive.Aim
) -> OptimalTest | FixedTest:
    """Return the best test or list of a bank."""
    from bnmind.questions.best_trees import DEFAULT_BELIEFS

    depth = options.depth or DEFAULT_DEPTH
    aims: dict[str, Any] = {"aim": aim, "price": options.price or 0.0}
    if options.fixed:
        return _searched(
            "searching for the best list",
            lambda until: adaptive.fixed_test(bank, depth, until=until, **aims),
        )
    most = options.max_beliefs or DEFAULT_BELIEFS
    return _searched(
        "searching for the best tree",
        lambda until: adaptive.optimal_test_tree(
            bank, depth, max_beliefs=most, until=until, **aims
        ),
    )


def _searched(what: str, search: Callable[[Callable[..., bool]], T]) -> T:
    """Return what a search finds until Ctrl-C; the number of its steps is shown."""

    def work(report: Report, ended: Callable[[], bool]) -> T:
        def until(known: Any, *_: float) -> bool:
            report(getattr(known, "n_beliefs", known), None)
            return ended()

        return search(until)

    return _as_far(what, work, lambda _: "interrupted; the best found so far follows")
