"""Classifiers with the interface of scikit-learn."""

import json
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from . import _fishweir
from ._deploy import Deployable
from ._fishweir import Dataset, FishweirError
from ._html import describe
from ._panel import is_table, panel


class _Series:
    """What all estimators of series share: how they take them."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = True
        return tags

    def _read(self, X, reset):
        """The series of any container; a table is checked as scikit-learn checks it."""
        table = is_table(X)
        if table and (reset or self.table_):
            X = validate_data(self, X, reset=reset, dtype="numeric", ensure_all_finite="allow-nan")
        elif table:
            X = check_array(X, dtype="numeric", ensure_all_finite="allow-nan")
        read = panel(X)
        channels = _channels(read)
        if reset:
            self.table_, self.channels_in_ = table, channels
            if not table:
                self.n_features_in_ = channels
        elif channels != self.channels_in_:
            raise FishweirError(
                f"X has {channels} channels, but {type(self).__name__} is expecting {self.channels_in_} channels as input"
            )
        return read

    def _observe(self, data):
        """Takes the channels of a data set, or of a model."""
        self.table_ = False
        self.channels_in_ = None if data.channels is None else len(data.channels)
        self.n_features_in_ = self.channels_in_

    def _given(self, X):
        """Series for a fitted estimator."""
        return panel(X.X) if isinstance(X, Dataset) else self._read(X, reset=False)


class _Classifier(_Series, Deployable, ClassifierMixin, BaseEstimator):
    """What all classifiers of series share."""

    _kind = None

    def _options(self):
        """Options of the training by the names of ``fishweir fit``."""
        given = {name.replace("-", "_"): value for name, value in (self.options or {}).items()}
        own = {
            "states": self.states,
            "emission": self.family,
            "effort": self.effort,
            "window": self.window,
            "hop": self.hop,
            "seed": _seed(self.random_state),
        }
        given.update((name, value) for name, value in own.items() if value is not None)
        return given

    def fit(self, X, y=None, groups=None):
        """Fits the classifier to series and their classes.

        ``groups`` names the subject, device or day of each series: those of one group stay in one inner fold. A
        :class:`fishweir.Dataset` has its classes already.
        """
        options = self._options()
        if isinstance(X, Dataset):
            data = X
            self.classes_ = np.asarray(data.classes)
            self._observe(data)
        else:
            if y is None:
                raise FishweirError(
                    f"{type(self).__name__} requires y to be passed, but the target y is None"
                )
            read = self._read(X, reset=True)
            y = column_or_1d(y, warn=True)
            if len(y) != read.count:
                raise FishweirError(f"X has {read.count} series and y has {len(y)} classes")
            check_classification_targets(y)
            self.classes_, labels = np.unique(y, return_inverse=True)
            if len(self.classes_) < 2:
                raise FishweirError(
                    f"y has 1 class, {self.classes_[0]!r}: a classifier needs two classes or more"
                )
            if groups is not None:
                groups = [str(group) for group in column_or_1d(groups)]
                options.setdefault("group", "group")
            data = Dataset.from_arrays(
                read.series,
                labels=labels.tolist(),
                classes=[str(name) for name in self.classes_],
                groups=groups,
                channels=self.channels or read.channels,
                alphabet=self.alphabet,
                rate=self.rate,
            )
        self.model_ = _fishweir.fit(self._kind, data, json.dumps(options), _threads(self.n_jobs))
        return self

    def _ask(self, X, method):
        check_is_fitted(self)
        read = self._given(X)
        found, refused = getattr(self.model_, method)(read.series, _threads(self.n_jobs))
        if refused:
            warnings.warn(
                f"{refused} samples are refused, and count as missing: impossible under all models, or beyond single "
                "precision",
                stacklevel=3,
            )
        return found

    def predict(self, X):
        """The class of each series, which is one window; :meth:`predict_windows` takes longer ones."""
        classes = self._ask(X, "predict")
        return self.classes_[classes]

    def predict_windows(self, X):
        """The decisions on the windows of each series, as a device gives them: lists of ``(start, end, class)``."""
        check_is_fitted(self)
        read = self._given(X)
        found = self.model_.predict_windows(read.series, _threads(self.n_jobs))
        return [[(start, end, self.classes_[index]) for start, end, index in one] for one in found]

    def doubt(self, X):
        """The reason to doubt each decision, ``None`` where it is accepted. For ``options={"reject": 0.05}``."""
        check_is_fitted(self)
        read = self._given(X)
        return self.model_.doubts(read.series, _threads(self.n_jobs))

    def score(self, X, y=None, sample_weight=None):
        """Accuracy on series, or on their windows where the training had some, as ``fishweir evaluate`` counts."""
        check_is_fitted(self)
        if y is None and not isinstance(X, Dataset):
            raise FishweirError("score needs the true classes: give y")
        if self.model_.windows is None and not isinstance(X, Dataset):
            return super().score(X, y, sample_weight)
        if sample_weight is not None:
            raise FishweirError("windows have no weights: leave out sample_weight")
        if not isinstance(X, Dataset):
            X = self._dataset((X, y))
        return self.model_.accuracy(X, _threads(self.n_jobs))

    def predict_proba(self, X):
        """The probability of each class, ``[series][class]``."""
        return self._ask(X, "probabilities")

    def decision_function(self, X):
        """The margin of each class over the best of the others; of two classes that of the second."""
        margins = self._ask(X, "margins")
        return margins[:, 1].copy() if len(self.classes_) == 2 else margins

    def _repr_html_inner(self):
        return super()._repr_html_inner() + describe(self)


class FisherClassifier(_Classifier):
    """A linear machine on Fisher scores of hidden Markov models.

    Parameters
    ----------
    states : int, optional
        Hidden states of each model; by default what ``effort`` takes.
    family : str, optional
        Emissions of the states: ``gaussian`` for numbers and ``categorical`` for symbols by default.
    effort : {"minimal", "quick", "normal", "thorough"}
        Size of the search over everything that is not given.
    window, hop : int, optional
        Samples of a window and from one to the next. Without them a whole series is decided.
    rate : float, optional
        Samples per second, which the model keeps as a condition.
    channels : list of str, optional
        Names of the channels. ``ax, ay, az`` are known to be a vector.
    alphabet : str, optional
        Symbols of strings: ``dna``, ``rna``, ``binary``, ``protein``, or the symbols in order.
    random_state : int, RandomState or None
        Seed of the initialisation.
    n_jobs : int, optional
        Threads; all cores by default.
    options : dict, optional
        Any other option of ``fishweir fit`` by its name, such as ``{"std_floor": [0.3, 0.03]}``.
    """

    _kind = "fisher"

    def __init__(
        self,
        states=None,
        *,
        family=None,
        effort="quick",
        window=None,
        hop=None,
        rate=None,
        channels=None,
        alphabet=None,
        random_state=None,
        n_jobs=None,
        options=None,
    ):
        self.states = states
        self.family = family
        self.effort = effort
        self.window = window
        self.hop = hop
        self.rate = rate
        self.channels = channels
        self.alphabet = alphabet
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.options = options


class BayesClassifier(FisherClassifier):
    """One hidden Markov model per class; the class with the largest posterior wins.

    The parameters are those of :class:`FisherClassifier`.
    """

    _kind = "bayes"


def _threads(n_jobs):
    """Threads of a call: all cores for none and for -1."""
    return None if n_jobs is None or n_jobs < 1 else int(n_jobs)


def _seed(random_state):
    if random_state is None:
        return None
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(random_state.randint(1, 2**31 - 1))


def _channels(read):
    """Number of channels; ``None`` of strings."""
    if isinstance(read.series, np.ndarray):
        return read.series.shape[2]
    first = read.series[0]
    return None if isinstance(first, str) else first.shape[1]
