"""Classifiers of records of categories, and profiles of sequence families."""

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from . import _fishweir
from ._deploy import Native
from ._fishweir import FishweirError
from ._options import keeps_arguments, whole

_CLASS = "class"


class RecordClassifier(Native, ClassifierMixin, BaseEstimator):
    """A Bayesian network that classifies records of categories: states of machines, rows of surveys, door sensors.

    Parameters
    ----------
    method : {"naive-bayes", "tan", "kdb", "climbed", "fisher-tree", "fisher-climbed", "top-tan", "top-kdb"}
        Bayes' rule under a graph, or a machine on scores of one.
    parents : int
        Attributes that each attribute may depend on, for ``kdb`` and ``top-kdb``.
    pseudo_count : float
        Records added to each cell of a table.
    """

    _native = _fishweir.RecordClassifier

    @keeps_arguments
    def __init__(self, method: str = "naive-bayes", *, parents: int = 2, pseudo_count: float = 1.0):
        pass

    def fit(self, X, y):
        """Learns from records, a row each: a frame, an array, or a list of dictionaries."""
        names, rows = _rows(X)
        if y is None:
            raise FishweirError("RecordClassifier requires y to be passed, but the target y is None")
        y = column_or_1d(y)
        check_classification_targets(y)
        if len(y) != len(rows):
            raise FishweirError(f"X has {len(rows)} records and y has {len(y)} classes")
        own = _CLASS
        while own in names:
            own += "_"
        self.classes_ = np.unique(y)
        table = _table([*names, own], [[*row, label] for row, label in zip(rows, y.tolist(), strict=True)])
        self.model_ = _fishweir.RecordClassifier.fit(
            table, own, str(self.method), whole("parents", self.parents), float(self.pseudo_count)
        )
        known = {str(name): index for index, name in enumerate(self.classes_.tolist())}
        self._places = [known[name] for name in self.model_.classes]
        return self

    def _load(self, contents):
        super()._load(contents)
        self.classes_ = np.asarray(self.model_.classes)
        self._places = list(range(len(self.classes_)))
        return self

    def _values(self, X):
        self._check_fitted()
        names, rows = _rows(X)
        values = self.model_.values(_table(names, rows))
        if values.shape[1] == 1:
            values = np.hstack([-values, values])
        ordered = np.empty_like(values)
        ordered[:, self._places] = values
        return ordered

    def decision_function(self, X):
        """A value per class: logarithms of probabilities by Bayes' rule, or a machine's values; of two classes the difference."""
        values = self._values(X)
        return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values

    def predict(self, X):
        """The class of each record."""
        return self.classes_[self._values(X).argmax(axis=1)]


class Profile:
    """A profile hidden Markov model of a sequence family, from a file of HMMER3."""

    def __init__(self, path: str | os.PathLike[str]):
        path = Path(os.fspath(path))
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise FishweirError(f"{path}: is no text, and so no profile of HMMER3") from None
        self.model_ = _fishweir.Profile.parse(text, str(path))

    def __len__(self) -> int:
        return len(self.model_)

    def scores(self, sequences: Sequence[str]) -> np.ndarray:
        """The score of each sequence in bits, by Forward."""
        if isinstance(sequences, str):
            raise FishweirError("sequences is one string: give a list of them")
        return np.asarray(self.model_.scores(list(sequences)))


def _rows(X):
    """Names and rows of records."""
    if hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
        return names, (X.to_numpy().tolist() if hasattr(X, "to_numpy") else list(X.rows()))
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], dict):
        names = list(dict.fromkeys(name for row in X for name in row))
        return names, [[row.get(name) for name in names] for row in X]
    array = np.asarray(X)
    if array.ndim != 2:
        raise FishweirError(f"records have {array.ndim} dimensions: give (records, columns)")
    return [f"x{column}" for column in range(array.shape[1])], array.tolist()


def _table(names, rows):
    """Records as a table of text, as files have them."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(["" if value is None or value != value else value for value in row] for row in rows)
    return text.getvalue().encode()
