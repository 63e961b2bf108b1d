"""Hidden Markov models of symbols and of counts, with the names of hmmlearn."""

import numpy as np
from sklearn.utils import check_random_state

from ._fishweir import FishweirError
from ._hmm_base import _FEW, _HMM, _ones


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
