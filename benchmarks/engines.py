"""One question put to several engines: the joint over the code after one noisy reply.

Each engine is prepared once for a board, a channel and a guess, and then answers
for any reply. What is prepared is not timed, only answering is: the engine gets
the reply as evidence, propagates, and gives the joint as an array.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from bnmind.information import Floats
from bnmind.mastermind import (
    Board,
    Channel,
    Reply,
    TableBelief,
    TreeBelief,
    evidence_of_guess,
    replies_to,
    stage,
    vomlel_network,
)
from bnmind.mastermind.network import REPORTS, code_variables
from bnmind.pgm import Factor, FactorModel, Network, TabularCPD, Variable
from bnmind.pgm.formats import pgmpy_object, quiet_pgmpy, to_pgmpy

__all__ = [
    "Engine",
    "Question",
    "code_table",
    "pgmpy_compact",
    "pgmpy_stage_2",
    "plan_of_stage_3",
    "plan_of_the_guess",
    "pyagrum_stage_2",
    "pyagrum_stage_3",
    "pyagrum_stage_3_changed",
]


@dataclass(frozen=True)
class Question:
    """What every engine is asked: a board, its noise, a guess, and the replies in turn."""

    board: Board
    channel: Channel
    guess: tuple[int, ...]
    replies: tuple[Reply, ...]

    @property
    def code(self) -> list[str]:
        """The names of the variables of the code."""
        return [v.name for v in code_variables(self.board)]

    def heard(self, reply: Reply) -> dict[str, str]:
        """Return the evidence on P′ and C′."""
        return dict(zip(REPORTS, map(str, reply), strict=True))


@dataclass(frozen=True)
class Engine:
    """An engine at the ready."""

    answer: Callable[[Reply], Floats]
    """From a reply to the joint, ``(colors,) * pegs``."""
    sizes: Mapping[str, int]
    """What it works on: cells of its tables, of its junction tree, …."""


# --- ours -----------------------------------------------------------------------------------------


def code_table(question: Question) -> Engine:
    """Return the belief as a table over all codes."""
    belief = TableBelief.start(question.channel)

    def answer(reply: Reply) -> Floats:
        return belief.update(question.guess, reply).codes.joint()

    return Engine(answer, {"codes": question.board.n_codes})


def plan_of_stage_3(question: Question) -> Engine:
    """Return the plan of stage 3 for every guess and reply: both are evidence."""
    belief = TreeBelief.start(question.channel)
    plan, prior = belief.plan, belief.codes.joint()
    guess = evidence_of_guess(question.guess)

    def answer(reply: Reply) -> Floats:
        posterior = plan.run({**guess, **question.heard(reply)}, {"belief": prior})
        return posterior.targets[0].values.real

    return Engine(answer, {"tree cells": plan.total_size, "multiplications": plan.multiplications})


def plan_of_the_guess(question: Question) -> Engine:
    """Return the same plan restricted to the guess: the reply alone is evidence."""
    belief = TreeBelief.start(question.channel)
    plan, prior = belief.plan_for(question.guess), belief.codes.joint()
    inputs = {"belief": prior} if "belief" in plan.inputs else {}

    def answer(reply: Reply) -> Floats:
        return plan.run(question.heard(reply), inputs).targets[0].values.real

    return Engine(answer, {"tree cells": plan.total_size, "multiplications": plan.multiplications})


# --- pgmpy ----------------------------------------------------------------------------------------


def pgmpy_stage_2(question: Question) -> Engine:
    """Return pgmpy's VariableElimination on stage 2, the table of C written out."""
    network = stage(question.board, 2, guess=question.guess, channel=question.channel).model
    assert isinstance(network, Network)
    return _pgmpy(question, network, question.heard)


def pgmpy_compact(question: Question) -> Engine:
    """Return pgmpy's VariableElimination on H_1, …, H_n and one node for the whole reply."""
    network = vomlel_network(question.board)
    code = code_variables(question.board)
    channel = question.channel
    rows = channel.matrix[replies_to(question.board, question.guess)]  # (codes, reports)
    shape = [v.n_states for v in code]
    heard = Variable("R", tuple(str(report) for report in channel.reports))
    table = np.moveaxis(rows.reshape(*shape, -1), -1, 0)
    priors = [network.cpd(v.name) for v in code]
    compact = Network((*priors, TabularCPD(heard, code, table)))
    return _pgmpy(question, compact, lambda reply: {"R": str(reply)})


def _pgmpy(
    question: Question, network: Network, evidence: Callable[[Reply], dict[str, str]]
) -> Engine:
    with quiet_pgmpy():
        engine = pgmpy_object("pgmpy.inference", "VariableElimination")(to_pgmpy(network))

    def answer(reply: Reply) -> Floats:
        with quiet_pgmpy():
            found = engine.query(question.code, evidence=evidence(reply), show_progress=False)
        axes = [found.variables.index(name) for name in question.code]
        return np.asarray(np.transpose(found.values, axes), dtype=np.float64)

    return Engine(answer, {"table cells": sum(cpd.n_cells for cpd in network.cpds)})


# --- pyAgrum --------------------------------------------------------------------------------------


def pyagrum_stage_2(question: Question) -> Engine:
    """Return pyAgrum's LazyPropagation on stage 2, the table of C written out."""
    network = stage(question.board, 2, guess=question.guess, channel=question.channel).model
    return _pyagrum(question, network)


def pyagrum_stage_3(question: Question) -> Engine:
    """Return pyAgrum's LazyPropagation on stage 3, with real nodes of interpolation.

    It wants a Bayesian network, so B is a root whose table is all ones, and each
    factor a(X, B) becomes a binary child of X and B with the row [a, 1 − a],
    observed in its first state. pyAgrum does not look whether these are
    probabilities, and the posterior comes out right.
    """
    return _pyagrum(question, _real_stage_3(question))


def pyagrum_stage_3_changed(question: Question) -> Engine:
    """Return the same, but with only the states of P′ and C′ changed from reply to reply.

    LazyPropagation then keeps the messages that do not depend on them: as fast as
    it gets, though in a game the guess and the belief change with every reply too.
    """
    return _pyagrum(question, _real_stage_3(question), afresh=False)


def _real_stage_3(question: Question) -> FactorModel:
    model = stage(
        question.board, 3, guess=question.guess, channel=question.channel, nodes="chebyshev"
    ).model
    assert isinstance(model, FactorModel)
    return model


def _pyagrum(question: Question, model: Network | FactorModel, *, afresh: bool = True) -> Engine:
    import pyagrum as gum

    gum.setNumberOfThreads(1)
    network = gum.BayesNet()
    for variable in model.variables:
        network.add(gum.LabelizedVariable(variable.name, variable.name, list(variable.states)))
    observed: dict[str, str] = {}
    given: set[str] = set()
    for potential in model.potentials:
        table = potential if isinstance(potential, Factor) else potential.to_factor()
        scope, values = table.scope, np.real(table.values)
        child, *parents = scope
        if isinstance(potential, Factor) and child.name in given:
            # No child of its own: an auxiliary one.
            name = f"A_{'_'.join(v.name for v in scope)}"
            network.add(gum.LabelizedVariable(name, name, ["0", "1"]))
            observed[name] = "0"
            parents, values = list(scope), np.stack([values, 1 - values])
        else:
            name = child.name
            given.add(name)
        for parent in parents:
            network.addArc(parent.name, name)
        # Its arrays have the last axis first.
        network.cpt(name)[:] = np.ascontiguousarray(values.transpose())
    for variable in model.variables:
        if variable.name not in given:
            network.cpt(variable.name)[:] = np.ones(variable.n_states)
    engine = gum.LazyPropagation(network)
    engine.addJointTarget(set(question.code))
    engine.setEvidence({**observed, **question.heard(question.replies[0])})
    engine.makeInference()

    def answer(reply: Reply) -> Floats:
        if afresh:
            engine.eraseAllEvidence()
            engine.setEvidence({**observed, **question.heard(reply)})
        else:
            for name, state in question.heard(reply).items():
                engine.chgEvidence(name, state)
        engine.makeInference()
        joint = engine.jointPosterior(set(question.code))
        # Names are given from the first axis, arrays from the last.
        axes = [list(reversed(joint.names)).index(name) for name in question.code]
        return np.asarray(np.transpose(joint.toarray(), axes), dtype=np.float64)

    tree = engine.junctionTree()
    sizes = [
        math.prod(network.variable(node).domainSize() for node in tree.clique(clique))
        for clique in tree.nodes()
    ]
    tables = sum(network.cpt(node).domainSize() for node in network.nodes())
    return Engine(answer, {"tree cells": sum(sizes), "table cells": tables})
