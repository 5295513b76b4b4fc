"""Vomlel's network against the paper and the rules of the game, and the beliefs of its nodes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import BnmindError, ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.junction import Plan, compile_model, compile_plan
from bnmind.junction.assembly import build
from bnmind.junction.limits import DEFAULT_LIMITS
from bnmind.junction.plan import query_of
from bnmind.mastermind import (
    Board,
    Channel,
    Reply,
    TableBelief,
    TreeBelief,
    belief_plan,
    evidence_of_guess,
    node_beliefs,
    reduced_to_guess,
    reply,
    stage,
    stage_figure,
    vomlel_network,
)
from bnmind.mastermind.network import code_variables
from bnmind.pgm import Network
from tests.modes import examples
from tests.views.test_views import SVG, parsed

# --- Vomlel's network: its sizes, its meaning, and the belief that it keeps -----------------------


BOARD = Board(4, 6)
GUESS = (1, 1, 2, 3)


def enumerate_network(network: Network, board: Board) -> None:
    """Check that each pair of guess and code has the one completion that the paper defines."""
    names = [v.name for v in network.variables]
    for guess, code in product(product(range(board.colors), repeat=board.pegs), repeat=2):
        state = {f"T{j}": color for j, color in enumerate(guess, 1)}
        state |= {f"H{j}": color for j, color in enumerate(code, 1)}
        for cpd in network.cpds:
            name = cpd.variable.name
            if name not in state:
                parents = {v.name: state[v.name] for v in cpd.parents}
                column = cpd.to_factor().select(parents).values.real
                assert sorted(column.tolist())[-2:] == [0.0, 1.0]
                state[name] = int(np.argmax(column))
        assert set(state) == set(names)
        true = reply([c + 1 for c in guess], [c + 1 for c in code])
        assert (state["P"], state["C"]) == true


@pytest.mark.parametrize("board", [Board(2, 2), Board(2, 3), Board(1, 3)])
def test_the_network_agrees_with_the_paper(board: Board) -> None:
    enumerate_network(vomlel_network(board), board)


def test_variables_and_factorization_of_figure_1() -> None:
    network = vomlel_network(BOARD, channel=Channel.independent_error(BOARD, 0.1))
    expected = {f"{x}{j}" for x in "HTP" for j in range(1, 5)}
    expected |= {f"{x}{i}" for x in "CGM" for i in range(1, 7)}
    expected |= {"P", "C", "P_reported", "C_reported"}
    assert {v.name for v in network.variables} == expected
    assert {v.name for v in network.cpd("C").parents} == {*(f"M{i}" for i in range(1, 7)), "P"}
    assert [v.name for v in network.cpd("P_reported").parents] == ["P"]
    assert [v.name for v in network.cpd("C_reported").parents] == ["C"]


# Vomlel (2004), section 4, and the sizes beyond the paper that exact search proves.
@pytest.mark.parametrize(
    ("board", "number", "arc", "size"),
    [
        (BOARD, 2, False, 20_526_445),
        (BOARD, 2, True, 61_835_025),
        (BOARD, 3, True, 214_775),
        (Board(3, 4), 2, False, 21_760),
    ],
)
def test_sizes(board: Board, number: int, arc: bool, size: int) -> None:
    tree = stage(board, number, arc=arc).tree
    assert tree.total_size == size
    assert tree.order.proven


def test_sizes_leave_the_reports_out_and_do_not_depend_on_the_guess() -> None:
    channel = Channel.false_reply(BOARD, 0.2)
    for guess in ((1, 1, 1, 1), (1, 2, 3, 4)):
        assert stage(BOARD, 3, guess=guess, channel=channel).tree.total_size == 214_775


def test_stage_prints_cliques_sizes_order_and_proof() -> None:
    text = str(stage(Board(3, 4), 3, guess=(1, 1, 2)))
    assert "Stage 3 of Vomlel's network, 3x4, guess 112" in text
    assert "proven smallest" in text
    assert "H1 H2 H3" in text


def test_no_such_stage() -> None:
    with pytest.raises(InvalidArgumentError, match="expected stage 1, 2 or 3, got 5"):
        stage(BOARD, 5)


def test_general_pruning_beats_the_factorization() -> None:
    # DESIGN: cutting M_i to g_i + 1 states and dropping idle C_i, without any B: 92,700 cells.
    code = [v.name for v in code_variables(BOARD)]
    asked = (evidence_of_guess(GUESS), (), [code, ["P", "C"]], dict[str, list[str]]())
    query = query_of(
        vomlel_network(BOARD),
        asked,
        order=None,
        limits=DEFAULT_LIMITS,
        compress=False,
        factorize=False,
    )
    whole = Plan(build(query))
    assert whole.restrict(evidence_of_guess(GUESS)).total_size == 92_700


def test_the_engine_factorizes_by_itself() -> None:
    code = [v.name for v in code_variables(BOARD)]
    whole = compile_plan(
        vomlel_network(BOARD), evidence=evidence_of_guess(GUESS), targets=[code, ["P", "C"]]
    )
    assert whole.total_size < 1_000_000
    assert whole.restrict(evidence_of_guess(GUESS)).total_size == 6**4


def test_network_reduced_to_a_guess() -> None:
    network = reduced_to_guess(BOARD, GUESS, channel=Channel.independent_error(BOARD, 0.1))
    counts = {v.name: v.n_states for v in network.variables}
    assert (counts["M1"], counts["M2"], counts["M3"]) == (3, 2, 2)
    assert not {"M4", "C4", "T1", "G1"} & set(counts)
    plan = compile_plan(network, evidence=["P_reported", "C_reported"], targets=[["H1", "H2"]])
    found = plan.run({"P_reported": "1", "C_reported": "1"}).targets[0].values
    table = TableBelief.start(Channel.independent_error(BOARD, 0.1)).update(GUESS, Reply(1, 1))
    np.testing.assert_allclose(found, table.codes.joint().sum(axis=(2, 3)), atol=1e-12)


@pytest.mark.parametrize("board", [Board(2, 2), Board(2, 3), Board(3, 3, repeats=False)])
def test_priors(board: Board) -> None:
    rng = np.random.default_rng(5)
    joint = rng.random((board.colors,) * board.pegs)
    joint[0] = 0.0
    code = [v.name for v in code_variables(board)]
    plan = compile_plan(vomlel_network(board, prior=joint), targets=[code])
    np.testing.assert_allclose(plan.run({}).targets[0].values, joint / joint.sum(), atol=1e-12)
    plan = compile_plan(vomlel_network(board), targets=[code])
    uniform = TableBelief.start(Channel.exact(board)).codes.joint()
    np.testing.assert_allclose(plan.run({}).targets[0].values, uniform, atol=1e-12)


def test_prior_by_peg() -> None:
    prior = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]])
    network = vomlel_network(Board(2, 3), prior=prior)
    assert not network.cpd("H2").parents
    np.testing.assert_allclose(network.cpd("H1").to_factor().values, prior[0])


@pytest.mark.parametrize(
    "prior", [np.ones((4, 3)), -np.ones((2, 3)), np.zeros((2, 3)), np.full((2, 3), np.nan)]
)
def test_bad_priors(prior: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> None:
    with pytest.raises(InvalidArgumentError, match="expected"):
        vomlel_network(Board(2, 3), prior=prior)


def test_a_joint_prior_that_does_not_fit_is_refused_before_it_is_made() -> None:
    with pytest.raises(TooLargeError, match="61,917,364,224 of the board 10x12 without repeats"):
        vomlel_network(Board(10, 12, repeats=False))


def channels(board: Board) -> list[Channel]:
    return [
        Channel.exact(board),
        Channel.false_reply(board, 0.2),
        Channel.false_reply(board, 0.2).revealed(),
        Channel.independent_error(board, 0.1),
        Channel.independent_error(board, 0.1).revealed(),
    ]


BOARDS = [
    Board(2, 2),
    Board(2, 3),
    Board(3, 2),
    Board(3, 4),
    Board(3, 4, repeats=False),
    Board(4, 6),
]


@settings(max_examples=examples(40))
@given(st.sampled_from(BOARDS), st.integers(0, 4), st.integers(0, 2**32 - 1))
def test_tree_and_table_agree_on_random_games(board: Board, kind: int, seed: int) -> None:
    channel = channels(board)[kind]
    rng = np.random.default_rng(seed)
    weights = rng.random(board.n_codes) ** 8 * (rng.random(board.n_codes) < 0.8)
    weights[rng.integers(board.n_codes)] = 1.0
    prior = weights / weights.sum()
    table, tree = TableBelief.start(channel, prior), TreeBelief.start(channel, prior)
    secret = int(rng.choice(board.n_codes, p=prior))
    for _ in range(4):
        guess = board.code(int(rng.integers(board.n_codes)))
        true = board.true_replies.index(reply(guess, board.code(secret)))
        outcome = channel.draw(true, float(rng.random()))
        if outcome == channel.won_index:
            break
        plan = tree.plan_for(guess)
        before = tree.codes
        table = table.update(guess, channel.reports[outcome])
        tree = tree.update(guess, channel.reports[outcome])
        np.testing.assert_allclose(
            tree.codes.probabilities, table.codes.probabilities, rtol=0, atol=1e-12
        )
        assert tree.codes.possible_codes() == table.codes.possible_codes()
        np.testing.assert_allclose(
            tree.misreport_probabilities(), table.misreport_probabilities(), atol=1e-12
        )
        # The restricted plan says the same, over no more than the codes possible before.
        heard = dict(
            zip(("P_reported", "C_reported"), map(str, channel.reports[outcome]), strict=True)
        )
        small = plan.run(heard).targets[0].values
        np.testing.assert_allclose(small, tree.codes.joint(), rtol=0, atol=1e-12)
        assert plan.total_size <= tree.plan.total_size
        assert before.possible_codes() >= tree.codes.possible_codes()


def test_deterministic_cliques_shrink_to_the_surviving_codes() -> None:
    belief = TreeBelief.start(Channel.exact(BOARD)).update(GUESS, Reply(1, 1))
    survivors = belief.codes.possible_codes()
    plan = belief.plan_for((1, 3, 1, 4))
    compound = [c for c in plan.tree.cliques if "H1+H2+H3+H4" in c.variables]
    assert compound
    assert all(c.size % survivors == 0 for c in compound)
    assert (
        f"total size before restriction  {belief.plan.total_size:,}, after  {plan.total_size:,}"
        in str(plan)
    )
    assert plan.total_size < belief.plan.total_size / 10


def test_contradictory_replies_are_named() -> None:
    belief = TreeBelief.start(Channel.exact(BOARD)).update((1, 1, 1, 1), Reply(0, 0))
    with pytest.raises(ImpossibleEvidenceError, match="1111 0b0w, 1112 3b0w") as caught:
        belief.update((1, 1, 1, 2), Reply(3, 0))
    assert caught.value.evidence == {"1111": "0b0w", "1112": "3b0w"}


def test_reply_that_the_channel_cannot_give() -> None:
    with pytest.raises(InvalidArgumentError, match="3b1w"):
        TreeBelief.start(Channel.exact(BOARD)).update(GUESS, Reply(3, 1))


def test_the_plan_of_a_belief_is_that_of_stage_3_unless_told() -> None:
    channel = Channel.exact(Board(3, 3))
    assert belief_plan(channel).total_size < belief_plan(channel, factorized=False).total_size


def test_stage_2_plan_of_a_large_board_runs_only_restricted() -> None:
    board = Board(5, 8)
    plan = belief_plan(Channel.false_reply(board, 0.2), factorized=False)
    heard = {"P_reported": "1", "C_reported": "2"}
    uniform = TableBelief.start(Channel.false_reply(board, 0.2))
    joint = uniform.codes.joint()
    with pytest.raises(TooLargeError, match="largest clique") as caught:
        plan.run({**evidence_of_guess((1, 1, 2, 3, 4)), **heard}, {"belief": joint})
    assert caught.value.needed > caught.value.budget
    small = plan.restrict(evidence_of_guess((1, 1, 2, 3, 4)))
    expected = uniform.update((1, 1, 2, 3, 4), Reply(1, 2)).codes.joint()
    found = small.run(heard, {"belief": joint}).targets[0].values
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_a_reply_that_only_an_improbable_code_explains_is_believed() -> None:
    """The factors of both signs cancel to nothing there, which is no proof of anything."""
    board = Board(3, 4)
    channel = Channel.exact(board)
    prior = np.full(board.n_codes, 1e-18)
    prior[board.index((1, 1, 1))] = 1 - prior[1:].sum()
    guess, reply = (1, 2, 3), Reply(1, 2)
    tree = TreeBelief.start(channel, prior).update(guess, reply)
    table = TableBelief.start(channel, prior).update(guess, reply)
    np.testing.assert_allclose(
        tree.codes.probabilities, table.codes.probabilities, rtol=0, atol=1e-12
    )
    assert tree.history == table.history


# --- Beliefs about the variables of Vomlel's network, compared with exact inference in it ---------


FOUR_SIX = Board(3, 3)


@pytest.mark.parametrize(
    "channel",
    [
        Channel.exact(FOUR_SIX),
        Channel.false_reply(FOUR_SIX, 0.2),
        Channel.independent_error(FOUR_SIX, 0.1),
        Channel.false_reply(FOUR_SIX, 0.3).revealed(),
    ],
    ids=lambda channel: channel.name + "!" * channel.ends,
)
def test_beliefs_are_those_of_the_network(channel: Channel) -> None:
    belief = TableBelief.start(channel).update((1, 1, 2), Reply(1, 1))
    joint = belief.codes.probabilities
    guess = (2, 1, 1)
    network = vomlel_network(FOUR_SIX, channel=channel, prior=joint.reshape(3, 3, 3))
    evidence = evidence_of_guess(guess)
    names = [v.name for v in network.variables if v.name not in evidence]
    found = compile_model(network).posterior(names, evidence)
    told = node_beliefs(channel, guess, codes=FOUR_SIX.codes, weights=joint)
    assert set(told) == {v.name for v in network.variables}
    for v in network.variables:
        if v.name in evidence:
            assert told[v.name][v.states.index(evidence[v.name])] == 1
        else:
            expected = [float(found[v.name][state]) for state in v.states]
            assert told[v.name] == pytest.approx(expected, abs=1e-9), v.name


def test_weights_may_be_those_of_a_sample() -> None:
    codes = np.array([[1, 2, 3], [1, 2, 3], [3, 3, 3]], dtype=np.uint8)
    told = node_beliefs(Channel.exact(FOUR_SIX), (3, 3, 3), codes=codes, weights=np.ones(3))
    assert told["H1"] == pytest.approx([2 / 3, 0, 1 / 3])
    assert told["P"] == pytest.approx([0, 2 / 3, 0, 1 / 3])


@pytest.mark.parametrize("weights", [np.ones(3), np.zeros(27), -np.ones(27)])
def test_weights_that_are_none_are_refused(weights: np.ndarray) -> None:
    with pytest.raises(InvalidArgumentError):
        node_beliefs(Channel.exact(FOUR_SIX), (1, 1, 1), codes=FOUR_SIX.codes, weights=weights)
    with pytest.raises(BnmindError):
        node_beliefs(Channel.exact(FOUR_SIX), (9, 1, 1), codes=FOUR_SIX.codes, weights=np.ones(27))


def test_figures_show_beliefs_as_bars() -> None:
    told = node_beliefs(
        Channel.exact(FOUR_SIX), (1, 2, 3), codes=FOUR_SIX.codes, weights=np.ones(27)
    )
    drawn = stage_figure(stage(FOUR_SIX, 3), beliefs=told)
    boxes = {
        group.attrib["data-variable"]: group
        for group in parsed(drawn).iter(f"{SVG}g")
        if "data-variable" in group.attrib
    }
    shares = [
        float(bar.attrib["data-share"])
        for bar in boxes["H1"].iter(f"{SVG}rect")
        if "data-share" in bar.attrib
    ]
    assert shares == pytest.approx([1 / 3] * 3, rel=1e-5)
    assert "33" in "".join(boxes["H1"].itertext())
    assert not [bar for bar in boxes["B"].iter() if "data-share" in bar.attrib]
