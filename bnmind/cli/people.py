"""Commands for the people who are tested: learn, judge and calibrate a bank, classify examinees."""

from __future__ import annotations

import runpy
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bnmind import adaptive
from bnmind._display import Result, Table, parts_of
from bnmind._files import check_writable, write_file, write_files
from bnmind._messages import counted
from bnmind._registry import listed_names, made_by_name
from bnmind.cli import inputs
from bnmind.cli.shared import command
from bnmind.cli.shared.terminal import naming, printable, say, until_interrupted, working
from bnmind.errors import BnmindError, UnknownNameError

if TYPE_CHECKING:
    from bnmind.adaptive import Classification
    from bnmind.adaptive.classification import Agreement
    from bnmind.adaptive.items.skill_distributions import ProfileDistribution
    from bnmind.adaptive.learning.comparison import Comparison
    from bnmind.adaptive.learning.irt import IrtModel
    from bnmind.adaptive.learning.judgment import LearnedSummary
    from bnmind.pgm import CPD, Network


_MOST_PARAMETERS = 3000
"""With more, standard errors take long, and need --coefficients to be asked for."""

_FAR = 0.25
"""A share of right profiles so far below the expected one deserves a note."""

_HIERARCHY = "hierarchy:"
_IN_GDINA = frozenset(("dina", "dino", "acdm", "llm", "rrum"))
"""The response models that G-DINA contains, with the same Q-matrix."""


# --- What is learned ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The model to learn.

    Parameters
    ----------
    qmatrix
        The Q-matrix: CSV, Excel, SPSS, …
    bank
        A bank to learn again, instead of a Q-matrix.
    skills
        The distribution of the skills, from the list below; or hierarchy:A>B,A>C: nobody has B
        or C without A; or the file of a network (.bif, .xdsl, .net, …) with the arcs between
        the skills, whose tables are learned. [default: saturated up to 12 skills, else
        independent]
    monotone
        Require that more skill never lowers the probability of success. By default it may, as
        in CDM and GDINA.
    """

    qmatrix: Path | None = None
    bank: Path | None = None
    skills: inputs.SkillsName | None = None
    monotone: bool = False


def _start(
    responses: Path,
    gate: str | None,
    model: ModelOptions,
    table: inputs.TableOptions,
    settings: adaptive.LearningOptions,
    *,
    group_column: str | None,
    items: Path | None = None,
) -> tuple[adaptive.ItemBank, adaptive.Responses, adaptive.LearningOptions]:
    """Return the bank to start from, the responses, and the settings that suit the model.

    The file of items, or else the bank, may have choices and a key that score the responses.
    """
    from bnmind.adaptive.learning.learn import learning_inputs

    irt = _irt_model(gate, model)
    if irt is not None:
        data = table.read(responses, expected=None, choices=items, group_column=group_column)
        start = irt.start(data)
        return start, data, irt.options(start, settings)
    known = _known_model(responses, gate, model, table)
    make, distribution = _gate_of(gate or "dina"), _skills_of(model.skills)
    data = table.read(
        responses, expected=known.item_names, choices=items or known, group_column=group_column
    )
    with naming(responses, model=False):
        return *learning_inputs(data, known, make, distribution), settings


def _irt_model(gate: str | None, model: ModelOptions) -> IrtModel | None:
    """Return the model of one ability that ``--gate`` names, in any case; None for others.

    A name that is also one of a response model, such as graded, means that one with a Q-matrix.
    """
    if gate is None:
        return None
    given = "--qmatrix" if model.qmatrix is not None else "--bank" if model.bank is not None else ""
    name = next((name for name in adaptive.IRT_MODELS if name.lower() == gate.lower()), None)
    if name is None:
        if not given:
            try:
                _gate_of(gate)
            except UnknownNameError:
                raise UnknownNameError("model of one ability", gate, adaptive.IRT_MODELS) from None
        return None
    if given and name not in adaptive.RESPONSE_MODELS:
        raise BnmindError(
            f"expected no {given} with --gate {name}, which is a model of one ability: it needs"
            " the responses alone"
        )
    return None if given else adaptive.IRT_MODELS[name]


def _known_model(
    responses: Path, gate: str | None, model: ModelOptions, table: inputs.TableOptions
) -> adaptive.ItemBank | adaptive.QMatrix:
    """Return the bank or the Q-matrix that a command names."""
    if model.bank is None:
        if model.qmatrix is None:
            raise BnmindError(
                "expected --qmatrix or --bank, got neither; without them, --gate names a model of"
                " one ability, such as 2PL"
            )
        return inputs.qmatrix_for(model.qmatrix, responses, table.fixed_width)
    if model.qmatrix is not None:
        raise BnmindError("expected --qmatrix or --bank, got both")
    if gate is not None or model.skills is not None:
        option = "--gate" if gate is not None else "--skills"
        raise BnmindError(f"expected {option} with --qmatrix, got it with --bank")
    return adaptive.read_bank(model.bank)


def _gate_of(name: str) -> Callable[..., adaptive.ResponseModel]:
    """Return the maker of a response model by its name, or of the user's own."""
    from bnmind.adaptive import models as registry

    if ".py:" not in name:
        return registry.gate_of(name)
    name = registry.gate_name(name)
    own = _own_model(name.removeprefix(registry.STEPS))
    return adaptive.Sequential.of(own) if name.startswith(registry.STEPS) else own


def _own_model(name: str) -> Callable[..., adaptive.ResponseModel]:
    """Run a file of the user's own, ``FILE.py:CLASS``, and return its class of response models.

    Raises
    ------
    BnmindError
        If the file cannot be run, or the name is not that of a `ParametricModel`.
    """
    file, _, wanted = name.rpartition(":")
    if not Path(file).is_file():
        raise BnmindError(
            f"expected a Python file with response models, found no {printable(file)}"
        )
    try:
        names = runpy.run_path(file)
    except Exception as fault:
        raise BnmindError(
            f"{printable(file)} cannot be run: {type(fault).__name__}: {fault}"
        ) from fault
    models = {
        key: value
        for key, value in names.items()
        if isinstance(value, type)
        and issubclass(value, adaptive.ParametricModel)
        and value is not adaptive.ParametricModel
    }
    if not models:
        raise BnmindError(f"{printable(file)} defines no subclass of ParametricModel")
    if wanted not in models:
        raise UnknownNameError("response model", wanted, models)
    return models[wanted]


def _is_network(name: str) -> bool:
    """Return whether a name is that of a file of a network."""
    from bnmind.pgm.files import NETWORK_SUFFIXES

    return name.lower().endswith(NETWORK_SUFFIXES)


def _skills_of(name: str | None) -> ProfileDistribution | Network | None:
    """Return a distribution of the skills by its name, or the network in a file of this name."""
    from bnmind.pgm.files import read_network

    if name is None:
        return None
    if _is_network(name):
        is_bank = _is_bank(Path(name))
        return adaptive.read_bank(name).hidden_network() if is_bank else read_network(name)
    name = _skills_name(name)
    if name.startswith(_HIERARCHY):
        return _hierarchy(name.removeprefix(_HIERARCHY))
    return made_by_name("distribution of the skills", adaptive.SKILL_DISTRIBUTIONS, name)


def _skills_name(name: str) -> str:
    """Return the name of a distribution of the skills as the registry has it.

    >>> _skills_name("Higher-Order:1pl"), _skills_name("HIERARCHY:A>B")
    ('higher-order:1PL', 'hierarchy:A>B')
    """
    if _is_network(name):
        return f"as in the network {printable(name)}"
    first, colon, argument = name.partition(":")
    lower = first.lower()
    if lower + colon == _HIERARCHY:
        return f"{_HIERARCHY}{argument}"
    return f"{lower}{colon}{argument.upper()}" if lower in adaptive.SKILL_DISTRIBUTIONS else name


def _is_bank(path: Path) -> bool:
    """Return whether a file is that of a bank, not of a network alone."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        return '"bnmind-bank"' in file.read(200)


def _hierarchy(text: str) -> ProfileDistribution:
    """Return the hierarchy of pairs such as ``count>add,count>order``, the prerequisite first."""
    needed: dict[str, list[str]] = {}
    for pair in listed_names(text, ","):
        first, sign, second = (part.strip() for part in pair.partition(">"))
        if not (first and sign and second):
            raise BnmindError(
                f"expected pairs of skills such as hierarchy:count>add,count>order, got {text!r}"
            )
        needed.setdefault(second, []).append(first)
    return adaptive.Hierarchy(needed, saturated=True)


# --- Learning -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class LearnOptions:
    """How to learn, and what to write.

    Parameters
    ----------
    gate
        The response model of the items, from the list below; sequential:NAME for items with
        more than two responses; or FILE.py:CLASS for a model of your own. [default: dina]
    out
        The file for the learned bank.
    coefficients
        A CSV file for the parameters of each item in the words of its model, with standard
        errors.
    table
        A CSV file with a row for each item: guess, slip and other parameters, each with its
        standard error.
    items
        A table with a column item, and columns such as text, content, cost and time.
    skill_labels
        A table with the names of the skills and a column label.
    max_guess
        Limit the learned probability of a guess.
    max_slip
        Limit the learned probability of a slip.
    least_chance
        Keep each learned probability at least this far from 0 and 1.
    starts
        Number of starts; the best result counts. [default: 5 for discrete skills, whose
        likelihood has several maxima, else 1]
    iterations
        The most EM iterations of a start.
    title
        The title of the bank.
    """

    gate: inputs.GateName | None = None
    out: Path | None = None
    coefficients: Annotated[Path | None, command.Place("coefficients", (".csv",))] = None
    table: Annotated[Path | None, command.Place("table", (".csv",))] = None
    items: Path | None = None
    skill_labels: Path | None = None
    max_guess: command.Share = 1.0
    max_slip: command.Share = 1.0
    least_chance: command.Share = 0.0001
    starts: command.Count | None = None
    iterations: command.Count = 5000
    title: Annotated[str | None, "TEXT"] = None


def learn(
    responses: inputs.ResponseFile,
    model: ModelOptions,
    options: LearnOptions,
    file: inputs.TableOptions,
    *,
    group_column: str | None = None,
    workers: command.Workers = 1,
    seed: command.Seed = None,
) -> Result:
    """Learn an item bank from the responses of examinees, by maximum likelihood (EM).

    RESPONSES is a file with a table, as R, Excel or SPSS write it. Its first line names the items.
    Each further line holds the responses of one examinee: 0, 1, …, or nothing if the item was not
    asked; or a single response, in a table with columns for examinee, item and response. The
    Q-matrix marks the skills that each item needs. It has a column for each skill, and may have a
    column item; if its rows have no names, the items are matched by position. Notes say how the
    files were read. After Ctrl-C, the command writes the best parameters so far.

    Parameters
    ----------
    group_column
        The column with the groups of the examinees, not an item. A column named group is found
        without this option.

    Examples
    --------
    bnmind learn models/fractions-class/responses.csv --qmatrix models/fractions-class/qmatrix.csv
    bnmind learn RESPONSES.csv --qmatrix Q.csv --out bank.json --gate gdina --starts 10
    bnmind learn RESPONSES.csv --gate 2PL --out bank.json
    bnmind learn MORE.csv --bank bank.json --out better.json --json
    """
    from bnmind.adaptive.learning.irt import IrtModel, has_curves

    inputs.check_shares({"--max-guess": options.max_guess, "--max-slip": options.max_slip})
    inputs.check_shares({"--least-chance": options.least_chance}, below=0.49)
    settings = adaptive.LearningOptions(
        starts=options.starts,
        seed=seed or 0,
        bounds=adaptive.Bounds((0.0, options.max_guess), (0.0, options.max_slip)),
        monotone=model.monotone,
        least_chance=options.least_chance,
        max_iterations=options.iterations,
        workers=workers,
    )
    start, data, settings = _start(
        *(responses, options.gate, model, file, settings),
        group_column=group_column,
        items=options.items,
    )
    if model.bank is not None and has_curves(start):
        settings = IrtModel.of(start).options(start, settings)
    start = as_in_file(start, file.lowest)
    for what, path in (("items", options.items), ("skills", options.skill_labels)):
        if path is not None:
            with naming(path):
                start = adaptive.describe_bank(start, **{what: path})
    inputs.say_notes(data)
    if options.out is not None:
        _check_bank_place(start, options.out, options.title or "")
    name = printable(responses.name)
    learned, interrupted = until_interrupted(
        "learning",
        lambda report, ended: adaptive.learn(
            data,
            start,
            options=replace(settings, until=ended),
            title=options.title,
            source=f"learned from {counted(len(data), 'examinee')} in {name}",
            progress=report,
        ),
    )
    if options.out is not None:
        adaptive.write_bank(learned.bank, options.out)
        _tell_names(learned.bank, options.out)
    if interrupted:
        kept = "follow" if options.out is None else f"are in {options.out}"
        command.exit_interrupted(f"interrupted before the end; the best parameters so far {kept}")
    summary = _summary(learned, options)
    names, line = _model_names(start, settings, model, options.gate)
    data_line, *others = parts_of(summary)
    paths = [path for path in (options.out, options.coefficients, options.table) if path]
    out = None if options.out is None else str(options.out)
    return command.Outcome(
        {**names, **summary.to_dict(), "out": out},
        [data_line, line, *others, *(f"Written to {path}." for path in paths)],
    )


def as_in_file(bank: adaptive.ItemBank, lowest: int) -> adaptive.ItemBank:
    """Return a bank whose items call their responses as the file does, such as 1 to 5.

    Only items that count their responses from 0 are changed, and of those with choices none.
    """
    from bnmind.pgm import Network, TabularCPD, Variable

    if lowest == 0:
        return bank
    changed: dict[str, CPD] = {}
    for item in bank.items:
        cpd = bank.network.cpd(item.name)
        n = cpd.variable.n_states
        if item.choices or cpd.variable.states != tuple(map(str, range(n))):
            continue
        variable = Variable.of_integers(item.name, range(lowest, lowest + n))
        if item.gate is not None:
            changed[item.name] = item.gate.cpd(variable, cpd.parents)
        elif isinstance(cpd, TabularCPD):
            changed[item.name] = TabularCPD(variable, cpd.parents, cpd.values)
    cpds = (changed.get(cpd.variable.name, cpd) for cpd in bank.network.cpds)
    return replace(bank, network=Network(tuple(cpds)))


def _check_bank_place(start: adaptive.ItemBank, out: Path, title: str) -> None:
    """Raise before the work is done if its result could not be written."""
    from bnmind.adaptive.bank_files import bank_contents
    from bnmind.pgm.files import NETWORK_SUFFIXES

    command.check_place(out, NETWORK_SUFFIXES, "bank")
    # All but the numbers is known now: the names, the sizes of the tables and the places.
    check_writable(*bank_contents(replace(start, title=title), out))


def _tell_names(bank: adaptive.ItemBank, out: Path) -> None:
    """Report the names that the file encodes."""
    from bnmind.pgm.files import file_names

    if names := file_names(bank.network, out):
        first = str(names).split("; ")
        more = f"; and {len(first) - 5} more" if len(first) > 5 else ""
        say(
            f"note: {out.suffix} files cannot hold some names; they are written encoded, and"
            f" decoded when bnmind reads the file: {'; '.join(first[:5])}{more}",
        )


def _summary(learned: adaptive.Learned, options: LearnOptions) -> LearnedSummary:
    """Return the summary, having written the files with parameters and standard errors."""
    from bnmind.adaptive.learning.judgment import LearnedSummary, item_frame

    paths = (options.coefficients, options.table)
    if learned.n_parameters > _MOST_PARAMETERS and not any(paths):
        reason = f"{learned.n_parameters:,} parameters; --coefficients FILE computes them"
        return LearnedSummary(learned, reason)
    try:
        known = adaptive.coefficients(learned)
    except BnmindError as fault:
        if any(paths):
            raise
        return LearnedSummary(learned, str(fault))
    tables = zip(paths, (known.to_frame(), item_frame(learned, known)), strict=True)
    write_files(
        {path: frame.to_csv(index=False, lineterminator="\n") for path, frame in tables if path}
    )
    return LearnedSummary(learned, known)


def _model_names(
    start: adaptive.ItemBank,
    settings: adaptive.LearningOptions,
    model: ModelOptions,
    gate: str | None,
) -> tuple[dict[str, Any], str]:
    """Return the names of the response models and of the distribution of the skills, and a line.

    The learned bank does not tell them all: the learned table of a `Dina` item may be `Gdina`.
    """
    from bnmind.adaptive.learning.learn import SATURATED_SKILLS
    from bnmind.adaptive.models import gate_name, model_name

    hidden, kept, gate = "skills", "as in the bank", gate or "dina"
    if model.bank is not None:
        models = dict(Counter(model_name(item.gate) for item in start.items))
    elif model.qmatrix is None:
        gate = next(name for name in adaptive.IRT_MODELS if name.lower() == gate.lower())
        models = {gate: len(start.items)}
    else:
        usual = "saturated" if len(start.skills) <= SATURATED_SKILLS else "independent"
        models, kept = {gate_name(gate): len(start.items)}, _skills_name(model.skills or usual)
    if settings.scaled >= set(start.skills):
        hidden, kept = "ability", "with a learned deviation"
    elif settings.fixed >= set(start.skills):
        hidden, kept = "ability", "fixed"
    each = [f"{name} ({counted(n, 'item')})" for name, n in models.items()]
    named = f"s {', '.join(each)}" if len(each) > 1 else f" {next(iter(models))}"
    line = printable(f"Response model{named}, {hidden} {kept}.")
    return {"response_models": models, "skill_distribution": kept}, line


# --- Judging --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """What is judged.

    Parameters
    ----------
    gates
        The response model of the items, from the list below. Repeat the option to compare
        models. [default: dina]
    cutoff
        The share of an item's variance that its skills must account for; or predicted: from the
        numbers of examinees and items, and from guesses and slips.
    alpha
        Reject a simpler model if p is smaller.
    groups
        Test which items behave differently in a group, by the column named group.
    group_column
        The same as --groups, by the column NAME.
    anchors
        Items that behave alike in all groups. [default: all but the one that is tested]
    purify
        Remove items that behave differently from the anchors, and test again.
    """

    gates: Annotated[list[inputs.GateName] | None, "NAME", typer.Option("--gate")] = None
    cutoff: Annotated[str, "P"] = "0.95"
    alpha: command.Share = 0.05
    groups: bool = False
    group_column: str | None = None
    anchors: Annotated[str | None, "A,B,…"] = None
    purify: bool = False


def judge(
    responses: inputs.ResponseFile,
    model: ModelOptions,
    options: JudgeOptions,
    file: inputs.TableOptions,
    *,
    seed: command.Seed = None,
) -> Result:
    """Judge a model of responses: its fit, its Q-matrix, and its items.

    The command learns the model first, as bnmind learn does. It then prints M2 with RMSEA2 and
    SRMSR, the worst pairs of items, and the fit of each item. With --gate gdina, which assumes
    least about how skills act together, it also proposes the skills that the items need, and a
    simpler model for each item, by Wald and by likelihood-ratio tests. If a column names groups of
    examinees, --groups or --group-column tests which items behave differently in a group. After
    Ctrl-C, the command shows the results that it has.

    If --gate is repeated, the command compares the models instead, by AIC and BIC, and with gdina
    by likelihood-ratio tests.

    Examples
    --------
    bnmind judge models/fractions-class/responses.csv --qmatrix models/fractions-class/qmatrix.csv
    bnmind judge RESPONSES.csv --qmatrix Q.csv --gate gdina --json
    bnmind judge RESPONSES.csv --qmatrix Q.csv --gate dina --gate gdina
    bnmind judge RESPONSES.csv --gate 2PL
    bnmind judge RESPONSES.csv --qmatrix Q.csv --group-column school
    """
    if not 0 < options.alpha < 1:
        raise BnmindError(f"expected a number between 0 and 1 for --alpha, got {options.alpha:g}")
    cutoff = _cutoff_of(options.cutoff)
    by_groups = options.groups or options.group_column is not None
    gates: list[str | None] = [*dict.fromkeys(options.gates or ())] or [None]
    if len(gates) > 1 and by_groups:
        raise BnmindError("expected one --gate to test items by groups, got several")
    settings = adaptive.LearningOptions(seed=seed or 0, monotone=model.monotone)
    models: dict[str | None, adaptive.Learned] = {}
    for gate in gates:
        start, data, own = _start(
            responses, gate, model, file, settings, group_column=options.group_column
        )
        if not models:
            inputs.say_notes(data)
        if options.groups and not data.groups:
            raise BnmindError(
                "expected a column with groups for --groups; name it by --group-column"
            )
        if not models and data.groups and not by_groups:
            say("note: --groups tests which items behave differently in some of the groups")
        models[gate] = _learned(data, start, own)
    if len(gates) > 1:
        return _compared({str(gate): one for gate, one in models.items()})
    anchors = options.anchors
    testing = adaptive.FunctioningOptions(
        anchors=None if anchors is None else [x.strip() for x in anchors.split(",") if x.strip()],
        purify=options.purify,
        alpha=options.alpha,
    )
    found = adaptive.judge(
        models[gates[0]],
        cutoff=cutoff,
        alpha=options.alpha,
        groups=testing if by_groups and data.groups else None,
        runner=working,
    )
    if found.interrupted:
        command.exit_interrupted(
            "interrupted; the results above are those computed so far", later=True
        )
    return command.Outcome(found.to_dict(), map(_with_options, parts_of(found)))


def _learned(
    data: adaptive.Responses, start: adaptive.ItemBank, settings: adaptive.LearningOptions
) -> adaptive.Learned:
    return working(
        "learning", lambda report: adaptive.learn(data, start, options=settings, progress=report)
    )


def _with_options(part: str | Table) -> str | Table:
    """Return a part of a judgment whose advice names the options of the command."""
    if not isinstance(part, str):
        return part
    return part.replace("purify=True", "--purify")


def _cutoff_of(text: str) -> float | None:
    """Return the cutoff that an option names; None if it is to be predicted."""
    if text.lower() == "predicted":
        return None
    try:
        cutoff = float(text)
    except ValueError:
        cutoff = 0.0
    if not 0 < cutoff < 1:
        raise BnmindError(
            f"expected a number between 0 and 1 for --cutoff, or predicted, got {text!r}"
        )
    return cutoff


def _compared(models: Mapping[str, adaptive.Learned]) -> Comparison:
    """Return models of the same responses compared, where it may be against G-DINA."""
    from bnmind.adaptive.models import gate_name

    models = {gate_name(name): model for name, model in models.items()}
    larger = models.get("gdina")
    tests = {
        name: adaptive.likelihood_ratio(smaller, larger)
        for name, smaller in models.items()
        if larger and name in _IN_GDINA and smaller.n_parameters < larger.n_parameters
    }
    return replace(adaptive.compare_models(models), against_gdina=tests)


# --- Classifying ----------------------------------------------------------------------------------


def classify(
    bank: Path,
    responses: inputs.ResponseFile,
    *,
    out: Annotated[Path | None, command.Place("classification", (".csv",))] = None,
    profiles: Path | None = None,
    prior: inputs.PriorOption = None,
    group_column: str | None = None,
    file: inputs.TableOptions,
) -> Result:
    """Classify examinees by their responses to the items of a bank.

    RESPONSES is a CSV file as for learn. The file of --out has a row for each examinee: the most
    probable profile (map_SKILL) with its probability, the expected level of each skill (eap_SKILL;
    for two levels the probability of having the skill), its most probable level by itself
    (level_SKILL), the entropy in bits, the log-likelihood, and person fit, which is bad below
    -1.645. The command prints how accurately and how consistently the test classifies, if the bank
    holds. With --profiles, a CSV file with a column for each skill, it compares the classification
    with known profiles.

    Parameters
    ----------
    bank
        The file of the item bank.
    out
        The CSV file for the classification.
    profiles
        The known profiles, as CSV.
    group_column
        The column with the groups of the examinees, not an item. A column named group is found
        without this option.

    Examples
    --------
    bnmind classify BANK.json RESPONSES.csv --out people.csv
    bnmind classify BANK.json RESPONSES.csv --group-column class
    bnmind classify BANK.json RESPONSES.csv --profiles TRUTH.csv --json
    """
    if [_is_network(path.suffix) for path in (bank, responses)] == [False, True]:
        raise BnmindError(f"expected the bank before the responses, got {bank} before {responses}")
    items = inputs.with_named_prior(adaptive.read_bank(bank), prior)
    data = file.answers(responses, items, group_column=group_column)
    known = None if profiles is None else inputs.profiles_in(profiles, items, data.examinees).levels
    found = working("classifying", lambda report: adaptive.classify(items, data, progress=report))
    parts, record = parts_of(found), found.to_dict() | {"agreement": None, "out": None}
    if known is not None:
        agreement = found.agreement_with(known)
        parts += parts_of(agreement)
        record["agreement"] = agreement.to_dict()
        _warn(found, agreement)
    if out is not None:
        write_file(out, found.to_frame().to_csv(index=False, lineterminator="\n"))
        parts += (f"Written to {out}.",)
        record["out"] = str(out)
    return command.Outcome(record, parts)


def _warn(found: Classification, agreement: Agreement) -> None:
    """Say so if profiles seem to be those of other examinees."""
    expected = found.reliability.accuracy
    if agreement.pattern_accuracy < expected - _FAR:
        say(
            f"note: {agreement.pattern_accuracy:.3f} of the profiles are right, and"
            f" {expected:.3f} were expected; the rows of the two files may be in different orders,"
            " or the bank does not hold for these examinees"
        )


# --- Calibrating ----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class CalibrateOptions:
    """What is calibrated, and which drift is noticed.

    Parameters
    ----------
    new
        A new item. Repeat the option for several.
    cycles
        At most this many EM cycles; 1 for one cycle.
    anew
        Forget earlier answers, for instance if these tests contain them.
    largest_error
        An item is ready if its probabilities are this exact, as a standard deviation.
    shift
        The drift to look for, in logits.
    false_alarm
        The probability that a chart of an item notices drift where there is none.
    """

    new: Annotated[list[str] | None, "ITEM"] = None
    cycles: int = 200
    anew: bool = False
    largest_error: command.Share = 0.05
    shift: Annotated[float, "D"] = 0.5
    false_alarm: command.Share = 0.01


def calibrate(
    bank: Path,
    tests: list[Path],
    options: CalibrateOptions,
    *,
    out: Annotated[Path | None, command.Place("bank", (".json",))] = None,
    file: inputs.TableOptions,
    seed: command.Seed = None,
) -> Result:
    """Calibrate new items from finished tests, and notice items that drift.

    The tests are saved sessions of bnmind test, or one CSV file of responses, in the order of
    time. New items are those of the designs of the sessions, or given by --new. Their parameters
    are learned while all other items stay as they are; --out writes the bank with them. The
    answers to all other items are compared with their predictions; a change from some examinee on
    is noticed by charts of cumulative sums.

    Parameters
    ----------
    bank
        The file of the item bank.
    tests
        Saved sessions, or a CSV file of responses.
    out
        Write the calibrated bank here.

    Examples
    --------
    bnmind calibrate BANK.json SESSIONS/*.json --out bank2.json
    bnmind calibrate BANK.json RESPONSES.csv --new item_7 --new item_8 --out bank2.json
    bnmind calibrate BANK.json SESSIONS/*.json --false-alarm 0.001
    """
    import numpy as np

    from bnmind.adaptive.responses import require_known

    items = adaptive.read_bank(bank)
    names = tuple(options.new or ())
    if any(path.suffix.lower() != ".json" for path in tests):
        if len(tests) > 1:
            raise BnmindError("expected saved sessions (.json), or one file of responses")
        responses = file.read(tests[0], expected=items.item_names, choices=items)
        with naming(tests[0]):
            require_known(responses, items)
        inputs.say_notes(responses)
    else:
        if given := command.given_options(file):
            raise BnmindError(
                f"{given[0]} is for a file of responses; the tests are saved sessions"
            )
        saved = working("reading tests", lambda _: adaptive.read_answers(tests, items))
        responses, names = saved.responses, names or saved.pilot
    if out is not None and not names:
        raise BnmindError("there is no new item for --out; name one by --new")
    parts: list[str | Table] = [f"{counted(len(responses), 'test')}.", ""]
    record: dict[str, Any] = {"tests": len(responses), "cycles": None, "items": []}
    if names:
        found = working(
            "calibrating",
            lambda _: adaptive.calibrate_items(
                *(items, responses, names),
                max_cycles=options.cycles,
                anew=options.anew,
                largest_error=options.largest_error,
            ),
        )
        record |= found.to_dict()
        parts += parts_of(found)
    drift = working(
        "looking for drift",
        lambda _: adaptive.item_drift(
            items.averaged(),
            responses,
            rng=np.random.default_rng(seed or 0),
            pilot=names,
            shift=options.shift,
            false_alarm=options.false_alarm,
        ),
    )
    if out is not None:
        adaptive.write_bank(found.bank, out)
        parts.append(f"Written: {out}")
    if names:
        parts.append("")
    return command.Outcome(record | drift.to_dict(), [*parts, *parts_of(drift)])
