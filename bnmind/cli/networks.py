"""Commands for any network: its answers, the reasons for them, and its tables."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from bnmind import fitting, junction, lab, sensitivity
from bnmind._display import Result
from bnmind._files import check_writable, write_file, write_files
from bnmind._messages import one_line, shown
from bnmind._registry import listed_names
from bnmind.cli.shared import command
from bnmind.cli.shared.terminal import Report, interruptible, printable, working
from bnmind.errors import BnmindError, TooLargeError, UnknownNameError
from bnmind.junction.engine import CompetitionTask
from bnmind.junction.slices import SlicedPlan

if TYPE_CHECKING:
    from bnmind.pgm import FactorModel


Evidence: TypeAlias = Annotated[
    Sequence[str],
    "A=x,B=y",
    typer.Option(
        help="The evidence: variables and their states. Repeat the option for more. Names and"
        " states may contain commas and = if there is only one way to read them."
    ),
]
Targets: TypeAlias = Annotated[Sequence[str], "A,B"]


# --- Learning -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FitCommandOptions:
    """The options of the command.

    Parameters
    ----------
    model
        The file that holds the network.
    out
        The file for the network with new tables.
    prior
        The prior, from the list below.
    fixed
        Variables that keep their tables.
    tied
        Variables that share one table, position by position: their states and those of their
        parents are the same in the same order. Repeat the option for other tables.
    hidden
        Variables without a column.
    starts
        Number of starts; the best result counts.
    iterations
        The most EM iterations of a start.
    tolerance
        Stop if a step raises the log-likelihood by no more.
    """

    model: command.ModelFile
    cases: command.CasesFile
    _: KW_ONLY
    out: Annotated[Path | None, command.Place("network", "bnmind.pgm.files:NETWORK_SUFFIXES")] = (
        None
    )
    prior: Annotated[Any, command.OneOf("bnmind.fitting:PRIORS", "Priors", kind="prior")] = "none"
    fixed: command.Names = ()
    tied: Annotated[Sequence[str], "A,B"] = ()
    hidden: command.Names = ()
    starts: command.Count = 1
    iterations: command.Count = 1000
    tolerance: float = 1e-4
    workers: command.Workers = 1
    seed: command.Seed = None


def fit(options: FitCommandOptions) -> Result:
    """Learn the tables of a Bayesian network from cases, by counts or by EM.

    MODEL is a network in a format from the list below. CASES is a CSV, TSV, Excel or Parquet
    file with a row for each case and a column for each variable. Empty cells are missing: EM
    completes them.

    Examples
    --------
    bnmind fit models/fractions-class/skills.bif models/fractions-class/profiles.csv --out new.bif
    bnmind fit MODEL.bif CASES.parquet --out fitted.bif --prior bdeu:10 --fixed A,B
    bnmind fit MODEL.bif CASES.csv --out fitted.xdsl --hidden H --starts 5 --seed 1
    """
    from bnmind.fitting.expectation import read_cases_for
    from bnmind.pgm.files import model_contents, read_network, write_model

    settings = fitting.FitOptions(
        starts=options.starts,
        seed=options.seed or 0,
        max_iterations=options.iterations,
        tolerance=options.tolerance,
        workers=options.workers,
    )
    network, out = options.model.read(read_network), options.out
    if out is not None:
        # All but the numbers is known now: the names, the sizes of the tables and the places.
        check_writable(*model_contents(network, out))

    def read(_: Report) -> Any:
        return read_cases_for(network, options.cases, options.hidden)

    cases = working(f"reading {printable(options.cases.name)}", read)
    fitted = working(
        "learning",
        lambda report: fitting.fit(
            network,
            cases,
            prior=options.prior,
            fixed=options.fixed,
            tied=[listed_names(text, ",") for text in options.tied],
            hidden=options.hidden,
            options=settings,
            progress=report,
        ),
    )
    if out is None:
        return command.Outcome.of(fitted, out=None)
    write_model(fitted.network, out)
    return command.Outcome.of(fitted, f"Written to {out}.", out=str(out))


# --- Explaining -----------------------------------------------------------------------------------


def explain(
    model: command.ModelFile,
    *,
    target: Annotated[str, "X"],
    evidence: Evidence = (),
    state: Annotated[str | None, "STATE"] = None,
    parameters: command.Count = 10,
    vary: Annotated[float, "PERCENT", typer.Option(min=0)] = 10.0,
    svg: Annotated[Path | None, command.Place("picture of --svg", (".svg",))] = None,
    png: Annotated[Path | None, command.Place("picture of --png", (".png",))] = None,
) -> Result:
    """Explain a conclusion: the findings that support it, and the numbers behind it.

    The first table shows the weight of each finding in bits, positive if it supports the
    conclusion: alone, and given all other findings. The second one shows the entries of the tables
    of the network with the largest influence. If the conclusion is the most probable state, a third
    one shows how far an entry may change before another state is. The other entries of a row
    change in proportion.

    Parameters
    ----------
    model
        The file that holds the network.
    target
        The variable of the conclusion; X=STATE names its state, too.
    state
        The conclusion. [default: the most probable state]
    parameters
        The most parameters to show.
    vary
        How far each parameter varies.
    svg
        Draw the first two tables to this file.
    png
        Draw the first two tables to this file.

    Examples
    --------
    bnmind explain models/diagnosis/asia.xdsl --target lung --evidence xray=yes,smoke=yes
    bnmind explain models/diagnosis/asia.xdsl --target lung=no --evidence xray=yes --svg why.svg
    bnmind explain models/diagnosis/asia.xdsl --target lung --evidence xray=yes --json
    """
    from bnmind.pgm.files import read_network

    change = sensitivity.Relative(vary / 100).share
    network = model.read(read_network)
    states = {v.name: v.states for v in network.variables}
    if state is None and target not in states and "=" in target:
        [(target, state)] = evidence_of([target], states).items()
    known = evidence_of(evidence, states)
    found = working(
        "weighing",
        lambda _: sensitivity.explain_conclusion(
            network, target, known, state=state, change=change, parameters=parameters
        ),
    )
    places = [place for place in (svg, png) if place is not None]
    if places:
        figure = working("drawing", lambda _: found.plot())
        draw = {svg: lab.svg, png: lab.png}
        write_files({place: draw[place](figure) for place in places})
    return command.Outcome.of(found, *(f"\nWritten: {place}" for place in places))


# --- Querying -------------------------------------------------------------------------------------

DEFAULT_ORDER = "portfolio"

WIDEST = 100
"""Columns beyond which a table only becomes harder to read."""

_LONG = 5.0
"""Seconds of a run whose predicted time is said."""

_MOST = 1e30
"""The largest limit that can be given."""


@dataclass(frozen=True, kw_only=True)
class _Question:
    """A question about a model."""

    model: FactorModel
    known: Mapping[str, str]
    names: Sequence[str]
    """The targets that were named."""
    order: junction.OrderFinder | None
    """The search for elimination orders; by default each kind of question has its own."""
    limits: junction.Limits

    @property
    def targets(self) -> list[str]:
        """The targets; those without evidence if none were named."""
        return [*self.names] or [v.name for v in self.model.variables if v.name not in self.known]


@dataclass(frozen=True)
class QueryOptions:
    """The options of the command.

    Parameters
    ----------
    evidence_file
        A file of evidence of the UAI competitions: the number of findings, then for each the
        numbers of a variable and a state, from 0, in the order of the model file. For --task, it
        may hold several samples.
    targets
        The variables of interest. [default: all without evidence] Repeat the option for more. Put
        a name that contains a comma in double quotes.
    task
        Answer a task of the UAI competitions in their format, from the list below.
    query_file
        The variables of --task MMAP: their number, then their numbers, from 0. [default:
        MODEL.query; --targets names them instead]
    best
        The K most probable answers to --task MPE or MMAP, each in a line, the most probable first.
        [default: 1]
    out
        The file for the answer to --task. [default: the standard output]
    mpe
        Print the most probable states by name: of all variables (MPE), or jointly of --targets
        (MAP).
    order
        How to find the elimination order, from the list below. [default: portfolio]
    plan
        Show the junction tree and its cost too.
    svg
        Draw the network with its distributions to this file.
    samples
        Estimate the distributions from N weighted samples, with standard errors.
    max_bytes
        The limit for the memory of a run, such as 8e9; a larger run is cut into slices. [default:
        2 GiB]
    max_multiplications
        The limit for the multiplications of a run, such as 1e12. [default: 1.7e10]
    max_seconds
        The limit for the predicted time of a run, such as 3600. [default: 60]
    """

    model: command.ModelFile
    _: KW_ONLY
    evidence: Evidence = ()
    evidence_file: Path | None = None
    targets: Targets = ()
    task: Annotated[
        str | None,
        command.OneOf("bnmind.junction:COMPETITION_TASKS", "Tasks of the UAI competitions"),
    ] = None
    query_file: Path | None = None
    best: Annotated[command.Count | None, "K"] = None
    out: Annotated[Path | None, command.Place()] = None
    mpe: bool = False
    order: Annotated[
        Any, command.OneOf("bnmind.junction:ORDER_FINDERS", "Order finders", kind="order finder")
    ] = None
    plan: bool = False
    svg: Annotated[Path | None, command.Place("picture of --svg", (".svg",))] = None
    samples: Annotated[command.Count | None, "N"] = None
    seed: command.Seed = None
    max_bytes: Annotated[float | None, "N", typer.Option(min=1)] = None
    max_multiplications: Annotated[float | None, "N", typer.Option(min=1)] = None
    max_seconds: Annotated[float | None, "S"] = None
    as_json: command.Json = False


def query(options: QueryOptions) -> Result:
    """Compute the distributions of variables of a Bayesian network, given evidence.

    The model is a file in a format from the list below. It may be compressed as .gz.

    Examples
    --------
    bnmind query models/diagnosis/asia.xdsl --evidence smoke=yes,dysp=yes --targets lung,bronc
    bnmind query models/diagnosis/asia.xdsl --evidence smoke=yes --evidence xray=yes --plan --json
    bnmind query models/diagnosis/asia.xdsl --evidence smoke=yes --svg asia.svg
    bnmind query models/diagnosis/asia.xdsl --evidence smoke=yes --mpe
    bnmind query MODEL.uai --evidence-file MODEL.uai.evid --task MAR --out MODEL.uai.MAR
    """
    from bnmind.pgm import Network
    from bnmind.pgm.files import read, read_model

    task = _checked(options)
    model = options.model.read(read_model)
    samples = _samples(options, model, one=task is None)
    question = _Question(
        model=model,
        known=samples[0],
        names=names_of(options.targets, {v.name for v in model.variables}),
        order=options.order,
        limits=_limits(options),
    )
    if task is not None:
        return _answer_task(task, options, question, samples)
    if options.mpe:
        engine = junction.compile_model(model, order=question.order, limits=question.limits)
        names, known = question.names, question.known
        return working(
            "searching", lambda _: engine.map(names, known) if names else engine.mpe(known)
        )
    if (n_samples := options.samples) is not None:
        import numpy as np

        network = options.model.read(read)
        if not isinstance(network, Network):
            raise BnmindError("--samples needs a Bayesian network; this file has other factors")
        return working(
            "sampling",
            lambda report: junction.likelihood_weighting(
                network,
                question.known,
                question.targets,
                n_samples=n_samples,
                rng=np.random.default_rng(options.seed),
                limits=question.limits,
                progress=report,
            ),
        )
    return _exact(options, question)


def _checked(options: QueryOptions) -> CompetitionTask | None:
    """Return the task, or None; raise an error if options do not go together."""
    given = command.given_options(options, "model", *([] if options.targets else ["targets"]))

    def refuse(names: str, reason: str) -> None:
        for name in names.split():
            if name in given:
                raise BnmindError(f"{name} {reason}")

    if options.mpe:
        refuse("--task --plan --svg --samples", "does not go with --mpe")
    if options.seed is not None and options.samples is None:
        raise BnmindError("--seed goes with --samples")
    if options.task is None:
        known = " or ".join(junction.COMPETITION_TASKS)
        refuse("--query-file --best --out", f"goes with --task {known}")
    if options.samples is not None:
        refuse("--task --svg --plan", "does not go with --samples")
    if options.task is None:
        return None
    if options.task not in junction.COMPETITION_TASKS:
        raise UnknownNameError("task", options.task, junction.COMPETITION_TASKS)
    task = junction.COMPETITION_TASKS[options.task]
    wrong = "--svg --plan --json"
    wrong += "" if task.has_query else " --targets --query-file"
    wrong += "" if task.has_several else " --best"
    refuse(wrong, f"does not go with --task {options.task}, whose answer has a format of its own")
    if options.targets and options.query_file is not None:
        raise BnmindError("--targets and --query-file both name the variables; give one of them")
    return task


def _limits(options: QueryOptions) -> junction.Limits:
    """Return the limits of the cost of a run."""
    given: dict[str, Any] = {}
    for name in ("max_bytes", "max_multiplications", "max_seconds"):
        number = getattr(options, name)
        if number is None:
            continue
        if not number <= _MOST:
            option = f"--{name.replace('_', '-')}"
            raise BnmindError(f"expected {option} of at most {_MOST:.0e}, got {number:g}")
        given[name] = number if name == "max_seconds" else int(number)
    return junction.Limits(**given)


def _samples(options: QueryOptions, model: FactorModel, *, one: bool) -> list[dict[str, str]]:
    """Return the evidence of both options, for each sample of the file; ``one`` allows no more."""
    from bnmind.pgm.competition import read_evidence, read_evidence_samples

    known = evidence_of(options.evidence, {v.name: v.states for v in model.variables})
    file = options.evidence_file
    if file is None:
        return [known]
    samples = [read_evidence(file, model)] if one else list(read_evidence_samples(file, model))
    twice = [name for found in samples for name in found if name in known]
    if twice:
        raise BnmindError(
            f"the evidence on {one_line(twice[0])} is given twice, by --evidence and in {file}"
        )
    return [{**found, **known} for found in samples]


def _answer_task(
    task: CompetitionTask,
    options: QueryOptions,
    question: _Question,
    samples: Sequence[Mapping[str, str]],
) -> Result:
    """Return the answer to a task, written to its file if there is one."""
    from bnmind.pgm.competition import write_packed

    engine = junction.compile_model(question.model, order=question.order, limits=question.limits)
    names = _variables_of_task(options, question) if task.has_query else ()
    text = working(
        "computing", lambda _: task.answer(engine, samples, names, count=options.best or 1)
    )
    if options.out is None:
        return command.Outcome({}, [text.removesuffix("\n")])
    write_packed(text, options.out)
    return command.Outcome({}, [f"Written: {options.out}"])


def _variables_of_task(options: QueryOptions, question: _Question) -> tuple[str, ...]:
    """Return the variables of a marginal MAP."""
    from bnmind.pgm.competition import read_query

    if options.targets:
        return tuple(question.names)
    path = options.model.path
    name = path.name.removesuffix(".gz")
    places = [path.with_name(f"{name}.query{end}") for end in ("", ".gz")]
    for place in [options.query_file] if options.query_file else places:
        if place == options.query_file or place.exists():
            return read_query(place, question.model)
    raise BnmindError(
        f"--task {options.task} needs the variables to explain: name them with --targets or"
        f" --query-file, or put them into {places[0]}"
    )


def _exact(options: QueryOptions, question: _Question) -> Result:
    """Return the distributions given the evidence, and the plan if that is asked for."""
    from bnmind.views import belief_view

    plan, findings = _planned(question)
    posterior = working(_words_of(plan), lambda report: plan.run(findings, progress=report))
    known, picture = question.known, options.svg
    view = interruptible(lambda: belief_view(question.model, posterior, evidence=known))
    if picture is not None:
        write_file(picture, working("drawing", lambda _: view.svg()))
    record = {"marginals": posterior.to_dict(), "log_evidence": posterior.log_evidence}
    if options.plan:
        record["plan"] = plan.to_dict()

    def parts() -> Iterator[str]:
        if names := list(dict.fromkeys([*known, *question.targets])):
            width = min(shutil.get_terminal_size().columns, WIDEST)
            yield working("printing", lambda _: view.text(width=width, names=names))
        yield f"log-probability of the evidence {posterior.log_evidence:.6g}"
        if options.plan:
            yield f"\n{plan}"
        if picture is not None:
            yield f"\nWritten: {picture}"

    return command.Outcome(record, parts())


def _planned(question: _Question) -> tuple[junction.Plan | SlicedPlan, Mapping[str, str]]:
    """Return the plan of a question, in slices if it is too large, and the findings of its run."""
    from bnmind.junction.slices import sliced_instead

    known, targets = question.known, [[name] for name in question.targets]
    asked: dict[str, Any] = {"targets": targets, "order": question.order, "limits": question.limits}

    def planned() -> tuple[junction.Plan, Mapping[str, str]]:
        plan = junction.compile_plan(question.model, evidence=known, **asked)
        # If each case has a plan of its own, show the plan for this evidence.
        return (plan, known) if plan.by_case is None else (plan.for_case(known), {})

    try:
        return working("planning", lambda _: planned())
    except TooLargeError as refusal:
        fault = refusal
    sliced = working(
        "planning slices",
        lambda _: sliced_instead(fault, question.model, known=known, **asked),
    )
    return sliced, {}


def _words_of(plan: junction.Plan | SlicedPlan) -> str:
    """Return what is said while a plan runs."""
    from bnmind.junction.limits import format_seconds

    if isinstance(plan, SlicedPlan):
        return f"computing {plan.n_slices:,} slices"
    return (
        f"computing, {format_seconds(plan.seconds)} in all" if plan.seconds > _LONG else "computing"
    )


# --- Evidence and names of variables, as they are typed: A=x,B=y and A,B --------------------------


def evidence_of(texts: Sequence[str], states: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the findings; a state may contain ``=`` and commas if only one reading is possible."""
    findings: dict[str, str] = {}
    for text in texts:
        readings = _readings(text.split(","), states)
        if len(readings) > 1:
            both = " or ".join(" and ".join(map("=".join, reading)) for reading in readings)
            raise BnmindError(f"the evidence {shown(text)} can be read in two ways: {both}")
        for name, state in readings[0] if readings else map(_entry, text.split(",")):
            if not (name and state):
                raise BnmindError(f"expected evidence as VARIABLE=STATE, got {shown(text)}")
            if name in findings:
                raise BnmindError(f"the evidence on {one_line(name)} is given twice")
            findings[name] = state
    return findings


def names_of(texts: Sequence[str], known: Set[str]) -> list[str]:
    """Return the names in texts; a text that is the name of a variable stands for that variable."""
    found: list[str] = []
    for text in texts:
        names = (text,) if text in known else listed_names(text, ",")
        found += [name for name in names if name]
    return found


def _entry(text: str) -> tuple[str, str]:
    """Return a variable and its state, separated by the first ``=``."""
    name, _, state = text.partition("=")
    return name.strip(), state.strip()


def entries(text: str, most: int) -> Iterator[tuple[str, str]]:
    """Yield the variables and states that a text may mean, one for each ``=`` in it.

    The function tries only the first ``most`` signs.
    """
    place = -1
    for _ in range(most):
        place = text.find("=", place + 1)
        if place < 0:
            return
        yield text[:place].strip(), text[place + 1 :].strip()


def _readings(
    parts: Sequence[str], states: Mapping[str, Sequence[str]]
) -> list[tuple[tuple[str, str], ...]]:
    """Return up to two ways to read parts between commas as states of known variables."""
    of_states = max((state.count(",") for known in states.values() for state in known), default=0)
    most = 1 + of_states + max((name.count(",") for name in states), default=0)
    signs = 1 + max((name.count("=") for name in states), default=0)
    # For each n, the last entries of readings of the first n parts, and where each begins.
    lasts: list[list[tuple[int, tuple[str, str]]]] = [[]]
    for end in range(1, len(parts) + 1):
        lasts.append(
            [
                (start, (name, state))
                for start in range(max(0, end - most), end)
                if start == 0 or lasts[start]
                for name, state in entries(",".join(parts[start:end]), signs)
                if state in states.get(name, ())
            ]
        )

    def reading(choice: int) -> tuple[tuple[str, str], ...]:
        found, end = [], len(parts)
        while end:
            end, entry = lasts[end][choice]
            found.append(entry)
        return tuple(reversed(found))

    return list(dict.fromkeys((reading(0), reading(-1)))) if lasts[-1] else []
