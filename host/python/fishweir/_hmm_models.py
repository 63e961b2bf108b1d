"""Models of other libraries, and classifiers of hidden Markov models."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _fishweir
from ._fishweir import FishweirError
from ._hmm_base import _HMM, _ones
from ._hmm_discrete import CategoricalHMM, PoissonHMM
from ._hmm_gaussian import GaussianHMM
from ._hmm_mixture import GMMHMM
from .classifiers import BayesClassifier


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
