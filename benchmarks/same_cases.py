"""What two checkouts are compared by: answers that must agree, and small steps that are timed.

Each function uses only what users import, so that a checkout with other insides gives the same
answers. To add one, write a function and add one line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

__all__ = ["ANSWERS", "STEPS"]

MODELS = Path(__file__).parents[1] / "models"
ASIA = MODELS / "diagnosis" / "asia.xdsl"
BANK = MODELS / "banks" / "fraction-subtraction.json"
HISTORY = "1123 1b1w, 2345 0b2w, 1415 1b2w"


def _posteriors(name: str) -> dict[str, Any]:
    import bnmind
    from tests.wheel import ask, read_wheel, state_names

    network = read_wheel(name)
    findings = state_names(network, ask(network, "leaves").findings)
    found = bnmind.posterior(network, findings)
    targets = [variable.name for variable in network.variables if variable.name not in findings]
    return {
        "log evidence": found.log_evidence,
        **{target: list(found[target].values()) for target in targets},
    }


def _explanations() -> list[Any]:
    import bnmind

    engine = bnmind.compile_model(bnmind.read(ASIA))
    several = engine.best_explanations(5, evidence={"dysp": "yes"})
    some = engine.map(["lung", "bronc"], {"dysp": "yes"})
    return [[sorted(one.states.items()), one.log_probability] for one in (*several, some)]


def _competition() -> list[Any]:
    import bnmind

    model = bnmind.read(MODELS / "competition" / "grid-3x3.uai")
    found = bnmind.posterior(model)
    return [list(found[variable.name].values()) for variable in model.variables]


def _fitted() -> list[float]:
    from benchmarks.fitting import drawn
    from bnmind.fitting import FitOptions, fit
    from tests.wheel import read_wheel

    network = read_wheel("alarm")
    cases, _ = drawn(network, 300, 0.15, (), seed=1)
    found = fit(network, cases, options=FitOptions(max_iterations=10))
    return [found.log_likelihood, found.n_parameters]


def _observations() -> list[Any]:
    import bnmind

    ranking = bnmind.rank_questions(bnmind.read(ASIA), about="lung", evidence={"dysp": "yes"})
    return [[one.question, one.information] for one in ranking]


def _sensitivity() -> list[Any]:
    import bnmind
    from bnmind.sensitivity import weight_of_evidence

    evidence = {"xray": "yes", "dysp": "yes"}
    found = weight_of_evidence(bnmind.read(ASIA), "lung", evidence, state="yes")
    return [found.total, [[one.finding, one.alone, one.without] for one in found.findings]]


def _over_time() -> list[Any]:
    import pandas

    from bnmind.dynamic import compile_dynamic, read_dynamic

    days = pandas.DataFrame({"umbrella": ["yes", None, "no", "yes"]})
    found = compile_dynamic(read_dynamic(MODELS / "time" / "weather.json")).smooth(days)
    return [found.log_likelihood, found.to_frame("rain").to_numpy(dtype=float).tolist()]


def _learned(gate: str) -> list[Any]:
    from bnmind.adaptive import RESPONSE_MODELS, Responses, learn, read_qmatrix

    folder = MODELS / "fractions-class"
    found = learn(
        Responses.from_csv(folder / "responses.csv"),
        read_qmatrix(folder / "qmatrix.csv"),
        gate=type(RESPONSE_MODELS[gate].example),
    )
    return [found.log_likelihood, found.n_parameters]


def _session() -> list[Any]:
    from bnmind.adaptive import Design, MinimalEntropy, Session, SkillsCertain, read_bank

    session = Session.start(Design(read_bank(BANK), MinimalEntropy(), SkillsCertain(0.9)))
    told: list[Any] = []
    for response in (1, 0, 1, 1, 0):
        best = session.rank()[0]
        told.append([best.item, best.information])
        session = session.answer(best.item, response)
    return [*told, sorted((name, one["1"]) for name, one in session.posterior.items())]


def _simulated() -> list[Any]:
    from bnmind.adaptive import SELECTORS, MaximalItems, Responses, read_bank, simulate
    from bnmind.adaptive import selector_by_name as by_name

    bank = read_bank(MODELS / "banks" / "fractions.json")
    people = Responses.drawn(bank, 200, seed=1)
    names = [name for name in ("entropy", "gdi", "mpwkl", "random") if name in SELECTORS]
    found = simulate(bank, people, {name: by_name(name) for name in names}, MaximalItems(5))
    return [sorted(row.items()) for row in found.summary.to_dict("records")]


def _evaluated() -> list[Any]:
    from bnmind.adaptive import Design, MaximalItems, MinimalEntropy, evaluate_design, read_bank

    bank = read_bank(MODELS / "banks" / "fractions.json")
    found = evaluate_design(Design(bank, MinimalEntropy(), MaximalItems(4)))
    return [found.length, found.entropy, found.pattern_accuracy]


def _totals() -> list[Any]:
    from bnmind.mastermind import Board, Channel
    from bnmind.strategies import build_tree, strategy_by_name

    names = ("knuth", "irving", "neuwirth", "kooi")
    found: list[Any] = []
    for board in (Board(3, 4), Board(4, 6)):
        exact = Channel.exact(board)
        found += [build_tree(strategy_by_name(name), exact).total for name in names]
    return found


def _optima() -> list[Any]:
    from bnmind.mastermind import Board
    from bnmind.strategies import optimal_on_average

    return [optimal_on_average(board).total for board in (Board(3, 4), Board(3, 6), Board(4, 6))]


def _doubts() -> list[Any]:
    from bnmind.information import choose_question
    from bnmind.mastermind import Board, Channel, TableBelief, parse_history

    board = Board(pegs=4, colors=6)
    channel = Channel.false_reply(board, 0.2).revealed()
    belief = TableBelief.start(channel)
    for turn in parse_history(board, HISTORY):
        belief = belief.update(turn.guess, turn.reply)
    choice = choose_question(belief.codes.masses(), channel.matrix)
    best = float(choice.information.max())
    return [list(belief.misreport_probabilities()), belief.entropy(), int(choice.question), best]


def _games() -> list[Any]:
    from bnmind import Board, Channel, compare
    from bnmind.strategies import strategy_by_name

    board = Board(3, 4)
    strategies = [strategy_by_name(name) for name in ("entropy", "map", "knuth")]
    found = compare(strategies, Channel.false_reply(board, 0.2), games=200, seed=1)
    return [one.mean for one in found.summaries]


ANSWERS: Mapping[str, Callable[[], Any]] = MappingProxyType(
    {
        **{
            f"posteriors of {n}": partial(_posteriors, n)
            for n in ("alarm", "water", "hepar2", "pigs")
        },
        "explanations": _explanations,
        "competition file": _competition,
        "fit of alarm": _fitted,
        "observations of asia": _observations,
        "weights of evidence": _sensitivity,
        "days of weather": _over_time,
        **{
            f"learned {gate}": partial(_learned, gate) for gate in ("dina", "gdina", "acdm", "rrum")
        },
        "session": _session,
        "simulated tests": _simulated,
        "evaluated design": _evaluated,
        "totals of strategies": _totals,
        "optimal totals": _optima,
        "doubts of a game": _doubts,
        "compared games": _games,
    }
)
"""Numbers and names, in lists and dictionaries."""


def _posterior_step() -> Callable[[], object]:
    import bnmind

    engine = bnmind.compile_model(bnmind.read(ASIA))
    return lambda: engine.posterior(["lung"], {"dysp": "yes", "smoke": "yes"})


def _session_step() -> Callable[[], object]:
    from bnmind.adaptive import Design, MaximalItems, MinimalEntropy, Session, read_bank

    design = Design(read_bank(BANK), MinimalEntropy(), MaximalItems(20))

    def step() -> object:
        session = Session.start(design)
        for response in (1, 0, 1):
            session = session.answer(session.next_item(), response)
        return session.posterior

    return step


def _game_step() -> Callable[[], object]:
    import numpy as np

    from bnmind import Board, Channel, play_game
    from bnmind.lab import CodeMaker
    from bnmind.strategies import strategy_by_name

    channel = Channel.false_reply(Board(3, 4), 0.2)
    strategy = strategy_by_name("entropy")
    return lambda: play_game(
        strategy, CodeMaker.from_seed(channel, 1), rng=np.random.default_rng(1)
    )


def _ranking_step() -> Callable[[], object]:
    import bnmind

    network = bnmind.read(ASIA)
    return lambda: bnmind.rank_questions(network, about="lung", evidence={"dysp": "yes"})


def _plan_step() -> Callable[[], object]:
    import bnmind

    network = bnmind.read(ASIA)
    return lambda: bnmind.compile_plan(network, targets=[["lung"]], evidence=["dysp", "smoke"])


def _run_step(name: str) -> Callable[[], object]:
    """Return a run of a plan, after so many that its steps are compiled where that helps."""
    import bnmind
    from tests.wheel import ask, read_wheel, state_names

    network = read_wheel(name)
    findings = state_names(network, ask(network, "leaves").findings)
    plan = bnmind.compile_plan(network, evidence=findings)
    for _ in range(200):
        plan.run(findings)
    return lambda: plan.run(findings)


def _network_step() -> Callable[[], object]:
    import numpy as np

    from bnmind.pgm import Network, TabularCPD, Variable

    fair = np.array([0.5, 0.5])

    def step() -> object:
        coins = [Variable(f"coin_{n}", ("no", "yes")) for n in range(20)]
        return Network(tuple(TabularCPD(coin, (), fair) for coin in coins))

    return step


def _bank_step() -> Callable[[], object]:
    from bnmind.adaptive import ItemBank

    rows = [[1, 0], [0, 1], [1, 1]] * 10
    return lambda: ItemBank.from_qmatrix(rows, items=[f"item_{n}" for n in range(30)])


STEPS: Mapping[str, Callable[[], Callable[[], object]]] = MappingProxyType(
    {
        "small posterior": _posterior_step,
        "small session": _session_step,
        "small game": _game_step,
        "small ranking": _ranking_step,
        "small plan": _plan_step,
        **{
            f"plan run often, {name}": partial(_run_step, name)
            for name in ("alarm", "andes", "water", "pigs", "munin2", "diabetes", "mildew")
        },
        "20 variables": _network_step,
        "30 items": _bank_step,
    }
)
"""Functions that prepare a small step; those of `benchmarks.headline_cases` are timed as well."""
