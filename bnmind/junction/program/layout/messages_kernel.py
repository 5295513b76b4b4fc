"""Messages in compiled code; twin of `bnmind.junction.program.message_passing.Passing`."""

from __future__ import annotations

from bnmind._jit import njit
from bnmind.junction.program.layout.arrays import (
    ANSWERS,
    ASSIGNED,
    ASSIGNED_STARTS,
    FAILED,
    MESSAGES,
    MOST_OPERANDS,
    N_QUESTIONS,
    OPERANDS,
    OWNERS,
    QUESTIONS,
    REVERSE,
    SEPARATORS,
    STARTS,
    WAITING,
    Ints,
)
from bnmind.junction.program.layout.contraction_kernel import contract

__all__ = ["answered"]


@njit
def _at_clique(m: Ints, clique: int, receiver: int, kept: int) -> int:
    """Contract a clique's tables with all messages but that along the edge to the receiver."""
    n = 0
    starts = m[ASSIGNED_STARTS] + clique
    for i in range(m[starts], m[starts + 1]):
        if n <= MOST_OPERANDS:
            m[m[OPERANDS] + n] = m[m[ASSIGNED] + i]
            n += 1
    for edge in range(m[m[STARTS] + clique], m[m[STARTS] + clique + 1]):
        message = m[m[MESSAGES] + m[m[REVERSE] + edge]]
        if edge != receiver and message >= 0 and n <= MOST_OPERANDS:
            m[m[OPERANDS] + n] = message
            n += 1
    return contract(m, n, kept)


@njit
def _sent(m: Ints, edge: int) -> int:
    """Return the message along a directed edge; send it, and first those it depends on."""
    messages, waiting = m[MESSAGES], m[WAITING]
    n = 0
    if m[messages + edge] == -2:
        m[waiting] = edge
        n = 1
    while n:
        last = m[waiting + n - 1]
        source = m[m[OWNERS] + last]
        before = n
        for other in range(m[m[STARTS] + source], m[m[STARTS] + source + 1]):
            missing = m[m[REVERSE] + other]
            if other != last and m[messages + missing] == -2:
                m[waiting + n] = missing
                n += 1
        if n == before:
            n -= 1
            m[messages + last] = _at_clique(m, source, last, m[m[SEPARATORS] + last])
    return int(m[messages + edge])


@njit
def answered(m: Ints) -> bool:
    """Answer all questions; return whether there was room."""
    for number in range(m[N_QUESTIONS]):
        question = m[QUESTIONS] + 4 * number
        edge = m[question + 1]
        if edge >= 0:
            first, second = _sent(m, edge), _sent(m, m[m[REVERSE] + edge])
            n = 0
            if first >= 0:
                m[m[OPERANDS]] = first
                n = 1
            if second >= 0:
                m[m[OPERANDS] + n] = second
                n += 1
            register = contract(m, n, m[question + 2])
        else:
            clique = m[question]
            for other in range(m[m[STARTS] + clique], m[m[STARTS] + clique + 1]):
                _sent(m, m[m[REVERSE] + other])
            register = _at_clique(m, clique, -1, m[question + 2])
        if m[question + 3] >= 0 and register >= 0:
            m[m[OPERANDS]] = register
            register = contract(m, 1, m[question + 3])
        m[m[ANSWERS] + number] = register
        if m[FAILED]:
            return False
    return True
