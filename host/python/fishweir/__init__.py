"""Sequence classifiers and hidden Markov models that run on microcontrollers.

Everything is computed by the library of Rust in ``fishweir._fishweir``; this package gives it the names of scikit-learn.
"""

from ._fishweir import Dataset, FishweirError, __version__
from ._read import load, read
from ._report import Report
from ._stream import Decision, Stream
from .classifiers import BayesClassifier, FisherClassifier
from .transformers import FisherTransformer, KernelTransformer, gram, kernels

__all__ = [
    "BayesClassifier",
    "Dataset",
    "Decision",
    "FisherClassifier",
    "FisherTransformer",
    "FishweirError",
    "KernelTransformer",
    "Report",
    "Stream",
    "__version__",
    "gram",
    "kernels",
    "load",
    "read",
]
