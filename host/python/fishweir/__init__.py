"""Sequence classifiers and hidden Markov models that run on microcontrollers.

Everything is computed by the library of Rust in ``fishweir._fishweir``; this package gives it the names of scikit-learn.
"""

from ._fishweir import Dataset, FishweirError, __version__
from .classifiers import BayesClassifier, FisherClassifier

__all__ = [
    "BayesClassifier",
    "Dataset",
    "FisherClassifier",
    "FishweirError",
    "__version__",
]
