"""Streams of decisions, sample by sample."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from . import _fishweir


class Decision(NamedTuple):
    """A decision on samples ``start`` to ``end``, the end not included."""

    label: Any
    start: int
    end: int
    margin: float
    probabilities: np.ndarray
    doubt: str | None

    @property
    def probability(self) -> float:
        """The probability of the class."""
        return float(max(self.probabilities))


class Stream:
    """A classifier in the middle of samples, in the device's arithmetic.

    It decides at the end of each window of the training; a model of whole series, and an endless stream, after every sample.
    """

    def __init__(self, model, classes, endless=False):
        self._stream = _fishweir.Stream(model, endless)
        self._classes = np.asarray(classes).tolist()

    def _decision(self, found):
        if found is None:
            return None
        return Decision(
            self._classes[found.class_index],
            found.start,
            found.end,
            found.margin,
            np.asarray(found.probabilities),
            found.doubt,
        )

    def push(self, sample: Any) -> Decision | None:
        """Takes in a sample: a number per channel (NaN or ``None`` where one is missing), a symbol, or ``None``. Returns the decision that is due, or ``None``.

        A sample that is refused raises :class:`fishweir.FishweirError`, and counts as missing.
        """
        return self._decision(self._stream.push(sample))

    def run(self, samples: Iterable[Any]) -> Iterator[Decision]:
        """Takes in samples, and yields the decisions."""
        for sample in samples:
            found = self.push(sample)
            if found is not None:
                yield found

    @property
    def so_far(self) -> Decision | None:
        """The decision on the oldest open window so far, or ``None``."""
        return self._decision(self._stream.so_far())

    @property
    def log_likelihoods(self) -> list[float] | None:
        """The log-likelihood of the oldest open window so far under each model, in the device's numbers, or ``None``."""
        return self._stream.log_likelihoods()

    def reset(self) -> None:
        """Forgets the past."""
        self._stream.reset()

    @property
    def windows(self) -> tuple[int, int] | None:
        """Samples of a window and from one to the next; ``None`` of a stream that never ends."""
        return self._stream.windows

    @property
    def samples(self) -> int:
        """Samples since the last reset."""
        return self._stream.samples
