"""``bnmind simulate``: many adaptive tests, of drawn or of recorded examinees, side by side."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind._display.results import parts_of
from bnmind._messages import counted
from bnmind._registry import as_registered
from bnmind.cli.adaptive.designs import (
    DesignOption,
    PriorOption,
    counts_written,
    designs_of,
    tell_exposure,
    with_named_prior,
)
from bnmind.cli.adaptive.model_names import qmatrix_for
from bnmind.cli.adaptive.options import SelectorName, StopNames, check_shares
from bnmind.cli.adaptive.response_files import (
    FixedWidth,
    IdColumn,
    IgnoredColumns,
    KeyFile,
    Lowest,
    MissingTexts,
    read_response_file,
    say_notes,
)
from bnmind.cli.adaptive.true_profiles import with_profiles
from bnmind.cli.shared.command import (
    Count,
    Json,
    ResultsDirectory,
    Seed,
    Share,
    Workers,
    results_place,
    show_parts,
)
from bnmind.cli.shared.terminal import (
    INTERRUPTED,
    Report,
    naming,
    say,
    tell,
    tell_json,
    until_interrupted,
    working,
)
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind._workers import Executor
    from bnmind.adaptive import (
        Design,
        Examinees,
        ItemBank,
        LearningOptions,
        Responses,
        Selector,
        SimulationOptions,
        SimulationResult,
        SkillBelief,
        Stopper,
    )

__all__ = ["DEFAULT_EXAMINEES", "DEFAULT_SELECTORS", "simulate"]

DEFAULT_SELECTORS = ("entropy", "random")
DEFAULT_EXAMINEES = 1000
DEFAULT_FOLDS = 10


@dataclass(frozen=True)
class SimulateOptions:
    """The options of the command.

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
    missing: MissingTexts = None
    id_column: IdColumn = None
    ignore: IgnoredColumns = None
    fixed_width: FixedWidth = None
    lowest: Lowest = 0
    key: KeyFile = None
    profiles: Path | None = None
    qmatrix: Path | None = None
    folds: Annotated[int | None, typer.Option(min=2)] = None
    max_guess: Share | None = None
    max_slip: Share | None = None
    starts: Count | None = None
    selector: list[SelectorName] | None = None
    stop: StopNames = None
    design: DesignOption = None
    prior: PriorOption = None
    examinees: Count | None = None
    out: ResultsDirectory = None
    svg: bool = False
    posteriors: bool = False
    workers: Workers = 1
    seed: Seed = None
    as_json: Json = False


def simulate(options: SimulateOptions) -> None:
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
    from bnmind.adaptive import SELECTORS, selector_by_name, stopper_by_names
    from bnmind.adaptive.items.priors import BANK_PRIOR, named_prior
    from bnmind.lab import save_simulation

    given = options.selector or DEFAULT_SELECTORS
    names = tuple(as_registered(SELECTORS, name) for name in given)
    if len(set(names)) < len(names):
        raise BnmindError(f"expected different selectors, got {', '.join(names)}")
    place = results_place(options.out)
    _check(options)
    workers = options.workers
    model = _model(options)
    first = model  # learning starts from it, whatever the tests start from
    if options.design is None:
        model = with_named_prior(model, options.prior)
        selectors = {name: selector_by_name(name) for name in names}
        stopper = stopper_by_names(options.stop or [])
        tests = _Tests(selectors, stopper, options.seed or 0, workers)
        tests.prior = BANK_PRIOR if options.prior is None else named_prior(options.prior)
    else:
        designs = designs_of(
            options.design,
            model,
            options.selector or (),
            stop=options.stop or (),
            seed=options.seed,
            prior=options.prior,
        )
        tests = _Tests.of_designs(designs, workers)
        model = next(iter(designs.values())).bank
        first = replace(model, network=first.network)
    tests.posteriors = options.posteriors
    if options.responses is None:
        result = tests.drawn(model, options.examinees or DEFAULT_EXAMINEES)
    elif not _learns(options):
        answers = _answers(model, options.responses, options)
        result = tests.recorded(model, answers, options.profiles)
    else:
        answers = _answers(first, options.responses, options)
        result = tests.cross_validated(
            first, answers, options.folds or DEFAULT_FOLDS, _learning(options)
        )
    tell_exposure(result, tests.designs)
    written = save_simulation(result, place.directory, vector=options.svg)
    written += counts_written(tests.designs, place.directory)
    if options.as_json:
        files = [str(path) for path in written]
        tell_json({**result.to_dict(), "seed": tests.seed, "files": files})
    else:
        show_parts(parts_of(result))
        tell(f"Written: {counted(len(written), 'file')} in {place.directory}")
        place.tell_if_new()
    if tests.interrupted:
        who = f"{len(result):,} of {tests.n_examinees:,} examinees"
        which = f"the {who} in the folds done" if _learns(options) else f"the first {who}"
        say(f"interrupted; the results are those of {which}")
        raise typer.Exit(INTERRUPTED)


def _learns(options: SimulateOptions) -> bool:
    """Return whether the tests of each fold use parameters learned from the others."""
    return options.qmatrix is not None or options.folds is not None


def _check(options: SimulateOptions) -> None:
    """Raise BnmindError if the options contradict each other."""
    if (options.bank is None) == (options.qmatrix is None):
        got = "neither" if options.bank is None else "both"
        raise BnmindError(f"expected either a bank or --qmatrix, got {got}")
    learns = _learns(options)
    if options.responses is None and learns:
        raise BnmindError("expected --responses to learn from with --qmatrix or --folds")
    if not learns and (options.max_guess, options.max_slip, options.starts) != (None,) * 3:
        raise BnmindError(
            "--max-guess, --max-slip and --starts need --qmatrix or --folds; nothing is learned"
            " without them"
        )
    check_shares({"--max-guess": options.max_guess, "--max-slip": options.max_slip})
    if options.profiles is not None and (options.responses is None or learns):
        raise BnmindError("--profiles needs a bank and --responses, without --folds")
    if options.responses is not None and options.examinees is not None:
        raise BnmindError("expected either --responses or --examinees, got both")


class _Tests:
    """The tests to be run, whoever is tested."""

    def __init__(
        self,
        selectors: dict[str, Selector[SkillBelief]],
        stopper: Stopper | None,
        seed: int,
        workers: int | Executor,
    ) -> None:
        self.selectors, self.stopper, self.seed, self.workers = selectors, stopper, seed, workers
        self.designs: dict[str, Design] = {}
        self.posteriors, self.interrupted = False, False
        self.n_examinees = 0
        self.prior: object = "bank"
        """What the tests of banks that are learned on the way start from; see `prior_of`."""

    @classmethod
    def of_designs(cls, designs: dict[str, Design], workers: int | Executor) -> _Tests:
        """Return the tests of designs that differ only in their selectors."""
        first = next(iter(designs.values()))
        selectors = {name: design.selector for name, design in designs.items()}
        tests = cls(selectors, first.stopper, first.seed, workers)
        tests.designs = designs
        tests.prior = json.loads(first.text).get("prior", tests.prior)
        return tests

    def drawn(self, bank: ItemBank, n_examinees: int) -> SimulationResult:
        from bnmind.adaptive import Examinees

        people = working(
            "drawing examinees", lambda _: Examinees.drawn(bank, n_examinees, seed=self.seed)
        )
        return self._simulated(bank, people)

    def recorded(
        self, bank: ItemBank, answers: Responses, profiles: Path | None
    ) -> SimulationResult:
        from bnmind.adaptive import Examinees

        people = Examinees.recorded(bank, answers)
        if profiles is not None:
            people = with_profiles(people, bank, profiles, answers.examinees)
        found = self._simulated(bank, people)
        return replace(found, examinees=answers.examinees[: len(found)])

    def _simulated(self, bank: ItemBank, people: Examinees) -> SimulationResult:
        from bnmind.adaptive import simulate as simulate_tests
        from bnmind.adaptive import simulate_designs

        if self.designs:
            self._calibrate(people)

        def test(report: Report, until: Callable[[], bool]) -> SimulationResult:
            options = replace(self._options(), until=until)
            if self.designs:
                return simulate_designs(self.designs, people, options=options, progress=report)
            return simulate_tests(
                bank, people, self.selectors, self.stopper, options=options, progress=report
            )

        result, self.interrupted = until_interrupted("testing", test)
        self.n_examinees = len(people)
        return result

    def _calibrate(self, people: Examinees) -> None:
        """Count the exposure in tests of the examinees where a design has no counts yet."""
        from bnmind.adaptive import calibrated

        def count(design: Design) -> Callable[[object], Design]:
            return lambda _: calibrated(design, people, options=self._options())

        for name, design in self.designs.items():
            if design.eligibility is not None and not design.eligibility.eligible.any():
                self.designs[name] = working("calibrating the exposure", count(design))

    def _options(self) -> SimulationOptions:
        from bnmind.adaptive import SimulationOptions

        options = SimulationOptions(
            seed=self.seed, workers=self.workers, posteriors=self.posteriors
        )
        if not self.designs:
            return options
        return replace(options, rules=next(iter(self.designs.values())).rules)

    def cross_validated(
        self, model: ItemBank, answers: Responses, folds: int, options: LearningOptions
    ) -> SimulationResult:
        from bnmind.adaptive import replay
        from bnmind.adaptive.items.priors import prior_of
        from bnmind.adaptive.learning.learn import learn

        if any(design.eligibility is not None for design in self.designs.values()):
            raise BnmindError("expected a design without r_max for --qmatrix or --folds")
        self.n_examinees = len(answers)
        result, self.interrupted = until_interrupted(
            "learning and testing",
            lambda report, until: replay(
                lambda others: prior_of(self.prior, learn(others, model, options=options).bank),
                answers,
                self.selectors,
                self.stopper,
                folds=folds,
                options=replace(self._options(), until=until),
                progress=report,
            ),
        )
        return result


def _answers(bank: ItemBank, path: Path, options: SimulateOptions) -> Responses:
    """Return the recorded answers to the items of a bank."""
    answers = read_response_file(path, options, expected=bank.item_names, choices=bank)
    with naming(path):
        answers = answers.for_bank(bank)
    say_notes(answers)
    return answers


def _model(options: SimulateOptions) -> ItemBank:
    """Return the bank, or that of a Q-matrix; learning starts from its parameters."""
    from bnmind.adaptive import ItemBank, read_bank

    if options.qmatrix is None:
        assert options.bank is not None
        return read_bank(options.bank)
    assert options.responses is not None
    q = qmatrix_for(options.qmatrix, options.responses, options.fixed_width)
    return ItemBank.from_qmatrix(q.needs, guess=0.2, slip=0.2, items=q.items, skill_names=q.skills)


def _learning(options: SimulateOptions) -> LearningOptions:
    from bnmind.adaptive import Bounds, LearningOptions

    most = (options.max_guess, options.max_slip)
    guess, slip = (1.0 if p is None else p for p in most)
    return LearningOptions(
        starts=options.starts or 1,
        seed=options.seed or 0,
        bounds=Bounds((0.0, guess), (0.0, slip)),
    )
