"""Detectors of change and spotters of events in streams that never end."""

from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator

from . import _fishweir
from ._deploy import Native
from ._fishweir import Dataset, FishweirError
from ._options import above_zero, keeps_arguments, names, seed, whole
from ._panel import panel


class ChangeDetector(Native, BaseEstimator):
    """A detector of change, learnt from what is normal.

    Parameters
    ----------
    mean_time : float
        Wanted number of samples between false alarms.
    memory : float
        Samples that the statistics remember.
    states, family, random_state : see :class:`fishweir.FisherClassifier`
    """

    _native = _fishweir.Detector

    @keeps_arguments
    def __init__(
        self,
        mean_time: float = 10_000.0,
        *,
        memory: float = 50.0,
        states: int = 4,
        family: str | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        pass

    def fit(self, X, y=None, *, changed=None):
        """Learns from normal series; ``changed`` are recordings of the change that is looked for."""
        data = _dataset(X)
        self.model_, self.report_ = _fishweir.Detector.fit(
            data,
            above_zero("mean_time", self.mean_time),
            above_zero("memory", self.memory),
            whole("states", self.states),
            self.family,
            seed(self.random_state, 1),
            None if changed is None else _dataset(changed),
        )
        return self

    def alarms(self, X):
        """The alarms in each series: lists of ``(sample, "unlikely" or "change", value)``."""
        self._check_fitted()
        return self.model_.alarms(panel(X).series)

    def predict(self, X):
        """1 for each series without an alarm and -1 for others, as scikit-learn's detectors of outliers."""
        return np.array([-1 if found else 1 for found in self.alarms(X)])


class EventSpotter(Native, BaseEstimator):
    """A spotter of events in continuous streams, learnt from series that are marked sample by sample.

    Parameters
    ----------
    states : int
        Hidden states of each class.
    lag : int
        Largest number of samples between the end of an event and its decision.
    channels, family, random_state : see :class:`fishweir.FisherClassifier`
    """

    _native = _fishweir.EventSpotter

    @keeps_arguments
    def __init__(
        self,
        states: int = 4,
        *,
        lag: int = 500,
        family: str | None = None,
        channels: Sequence[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        pass

    def fit(self, X, y):
        """Learns from series and the mark of each of their samples: ``""`` or ``None`` between events."""
        read = panel(X)
        first = read.series[0]
        if isinstance(first, str):
            raise FishweirError("events are spotted in channels of numbers, not in strings")
        if isinstance(y, str) or not hasattr(y, "__len__") or any(not hasattr(one, "__len__") for one in y):
            raise FishweirError("y has to have the mark of each sample of each series: a list per series")
        marks = [["" if mark is None else str(mark) for mark in one] for one in y]
        channels = names(self.channels) or names(read.channels) or [f"x{channel}" for channel in range(first.shape[1])]
        self.model_, self.report_ = _fishweir.EventSpotter.fit(
            read.series,
            marks,
            channels,
            whole("states", self.states),
            self.family,
            seed(self.random_state, 1),
            whole("lag", self.lag),
        )
        return self

    def spot(self, X):
        """The events in each series: lists of ``(class, start, end, log odds per sample, decided)``."""
        self._check_fitted()
        return self.model_.spot(panel(X).series)


def _dataset(X):
    if isinstance(X, Dataset):
        return X
    read = panel(X)
    return Dataset.from_arrays(read.series, channels=read.channels)
