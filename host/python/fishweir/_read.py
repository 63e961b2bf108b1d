"""Reading files in any layout that the command reads."""

import os
from pathlib import Path

import numpy as np

from . import _fishweir
from ._fishweir import Dataset, FishweirError
from ._options import settings


def read(path, *more, like=None, **options):
    """Reads a file, or several: tables under the names that you use, a folder of recordings per class, WAV, NumPy, EDF, WFDB,
    recordings of Edge Impulse or Sensor Logger, logs of named events, strings or FASTA.

    ``like`` is a fitted classifier whose channels, units and rate the data must have. The options are those of the command:
    ``label``, ``series``, ``time``, ``channels``, ``columns`` (subjects, devices), ``sep``, ``na``, ``resample`` and so on.
    ``data.findings()`` tells how a file was read.
    """
    paths = [Path(os.fspath(one)) for one in (path, *more)]
    for name in ("channels", "columns", "na"):
        if isinstance(options.get(name), str):
            options[name] = options[name].split(",")
    if like is not None and not hasattr(like, "model_"):
        raise FishweirError(f"like is {like!r}: give a fitted classifier")
    return _fishweir.read_files(paths, settings(options, {}), None if like is None else like.model_)


def load(path):
    """Reads a model file that ``fishweir fit`` or ``export`` wrote, as a fitted classifier."""
    from .classifiers import BayesClassifier, FisherClassifier

    path = Path(os.fspath(path))
    model = _fishweir.Classifier.from_json(path.read_bytes(), str(path))
    classifier = BayesClassifier() if model.method == "bayes" else FisherClassifier()
    classifier.model_ = model
    classifier.classes_ = np.asarray(model.classes)
    classifier._observe(model)
    return classifier


__all__ = ["Dataset", "load", "read"]
