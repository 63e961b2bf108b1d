"""Reading files in any layout that the command reads."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from . import _fishweir
from ._fishweir import Dataset, FishweirError
from ._options import settings


def read(path: str | os.PathLike[str], *more: str | os.PathLike[str], like: Any = None, **options: Any) -> Dataset:
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


def load(path: str | os.PathLike[str]) -> Any:
    """Reads a model file of the command, or of ``export``: a fitted classifier, detector, spotter or classifier of records."""
    from .classifiers import BayesClassifier, FisherClassifier
    from .records import RecordClassifier
    from .watching import ChangeDetector, EventSpotter

    path = Path(os.fspath(path))
    contents = path.read_bytes()
    parts = _parts(contents)
    for part, kind in (("normal", ChangeDetector), ("background", EventSpotter), ("columns", RecordClassifier)):
        if part in parts:
            return kind()._load(contents)
    model = _fishweir.Classifier.from_json(contents, str(path))
    classifier = BayesClassifier() if model.method == "bayes" else FisherClassifier()
    classifier.model_ = model
    classifier.classes_ = np.asarray(model.classes)
    classifier._observe(model)
    return classifier


def _parts(contents):
    """Names of the parts of a model; none where it cannot be read: the library says why."""
    try:
        return json.loads(contents)["classifier"].keys()
    except (ValueError, TypeError, KeyError, AttributeError):
        return ()


__all__ = ["Dataset", "load", "read"]
