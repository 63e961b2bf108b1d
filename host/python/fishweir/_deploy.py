"""From a fitted classifier to a device."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from . import _fishweir
from ._fishweir import Dataset, FishweirError
from ._options import above_zero, whole
from ._panel import check_names, panel
from ._report import Report
from ._stream import Stream


class Fitted:
    """What every estimator can do for a device. ``model_`` is its native part."""

    def _check_fitted(self):
        if not hasattr(self, "model_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit first")

    def cost(self) -> dict[str, Any]:
        """RAM, flash and work per sample, or per record, on a device, by name."""
        self._check_fitted()
        return json.loads(self.model_.cost())


class Native(Fitted):
    """An estimator whose native part, of the class ``_native``, is written as source or as a model file."""

    def _load(self, contents):
        self.model_ = self._native.from_json(contents)
        return self

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes Rust source (``.rs``), or the model file of the command (``.json``)."""
        self._check_fitted()
        if str(path).endswith(".rs"):
            write(path, self.model_.rust_source().encode())
        elif str(path).endswith(".json"):
            write(path, self.model_.to_json())
        else:
            raise FishweirError(f"{path}: the ending says neither .rs nor .json")


class Deployable(Fitted):
    """What every fitted classifier of series can do for a device. ``classes_`` are its classes."""

    def info(self, rate: float | None = None) -> Report:
        """The model on every board: room, speed and battery, as ``fishweir info`` reports."""
        self._check_fitted()
        return Report(_fishweir.inspect(self.model_, above_zero("rate", rate)))

    def stream(self, endless: bool = False) -> Stream:
        """A stream that decides on the windows of the training, in the device's bits."""
        self._check_fitted()
        return Stream(self.model_, self.classes_, endless)

    def to_json(self) -> bytes:
        """The model file, as bytes."""
        self._check_fitted()
        return self.model_.to_json()

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        number: str = "f32",
        endless: bool = False,
        data: Any = None,
        cores: Sequence[str] = (),
        prefix: str | None = None,
    ) -> None:
        """Writes the model for a device, by the ending of ``path``.

        ================  ==========================================================
        ``.rs``           Rust source with a ``static`` that stays in flash
        ``.fishweir``     the artefact, which the core reads in place
        ``.json``         the model file of the command
        a folder          a library for C; needs cargo and the compiler's targets
        ================  ==========================================================

        ``number="q15"`` is fixed point of 16-bit tables. It is measured on ``data`` first, and refused where it decides
        otherwise.
        """
        self._check_fitted()
        path = Path(path)
        data = self._dataset(data)
        if path.suffix == ".json":
            if number != "f32":
                raise FishweirError(f"{path}: a model file has the numbers of the training: leave out number")
            return write(path, self.model_.to_json())
        if path.suffix == ".fishweir":
            if number != "f32":
                raise FishweirError(f"{path}: fixed point is exported as Rust source or for C, not as an artefact")
            return write(path, _fishweir.artefact(self.model_, endless))
        source = _fishweir.rust_source(self.model_, number, endless, data)
        if path.suffix == ".rs":
            return write(path, source.encode())
        if path.suffix:
            raise FishweirError(f"{path}: the ending says neither .rs, .fishweir nor .json; a library for C is a folder")
        _fishweir.c_library(source, path, [cores] if isinstance(cores, str) else list(cores), prefix)

    def project(
        self,
        folder: str | os.PathLike[str],
        board: str,
        *,
        data: Any = None,
        number: str = "f32",
        rate: float | None = None,
        tasks: bool = False,
        endless: bool = False,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Writes a firmware project for a board, which builds alone. ``data`` stands for a sensor and for the self-test."""
        self._check_fitted()
        text = _fishweir.project(
            self.model_,
            Path(folder),
            board,
            number=number,
            rate=rate,
            tasks=tasks,
            endless=endless,
            name=name,
            data=self._dataset(data),
        )
        return json.loads(text)

    def run(
        self, X: Any, board: str | None = None, *, limit: int | None = None, artefact: bool = False
    ) -> Report:
        """Streams series to an emulated board, and compares every bit with the host. Needs cargo and QEMU.

        ``board`` is a name or the folder of a board; without it the program's default is taken.
        ``report["differing_bits"]`` is 0 where device and host agree.
        """
        self._check_fitted()
        limit = None if limit is None else whole("limit", limit)
        return Report(_fishweir.run(self.model_, self._dataset(X), board, limit, artefact))

    def _dataset(self, data):
        """Series as the model observes them; their classes are known only in a data set."""
        if isinstance(data, Dataset):
            check_names(self, data.channels)
        if data is None or isinstance(data, Dataset):
            return data
        if isinstance(data, tuple) and len(data) == 2:
            data, y = data
            index = {label: number for number, label in enumerate(self.classes_.tolist())}
            labels = [index.get(label, -1) for label in np.asarray(y).tolist()]
        else:
            labels = None
        read = panel(data)
        check_names(self, read.channels)
        return Dataset.from_arrays(
            read.series,
            labels=labels,
            classes=[str(name) for name in self.classes_],
            channels=self.model_.channels,
            alphabet=self.model_.alphabet,
        )


def write(path, contents):
    """Writes a file whole or not at all."""
    path = Path(path)
    if not path.parent.is_dir():
        raise FishweirError(f"{path}: there is no folder {path.parent}: make it first")
    half = path.with_name(path.name + ".part")
    half.write_bytes(contents)
    os.replace(half, path)
