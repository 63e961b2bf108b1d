"""Scores and kernels as transformers of scikit-learn."""

import json

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _fishweir
from ._fishweir import Dataset, FishweirError
from ._panel import panel
from ._training import seed, threads
from .classifiers import _Series


class _OnModels(_Series, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What transformers on hidden Markov models share."""

    def _model_options(self):
        given = {name.replace("-", "_"): value for name, value in (self.options or {}).items()}
        own = {
            "states": self.states,
            "emission": self.family,
            "seed": seed(self.random_state),
            "per_class": self.per_class or None,
        }
        given.update((name, value) for name, value in own.items() if value is not None)
        return given

    def _fit(self, X, y, kernel, options):
        if isinstance(X, Dataset):
            data = X
            self._observe(data)
        else:
            labels, classes = None, []
            read = self._read(X, reset=True)
            if self.per_class:
                if y is None:
                    raise FishweirError("one model per class needs the classes: requires y to be passed")
                names, labels = np.unique(np.asarray(y), return_inverse=True)
                labels, classes = labels.tolist(), [str(name) for name in names]
            data = Dataset.from_arrays(
                read.series,
                labels=labels,
                classes=classes,
                channels=self.channels or read.channels,
                alphabet=self.alphabet,
            )
        self.kernel_ = _fishweir.Kernel(kernel, data, json.dumps(options), threads(self.n_jobs))
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

    def __init__(
        self,
        states=4,
        *,
        scaling=None,
        per_class=False,
        family=None,
        channels=None,
        alphabet=None,
        random_state=None,
        n_jobs=None,
        options=None,
    ):
        self.states = states
        self.scaling = scaling
        self.per_class = per_class
        self.family = family
        self.channels = channels
        self.alphabet = alphabet
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.options = options

    def fit(self, X, y=None):
        """Fits the models."""
        options = self._model_options()
        if self.scaling is not None:
            options["information"] = self.scaling
        data = self._fit(X, y, "practical", options)
        names = self.kernel_.parameter_names()
        # Whitening leaves out directions without information.
        first = self.kernel_.scores(panel([data.series(0)]).series, threads(self.n_jobs))
        self._n_features_out = first.shape[1]
        named = self.scaling in (None, "diagonal") and len(names) == self._n_features_out
        self._names = names if named else None
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
    (``practical``, ``invariant``, ``gaussian``, ``top`` ...), by hidden states (``count``, ``latent-mean-map``), by words
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

    def __init__(
        self,
        kernel="practical",
        *,
        normalise=False,
        numbers=None,
        states=4,
        per_class=False,
        family=None,
        channels=None,
        alphabet=None,
        random_state=None,
        n_jobs=None,
        options=None,
    ):
        self.kernel = kernel
        self.normalise = normalise
        self.numbers = numbers
        self.states = states
        self.per_class = per_class
        self.family = family
        self.channels = channels
        self.alphabet = alphabet
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.options = options

    def fit(self, X, y=None):
        """Fits the models under the kernel, and keeps the series."""
        options = self._model_options()
        options.update(normalise=bool(self.normalise), numbers=self.numbers or {})
        self._n_features_out = len(self._fit(X, y, self.kernel, options))
        return self

    def transform(self, X):
        """The kernel, ``[series][series of the training]``."""
        check_is_fitted(self)
        return self.kernel_.cross(self._given(X).series, threads(self.n_jobs))


def kernels():
    """The kernels by name, and a line about each."""
    return dict(_fishweir.kernels())


def gram(models, kernel="bhattacharyya", *, normalise=True, **numbers):
    """A kernel between fitted models: ``[model][model]``. ``models`` have a native ``model_``, or are native themselves."""
    native = [model.to_model() if hasattr(model, "to_model") else getattr(model, "model_", model) for model in models]
    options = {"normalise": normalise, "numbers": numbers}
    return _fishweir.gram(native, kernel, json.dumps(options))
