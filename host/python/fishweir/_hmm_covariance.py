"""Covariances as hmmlearn has them: spherical, diag, full, tied."""

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from ._fishweir import FishweirError

COVARIANCE_TYPES = frozenset(("spherical", "diag", "full", "tied"))


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
    return _k_means(X, count, random_state).cluster_centers_


def _k_means(X, count, random_state):
    """Clusters on one thread: several add in whatever order they end, and the last bits would differ from run to run."""
    with threadpool_limits(limits=1):
        return KMeans(n_clusters=count, random_state=random_state, n_init=10).fit(X)


def _covariance(X, min_covar):
    rows = np.asarray(X, dtype=float)
    rows = rows[~np.isnan(rows).any(axis=1)]
    d = rows.shape[1]
    return np.cov(rows.T).reshape(d, d) + min_covar * np.eye(d)


def _spread(common):
    """hmmlearn's variance of all channels, where it is one."""
    mean = common.mean()
    return mean if mean > 0 else np.diag(common).mean()
