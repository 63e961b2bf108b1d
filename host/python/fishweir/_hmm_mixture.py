"""Hidden Markov models with mixtures of Gaussians, with the names of hmmlearn."""

import numpy as np
from sklearn.utils import check_random_state

from ._fishweir import FishweirError
from ._hmm_base import _FEW, _HMM, _ones
from ._hmm_covariance import _clusters, _covariance, _definite, _k_means, _known, _outer, _positive, _scatter, _spread

# Components of a mixture that recursions are compiled for.
_MOST_COMPONENTS = 8


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
        labels = _k_means(X, n, self.random_state).labels_
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
