"""What all hidden Markov models with the names of hmmlearn have in common."""

import logging
import sys
from collections import deque

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _fishweir
from ._fishweir import FishweirError

_log = logging.getLogger("fishweir.hmm")
DECODER_ALGORITHMS = frozenset(("viterbi", "map"))
# Expected observations below which an estimate keeps its value.
_FEW = 1e-8
# States of a model of the library.
_MOST_STATES = 64


class ConvergenceMonitor:
    """What a fit reports: the log-likelihood before each step, and whether it has converged.

    A class of one's own with another ``converged`` can take its place in ``model.monitor_``.
    """

    _template = "{iter:>10d} {log_prob:>16.8f} {delta:>+16.8f}"

    def __init__(self, tol, n_iter, verbose):
        self.tol = tol
        self.n_iter = n_iter
        self.verbose = verbose
        self.history = deque()
        self.iter = 0

    def __repr__(self):
        return f"{type(self).__name__}(iter={self.iter}, history={list(self.history)}, tol={self.tol}, n_iter={self.n_iter})"

    def _reset(self):
        self.iter = 0
        self.history.clear()

    def report(self, log_prob):
        """Takes in the log-likelihood of the data before a step; prints a line to standard error where ``verbose`` is set."""
        delta = log_prob - self.history[-1] if self.history else np.nan
        if self.verbose:
            print(self._template.format(iter=self.iter + 1, log_prob=log_prob, delta=delta), file=sys.stderr)
        if delta < -np.sqrt(np.finfo(float).eps):
            _log.warning("the log-likelihood fell by %g, from %s to %s", -delta, self.history[-1], log_prob)
        self.history.append(log_prob)
        self.iter += 1

    @property
    def converged(self):
        """``True`` after ``n_iter`` steps, or once a step gains less than ``tol``."""
        slow = len(self.history) > 1 and self.history[-1] - self.history[-2] < self.tol
        return self.iter == self.n_iter or slow


class _HMM(BaseEstimator):
    """What the four classes share: the chain, and the questions."""

    _symbols = False

    def _chain(self, arguments):
        """Keeps the arguments of a constructor under their names, as scikit-learn wants them."""
        for name, value in arguments.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)
        self.monitor_ = ConvergenceMonitor(self.tol, self.n_iter, self.verbose)

    # The data

    def _read(self, X):
        X = check_array(X, dtype=None, ensure_all_finite="allow-nan")
        if X.dtype.kind not in "fiub":
            X = X.astype(float)
        return X

    def _sequences(self, X, lengths):
        n_samples = len(X)
        lengths = [n_samples] if lengths is None else np.atleast_1d(lengths).tolist()
        if sum(lengths) != n_samples or min(lengths, default=0) < 0:
            raise FishweirError(f"lengths {lengths} do not sum to the {n_samples} samples of X")
        rows = np.ascontiguousarray(self._values(X), dtype=float)
        return _fishweir.Sequences(rows, [int(length) for length in lengths if length], self._symbols)

    def _values(self, X):
        if X.shape[1] != self.n_features:
            raise FishweirError(f"X has {X.shape[1]} channels, and the model observes {self.n_features}")
        return X

    def _check_and_set_n_features(self, X):
        n_features = X.shape[1]
        if getattr(self, "n_features", n_features) != n_features:
            raise FishweirError(f"X has {n_features} features, and the model {self.n_features}")
        self.n_features = n_features

    # The parameters

    def _needs_init(self, code, name):
        if code in self.init_params:
            if hasattr(self, name):
                _log.warning(
                    "%s is set, and will be overwritten: init_params contains %r", name, code
                )
            return True
        return not hasattr(self, name)

    def _init(self, X, lengths=None):
        X = np.asarray(X)
        self._check_and_set_n_features(X)
        rng = check_random_state(self.random_state)
        even = np.full(self.n_components, 1.0 / self.n_components)
        if self._needs_init("s", "startprob_"):
            self.startprob_ = rng.dirichlet(even)
        if self._needs_init("t", "transmat_"):
            self.transmat_ = rng.dirichlet(even, size=self.n_components)
        free = sum(count for code, count in self._get_n_fit_scalars_per_param().items() if code in self.params)
        if X.size < free:
            _log.warning(
                "%d free parameters and %d numbers: the fit will be a degenerate solution", free, X.size
            )

    def _get_n_fit_scalars_per_param(self):
        n = self.n_components
        return {"s": n - 1, "t": n * (n - 1)}

    def _check_sum_1(self, name):
        rows = np.asarray(getattr(self, name), dtype=float)
        if not np.allclose(rows.sum(axis=-1), 1.0) or (rows < 0).any():
            raise FishweirError(f"{name} must be probabilities that sum to one, row by row")

    def _shaped(self, name, shape):
        value = np.asarray(getattr(self, name), dtype=float)
        if value.shape != shape:
            raise FishweirError(f"{name} has shape {value.shape} where {shape} is needed")
        setattr(self, name, value)

    def _check(self):
        n = self.n_components
        self._shaped("startprob_", (n,))
        self._shaped("transmat_", (n, n))
        self._check_sum_1("startprob_")
        self._check_sum_1("transmat_")

    def _emission(self):
        """Name of the family of the library, and its blocks."""
        raise NotImplementedError

    def _chain_of_native(self):
        return self.startprob_, self.transmat_

    def _native(self):
        initial, transition = self._chain_of_native()
        if len(initial) > _MOST_STATES:
            what = f"n_components is {self.n_components}"
            if len(initial) > self.n_components:
                what += f" and n_mix {self.n_mix}: {len(initial)} components in all"
            raise FishweirError(f"{what}: give at most {_MOST_STATES}")
        family, blocks = self._emission()
        return _fishweir.Hmm(
            family,
            _ones(initial).tolist(),
            _ones(transition).tolist(),
            {name: np.asarray(rows, dtype=float).tolist() for name, rows in blocks.items()},
        )

    def _ready(self, X):
        check_is_fitted(self, "startprob_")
        self._check()
        return self._read(X)

    # Questions

    def score(self, X, lengths=None):
        """The log-likelihood of all sequences; minus infinity where one is impossible."""
        X = self._ready(X)
        return float(self._native().log_likelihoods(self._sequences(X, lengths), 1).sum())

    def score_samples(self, X, lengths=None):
        """The log-likelihood of all sequences, and the probability of each state at each sample."""
        X = self._ready(X)
        log_prob, posteriors = self._native().posteriors(self._sequences(X, lengths), 1)
        return log_prob, self._of_states(posteriors)

    def _of_states(self, posteriors):
        return posteriors

    def decode(self, X, lengths=None, algorithm=None):
        """The likeliest path of states (``viterbi``), or the likeliest state of each sample (``map``), and its score."""
        X = self._ready(X)
        algorithm = algorithm or self.algorithm
        if algorithm not in DECODER_ALGORITHMS:
            raise FishweirError(f"algorithm is {algorithm!r}: give viterbi or map")
        if algorithm == "map":
            posteriors = self.score_samples(X, lengths)[1]
            return float(posteriors.max(axis=1).sum()), posteriors.argmax(axis=1)
        return self._path(self._sequences(X, lengths))

    def _path(self, sequences):
        return self._native().decode(sequences)

    def predict(self, X, lengths=None):
        """The state of each sample: see :meth:`decode`."""
        return self.decode(X, lengths)[1]

    def predict_proba(self, X, lengths=None):
        """The probability of each state at each sample."""
        return self.score_samples(X, lengths)[1]

    def sample(self, n_samples=1, random_state=None, currstate=None):
        """Draws samples, and the states that they come from. ``currstate`` is the first state."""
        check_is_fitted(self, "startprob_")
        self._check()
        rng = check_random_state(self.random_state if random_state is None else random_state)
        model = self._from(currstate)._native()
        X, states = model.simulate(int(n_samples), int(rng.randint(2**31 - 1)))
        return self._drawn(X), np.asarray(states, dtype=int) // self._rows_per_state()

    def _from(self, currstate):
        if currstate is None:
            return self
        of = object.__new__(type(self))
        of.__dict__.update(self.__dict__)
        of.startprob_ = np.eye(self.n_components)[currstate]
        return of

    def _drawn(self, X):
        return X

    def _rows_per_state(self):
        return 1

    def aic(self, X, lengths=None):
        """Akaike's criterion: smaller is better."""
        return -2 * self.score(X, lengths) + 2 * sum(self._get_n_fit_scalars_per_param().values())

    def bic(self, X, lengths=None):
        """The Bayesian criterion: smaller is better."""
        count = sum(self._get_n_fit_scalars_per_param().values())
        return -2 * self.score(X, lengths) + count * np.log(len(X))

    def get_stationary_distribution(self):
        """The share of time in each state of a long sequence."""
        check_is_fitted(self, "transmat_")
        values, vectors = np.linalg.eig(np.asarray(self.transmat_, dtype=float).T)
        vector = np.real(vectors[:, np.argmax(np.real(values))])
        return vector / vector.sum()

    def to_model(self):
        """The model of the library: for :func:`fishweir.gram` and for files."""
        check_is_fitted(self, "startprob_")
        self._check()
        return self._native().to_model()

    # The fit

    def fit(self, X, y=None, lengths=None):
        """Fits the model by expectation maximisation, from where ``init_params`` says.

        ``lengths`` may be the second argument, as in hmmlearn.
        """
        lengths = y if lengths is None else lengths
        X = self._read(X)
        self._init(X, lengths)
        self._check()
        self.monitor_._reset()
        if self.n_iter < 1:
            return self

        def maximise(expected):
            return self._native() if self._step(expected) else None

        self._native().fit(self._sequences(X, lengths), maximise, 1)
        return self

    def _step(self, expected):
        """Estimates the parameters from expected statistics, and returns whether there is a step to come."""
        log_prob, start, pairs, blocks = expected
        blocks = {name: np.asarray(rows) for name, rows in blocks.items()}
        with np.errstate(under="ignore"):
            self._do_mstep(np.asarray(start), np.asarray(pairs), blocks)
        self.monitor_.report(log_prob)
        return not (self.monitor_.converged or self.monitor_.iter >= self.n_iter)

    def _do_mstep(self, start, pairs, blocks):
        if "s" in self.params:
            self.startprob_ = _posterior_mode(self.startprob_, start, self.startprob_prior)
        if "t" in self.params:
            self.transmat_ = _posterior_mode(self.transmat_, pairs, self.transmat_prior)


def _ones(rows):
    """Probabilities whose rows sum to one to the last bits."""
    rows = np.asarray(rows, dtype=float)
    return rows / rows.sum(axis=-1, keepdims=True)


def _posterior_mode(old, counts, prior):
    """Probabilities under a Dirichlet prior; zeros stay, and a row without counts stays as it is."""
    found = np.where(old == 0, 0, np.maximum(np.asarray(prior, dtype=float) - 1 + counts, 0))
    total = found.sum(axis=-1, keepdims=True)
    if (total == 0).any():
        _log.warning("a state is never left, or never begins: its probabilities stay as they are")
    return np.where(total > 0, found / np.where(total > 0, total, 1), old)
