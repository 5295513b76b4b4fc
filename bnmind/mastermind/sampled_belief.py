"""A belief that holds weighted samples of the posterior, for boards of any size.

=========  ==================================================================
symbol     name here
=========  ==================================================================
p(s)       the weight of a code s under the prior
L(s)       Π_t N[reply(s, g_t), o_t], the likelihood of the history
Z          Σ_s p(s)·L(s), estimated by the sampler
q(s)       p(s)·L(s)/Z, the posterior
H          ln Z − Σ_s q(s)·ln(p(s)·L(s)), the entropy in nats
=========  ==================================================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked, whole_array
from bnmind._values import Sealed, Value, sealed
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.beliefs import impossible_history
from bnmind.mastermind.board import Board, Reply, Turn, digits_of
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.consistent import (
    MAX_LISTED,
    ListedCodes,
    distinct_codes,
    list_possible_codes,
)
from bnmind.mastermind.prior import Prior, UniformPrior, require_same_board
from bnmind.mastermind.random_moves import masses_of_samples
from bnmind.mastermind.sampling import (
    Codes,
    Population,
    Replies,
    SamplerInfo,
    SamplerOptions,
    Start,
    Work,
    effective_islands,
    first_population,
    island_shares,
    jackknife_error,
    joint_error,
    log_mean,
    restart,
    sample_update,
    warning_of,
)

# --- The prior of a board in the form that the sampler needs --------------------------------------


_LISTED = 2**17  # up to this number of codes, the weights of all are added up
_DRAWN = 2**16  # draws that estimate the sum of the weights otherwise


def start_of(board: Board, prior: Prior | None) -> Start:
    """Return the prior of a board as the sampler needs it."""
    if prior is None or isinstance(prior, UniformPrior):
        return Start(
            board=board,
            log_prior=None,
            fresh=UniformPrior(board).draw,
        )
    log_probabilities = getattr(prior, "log_probabilities", None)
    return Start(
        board=board,
        log_prior=prior.log_weights if log_probabilities is None else log_probabilities,
        fresh=lambda n, rng: prior.draw(n, rng).astype(np.uint8),
    )


def log_sum_of_weights(board: Board, prior: Prior | None) -> float:
    """Return the logarithm of the sum of the weights of all codes.

    If the prior only has weights, and the board has more than 131,072 codes, it is estimated from
    random codes; nan if all of them have weight zero. The estimate affects the entropy of the code
    and nothing else.
    """
    if prior is None or isinstance(prior, UniformPrior):
        return math.log(board.n_codes)
    if hasattr(prior, "log_probabilities"):
        return 0.0
    if board.n_codes <= _LISTED:
        codes = digits_of(board, np.arange(board.n_codes))
    else:
        codes = UniformPrior(board).draw(_DRAWN, np.random.default_rng(0))
    logs: Floats = np.asarray(prior.log_weights(codes), dtype=np.float64)
    largest = float(logs.max())
    if largest == -math.inf:
        return math.nan
    return largest + math.log(float(np.exp(logs - largest).mean())) + math.log(board.n_codes)


# --- Standard errors of the estimates of a sampled belief -----------------------------------------
#
# The islands of the sampler are independent, so their spread gives the errors; see
# `bnmind.mastermind.sampling`. An event that no sample shows still has a standard
# error, 1/n for samples as good as n independent ones. If the belief lists all possible codes, its
# numbers are exact, and the errors are zero.


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledErrors(Sealed):
    """The standard errors of a sampled belief, by methods of the same names."""

    board: Board
    """The board."""
    history: tuple[Turn, ...]
    """The turns so far."""
    population: Population
    """The samples."""
    listed: ListedCodes | None
    """All possible codes, if they are listed."""
    log_targets: Floats
    """``(islands, size)``, the logarithm of the unnormalized posterior of each sample."""

    def masses(self, guesses: NDArray[np.intp]) -> Floats:
        """Return the standard errors of the masses, in the same shape."""
        shape = (len(guesses), len(self.board.true_replies))
        if self.listed is not None:
            return np.zeros(shape)
        codes = np.array([self.board.code(guess) for guess in guesses.tolist()], dtype=np.uint8)
        return self._with_floor(joint_error(self._masses(codes), self._shares))

    def marginals(self) -> Floats:
        """Return the standard errors of the probabilities of colors, ``(pegs, colors)``."""
        if self.listed is not None:
            return np.zeros((self.board.pegs, self.board.colors))
        colors = np.arange(1, self.board.colors + 1)
        weights = np.exp(self.population.log_weights)
        each = np.einsum("rm,rmpc->rpc", weights, self.population.codes[..., None] == colors)
        return self._with_floor(joint_error(each, self._shares))

    def misreport_probabilities(self) -> tuple[float, ...]:
        """Return the standard error of each probability of a misreport."""
        if self.listed is not None or not self.history:
            return (0.0,) * len(self.history)
        guesses = np.array([turn.guess for turn in self.history], dtype=np.uint8)
        true = self.board.true_replies
        right = np.array([[reply == turn.reply for reply in true] for turn in self.history])
        wrong = np.where(right, 0.0, self._masses(guesses)).sum(axis=2)
        return tuple(self._with_floor(joint_error(wrong, self._shares)).tolist())

    def entropy(self) -> float:
        """Return the standard error of the entropy, in bits."""
        if self.listed is not None:
            return 0.0
        constants, weights = self.population.log_constants, np.exp(self.population.log_weights)
        means = (weights * np.where(weights > 0, self.log_targets, 0.0)).sum(axis=1)
        estimates: list[float] = []
        for island in range(len(constants)):
            others = np.delete(constants, island)
            if others.max() == -math.inf:
                return math.nan
            mean = float(island_shares(others) @ np.delete(means, island))
            estimates.append(log_mean(others) - mean)
        return jackknife_error(np.array(estimates)) / math.log(2)

    @property
    def _shares(self) -> Floats:
        return island_shares(self.population.log_constants)

    def _masses(self, guesses: NDArray[np.uint8]) -> Floats:
        """Return the masses of each island, ``(islands, guesses, true replies)``."""
        weights = np.exp(self.population.log_weights)
        return np.array(
            [
                masses_of_samples(self.board, guesses, codes, some)
                for codes, some in zip(self.population.codes, weights, strict=True)
            ]
        )

    def _with_floor(self, errors: Floats) -> Floats:
        """Return the errors with that of an event that no sample shows."""
        weights = np.exp(self.population.log_weights) * self._shares[:, None]
        rare = float((weights**2).sum())
        combined: Floats = np.sqrt(errors**2 + rare**2)
        return combined


# --- A belief that holds weighted samples of the posterior, for boards of any size ----------------


_CONTRADICTION = 8.0  # each contradicted reply makes a code e⁻⁸ times as probable


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledBelief(Value):
    """A belief that holds weighted samples of the posterior, and its estimates with their errors.

    It needs no list of all codes, so it works on boards of any size and with any prior. The seed in
    the options determines all samples; the same history gives the same belief.

    Under an exact channel, as soon as some 16,000 codes or fewer are possible, a search lists them
    all, and the numbers are exact from then on. If the replies under an exact channel contradict
    each other, the codes that contradict the fewest replies are possible, as for `VanishingBelief`.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> belief = SampledBelief.start(Channel.exact(Board(8, 12)))
    >>> after = belief.update((1, 1, 2, 2, 3, 3, 4, 4), Reply(2, 1))
    >>> after.info.warning is None, len(after.misreport_probabilities())
    (True, 1)
    >>> round(belief.entropy(), 1), 24 < after.entropy() < 26
    (28.7, True)
    >>> after.standard_errors.entropy() < 0.2
    True
    """

    channel: Channel
    """The channel that the belief assumes."""
    options: SamplerOptions
    """The options of the sampler."""
    prior: Prior | None
    """The distribution from which the code is drawn; uniform if None."""
    log_normalizer: float
    """The natural logarithm of the sum of the prior's weights; nan if unknown."""
    history: tuple[Turn, ...]
    """The turns so far, oldest first."""
    contradictions: int
    """The number of replies that each possible code contradicts, under an exact channel; 0 if the
    replies agree."""
    population: Population
    """The samples; out of date if the codes are listed."""
    listed: ListedCodes | None
    """All possible codes, in place of samples; None if they are too many to list."""
    info: SamplerInfo
    """A report on the sampler's last run."""

    @classmethod
    @checked
    def start(
        cls,
        channel: Channel,
        prior: Prior | None = None,
        *,
        options: SamplerOptions | None = None,
        rng: np.random.Generator | None = None,
    ) -> SampledBelief:
        """Return the belief before the first guess.

        Parameters
        ----------
        channel
            The channel that the belief assumes.
        prior
            The distribution from which the code is drawn; uniform if None.
        options
            The options of the sampler.
        rng
            Draws the seed of the samples; by default it is that of the options.

        Raises
        ------
        InvalidArgumentError
            If the prior belongs to another board.
        """
        if prior is not None:
            require_same_board(channel.board, prior)
        options = SamplerOptions() if options is None else options
        if rng is not None:
            options = replace(options, seed=int(rng.integers(2**62)))
        log_normalizer = log_sum_of_weights(channel.board, prior)
        first = first_population(start_of(channel.board, prior), options)
        return cls(
            channel=channel,
            options=options,
            prior=prior,
            log_normalizer=log_normalizer,
            history=(),
            contradictions=0,
            population=first,
            listed=None,
            info=_info(first, Work(), restarted=False),
        )

    @property
    def board(self) -> Board:
        """The board."""
        return self.channel.board

    @property
    def _start(self) -> Start:
        return start_of(self.board, self.prior)

    def update(self, guess: Sequence[int], reply: Reply) -> SampledBelief:
        """Return the belief after another guess and its reported reply.

        Parameters
        ----------
        guess
            The guess, colors 1..k.
        reply
            The reported reply.

        Raises
        ------
        InvalidArgumentError
            If the guess is not a code of the board.
            If the channel never reports the reply.
        ImpossibleEvidenceError
            If the channel is not exact and no code was found that explains the replies; the error
            names them.
        """
        self.channel.report_index(reply)
        history = (*self.history, Turn(self.board.checked(guess), Reply.of(reply)))
        listed = self._list(history)
        if listed is not None:
            return replace(
                self,
                history=history,
                contradictions=listed.contradictions,
                listed=listed,
                info=_info_of_list(listed),
            )
        likelihoods = _likelihoods(self.channel, history)
        if not likelihoods.any(axis=1).all():  # no true reply is ever reported as one of these
            if not self.channel.is_exact:
                raise impossible_history(self.channel, history)
            return self._contradicted(history)
        replies = Replies(board=self.board, turns=history, likelihoods=likelihoods)
        if self.contradictions or self.listed is not None:
            after, work, restarted = *restart(replies, self._start, self.options), True
        else:
            after, work, restarted = sample_update(
                self.population, replies, self._start, self.options
            )
        if effective_islands(after.log_constants):
            return replace(
                self,
                history=history,
                contradictions=0,
                population=after,
                listed=None,
                info=_info(after, work, restarted=restarted),
            )
        if not self.channel.is_exact:
            raise impossible_history(self.channel, history)
        return self._contradicted(history)

    def _list(self, history: tuple[Turn, ...]) -> ListedCodes | None:
        """Return all possible codes after another turn; None if they are many or hard to list."""
        if not self.channel.is_exact:
            return None
        if self.listed is None:
            turn, true = history[-1], self.board.true_replies
            guess = np.array([turn.guess], dtype=np.uint8)
            masses = self.masses_of(guess)[0]
            mass = masses[true.index(turn.reply)] if turn.reply in true else 0.0
            # At least one sample could have agreed.
            bits = self.entropy() + math.log2(max(float(mass), 1 / self.info.codes))
            if bits > math.log2(MAX_LISTED) + 1:
                return None
        log_prior = self._start.log_prior
        return list_possible_codes(self.board, history, log_prior, ends=self.channel.ends)

    def _contradicted(self, history: tuple[Turn, ...]) -> SampledBelief:
        """Return the belief that is uniform over codes that contradict the fewest replies."""
        channel = self.channel
        soft = np.maximum(_likelihoods(channel, history), math.exp(-_CONTRADICTION))
        if channel.ends:
            soft[:, -1] = 0.0  # the game has not ended
        replies = Replies(board=self.board, turns=history, likelihoods=soft)
        population, work = restart(replies, self._start, self.options)
        if not effective_islands(population.log_constants):
            raise impossible_history(channel, history)
        wrong = np.rint(-replies.logs(population.codes) / _CONTRADICTION).astype(np.intp)
        fewest = int(wrong.min())
        with np.errstate(divide="ignore"):
            weights = population.log_weights + np.log(wrong == fewest)
            totals = np.exp(weights).sum(axis=1)
            constants = population.log_constants + np.log(totals)
            weights -= np.log(np.where(totals > 0, totals, 1.0))[:, None]
        weights[totals == 0] = -math.log(self.options.size)
        fewer = Population(codes=population.codes, log_weights=weights, log_constants=constants)
        return replace(
            self,
            history=history,
            contradictions=fewest,
            population=fewer,
            listed=None,
            info=_info(fewer, work, restarted=True),
        )

    @cached_property
    def samples(self) -> tuple[NDArray[np.uint8], Floats]:
        """Distinct codes, ``(codes, pegs)``, and their weights, which sum to one."""
        if self.listed is not None:
            return self.listed.codes, self.listed.probabilities
        population = self.population
        shares = island_shares(population.log_constants)
        weights = np.exp(population.log_weights) * shares[:, None]
        distinct, _, ranks = distinct_codes(population.codes.reshape(-1, self.board.pegs))
        joint = np.bincount(ranks, weights=weights.ravel(), minlength=len(distinct))
        return sealed(distinct[joint > 0]), sealed(joint[joint > 0] / joint.sum())

    @cached_property
    def log_targets(self) -> Floats:
        """The natural logarithm of p(s)·L(s) of each sample, ``(islands, size)``."""
        likelihoods = _likelihoods(self.channel, self.history)
        if self.contradictions:
            likelihoods = np.maximum(likelihoods, math.exp(-_CONTRADICTION))
        replies = Replies(board=self.board, turns=self.history, likelihoods=likelihoods)
        return sealed(_target_logs(self.population, replies, self._start))

    @property
    def standard_errors(self) -> SampledErrors:
        """The standard errors of the estimates, by methods of the same names."""
        return SampledErrors(
            board=self.board,
            history=self.history,
            population=self.population,
            listed=self.listed,
            log_targets=self.log_targets,
        )

    def masses(self, guesses: NDArray[np.intp]) -> Floats:
        """Return the probability of each true reply, ``(guesses, len(board.true_replies))``.

        Parameters
        ----------
        guesses
            Indices of codes; an array of Python integers if they exceed 63 bits.
        """
        return self.masses_of(codes_at(self.board, guesses))

    def masses_of(self, guesses: NDArray[np.uint8]) -> Floats:
        """Return the probability of each true reply to guesses given as codes, ``(n, pegs)``.

        Parameters
        ----------
        guesses
            ``(n, pegs)``, colors from 1.
        """
        codes, weights = self.samples
        return masses_of_samples(self.board, guesses, codes, weights)

    def marginals(self) -> Floats:
        """Return the probability of each color at each position, ``(pegs, colors)``."""
        codes, weights = self.samples
        colors = np.arange(1, self.board.colors + 1)
        return np.array([weights @ (column[:, None] == colors) for column in codes.T])

    def entropy(self) -> float:
        """Return the entropy of the code in bits, at least 0; nan if it cannot be estimated."""
        if self.listed is not None:
            p = self.listed.probabilities[self.listed.probabilities > 0]
            return max(0.0, -float(p @ np.log2(p)))
        population, shares = self.population, island_shares(self.population.log_constants)
        weights = np.exp(population.log_weights)
        logs = np.where(weights > 0, self.log_targets, 0.0)
        nats = log_mean(population.log_constants) - float(shares @ (weights * logs).sum(axis=1))
        nats += self.log_normalizer
        return math.nan if math.isnan(nats) else max(0.0, nats / math.log(2))

    def misreport_probabilities(self) -> tuple[float, ...]:
        """Return, for each turn, the probability that its reply was misreported."""
        if not self.history:
            return ()
        codes, weights = self.samples
        guesses = np.array([turn.guess for turn in self.history], dtype=np.uint8)
        masses = masses_of_samples(self.board, guesses, codes, weights)
        true = self.board.true_replies
        right = np.array([[reply == turn.reply for reply in true] for turn in self.history])
        wrong = np.where(right, 0.0, masses).sum(axis=1)
        return tuple(np.minimum(wrong, 1.0).tolist())

    @checked
    def most_probable(self, n: int = 10) -> tuple[tuple[int, float], ...]:
        """Return up to `n` codes as ``(index, probability)``, the most probable code first.

        Only codes among the samples are considered. The probability of a code is p(s)·L(s)/Z, so
        its relative error is that of Z. Codes of equal probability, within a relative difference
        of 1e-12, are in lexicographic order.
        """
        if self.listed is not None:
            codes, p = self.listed.codes, self.listed.probabilities
        else:
            population = self.population
            codes, first, _ = distinct_codes(population.codes.reshape(-1, self.board.pegs))
            logs = self.log_targets.ravel()[first]
            possible = np.exp(population.log_weights).ravel()[first] > 0
            p = np.exp(logs - log_mean(population.log_constants) - self.log_normalizer) * possible
            p = np.minimum(p, 1.0) / max(1.0, float(p.sum()))
        codes, p = codes[p > 0], p[p > 0]
        # Rounded logarithms make close probabilities equal; codes are in lexicographic order.
        order = np.argsort(-np.rint(np.log(p) * 1e11), kind="stable")[: max(0, n)]
        return tuple((self.board.index(codes[i].tolist()), float(p[i])) for i in order)

    def draw(self, n: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Return `n` of the samples, drawn by their weights, ``(n, pegs)``, colors from 1."""
        codes, weights = self.samples
        drawn: NDArray[np.uint8] = codes[rng.choice(len(codes), size=n, p=weights)]
        return drawn


def codes_at(board: Board, indices: NDArray[np.intp]) -> Codes:
    """Return the codes with the given indices, on a board of any size, ``(n, pegs)``.

    Raises
    ------
    InvalidArgumentError
        If an index is not that of a code.
    """
    # NumPy keeps integers of 64 bits as unsigned words, and larger ones as Python objects.
    are_large = isinstance(indices, np.ndarray) and indices.dtype in (np.uint64, object)
    places = indices if are_large else whole_array(indices, "the guesses")
    if places.ndim != 1:
        raise InvalidArgumentError(
            f"expected the guesses as a list of indices of codes, got shape {places.shape}", indices
        )
    codes = [board.code(place) for place in places.tolist()]
    return np.array(codes, dtype=np.uint8).reshape(-1, board.pegs)


def _likelihoods(channel: Channel, turns: Sequence[Turn]) -> Floats:
    """Return the probability of each report given each true reply, ``(turns, true replies)``."""
    rows = [channel.likelihood(turn.reply) for turn in turns]
    return np.array(rows).reshape(-1, len(channel.board.true_replies))


def _target_logs(population: Population, replies: Replies, start: Start) -> Floats:
    """Return the natural logarithm of p(s)·L(s) of each sample, ``(islands, size)``."""
    logs = replies.logs(population.codes)
    if start.log_prior is not None:
        flat = population.codes.reshape(-1, population.codes.shape[-1])
        logs = logs + start.log_prior(flat).reshape(logs.shape)
    return logs


def _info(population: Population, work: Work, *, restarted: bool) -> SamplerInfo:
    islands, size, pegs = population.codes.shape
    effective = effective_islands(population.log_constants)
    kish = float((1 / (np.exp(population.log_weights) ** 2).sum(axis=1)).mean())
    return SamplerInfo(
        codes=islands * size,
        distinct=len(distinct_codes(population.codes.reshape(-1, pegs))[0]),
        effective_size=kish * effective,
        effective_islands=effective,
        stages=work.stages,
        steps=work.proposed,
        acceptance=work.accepted / work.proposed if work.proposed else math.nan,
        final_acceptance=work.accepted_last,
        restarted=restarted,
        listed=False,
        warning=warning_of(population),
    )


def _info_of_list(listed: ListedCodes) -> SamplerInfo:
    n = len(listed.codes)
    return SamplerInfo(
        codes=n,
        distinct=n,
        effective_size=math.inf,
        effective_islands=math.inf,
        stages=0,
        steps=0,
        acceptance=math.nan,
        final_acceptance=math.nan,
        restarted=False,
        listed=True,
    )
