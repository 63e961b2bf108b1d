"""Sequence classifiers and hidden Markov models that run on microcontrollers.

Everything is computed by the library of Rust in ``fishweir._fishweir``; this package gives it the names of scikit-learn.
``fishweir.aeon`` and ``fishweir.sktime`` have the same classifiers with the interfaces of these.
"""

from . import hmm
from ._containers import convert
from ._fishweir import Dataset, FishweirError, __version__
from ._read import load, read
from ._report import Report
from ._stream import Decision, Stream
from .classifiers import BayesClassifier, FisherClassifier
from .records import Profile, RecordClassifier
from .transformers import FisherTransformer, KernelTransformer, gram, kernels
from .watching import ChangeDetector, EventSpotter

__all__ = [
    "BayesClassifier",
    "ChangeDetector",
    "Dataset",
    "Decision",
    "EventSpotter",
    "FisherClassifier",
    "FisherTransformer",
    "FishweirError",
    "KernelTransformer",
    "Profile",
    "RecordClassifier",
    "Report",
    "Stream",
    "__version__",
    "convert",
    "gram",
    "hmm",
    "kernels",
    "load",
    "read",
]
