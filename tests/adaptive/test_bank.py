"""Item banks: what they say, what they are made of, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from bnmind.adaptive import (
    Dina,
    Dino,
    Hierarchy,
    Independent,
    Item,
    ItemBank,
    NoisyAnd,
    QMatrix,
    ResponseModel,
    Sequential,
    start_belief,
)
from bnmind.errors import InvalidArgumentError, InvalidModelError, UnknownNameError
from bnmind.pgm import Network, TabularCPD, Variable

Q = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1]]


def variable(name: str, states: int = 2) -> Variable:
    return Variable.of_integers(name, range(states))


def test_a_q_matrix_and_two_numbers_are_a_bank() -> None:
    bank = ItemBank.from_qmatrix(Q, guess=[0.1, 0.2, 0.3, 0.2], slip=0.1)
    assert bank.skills == ("skill_1", "skill_2", "skill_3")
    assert bank.item_names == ("item_1", "item_2", "item_3", "item_4")
    np.testing.assert_array_equal(bank.q_matrix, np.array(Q) == 1)
    assert bank.cause("item_4") == ("skill_2", "skill_3")
    assert bank.channel("item_3")[:, 1].tolist() == [0.3, 0.3, 0.3, 0.9]
    assert bank.item("item_3").gate == Dina(0.3, 0.1)
    assert start_belief(bank).entropy == pytest.approx(3.0)
    assert [v.name for v in bank.hidden] == list(bank.skills)
    assert repr(bank) == "ItemBank(4 items, 3 skills)"


def test_names_come_from_data_frames() -> None:
    frame = pd.DataFrame({"item": ["x1", "x2"], "add": [1, 1], "carry": [0, 1]})
    for given in (frame, frame.set_index("item")):
        bank = ItemBank.from_qmatrix(given, gate=Dino)
        assert bank.skills == ("add", "carry")
        assert bank.item_names == ("x1", "x2")
    named = ItemBank.from_qmatrix(frame, items=[Item("y1", text="1 + 1"), "y2"])
    assert named.item("y1").text == "1 + 1"


def test_levels_are_required_by_the_q_matrix() -> None:
    bank = ItemBank.from_qmatrix([[2, 0], [1, 1]], guess=0.2, slip=0.1, levels=(3, 2))
    assert bank.channel("item_1")[:, 1].tolist() == [0.2, 0.2, 0.9]
    assert bank.channel("item_2")[:, 1].tolist() == [0.2, 0.2, 0.2, 0.9, 0.2, 0.9]


def test_skills_are_distributed_as_wanted() -> None:
    tied = ItemBank.from_qmatrix(Q, skills=Hierarchy({"skill_2": ("skill_1",)}, 0.4))
    assert start_belief(tied).marginal("skill_2")[1] == pytest.approx(0.16)
    z, a = variable("z"), variable("skill_1")
    own = Network(
        (
            TabularCPD(z, (), np.array([0.5, 0.5])),
            *(
                TabularCPD(v, (z,), np.array([[0.9, 0.2], [0.1, 0.8]]))
                for v in (a, variable("skill_2"), variable("skill_3"))
            ),
        )
    )
    bank = ItemBank.from_qmatrix(Q, skills=own)
    assert [v.name for v in bank.hidden] == ["skill_1", "skill_2", "skill_3", "z"]
    assert bank.skills == ("skill_1", "skill_2", "skill_3")
    # The common cause couples the skills.
    belief = start_belief(bank).update("item_1", 1)
    assert belief.marginal("skill_2")[1] > start_belief(bank).marginal("skill_2")[1]


def test_items_may_have_gates_of_their_own() -> None:
    models: list[ResponseModel] = [
        Dina(0.1, 0.1),
        NoisyAnd(0.2),
        Sequential((Dina(0.2, 0.1), Dino(0.1, 0.3))),
        Dino(0, 0),
    ]
    bank = ItemBank.from_response_models(Q, models, skills=Independent(0.5))
    assert bank.responses("item_3") == ("0", "1", "2")
    assert bank.channels().shape == (4, 4, 3)
    assert bank.channels(["item_1"]).shape == (1, 2, 2)
    assert bank.response("item_3", 2) == bank.response("item_3", "2") == 2


def test_any_network_is_a_bank_with_items_and_skills_named() -> None:
    a, hidden, x, y = variable("a"), variable("h"), variable("x"), variable("y", 3)
    network = Network(
        (
            TabularCPD(a, (), np.array([0.5, 0.5])),
            TabularCPD(hidden, (a,), np.array([[0.8, 0.1], [0.2, 0.9]])),
            Dina(0.2, 0.1).cpd(x, (hidden,)),
            TabularCPD(y, (hidden, a), np.random.default_rng(0).dirichlet([1] * 3, (2, 2)).T),
        )
    )
    bank = ItemBank.from_network(network, ["a"])
    assert set(bank.item_names) == {"x", "y"}
    # The cause is in the order of the hidden variables, and so are the channel's rows.
    assert bank.cause("y") == ("a", "h")
    table = np.real(network.cpd("y").to_factor().values)
    np.testing.assert_allclose(bank.channel("y")[1], table[:, 1, 0])
    assert bank.q_matrix.tolist() == [[True], [True]]


def test_a_model_of_pgmpy_is_a_bank() -> None:
    from bnmind.pgm.formats import to_pgmpy

    bank = ItemBank.from_qmatrix(Q)
    again = ItemBank.from_network(to_pgmpy(bank.network), bank.skills, bank.items)
    for name in bank.item_names:
        np.testing.assert_allclose(again.channel(name), bank.channel(name))


def test_enemies_are_mutual() -> None:
    items: list[Item | str] = [Item("a", enemies=("b",)), "b", "c", "d"]
    bank = ItemBank.from_qmatrix(Q, items=items)
    assert bank.enemies("b") == frozenset({"a"})
    assert bank.enemies("c") == frozenset()


def test_banks_survive_pickling() -> None:
    bank = ItemBank.from_qmatrix(Q).with_title("t", "s")
    bank.channels()
    copy = pickle.loads(pickle.dumps(bank))
    assert (copy.title, copy.source, copy.items) == (bank.title, bank.source, bank.items)
    assert not copy.channel("item_1").flags.writeable


@pytest.mark.parametrize(
    ("q", "words"),
    [
        ([[1, 0], [0, 0]], "item_2 needs no skill, in row 2 .*; no item needs skill skill_2"),
        ([[1, 0], [1, 0]], "no item needs skill skill_2, in column 2"),
        (
            [[1, -1], [0.5, 1]],
            r"row 1 \(item item_1\), column skill_2 .* got -1.0; .* skill_1 .* got 0.5",
        ),
        ([[1, float("nan")]], "whole number"),
        ([1, 0], "got an array of shape"),
        ([["1", "x"]], "whole number .*, column skill_2 of the Q-matrix, got 'x'"),
        ([[1, 2]], "level of skill_2 below 2 in the Q-matrix at item item_1, got 2"),
    ],
)
def test_bad_q_matrices_are_refused(q: object, words: str) -> None:
    with pytest.raises(InvalidModelError, match=words):
        ItemBank.from_qmatrix(q)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"guess": 1.5}, r"guess to be a number from 0 to 1, got 1.5, in item item_1"),
        ({"guess": [0.1, 0.2]}, "4 guesses"),
        ({"slip": [0.1, 0.1, 0.1, 2]}, "in item item_4"),
        (
            {"items": ["a", "b", "a", "c"]},
            "item a occurs more than once in the Q-matrix, in rows 1, 3",
        ),
        ({"items": ["a"]}, "1 item and 3 skills"),
        ({"skill_names": ["s", "s", "t"]}, "skill s occurs more than once"),
        ({"levels": 1}, "2 to 1001 levels"),
        ({"levels": (2, 2)}, "each of 3 skills"),
        ({"skills": Independent([0.5])}, "each of 3 skills"),
        ({"skills": Network((TabularCPD(variable("s"), (), np.ones(2) / 2),))}, "skill skill_1"),
        ({"items": ["a\tb", "c", "d", "e"]}, "variable name"),
    ],
)
def test_bad_parameters_are_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidModelError, match=words):
        ItemBank.from_qmatrix(Q, **arguments)  # type: ignore[arg-type]


def test_all_faults_of_a_bank_are_listed() -> None:
    bank = ItemBank.from_qmatrix(Q)
    with pytest.raises(InvalidModelError) as caught:
        ItemBank(
            bank.network,
            ("skill_1", "skill_1", "nothing"),
            (*bank.items, Item("item_1"), Item("skill_1", enemies=("who",))),
        )
    text = str(caught.value)
    for words in (
        "the skill skill_1 occurs more than once",
        "the item item_1 occurs more than once",
        "skill_1 cannot be both a skill and an item",
        "for skill nothing",
        "who, an enemy of skill_1, is not an item",
    ):
        assert words in text


def test_items_are_leaves_that_depend_on_skills_and_skills_are_measured() -> None:
    a, b, x, y, z = map(variable, "abxyz")
    even = np.array([0.5, 0.5])
    network = Network(
        (
            TabularCPD(a, (), even),
            TabularCPD(b, (), even),
            Dina(0.1, 0.1).cpd(x, (a,)),
            Dina(0.1, 0.1).cpd(y, (x,)),
            TabularCPD(z, (), even),
        )
    )
    with pytest.raises(InvalidModelError) as caught:
        ItemBank(network, ("a", "b"), (Item("x"), Item("z")))
    assert caught.value.problems == (
        "item x must not have children, but has y",
        "item z depends on no skill",
        "no item depends on skill b",
    )


def test_an_item_has_the_distribution_of_its_response_model() -> None:
    bank = ItemBank.from_qmatrix(Q)
    items = (Item("item_1", gate=Dina(0.3, 0.1)), *bank.items[1:])
    with pytest.raises(InvalidModelError, match="of item_1 is not that of its response model"):
        ItemBank(bank.network, bank.skills, items)


def test_bad_items_are_refused() -> None:
    with pytest.raises(InvalidModelError, match=r"positive.*; the time .*; .* own enemy"):
        Item("x", cost=0, time=-1, enemies=("x",))


def test_unknown_names_are_refused() -> None:
    bank = ItemBank.from_qmatrix(Q)
    with pytest.raises(UnknownNameError):
        bank.item("skill_1")
    with pytest.raises(UnknownNameError):
        bank.channel("x")
    with pytest.raises(InvalidArgumentError):
        bank.response("item_1", 0.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidModelError, match="4 response models, one for each item, got 1"):
        ItemBank.from_response_models(Q, [Dina(0.1, 0.1)])
    assert QMatrix.of(Q).needs.tolist() == Q


def test_choices_count_as_responses_of_their_item() -> None:
    with pytest.raises(InvalidModelError, match="each text once"):
        Item("a", choices=(("x", "0"), ("x", "1")))
    wrong = Item("a", choices=(("x", "0"), ("y", "2"), ("z", "3")))
    with pytest.raises(InvalidModelError, match=r"choice y of item a must count as .*: 0, 1"):
        ItemBank.from_qmatrix([[1], [1]], items=[wrong, "b"])
    with pytest.raises(InvalidModelError) as caught:
        ItemBank.from_qmatrix([[1], [1]], items=[wrong, "b"])
    assert len(caught.value.problems) == 1  # of an item only the first
