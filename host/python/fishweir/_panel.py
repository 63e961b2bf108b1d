"""Series as Python users hold them, as the native part reads them: ``[series][time][channel]``, or a list of ``[time][channel]``.

A transposed view costs nothing; numbers are copied once, by the native part.
"""

import numpy as np

from ._fishweir import Dataset, FishweirError

# Types of numbers that the native part reads without a conversion.
_NATIVE = frozenset(np.dtype(name) for name in ("f8", "f4", "i8", "i4", "i2", "u1"))


def filled(array):
    """A masked array with NaN where it is masked; anything else as it is."""
    return array.astype(np.float64).filled(np.nan) if isinstance(array, np.ma.MaskedArray) else array


def numbers(array, what="X"):
    """An aligned array of a type that the native part reads; a view where nothing has to be converted."""
    array = np.asarray(filled(array))
    if array.dtype == object:
        try:
            array = _present(array).astype(np.float64)
        except (TypeError, ValueError) as error:
            raise FishweirError(f"{what} holds objects that are no numbers: {error}") from None
    if array.dtype.kind not in "fiub":
        raise FishweirError(f"{what} is of type {array.dtype}: give real numbers")
    if array.dtype not in _NATIVE:
        array = array.astype(np.float64)
    return array if array.flags.aligned else array.copy()


def _present(objects):
    """Objects with NaN for ``None`` and for the missing value of pandas, which is no number."""
    missing = np.frompyfunc(lambda value: value is None or type(value).__name__ == "NAType", 1, 1)(objects)
    return np.where(np.asarray(missing, dtype=bool), np.nan, objects)


def is_frame(value, package):
    """Whether a value is of a class of a package that need not be there."""
    return type(value).__module__.split(".")[0] == package


class Panel:
    """Series, and what is known of them.

    ``series`` is what the native part takes, ``count`` the number of series, ``channels`` their names or ``None``.
    """

    def __init__(self, series, count, channels=None):
        if not count:
            raise FishweirError("X has no series: 0 sample(s) while a minimum of 1 is required")
        for index in range(1 if isinstance(series, np.ndarray) else count):
            if not len(series[index]):
                raise FishweirError(f"series {index} has no observation: leave it out")
        self.series = series
        self.count = count
        self.channels = channels


def _is_table_of(value, package):
    return is_frame(value, package) and hasattr(value, "to_numpy") and hasattr(value, "columns")


def _columns(frame, what):
    """The numbers of a frame, or an error that names the column that has none."""
    try:
        return numbers(frame.to_numpy(), what)
    except FishweirError:
        for name in frame.columns:
            numbers(frame[name].to_numpy(), f"{what}, column {name!r}")
        raise


def _one(value, index):
    """One series as ``[time][channel]``, or a string, and the names of its channels."""
    what = f"series {index}"
    if isinstance(value, str):
        return value, None
    if _is_table_of(value, "pandas") or _is_table_of(value, "polars"):
        return _columns(value, what), [str(name) for name in value.columns]
    array = numbers(value, what)
    if array.ndim == 1:
        return array[:, np.newaxis], None
    if array.ndim == 2:
        return array.T, None
    raise FishweirError(f"{what} has {array.ndim} dimensions: give (channels, time), or (time,) for one channel")


def _nested(frame):
    """The cells of a nested frame of sktime: a series per cell, a channel per column."""
    rows = []
    for row in frame.itertuples(index=False):
        cells = [numbers(cell, "a cell") for cell in row]
        if len({len(cell) for cell in cells}) > 1:
            raise FishweirError("the channels of a series have several lengths")
        rows.append(np.column_stack(cells))
    return Panel(rows, len(rows), [str(name) for name in frame.columns])


def _is_nested(frame):
    """Whether the cells of a frame hold series."""
    if not len(frame) or not len(frame.columns):
        return False
    cell = frame.iloc[0, 0]
    return hasattr(cell, "__len__") and not isinstance(cell, str)


def own_names(channels):
    """Names of channels; ``None`` where they have those of channels without names."""
    return None if channels in (None, ["x"], [f"x{index}" for index in range(len(channels or []))]) else channels


def check_names(estimator, channels):
    """Refuses columns under other names than those of the training, or in another order: they would be read as its channels."""
    fitted = getattr(estimator, "channel_names_", None)
    if fitted and own_names(channels) and channels != fitted:
        raise FishweirError(
            f"X has the channels {', '.join(channels)}, but {type(estimator).__name__} was fitted to {', '.join(fitted)}: give "
            "these in this order"
        )


def is_table(X):
    """Whether a container is a table of numbers, which scikit-learn checks: a row per series of one channel."""
    if is_frame(X, "pandas"):
        return X.ndim == 2 and X.index.nlevels == 1 and not _is_nested(X)
    if isinstance(X, (list, tuple)):
        rows = all(isinstance(row, (list, tuple)) for row in X)
        return rows and len({len(row) for row in X}) == 1 and all(np.isscalar(row[0]) for row in X if row)
    if isinstance(X, (str, bytes, Dataset)):
        return False
    if is_frame(X, "polars"):
        return hasattr(X, "columns")
    if isinstance(X, np.ndarray):
        return X.ndim != 3 and X.dtype.kind not in "US" and not (X.ndim == 1 and X.dtype == object)
    return True


def panel(X):
    """Reads any container of series.

    =====================================================  =============================================
    array of two dimensions, or a frame of numbers          ``(series, time)``: one channel
    array of three dimensions                               ``(series, channels, time)``
    list of arrays                                          ``(channels, time)`` or ``(time,)`` each
    list of frames (pandas, polars)                         a row per sample, a column per channel
    frame of pandas with an index of two levels             series, time; a column per channel
    nested frame of pandas                                  a series of pandas per cell
    list of strings                                         symbols
    :class:`fishweir.Dataset`                               its series
    =====================================================  =============================================
    """
    if isinstance(X, Dataset):
        read = panel(X.X)
        return Panel(read.series, read.count, X.channels)
    if is_frame(X, "pandas"):
        if X.ndim == 1 and X.dtype == object:
            return panel(list(X))
        if getattr(X.index, "nlevels", 1) == 2:
            groups = [group for _, group in X.groupby(level=0, sort=False)]
            return panel(groups)
        if X.ndim == 2 and _is_nested(X):
            return _nested(X)
        X = X.to_numpy()
    elif is_frame(X, "polars"):
        X = X.to_numpy() if _is_table_of(X, "polars") else list(X)
    if isinstance(X, np.ndarray) and X.dtype != object and X.dtype.kind not in "US":
        array = numbers(X)
        if array.ndim == 2:
            return Panel(array[:, :, np.newaxis], len(array))
        if array.ndim == 3:
            return Panel(array.transpose(0, 2, 1), len(array))
        raise FishweirError(
            f"X has {array.ndim} dimensions: give (series, channels, time), (series, time) for one channel, or a list. "
            "Reshape your data"
        )
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise FishweirError(f"X is of {type(X).__name__}: give an array, a frame, or a list of series")
    each = [_one(one, index) for index, one in enumerate(X)]
    names = each[0][1] if each else None
    for index, (_, others) in enumerate(each):
        if names and others and others != names:
            raise FishweirError(
                f"series {index} has the columns {', '.join(others)}, and series 0 has {', '.join(names)}: give all the same "
                "columns in the same order"
            )
    return Panel([series for series, _ in each], len(each), names)


__all__ = ["Dataset", "Panel", "numbers", "panel"]
