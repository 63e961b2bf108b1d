"""Scores and kernels as transformers of scikit-learn."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _fishweir
from ._fishweir import Dataset, FishweirError
from ._options import keeps_arguments, names, seed, settings, threads
from ._panel import panel
from .classifiers import _Series


class _OnModels(_Series, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What transformers on hidden Markov models share."""

    def _own(self):
        return {
            "states": self.states,
            "emission": self.family,
            "seed": seed(self.random_state),
            "per_class": bool(self.per_class),
        }

    def _fit(self, X, y, kernel, own):
        if isinstance(X, Dataset):
            data = X
            self._observe(data)
        else:
            labels, classes = None, []
            read = self._read(X, reset=True)
            if self.per_class:
                if y is None:
                    raise FishweirError("one model per class needs the classes: requires y to be passed")
                found, labels = np.unique(np.asarray(y), return_inverse=True)
                labels, classes = labels.tolist(), [str(name) for name in found]
            data = Dataset.from_arrays(
                read.series,
                labels=labels,
                classes=classes,
                channels=names(self.channels) or names(read.channels),
                alphabet=self.alphabet,
            )
        self.kernel_ = _fishweir.Kernel(str(kernel), data, settings(self.options, own), threads(self.n_jobs))
        return data


class FisherTransformer(_OnModels):
    """Fisher scores: the gradient of the log-likelihood with respect to each parameter of hidden Markov models.

    Parameters
    ----------
    states : int
        Hidden states of each model.
    scaling : {None, "diagonal", "empirical", "sampled"}
        Whitening by an information: the diagonal or all of that of the training, or that of the models.
    per_class : bool
        One model per class of ``y``, instead of one of all series.
    family, channels, alphabet, random_state, n_jobs : see :class:`fishweir.FisherClassifier`
    options : dict, optional
        ``parametrisation``, ``ridge``, ``draws``, ``restarts``, ``iterations``, ``std_floor``, ``components``.
    """

    @keeps_arguments
    def __init__(
        self,
        states: int = 4,
        *,
        scaling: str | None = None,
        per_class: bool = False,
        family: str | None = None,
        channels: Sequence[str] | None = None,
        alphabet: str | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        options: Mapping[str, Any] | None = None,
    ):
        pass

    def fit(self, X, y=None):
        """Fits the models."""
        if self.scaling not in (None, "diagonal", "empirical", "sampled"):
            raise FishweirError(f"scaling is {self.scaling!r}: give diagonal, empirical, sampled, or None")
        data = self._fit(X, y, "practical", {**self._own(), "information": self.scaling})
        parameters = self.kernel_.parameter_names()
        # Whitening leaves out directions without information.
        first = self.kernel_.scores(panel([data.series(0)]).series, threads(self.n_jobs))
        self._n_features_out = first.shape[1]
        named = self.scaling in (None, "diagonal") and len(parameters) == self._n_features_out
        self._names = parameters if named else None
        return self

    def transform(self, X):
        """The scores, ``[series][parameter]``."""
        check_is_fitted(self)
        read = self._given(X)
        return self.kernel_.scores(read.series, threads(self.n_jobs))

    def get_feature_names_out(self, input_features=None):
        """The names of the parameters; of whitened scores numbers."""
        check_is_fitted(self)
        if self._names is not None:
            return np.asarray(self._names, dtype=object)
        return super().get_feature_names_out(input_features)


class KernelTransformer(_OnModels):
    """A Gram matrix: the kernel between each series and each series of the training.

    Its output is what ``SVC(kernel="precomputed")`` takes. ``fishweir.kernels()`` lists the kernels: between series, by scores
    (``practical``, ``invariant``, ``gaussian``, ``top`` with ``per_class`` ...), by hidden states (``count``, ``latent-mean-map``), by words
    (``spectrum``, ``mismatch``), and between a model per series (``ppk``, ``bhattacharyya``, ``mean-map``).

    Parameters
    ----------
    kernel : str
        Name of the kernel.
    normalise : bool
        Cosines: every series has the kernel 1 with itself.
    numbers : dict, optional
        Numbers of the kernel by name, such as ``{"sigma": 2.0}``.
    states, per_class, family, channels, alphabet, random_state, n_jobs, options : see :class:`fishweir.FisherTransformer`
    """

    @keeps_arguments
    def __init__(
        self,
        kernel: str = "practical",
        *,
        normalise: bool = False,
        numbers: Mapping[str, float] | None = None,
        states: int = 4,
        per_class: bool = False,
        family: str | None = None,
        channels: Sequence[str] | None = None,
        alphabet: str | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        options: Mapping[str, Any] | None = None,
    ):
        pass

    def fit(self, X, y=None):
        """Fits the models under the kernel, and keeps the series."""
        own = {**self._own(), "normalise": bool(self.normalise), "numbers": self.numbers or {}}
        self._n_features_out = len(self._fit(X, y, self.kernel, own))
        return self

    def transform(self, X):
        """The kernel, ``[series][series of the training]``."""
        check_is_fitted(self)
        return self.kernel_.cross(self._given(X).series, threads(self.n_jobs))


def kernels() -> dict[str, str]:
    """The kernels by name, and a line about each."""
    return dict(_fishweir.kernels())


def gram(
    models: Sequence[Any], kernel: str = "bhattacharyya", *, normalise: bool = True, **numbers: float
) -> np.ndarray:
    """A kernel between fitted models: ``[model][model]``. ``models`` are of :mod:`fishweir.hmm`, or fitted transformers of one
    model each."""
    native = []
    for index, one in enumerate(models):
        if hasattr(one, "to_model"):
            native.append(one.to_model())
            continue
        found = one.kernel_.models() if hasattr(one, "kernel_") else []
        if len(found) != 1:
            raise FishweirError(f"model {index}: give a model of fishweir.hmm, or a fitted FisherTransformer of one model, without per_class")
        native += found
    own = {"normalise": bool(normalise), "numbers": numbers}
    return _fishweir.gram(native, str(kernel), settings(None, own))
