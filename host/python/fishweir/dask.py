"""Hidden Markov models over more than one machine: the classes of :mod:`fishweir.hmm` on bags and arrays of Dask.

A data set is cut into leaves of :data:`fishweir._fishweir.LEAF` sequences, in its own order, and expected statistics are added along one
binary tree over the leaves. So a fit has the same bits on any number of workers, threads and partitions, whatever was computed
twice because a worker was lost, and the same as :mod:`fishweir.hmm` has in one process from the same start.

>>> import dask.array
>>> from fishweir.dask import GaussianHMM
>>> X = dask.array.random.normal(size=(256, 20, 2), chunks=(50, 20, 2))   # [series][time][channel]
>>> model = GaussianHMM(n_components=2, n_iter=2, random_state=0).fit(X)
>>> model.means_.shape
(2, 2)

The computation runs where Dask runs it: in threads, or on the workers of the ``distributed.Client`` that is open.
"""

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import dask
import numpy as np
from dask import array, bag, delayed

from . import _fishweir, hmm
from ._fishweir import LEAF, FishweirError

# Sequences, from the first of the data, that a start is found by.
_HEAD = 16 * LEAF
# Sums that a task merges.
_AT_ONCE = 8
# What a fit changes, by the names of the attributes.
_FITTED = ("startprob_", "transmat_", "emissionprob_", "means_", "_covars_", "covars_", "weights_", "lambdas_")


class _Leaves(NamedTuple):
    """A data set in blocks of whole leaves, where Dask has placed them."""

    blocks: list
    # Fingerprint of the data.
    digest: str
    # Number of sequences.
    count: int


def _partitions(X):
    """The partitions of a collection, delayed: each a list of sequences."""
    if isinstance(X, bag.Bag):
        return X.to_delayed()
    if isinstance(X, array.Array):
        if X.ndim not in (2, 3):
            raise FishweirError(f"X has {X.ndim} dimensions: give [series][time] or [series][time][channel]")
        return X.rechunk({axis: -1 for axis in range(1, X.ndim)}).to_delayed().ravel().tolist()
    raise FishweirError(f"X is a {type(X).__name__}: give a bag of sequences, an array [series][time][channel], or read_parquet(...)")


def _is_collection(X):
    return isinstance(X, (bag.Bag, array.Array))


def _piece(partition):
    """The sequences of a partition end to end, and their lengths; empty ones are left out."""
    sequences = [np.asarray(one, dtype=float) for one in partition]
    sequences = [one.reshape(-1, 1) if one.ndim == 1 else one for one in sequences]
    for index, one in enumerate(sequences):
        if one.ndim != 2 or one.shape[1] != sequences[0].shape[1]:
            raise FishweirError(f"sequence {index} of a partition has shape {one.shape}, and the first {sequences[0].shape}")
    sequences = [one for one in sequences if len(one)]
    rows = np.concatenate(sequences) if sequences else np.empty((0, 0))
    return rows, [len(one) for one in sequences]


def _facts(piece):
    rows, lengths = piece
    largest = np.nanmax(rows) if rows.size and not np.isnan(rows).all() else -np.inf
    return len(lengths), rows.shape[1], largest


def _cut(piece, first, last):
    """Some sequences of a piece."""
    rows, lengths = piece
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(int)
    return rows[ends[first] : ends[last]], lengths[first:last]


def _joined(pieces):
    rows = np.concatenate([rows for rows, _ in pieces])
    return rows, [length for _, lengths in pieces for length in lengths]


def _block(pieces, first, symbols):
    rows, lengths = _joined(pieces)
    sequences = _fishweir.Sequences(np.ascontiguousarray(rows), lengths, symbols)
    return sequences, first, sequences.marks(first)


def _expect(model, block, digest, count):
    sequences, first, marks = block
    return model.sums(sequences, first, marks, digest, count, 1)


def _merge(sums):
    return sums[0].merged(sums[1:])


def _tree(parts, merge, at_once=_AT_ONCE):
    """One task of many, some at a time: each merge has few inputs, wherever they are."""
    while len(parts) > 1:
        parts = [delayed(merge)(parts[at : at + at_once]) for at in range(0, len(parts), at_once)]
    return parts[0]


def _compute(task, progress):
    """The value of a task; with ``progress`` a bar is drawn, where there is a client."""
    if progress:
        from distributed import default_client, progress as bar

        try:
            client = default_client()
        except ValueError:
            from dask.diagnostics import ProgressBar

            with ProgressBar():
                return dask.compute(task)[0]
        future = client.compute(task)
        bar(future, notebook=False)
        return future.result()
    return dask.compute(task)[0]


class _OverDask:
    """Fit and score over collections of Dask; arrays of NumPy go to the class of :mod:`fishweir.hmm`."""

    def fit(self, X, y=None, lengths=None, *, checkpoint=None, progress=False):
        """Fits the model by expectation maximisation over all sequences.

        Parameters
        ----------
        X : dask.bag.Bag or dask.array.Array
            A bag of sequences ``[time][channel]``, an array ``[series][time][channel]`` or ``[series][time]``, or what
            :func:`read_parquet` returns. The start is found by the first 1024 sequences, as ``init_params`` says.
        checkpoint : path, optional
            A file that is written whole after each step. A fit that finds it goes on from there, to the same bits.
        progress : bool
            Draw a bar for each step.
        """
        if not _is_collection(X):
            return super().fit(X, y, lengths)
        leaves = self._leaves(X)
        self.monitor_._reset()
        done = self._resume(checkpoint, leaves)
        while not done and self.n_iter > 0:
            model = self._native()
            parts = [delayed(_expect)(model, block, leaves.digest, leaves.count) for block in leaves.blocks]
            sums = _compute(_tree(parts, _merge), progress)
            done = not self._step(model.expected(sums))
            self._save(checkpoint, leaves, done)
        return self

    def score(self, X, lengths=None):
        """The log-likelihood of all sequences; minus infinity where one is impossible."""
        if not _is_collection(X):
            return super().score(X, lengths)
        model = self._native()
        found = [delayed(_score)(model, delayed(_piece)(one), self._symbols) for one in _partitions(X)]
        return float(np.concatenate(dask.compute(*found)).sum())

    def _leaves(self, X):
        """Cuts the data into blocks of whole leaves, and finds a start."""
        pieces = dask.persist(*[delayed(_piece)(partition) for partition in _partitions(X)])
        facts = dask.compute(*[delayed(_facts)(piece) for piece in pieces])
        ends = np.cumsum([count for count, _, _ in facts]).tolist()
        begins = [0, *ends[:-1]]
        count = ends[-1] if ends else 0
        if count == 0:
            raise FishweirError("no sequence has a sample: give one at least")
        channels = {channels for number, channels, _ in facts if number}
        if len(channels) > 1:
            raise FishweirError(f"sequences have {' and '.join(map(str, sorted(channels)))} channels: give as many in each")

        def some(first, last):
            """Sequences by their numbers in the data."""
            within = [at for at in range(len(pieces)) if begins[at] < last and ends[at] > first]
            return [
                delayed(_cut)(pieces[at], max(first - begins[at], 0), min(last, ends[at]) - begins[at]) for at in within
            ]

        self._start(*dask.compute(delayed(_joined)(some(0, min(_HEAD, count))))[0], max(facts, key=lambda one: one[2])[2])
        blocks = []
        for begin, end in zip(begins, ends, strict=True):
            first, last = -(-begin // LEAF), -(-end // LEAF)
            if first < last:
                own = some(first * LEAF, min(last * LEAF, count))
                blocks.append(delayed(_block)(own, first, self._symbols))
        blocks = list(dask.persist(*blocks))
        marks = dask.compute(*[delayed(_marks)(block) for block in blocks])
        return _Leaves(blocks, _fishweir.whole_digest([mark for some in marks for mark in some], count), count)

    def _start(self, rows, lengths, largest):
        if self._symbols:
            if rows.shape[1] != 1 or not np.isfinite(largest):
                raise FishweirError(f"symbols are whole numbers from 0 in one column, and the sequences have {rows.shape[1]}")
            if self.n_features is None:
                self.n_features = int(largest) + 1
            rows = rows[~np.isnan(rows).any(axis=1)]
            self._values(rows)
            rows = rows.astype(int)
        self._init(rows, lengths)
        self._check()

    def _described(self, leaves):
        """What a checkpoint is of."""
        arguments = {name: repr(value) for name, value in self.get_params().items() if name not in ("n_iter", "tol", "verbose")}
        return {"estimator": type(self).__name__, "arguments": arguments, "data": leaves.digest, "sequences": leaves.count}

    def _save(self, checkpoint, leaves, done):
        if checkpoint is None:
            return
        fitted = {name: np.asarray(vars(self)[name]).tolist() for name in _FITTED if name in vars(self)}
        kept = {**self._described(leaves), "fitted": fitted, "history": list(self.monitor_.history), "done": done}
        _write_whole(Path(checkpoint), json.dumps(kept))

    def _resume(self, checkpoint, leaves):
        """Takes the parameters of a checkpoint, if there is one, and returns whether the fit was done."""
        if checkpoint is None or not Path(checkpoint).exists():
            return False
        try:
            kept = json.loads(Path(checkpoint).read_text(encoding="utf-8"))
            for name, value in self._described(leaves).items():
                if kept[name] != value:
                    raise FishweirError(f"{checkpoint}: {name} is {kept[name]!r}, and now {value!r}; name another checkpoint")
            for name, value in kept["fitted"].items():
                setattr(self, name, np.asarray(value))
            for log_prob in kept["history"]:
                self.monitor_.report(log_prob)
        except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise FishweirError(f"{checkpoint}: not a checkpoint of a fit ({error}); name another") from error
        self._check()
        return self.monitor_.converged or self.monitor_.iter >= self.n_iter


def _marks(block):
    return block[2]


def _score(model, piece, symbols):
    rows, lengths = piece
    if not lengths:
        return np.empty(0)
    return model.log_likelihoods(_fishweir.Sequences(np.ascontiguousarray(rows), lengths, symbols), 1)


def _write_whole(path, text):
    """Writes a file whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


class CategoricalHMM(_OverDask, hmm.CategoricalHMM):
    """:class:`fishweir.hmm.CategoricalHMM` over collections of Dask."""


class GaussianHMM(_OverDask, hmm.GaussianHMM):
    """:class:`fishweir.hmm.GaussianHMM` over collections of Dask."""


class GMMHMM(_OverDask, hmm.GMMHMM):
    """:class:`fishweir.hmm.GMMHMM` over collections of Dask."""


class PoissonHMM(_OverDask, hmm.PoissonHMM):
    """:class:`fishweir.hmm.PoissonHMM` over collections of Dask."""


def predict(classifier: Any, X: Any) -> bag.Bag:
    """The decisions of a fitted classifier on the series of a collection, as a bag in their order."""
    return bag.from_delayed([delayed(_predict)(classifier, partition) for partition in _partitions(X)])


def _predict(classifier, partition):
    series = list(partition)
    return list(classifier.predict(series)) if series else []


def read_parquet(
    path: str | Path,
    *,
    series: str,
    channels: list[str] | None = None,
    where: Mapping[str, Any] | None = None,
) -> bag.Bag:
    """The series of a data set of Apache Parquet, a partition per file: a bag of arrays ``[time][channel]``.

    Parameters
    ----------
    path : path
        A file, or a folder of files ``*.parquet``, taken in the order of their names.
    series : str
        Column that names the series. The rows of a series follow each other, in one file.
    channels : list of str, optional
        Columns of the channels; all numeric ones but ``series`` by default.
    where : dict, optional
        Values of columns by name: of the series that have these alone, as ``{"label": "walk"}``.
    """
    from pyarrow import parquet

    path = Path(path)
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise FishweirError(f"{path}: no file *.parquet in this folder")
    before = None
    for file in files:
        source = parquet.ParquetFile(file)
        if series not in source.schema_arrow.names:
            raise FishweirError(f"{file}: no column {series!r}; columns are {', '.join(source.schema_arrow.names)}")
        if source.metadata.num_rows == 0:
            continue
        groups = (0, source.num_row_groups - 1)
        first, last = (source.read_row_group(group, columns=[series]).column(0) for group in groups)
        if before is not None and first[0] == before[1]:
            raise FishweirError(f"{file}: series {first[0]} begins in {before[0]}; write each series to one file")
        before = (file, last[-1])
    return bag.from_delayed([delayed(_read)(file, series, channels, dict(where or {})) for file in files])


def _read(file, series, channels, where):
    from pyarrow import parquet, types

    schema = parquet.read_schema(file)
    if channels is None:
        numeric: Callable[[Any], bool] = lambda kind: types.is_integer(kind) or types.is_floating(kind)
        channels = [name for name in schema.names if name != series and name not in where and numeric(schema.field(name).type)]
    missing = [name for name in [*channels, *where] if name not in schema.names]
    if missing:
        raise FishweirError(f"{file}: no column {', '.join(missing)}; columns are {', '.join(schema.names)}")
    table = parquet.read_table(file, columns=[series, *channels, *where])
    ids = table.column(series).to_numpy(zero_copy_only=False)
    rows = np.column_stack([table.column(name).to_numpy(zero_copy_only=False).astype(float) for name in channels])
    begins = np.flatnonzero(np.concatenate([[len(ids) > 0], ids[1:] != ids[:-1]])) if len(ids) else np.empty(0, int)
    names, counts = np.unique(ids[begins], return_counts=True)
    if (counts > 1).any():
        raise FishweirError(f"{file}: rows of series {names[counts > 1][0]} are apart; sort the file by {series}")
    kept = np.ones(len(ids), bool)
    for name, value in where.items():
        kept &= table.column(name).to_numpy(zero_copy_only=False) == value
    ends = [*begins[1:], len(ids)]
    return [rows[begin:end] for begin, end in zip(begins, ends, strict=True) if kept[begin]]


__all__ = ["CategoricalHMM", "GMMHMM", "GaussianHMM", "PoissonHMM", "predict", "read_parquet"]
