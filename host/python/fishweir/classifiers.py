"""Classifiers with the interface of scikit-learn."""

from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from ._fishweir import Dataset, FishweirError
from ._html import describe
from ._options import threads
from ._panel import check_names, filled, is_table, own_names, panel
from ._training import TrainedClassifier


_Own = TypeVar("_Own", bound="FisherClassifier")


class _Series:
    """What all estimators of series share: how they take them."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = True
        return tags

    def _read(self, X, reset):
        """The series of any container; a table is checked as scikit-learn checks it."""
        X = filled(X)
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
            self.channel_names_ = own_names(read.channels)
        elif channels != self.channels_in_:
            has, expects = (
                "strings" if count is None else f"{count} channels" for count in (channels, self.channels_in_)
            )
            raise FishweirError(f"X has {has}, but {type(self).__name__} is expecting {expects} as input")
        check_names(self, read.channels)
        return read

    def _observe(self, data):
        """Takes the channels of a data set, or of a model."""
        self.table_ = False
        self.channels_in_ = None if data.channels is None else len(data.channels)
        self.channel_names_ = own_names(data.channels)
        self.n_features_in_ = self.channels_in_

    def _given(self, X):
        """Series for a fitted estimator."""
        return self._read(X, reset=False)


class FisherClassifier(_Series, TrainedClassifier, ClassifierMixin, BaseEstimator):
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

    def fit(self: _Own, X: Any, y: Any = None, groups: Any = None) -> _Own:
        """Fits the classifier to series and their classes.

        ``groups`` has the subject, device or day of each series: those of one group stay in one inner fold. A
        :class:`fishweir.Dataset` has its classes already, and its groups by the name of a column.
        """
        if isinstance(X, Dataset):
            if y is not None:
                raise FishweirError("a Dataset has its classes already: leave out y")
            if groups is not None and not isinstance(groups, str):
                raise FishweirError("groups of a Dataset is the name of one of its columns, such as \"subject\"")
            self.classes_ = np.asarray(X.classes)
            self._observe(X)
            self._train_on(X, groups)
            return self
        if y is None:
            raise FishweirError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        read = self._read(X, reset=True)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if groups is not None and np.ndim(groups) != 1:
            raise FishweirError("groups has to have one name or number per series")
        self._train(read, y, groups)
        return self

    def _answer(self, X, method):
        check_is_fitted(self)
        return self._ask(self._given(X), method)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each series, which is one window; :meth:`predict_windows` takes longer ones."""
        classes = self._answer(X, "predict")
        return self.classes_[classes]

    def predict_windows(self, X: Any) -> list[list[tuple[int, int, Any]]]:
        """The decisions on the windows of each series, as a device gives them: lists of ``(start, end, class)``."""
        check_is_fitted(self)
        read = self._given(X)
        found = self.model_.predict_windows(read.series, threads(self.n_jobs))
        classes = self.classes_.tolist()
        return [[(start, end, classes[index]) for start, end, index in one] for one in found]

    def doubt(self, X: Any) -> list[str | None]:
        """The reason to doubt each decision, ``None`` where it is accepted. For ``options={"reject": 0.05}``."""
        check_is_fitted(self)
        read = self._given(X)
        return self.model_.doubts(read.series, threads(self.n_jobs))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy on series, or on their windows where the training had some, as ``fishweir evaluate`` counts."""
        check_is_fitted(self)
        if y is None and not isinstance(X, Dataset):
            raise FishweirError("score needs the true classes: give y")
        if self.model_.windows is None and not isinstance(X, Dataset):
            return super().score(X, y, sample_weight)
        if sample_weight is not None:
            raise FishweirError("windows have no weights: leave out sample_weight")
        if not isinstance(X, Dataset):
            unknown = sorted(set(np.asarray(y).tolist()) - set(self.classes_.tolist()), key=str)
            if unknown:
                raise FishweirError(f"y has {unknown[0]!r}, which is none of the classes {', '.join(map(str, self.classes_))}")
            self._given(X)
            X = self._dataset((X, y))
        return self.model_.accuracy(X, threads(self.n_jobs))

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, ``[series][class]``."""
        return self._answer(X, "probabilities")

    def decision_function(self, X: Any) -> np.ndarray:
        """The margin of each class over the best of the others; of two classes that of the second."""
        margins = self._answer(X, "margins")
        return margins[:, 1].copy() if len(self.classes_) == 2 else margins

    def _repr_html_inner(self):
        return super()._repr_html_inner() + describe(self)


class BayesClassifier(FisherClassifier):
    """One hidden Markov model per class; the class with the largest posterior wins.

    The parameters are those of :class:`FisherClassifier`.
    """

    _kind = "bayes"


def _channels(read):
    """Number of channels; ``None`` of strings."""
    if isinstance(read.series, np.ndarray):
        return read.series.shape[2]
    first = read.series[0]
    return None if isinstance(first, str) else first.shape[1]
