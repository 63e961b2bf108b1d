"""Reading files in any layout that the command reads."""

import json
import os
from pathlib import Path

import numpy as np

from . import _fishweir
from ._fishweir import Dataset


def read(path, *more, like=None, **options):
    """Reads a file, or several: tables under the names that you use, a folder of recordings per class, WAV, NumPy, EDF, WFDB,
    recordings of Edge Impulse or Sensor Logger, logs of named events, strings or FASTA.

    ``like`` is a fitted classifier whose channels, units and rate the data must have. The options are those of the command:
    ``label``, ``series``, ``time``, ``channels``, ``columns`` (subjects, devices), ``sep``, ``na``, ``resample`` and so on.
    ``data.findings()`` tells how a file was read.
    """
    paths = [Path(os.fspath(one)) for one in (path, *more)]
    if "channels" in options and isinstance(options["channels"], str):
        options["channels"] = options["channels"].split(",")
    if "columns" in options and isinstance(options["columns"], str):
        options["columns"] = options["columns"].split(",")
    model = getattr(like, "model_", like)
    return _fishweir.read_files(paths, json.dumps({k: v for k, v in options.items() if v is not None}), model)


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
