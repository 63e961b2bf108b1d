"""Hidden Markov models with Gaussian emissions, with the names of hmmlearn."""

import numpy as np

from ._fishweir import FishweirError
from ._hmm_base import _FEW, _HMM
from ._hmm_covariance import _check_covars, _clusters, _covariance, _known, _matrices, _outer, _positive, _scatter, _spread


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
