"""Series in the containers of aeon and sktime."""

from typing import Any

import numpy as np

from ._fishweir import FishweirError
from ._panel import panel


def convert(X: Any, to: str) -> Any:
    """Converts series of any container, a :class:`fishweir.Dataset` included, to one of aeon or sktime.

    ==================  =======================================================================
    ``numpy3D``         array ``(series, channels, time)``; of one length
    ``np-list``         list of arrays ``(channels, time)``
    ``df-list``         list of frames of pandas, a row per sample
    ``pd-multiindex``   frame of pandas with an index of ``instances`` and ``timepoints``
    ``nested_univ``     frame of pandas, a series of pandas per cell, a column per channel
    ==================  =======================================================================
    """
    if to not in _CONTAINERS:
        raise FishweirError(f"to is {to!r}: give one of {', '.join(_CONTAINERS)}")
    read = panel(X)
    # [time][channel]
    series = [read.series[index] for index in range(read.count)]
    if isinstance(series[0], str):
        raise FishweirError("X has strings, and these containers hold numbers")
    names = read.channels or (["x"] if series[0].shape[1] == 1 else [f"x{c}" for c in range(series[0].shape[1])])
    return _CONTAINERS[to](series, names)


def _array(series, names):
    lengths = sorted({len(one) for one in series})
    if len(lengths) > 1:
        raise FishweirError(f"series have {lengths[0]} to {lengths[-1]} samples, and numpy3D has one length: give np-list")
    return np.stack([one.T for one in series])


def _arrays(series, names):
    return [np.array(one.T) for one in series]


def _frames(series, names):
    import pandas

    return [pandas.DataFrame(np.array(one), columns=names) for one in series]


def _indexed(series, names):
    import pandas

    frames = _frames(series, names)
    return pandas.concat(frames, keys=range(len(frames)), names=["instances", "timepoints"])


def _nested(series, names):
    import pandas

    cells = {name: [pandas.Series(one[:, c].copy()) for one in series] for c, name in enumerate(names)}
    return pandas.DataFrame(cells)


_CONTAINERS = {
    "numpy3D": _array,
    "np-list": _arrays,
    "df-list": _frames,
    "pd-multiindex": _indexed,
    "nested_univ": _nested,
}
