"""Hidden Markov models with the names of hmmlearn, on the recursions of fishweir.

``from fishweir import hmm`` takes the place of ``from hmmlearn import hmm`` for :class:`CategoricalHMM`,
:class:`GaussianHMM`, :class:`GMMHMM` and :class:`PoissonHMM`. Likelihoods, posteriors, paths, expectations and draws are the
library's; the estimates from expectations, with their priors, are hmmlearn's. What differs:

- ``implementation`` changes nothing: nothing underflows, so that nothing is raised for it.
- A value that is NaN is missing, in all methods; an initialisation that clusters the data needs whole samples.
- A state that is never left keeps its row of ``transmat_``; hmmlearn makes it zero.
- A component without observations keeps its mean and its covariance.
- ``aic`` and ``bic`` of a mixture count the weights of every state.
- Draws of a seed are others than hmmlearn's.
- There are at most 64 states; of a mixture with ``full`` or ``tied`` covariances, or of more than 8 components, at most 64
  components of all states.
"""

import logging
import sys
from collections import deque

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _fishweir
from ._fishweir import FishweirError
from .classifiers import BayesClassifier

_log = logging.getLogger(__name__)

DECODER_ALGORITHMS = frozenset(("viterbi", "map"))
COVARIANCE_TYPES = frozenset(("spherical", "diag", "full", "tied"))

# Components of a mixture that recursions are compiled for.
_MOST_COMPONENTS = 8
# Expected observations below which an estimate keeps its value.
_FEW = 1e-8


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


class CategoricalHMM(_HMM):
    """States that emit symbols: whole numbers from 0, one column.

    The parameters are hmmlearn's: ``startprob_``, ``transmat_`` and ``emissionprob_``, codes ``s``, ``t`` and ``e``.
    """

    _symbols = True

    def __init__(self, n_components=1, startprob_prior=1.0, transmat_prior=1.0, *, emissionprob_prior=1.0,
                 n_features=None, algorithm="viterbi", random_state=None, n_iter=10, tol=1e-2, verbose=False,
                 params="ste", init_params="ste", implementation="log"):
        self._chain(locals())

    def _values(self, X):
        X = X if X.shape[1] == 1 else X.reshape(-1, 1)
        if self.n_features is not None and np.nanmax(X) >= self.n_features:
            raise FishweirError(f"X has the symbol {np.nanmax(X):g}, and the model those below {self.n_features}")
        if np.nanmin(X) < 0 or not np.all(np.isnan(X) | (X == np.floor(X))):
            raise FishweirError("symbols are whole numbers from 0")
        return X

    def _check_and_set_n_features(self, X):
        X = np.asarray(X)
        if X.dtype.kind not in "iu":
            raise FishweirError("symbols are whole numbers from 0: give an array of integers")
        if X.min() < 0:
            raise FishweirError("symbols are whole numbers from 0")
        if self.n_features is None:
            self.n_features = int(X.max()) + 1
        elif X.max() >= self.n_features:
            raise FishweirError(f"X has the symbol {X.max()}, and the model those below {self.n_features}")

    def _get_n_fit_scalars_per_param(self):
        return super()._get_n_fit_scalars_per_param() | {"e": self.n_components * (self.n_features - 1)}

    def _init(self, X, lengths=None):
        super()._init(X, lengths)
        if self._needs_init("e", "emissionprob_"):
            rng = check_random_state(self.random_state)
            self.emissionprob_ = _ones(rng.rand(self.n_components, self.n_features))

    def _check(self):
        super()._check()
        self.emissionprob_ = np.atleast_2d(self.emissionprob_)
        if self.n_features is None:
            self.n_features = self.emissionprob_.shape[1]
        self._shaped("emissionprob_", (self.n_components, self.n_features))
        self._check_sum_1("emissionprob_")

    def _emission(self):
        return "categorical", {"probability": _ones(self.emissionprob_)}

    def _drawn(self, X):
        return X.astype(int)

    def _do_mstep(self, start, pairs, blocks):
        super()._do_mstep(start, pairs, blocks)
        if "e" in self.params:
            found = np.maximum(np.asarray(self.emissionprob_prior, dtype=float) - 1 + blocks["counts"], 0)
            total = found.sum(axis=1, keepdims=True)
            self.emissionprob_ = np.where(total > 0, found / np.where(total > 0, total, 1), self.emissionprob_)


class PoissonHMM(_HMM):
    """States that emit counts.

    The parameters are hmmlearn's: ``startprob_``, ``transmat_`` and ``lambdas_``, codes ``s``, ``t`` and ``l``.
    """

    def __init__(self, n_components=1, startprob_prior=1.0, transmat_prior=1.0, lambdas_prior=0.0, lambdas_weight=0.0,
                 algorithm="viterbi", random_state=None, n_iter=10, tol=1e-2, verbose=False, params="stl",
                 init_params="stl", implementation="log"):
        self._chain(locals())

    def _values(self, X):
        X = super()._values(X)
        if np.nanmin(X) < 0 or not np.all(np.isnan(X) | (X == np.floor(X))):
            raise FishweirError("counts are whole numbers from 0")
        return X

    def _get_n_fit_scalars_per_param(self):
        return super()._get_n_fit_scalars_per_param() | {"l": self.n_components * self.n_features}

    def _init(self, X, lengths=None):
        super()._init(X, lengths)
        if self._needs_init("l", "lambdas_"):
            rng = check_random_state(self.random_state)
            mean, variance = np.nanmean(X), np.nanvar(X)
            size = (self.n_components, self.n_features)
            if mean > 0 and variance > 0:
                self.lambdas_ = rng.gamma(shape=mean**2 / variance, scale=variance / mean, size=size)
            else:
                self.lambdas_ = np.full(size, mean)

    def _check(self):
        super()._check()
        self.lambdas_ = np.atleast_2d(self.lambdas_)
        self.n_features = getattr(self, "n_features", self.lambdas_.shape[1])
        self._shaped("lambdas_", (self.n_components, self.n_features))

    def _emission(self):
        return "poisson", {"rate": self.lambdas_}

    def _drawn(self, X):
        return X.astype(int)

    def _do_mstep(self, start, pairs, blocks):
        super()._do_mstep(start, pairs, blocks)
        if "l" in self.params:
            posts = blocks["occupancy"]
            counts = np.maximum(self.lambdas_ * posts + blocks["excess"], 0)
            mean = np.where(posts >= _FEW, counts / np.maximum(posts, _FEW), self.lambdas_)
            n = posts.sum()
            self.lambdas_ = (self.lambdas_prior + n * mean) / (self.lambdas_weight + n)


def _scatter(products, covariance):
    """Sums of ``(x - mean) (x - mean)^T`` from those of whitened samples, of which the lower half is kept."""
    size = covariance.shape[-1]
    lower = np.tril(products.reshape(-1, size, size))
    whole = lower + np.tril(lower, -1).swapaxes(1, 2)
    root = np.linalg.cholesky(covariance)
    return root @ whole @ root.swapaxes(-1, -2)


def _positive(covariances):
    """Symmetric matrices whose eigenvalues are above zero by more than rounding."""
    covariances = 0.5 * (covariances + covariances.swapaxes(-1, -2))
    values, vectors = np.linalg.eigh(covariances)
    least = np.maximum(values[..., -1:] * 1e-13, np.finfo(float).tiny)
    if (values >= least).all():
        return covariances
    return (vectors * np.maximum(values, least)[..., None, :]) @ vectors.swapaxes(-1, -2)


class GaussianHMM(_HMM):
    """States that emit rows of Gaussian channels.

    The parameters are hmmlearn's: ``startprob_``, ``transmat_``, ``means_`` and ``covars_``, codes ``s``, ``t``, ``m``, ``c``.
    """

    def __init__(self, n_components=1, covariance_type="diag", min_covar=1e-3, startprob_prior=1.0, transmat_prior=1.0,
                 means_prior=0, means_weight=0, covars_prior=1e-2, covars_weight=1, algorithm="viterbi",
                 random_state=None, n_iter=10, tol=1e-2, verbose=False, params="stmc", init_params="stmc",
                 implementation="log"):
        self._chain(locals())

    @property
    def covars_(self):
        """The covariance matrix of each state."""
        return _matrices(self._covars_, self.covariance_type, self.n_components, self.n_features)

    @covars_.setter
    def covars_(self, covars):
        covars = np.array(covars, dtype=float)
        _check_covars(covars, self.covariance_type, self.n_components)
        self._covars_ = covars

    def _get_n_fit_scalars_per_param(self):
        n, d = self.n_components, self.n_features
        covars = {"spherical": n, "diag": n * d, "full": n * d * (d + 1) // 2, "tied": d * (d + 1) // 2}
        return super()._get_n_fit_scalars_per_param() | {"m": n * d, "c": covars[self.covariance_type]}

    def _init(self, X, lengths=None):
        super()._init(X, lengths)
        if self._needs_init("m", "means_"):
            self.means_ = _clusters(X, self.n_components, self.random_state)
        if self._needs_init("c", "covars_"):
            common = _covariance(X, self.min_covar)
            n, d = self.n_components, self.n_features
            self.covars_ = {
                "spherical": lambda: np.full((n, d), _spread(common)),
                "diag": lambda: np.tile(np.diag(common), (n, 1)),
                "full": lambda: np.tile(common, (n, 1, 1)),
                "tied": lambda: common,
            }[_known(self.covariance_type)]()

    def _check(self):
        super()._check()
        _known(self.covariance_type)
        self.means_ = np.asarray(self.means_, dtype=float)
        if self.means_.ndim != 2 or len(self.means_) != self.n_components:
            raise FishweirError(f"means_ has shape {self.means_.shape} where a row per state is needed")
        self.n_features = self.means_.shape[1]

    def _emission(self):
        if self.covariance_type in ("spherical", "diag"):
            variances = np.diagonal(self.covars_, axis1=1, axis2=2)
            return "gaussian", {"mean": self.means_, "std": np.sqrt(variances)}
        covars = self.covars_
        return "full-gaussian", {"mean": self.means_, "covariance": covars.reshape(len(covars), -1)}

    def _do_mstep(self, start, pairs, blocks):
        super()._do_mstep(start, pairs, blocks)
        posts, old, covars = blocks["occupancy"], self.means_, self.covars_
        diagonal = self.covariance_type in ("spherical", "diag")
        if diagonal:
            std = np.sqrt(np.diagonal(covars, axis1=1, axis2=2))
            # Sums of x - mean, and of its squares, under the old means.
            first, second = std * blocks["first"], std**2 * blocks["second"]
        else:
            first = np.einsum("nij,nj->ni", np.linalg.cholesky(covars), blocks["first"])
            second = _scatter(blocks["products"], covars)
        if "m" in self.params:
            total = self.means_weight * np.asarray(self.means_prior) + first + old * posts
            weight = self.means_weight + posts
            self.means_ = np.where(weight >= _FEW, total / np.maximum(weight, _FEW), old)
        if "c" in self.params:
            moved, apart = self.means_ - old, self.means_ - self.means_prior
            if diagonal:
                sums = second - 2 * moved * first + moved**2 * posts + self.means_weight * apart**2
                found = (self.covars_prior + sums) / np.maximum(max(self.covars_weight - 1, 0) + posts, 1e-5)
                if self.covariance_type == "spherical":
                    found = np.repeat(found.mean(axis=1, keepdims=True), found.shape[1], axis=1)
                self._covars_ = np.maximum(found, np.finfo(float).tiny)
                return
            crossed = np.einsum("ni,nj->nij", moved, first)
            sums = second - crossed - crossed.swapaxes(1, 2) + posts[..., None] * _outer(moved)
            sums = sums + self.means_weight * _outer(apart)
            weight = max(self.covars_weight - self.n_features, 0)
            if self.covariance_type == "tied":
                self._covars_ = _positive((self.covars_prior + sums.sum(axis=0)) / (weight + posts.sum()))
            else:
                weight = (weight + posts)[..., None]
                found = (self.covars_prior + sums) / np.maximum(weight, _FEW)
                self._covars_ = _positive(np.where(weight >= _FEW, found, covars))


class GMMHMM(_HMM):
    """States that emit rows of channels from a mixture of Gaussians.

    The parameters are hmmlearn's: ``startprob_``, ``transmat_``, ``weights_``, ``means_`` and ``covars_``, codes ``s``, ``t``,
    ``w``, ``m`` and ``c``.
    """

    def __init__(self, n_components=1, n_mix=1, min_covar=1e-3, startprob_prior=1.0, transmat_prior=1.0,
                 weights_prior=1.0, means_prior=0.0, means_weight=0.0, covars_prior=None, covars_weight=None,
                 algorithm="viterbi", covariance_type="diag", random_state=None, n_iter=10, tol=1e-2, verbose=False,
                 params="stmcw", init_params="stmcw", implementation="log"):
        self._chain(locals())

    def _get_n_fit_scalars_per_param(self):
        n, m, d = self.n_components, self.n_mix, self.n_features
        covars = {
            "spherical": n * m,
            "diag": n * m * d,
            "full": n * m * d * (d + 1) // 2,
            "tied": n * d * (d + 1) // 2,
        }[self.covariance_type]
        own = {"m": n * m * d, "c": covars, "w": n * (m - 1)}
        return super()._get_n_fit_scalars_per_param() | own

    def _covars_shape(self):
        n, m, d = self.n_components, self.n_mix, self.n_features
        shapes = {"spherical": (n, m), "diag": (n, m, d), "full": (n, m, d, d), "tied": (n, d, d)}
        return shapes[_known(self.covariance_type)]

    def _init(self, X, lengths=None):
        super()._init(X, lengths)
        n, m, d = self.n_components, self.n_mix, self.n_features
        if self._needs_init("w", "weights_"):
            self.weights_ = np.full((n, m), 1 / m)
        if self._needs_init("m", "means_"):
            self.means_ = self._initial_means(X)
        if self._needs_init("c", "covars_"):
            common = _covariance(X, self.min_covar)
            per = {"spherical": _spread(common), "diag": np.diag(common)}.get(self.covariance_type, common)
            self.covars_ = np.array(np.broadcast_to(per, self._covars_shape()))

    def _initial_means(self, X):
        n, m = self.n_components, self.n_mix
        states = KMeans(n_clusters=n, random_state=self.random_state, n_init=10)
        labels = states.fit_predict(X)
        rng = check_random_state(self.random_state)
        means = []
        for state in range(n):
            own = X[labels == state]
            if len(own) >= m:
                means.append(_clusters(own, m, self.random_state))
            else:
                # Fewer samples than components: some of them, one or more times each.
                means.append(own[rng.randint(len(own), size=m)].astype(float))
        return np.stack(means)

    def _priors(self):
        """Parameters of the priors in their full shapes: by default of the likeliest estimate."""
        n, m, d = self.n_components, self.n_mix, self.n_features
        prior, weight = {
            "spherical": (-(m + 2.0) / 2.0, 0.0),
            "diag": (-1.5, 0.0),
            "full": (0.0, -(1.0 + d + 1.0)),
            "tied": (0.0, -(m + d + 1.0)),
        }[self.covariance_type]
        prior = prior if self.covars_prior is None else self.covars_prior
        weight = weight if self.covars_weight is None else self.covars_weight
        weighs = {"spherical": (n, m), "diag": (n, m, d), "full": (n, m), "tied": (n,)}[self.covariance_type]
        return np.broadcast_to(prior, self._covars_shape()), np.broadcast_to(weight, weighs)

    def _check(self):
        super()._check()
        self.means_ = np.asarray(self.means_, dtype=float)
        if not hasattr(self, "n_features") and self.means_.ndim == 3:
            self.n_features = self.means_.shape[2]
        n, m, d = self.n_components, self.n_mix, self.n_features
        shape = self._covars_shape()
        self._shaped("weights_", (n, m))
        self._check_sum_1("weights_")
        self._shaped("means_", (n, m, d))
        self._shaped("covars_", shape)
        if self.covariance_type in ("spherical", "diag"):
            if (self.covars_ < 0).any():
                raise FishweirError("covars_ must not be negative")
        elif not _definite(self.covars_):
            raise FishweirError("covars_ must be symmetric and positive definite")

    def _is_mixture(self):
        """Whether the library has the mixture as a family: else each component is a state of its own."""
        return self.covariance_type in ("spherical", "diag") and self.n_mix <= _MOST_COMPONENTS

    def _rows_per_state(self):
        return 1 if self._is_mixture() else self.n_mix

    def _chain_of_native(self):
        if self._is_mixture():
            return self.startprob_, self.transmat_
        weights = _ones(self.weights_)
        initial = (self.startprob_[:, None] * weights).ravel()
        into = (self.transmat_[:, :, None] * weights).reshape(self.n_components, -1)
        return initial, np.repeat(into, self.n_mix, axis=0)

    def _variances(self):
        """Variances of each component, ``[state][component][channel]``, of covariances that are diagonal."""
        covars = self.covars_[..., None] if self.covariance_type == "spherical" else self.covars_
        return np.maximum(np.broadcast_to(covars, self.means_.shape), np.finfo(float).tiny)

    def _matrices(self):
        """The covariance matrix of each component."""
        covars = self.covars_[:, None] if self.covariance_type == "tied" else self.covars_
        return np.broadcast_to(covars, self.means_.shape + self.means_.shape[-1:])

    def _emission(self):
        n, m, d = self.means_.shape
        means = self.means_.reshape(n * m, d)
        if self.covariance_type in ("full", "tied"):
            return "full-gaussian", {"mean": means, "covariance": self._matrices().reshape(n * m, d * d)}
        std = np.sqrt(self._variances())
        if not self._is_mixture():
            return "gaussian", {"mean": means, "std": std.reshape(n * m, d)}
        rows = {"mean": self.means_.reshape(n, m * d), "std": std.reshape(n, m * d)}
        return "mixture", {"weight": _ones(self.weights_)} | rows

    def _of_states(self, posteriors):
        if self._is_mixture():
            return posteriors
        return posteriors.reshape(len(posteriors), self.n_components, self.n_mix).sum(axis=2)

    def _path(self, sequences):
        if self._is_mixture():
            return super()._path(sequences)
        chain = (_ones(self.startprob_).tolist(), _ones(self.transmat_).tolist(), _ones(self.weights_).tolist())
        return self._native().decode_mixed(sequences, *chain)

    def _do_mstep(self, start, pairs, blocks):
        n, m, d = self.means_.shape
        if not self._is_mixture():
            start = start.reshape(n, m).sum(axis=1)
            pairs = pairs.reshape(n, m, n, m).sum(axis=(1, 3))
        super()._do_mstep(start, pairs, blocks)
        posts = blocks["counts" if self._is_mixture() else "occupancy"].reshape(n, m)
        first = blocks["first"].reshape(n, m, d)
        diagonal = self.covariance_type in ("spherical", "diag")
        # Sums of x - mean, and of its squares, under the old means: covariances are about these.
        if diagonal:
            variances = self._variances()
            first, second = first * np.sqrt(variances), variances * blocks["second"].reshape(n, m, d)
        else:
            matrices = self._matrices().reshape(n * m, d, d)
            roots = np.linalg.cholesky(matrices).reshape(n, m, d, d)
            first = np.einsum("nmij,nmj->nmi", roots, first)
            second = _scatter(blocks["products"], matrices).reshape(n, m, d, d)
        if "w" in self.params:
            prior = np.broadcast_to(np.asarray(self.weights_prior, dtype=float), (n, m)) - 1
            found = np.maximum(posts + prior, 0)
            total = found.sum(axis=1, keepdims=True)
            self.weights_ = np.where(total >= _FEW, found / np.maximum(total, _FEW), self.weights_)
        precision = np.broadcast_to(np.asarray(self.means_weight, dtype=float), (n, m))
        centre = np.broadcast_to(np.asarray(self.means_prior, dtype=float), (n, m, d))
        if "m" in self.params:
            total = precision[..., None] * centre + first + posts[..., None] * self.means_
            weight = (precision + posts)[..., None]
            self.means_ = np.where(weight >= _FEW, total / np.maximum(weight, _FEW), self.means_)
        if "c" in self.params:
            self._maximise_covars(posts, second, precision, self.means_ - centre)

    def _maximise_covars(self, posts, second, precision, apart):
        m, d = self.n_mix, self.n_features
        prior, weight = self._priors()
        if self.covariance_type == "diag":
            sums = precision[..., None] * apart**2 + 2 * weight + second
            share = posts[..., None] + 1 + 2 * (prior + 1)
        elif self.covariance_type == "spherical":
            sums = precision * (apart**2).sum(axis=-1) + 2 * weight + second.sum(axis=-1)
            share = d * (posts + 1) + 2 * (prior + 1)
        elif self.covariance_type == "full":
            sums = prior.swapaxes(2, 3) + precision[..., None, None] * _outer(apart) + second
            share = (posts + 1 + weight + d + 1)[..., None, None]
        else:
            sums = prior.swapaxes(1, 2) + (precision[..., None, None] * _outer(apart) + second).sum(axis=1)
            share = (posts.sum(axis=1) + m + weight + d + 1)[:, None, None]
        found = np.where(share >= _FEW, sums / np.maximum(share, _FEW), self.covars_)
        self.covars_ = np.maximum(found, 0) if self.covariance_type in ("spherical", "diag") else _positive(found)


def _known(covariance_type):
    if covariance_type not in COVARIANCE_TYPES:
        raise FishweirError(f"covariance_type is {covariance_type!r}: give one of {', '.join(sorted(COVARIANCE_TYPES))}")
    return covariance_type


def _outer(rows):
    return rows[..., :, None] * rows[..., None, :]


def _definite(covariances):
    symmetric = np.allclose(covariances, np.swapaxes(covariances, -1, -2))
    return symmetric and (np.linalg.eigvalsh(covariances) > 0).all()


def _check_covars(covars, covariance_type, n):
    """Refuses covariances of another shape, or that are none."""
    shapes = {"spherical": "(n_components,)", "diag": "(n_components, n_features)",
              "full": "(n_components, n_features, n_features)", "tied": "(n_features, n_features)"}
    wanted = shapes[_known(covariance_type)]
    square = covars.ndim > 1 and covars.shape[-1] == covars.shape[-2]
    good = {
        "spherical": covars.ndim > 0 and len(covars) == n,
        "diag": covars.ndim == 2 and len(covars) == n,
        "full": covars.ndim == 3 and len(covars) == n and square,
        "tied": covars.ndim == 2 and square,
    }[covariance_type]
    if not good:
        raise FishweirError(f"covars_ has shape {covars.shape} where {wanted} is needed")
    if covariance_type in ("spherical", "diag"):
        if not (covars > 0).all():
            raise FishweirError("covars_ must be positive")
    elif not _definite(covars):
        raise FishweirError("covars_ must be symmetric and positive definite")


def _matrices(covars, covariance_type, n, d):
    """A matrix per state."""
    covars = np.asarray(covars)
    if covariance_type == "full":
        return covars
    if covariance_type == "tied":
        return np.tile(covars, (n, 1, 1))
    if covariance_type == "spherical":
        covars = covars.reshape(n, -1)[:, :1]
    return np.broadcast_to(covars, (n, d))[..., None] * np.eye(d)


def _clusters(X, count, random_state):
    if np.isnan(np.asarray(X, dtype=float)).any():
        raise FishweirError("means_ are initialised by clusters of whole samples: set means_, and leave m out of init_params")
    return KMeans(n_clusters=count, random_state=random_state, n_init=10).fit(X).cluster_centers_


def _covariance(X, min_covar):
    rows = np.asarray(X, dtype=float)
    rows = rows[~np.isnan(rows).any(axis=1)]
    d = rows.shape[1]
    return np.cov(rows.T).reshape(d, d) + min_covar * np.eye(d)


def _spread(common):
    """hmmlearn's variance of all channels, where it is one."""
    mean = common.mean()
    return mean if mean > 0 else np.diag(common).mean()


def from_hmmlearn(model):
    """The model of this module with the parameters of one that hmmlearn fitted."""
    kinds = {kind.__name__: kind for kind in (CategoricalHMM, GaussianHMM, GMMHMM, PoissonHMM)}
    kind = kinds.get(type(model).__name__)
    if kind is None:
        raise FishweirError(f"{type(model).__name__} is none of {', '.join(sorted(kinds))}")
    given = {name: value for name, value in model.get_params().items() if name in kind().get_params()}
    found = kind(**given)
    for name in ("n_features", "startprob_", "transmat_", "means_", "_covars_", "weights_", "lambdas_", "emissionprob_"):
        if name in vars(model):
            setattr(found, name, np.copy(getattr(model, name)) if name != "n_features" else int(model.n_features))
    if kind is GMMHMM:
        found.covars_ = np.copy(model.covars_)
    found._check()
    return found


def from_pomegranate(model):
    """The model of this module with the parameters of a ``DenseHMM`` of pomegranate 1.

    Its distributions may be ``Normal``, ``Categorical`` and ``Poisson``, all of one kind, or mixtures of ``Normal``.
    Probabilities of the end have no place here: rows of ``edges`` are scaled to sum to one, and likelihoods are without the
    factor for the end.
    """
    laws = list(model.distributions)
    start, edges = np.exp(_array(model.starts)), np.exp(_array(model.edges))
    names = {type(law).__name__ for law in laws}
    if len(names) > 1:
        raise FishweirError(f"the states have distributions of several kinds: {', '.join(sorted(names))}")
    name, n = names.pop(), len(laws)
    if name == "Normal":
        found = GaussianHMM(n, _covariance_type(laws))
        found.means_ = np.stack([_array(law.means) for law in laws])
        found.n_features = found.means_.shape[1]
        found.covars_ = np.stack([_array(law.covs) for law in laws])
    elif name == "Poisson":
        found = PoissonHMM(n)
        found.lambdas_ = np.stack([_array(law.lambdas) for law in laws])
    elif name == "Categorical":
        tables = [np.atleast_2d(_array(law.probs)) for law in laws]
        if any(len(table) > 1 for table in tables):
            raise FishweirError("a Categorical of several features is none of one symbol")
        found = CategoricalHMM(n)
        found.emissionprob_ = np.concatenate(tables)
    elif name == "GeneralMixtureModel":
        parts = [list(law.distributions) for law in laws]
        if any(type(part).__name__ != "Normal" for own in parts for part in own):
            raise FishweirError("a mixture of others than Normal has no place in a GMMHMM")
        found = GMMHMM(n, len(parts[0]), covariance_type=_covariance_type(sum(parts, [])))
        found.weights_ = np.stack([_array(law.priors) for law in laws])
        found.means_ = np.stack([[_array(part.means) for part in own] for own in parts])
        found.covars_ = np.stack([[_array(part.covs) for part in own] for own in parts])
    else:
        raise FishweirError(f"states of {name} are none of Normal, Poisson, Categorical, GeneralMixtureModel")
    found.startprob_, found.transmat_ = _ones(start), _ones(edges)
    found._check()
    return found


def _array(tensor):
    """A tensor of torch, or an array, in double precision."""
    detached = tensor.detach().cpu().numpy() if hasattr(tensor, "detach") else tensor
    return np.asarray(detached, dtype=float)


def _covariance_type(laws):
    types = {law.covariance_type for law in laws}
    if len(types) > 1 or not types <= {"full", "diag"}:
        raise FishweirError(f"covariances are {', '.join(sorted(types))}: give all full, or all diag")
    return types.pop()


def classifier(models, *, priors=None, channels=None, alphabet=None, window=None, hop=None):
    """The Bayes classifier over one model per class, which :mod:`fishweir` exports, costs and runs on boards.

    Parameters
    ----------
    models : dict
        A fitted model of this module, or of hmmlearn or pomegranate, by the name of its class. All are of one kind.
    priors : dict, optional
        The probability of each class; all are alike by default.
    channels : list of str, optional
        Names of the channels.
    alphabet : str, optional
        The symbols in order, of a :class:`CategoricalHMM`.
    window, hop : int, optional
        Samples of a window and from one to the next. Without them a whole series is decided.
    """
    if len(models) < 2:
        raise FishweirError("a classifier needs two models or more, each with the name of its class")
    own = {name: model if isinstance(model, _HMM) else _foreign(model) for name, model in models.items()}
    for model in own.values():
        check_is_fitted(model, "startprob_")
        model._check()
    first = next(iter(own.values()))
    size = first.n_features
    if isinstance(first, CategoricalHMM):
        alphabet = alphabet or "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[:size]
    else:
        channels = list(channels or (["x"] if size == 1 else [f"x{channel}" for channel in range(size)]))
    priors = [1 / len(own) if priors is None else float(priors[name]) for name in own]
    names = [str(name) for name in own]
    found = BayesClassifier(first.n_components, channels=channels, alphabet=alphabet, window=window, hop=hop)
    found.model_ = _fishweir.classifier_of(
        [model._native() for model in own.values()], names, priors, channels, alphabet, window, hop
    )
    found.classes_ = np.array(list(own))
    found._observe(found.model_)
    return found


def _foreign(model):
    """A model of hmmlearn or pomegranate."""
    return from_pomegranate(model) if hasattr(model, "edges") else from_hmmlearn(model)


__all__ = [
    "CategoricalHMM",
    "ConvergenceMonitor",
    "GMMHMM",
    "GaussianHMM",
    "PoissonHMM",
    "classifier",
    "from_hmmlearn",
    "from_pomegranate",
]
