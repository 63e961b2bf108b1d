"""What all classifiers share, whosever interface they have: their parameters, the training, and the questions."""

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _fishweir
from ._deploy import Deployable
from ._fishweir import Dataset, FishweirError
from ._options import above_zero, keeps_arguments, names, parameter, printable, seed, settings, threads
from ._panel import check_names, own_names


class TrainedClassifier(Deployable):
    """A classifier with the parameters of :class:`fishweir.FisherClassifier`."""

    _kind = None

    @keeps_arguments
    def __init__(
        self,
        states: int | Sequence[int] | None = None,
        *,
        family: str | None = None,
        effort: str = "quick",
        window: int | None = None,
        hop: int | None = None,
        rate: float | None = None,
        channels: Sequence[str] | None = None,
        alphabet: str | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        options: Mapping[str, Any] | None = None,
    ):
        super().__init__()

    def _own(self):
        """The parameters by the names of the options of ``fishweir fit``."""
        return {
            "states": self.states,
            "emission": self.family,
            "effort": self.effort,
            "window": self.window,
            "hop": self.hop,
            "seed": seed(self.random_state),
        }

    def _train(self, read, y, groups=None):
        """Fits to a panel and its classes."""
        if groups is not None and len(groups) != read.count:
            raise FishweirError(f"X has {read.count} series and groups has {len(groups)}: give one per series")
        if len(y) != read.count:
            raise FishweirError(f"X has {read.count} series and y has {len(y)} classes")
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise FishweirError(f"y has 1 class, {str(self.classes_[0])!r}: a classifier needs two classes or more")
        classes = [str(name) for name in self.classes_]
        printable(classes, "y")
        data = Dataset.from_arrays(
            read.series,
            labels=labels.tolist(),
            classes=classes,
            groups=None if groups is None else [str(group) for group in groups],
            channels=names(self.channels) or names(read.channels),
            alphabet=self.alphabet,
            rate=above_zero("rate", self.rate),
        )
        self.channel_names_ = own_names(read.channels)
        self._train_on(data, None if groups is None else "group")

    def _train_on(self, data, group=None):
        """Fits to a data set; series of one group, by the name of a column, stay in one inner fold."""
        own = self._own() if group is None else {**self._own(), "group": group}
        given = settings(self.options, own)
        idle = dict(_fishweir.idle(self._kind, data, given))
        for name, why in idle.items():
            warnings.warn(f"{parameter(name)} has no effect: {why}", stacklevel=4)
        # As the command leaves them out.
        given = json.dumps({name: value for name, value in json.loads(given).items() if name not in idle})
        self.model_ = _fishweir.fit(self._kind, data, given, threads(self.n_jobs))

    def _ask(self, read, method):
        """The answers of a fitted classifier to a panel; refused samples are counted."""
        check_names(self, read.channels)
        found, refused = getattr(self.model_, method)(read.series, threads(self.n_jobs))
        if refused:
            warnings.warn(
                f"{refused} samples are refused, and count as missing: impossible under all models, or beyond single "
                "precision",
                stacklevel=4,
            )
        return found
