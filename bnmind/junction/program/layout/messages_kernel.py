"""Messages in compiled code; twin of `bnmind.junction.program.message_passing.Passing`."""

from __future__ import annotations

from bnmind._jit import njit
from bnmind.junction.program.layout.arrays import (
    FAILED,
    MOST_OPERANDS,
    Ints,
    Scratch,
    Steps,
    TreeArrays,
)
from bnmind.junction.program.layout.contraction_kernel import contract

__all__ = ["answered"]


@njit
def _at_clique(
    tree: TreeArrays, done: Steps, work: Scratch, clique: int, receiver: int, kept: int
) -> int:
    """Contract a clique's tables with all messages but that along the edge to the receiver."""
    n = 0
    operands = work.operands
    for i in range(tree.assigned_starts[clique], tree.assigned_starts[clique + 1]):
        if n <= MOST_OPERANDS:
            operands[n] = tree.assigned[i]
            n += 1
    for edge in range(tree.starts[clique], tree.starts[clique + 1]):
        message = done.messages[tree.reverse[edge]]
        if edge != receiver and message >= 0 and n <= MOST_OPERANDS:
            operands[n] = message
            n += 1
    return contract(tree, done, work, n, kept)


@njit
def _sent(tree: TreeArrays, done: Steps, work: Scratch, owner: Ints, edge: int) -> int:
    """Return the message along a directed edge; send it, and first those it depends on."""
    messages, waiting = done.messages, work.waiting
    n = 0
    if messages[edge] == -2:
        waiting[0] = edge
        n = 1
    while n:
        last = waiting[n - 1]
        source = owner[last]
        before = n
        for other in range(tree.starts[source], tree.starts[source + 1]):
            if other != last and messages[tree.reverse[other]] == -2:
                waiting[n] = tree.reverse[other]
                n += 1
        if n > before:
            continue
        n -= 1
        if messages[last] == -2:
            kept = tree.separators[last]
            messages[last] = _at_clique(tree, done, work, source, last, kept)
    return int(messages[edge])


@njit
def answered(tree: TreeArrays, done: Steps, work: Scratch, owner: Ints, answers: Ints) -> bool:
    """Answer all questions; return whether there was room. ``owner`` is the clique of each edge."""
    for question in range(answers.size):
        clique, edge, kept, final = tree.questions[question]
        if edge >= 0:
            both = (
                _sent(tree, done, work, owner, edge),
                _sent(tree, done, work, owner, tree.reverse[edge]),
            )
            n = 0
            for message in both:
                if message >= 0:
                    work.operands[n] = message
                    n += 1
            register = contract(tree, done, work, n, kept)
        else:
            for other in range(tree.starts[clique], tree.starts[clique + 1]):
                _sent(tree, done, work, owner, tree.reverse[other])
            register = _at_clique(tree, done, work, clique, -1, kept)
        if final >= 0 and register >= 0:
            work.operands[0] = register
            register = contract(tree, done, work, 1, final)
        answers[question] = register
        if done.counts[FAILED]:
            return False
    return True
