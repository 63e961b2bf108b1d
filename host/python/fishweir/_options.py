"""Parameters and options as the native part takes them."""

import functools
import inspect
import json
import math
import os
from collections.abc import Callable
from typing import Any, TypeVar
from unicodedata import category

import numpy as np
from sklearn.utils import check_random_state

from ._fishweir import FishweirError

# What an option is called among the parameters of an estimator.
_PARAMETERS = {"emission": "family", "seed": "random_state", "information": "scaling", "group": "groups"}
# Parameters that are no options.
_ONLY_PARAMETERS = ("family", "random_state", "n_jobs", "rate", "channels", "alphabet")

_Init = TypeVar("_Init", bound=Callable[..., None])


def keeps_arguments(init: _Init) -> _Init:
    """A constructor that keeps each argument under its name, as estimators do, before its own body."""
    signature = inspect.signature(init)

    @functools.wraps(init)
    def keep(self, *args, **kwargs):
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        for name, value in list(given.arguments.items())[1:]:
            setattr(self, name, value)
        init(self, *args, **kwargs)

    keep.__signature__ = signature
    return keep


def with_defaults(init: _Init, **defaults: Any) -> _Init:
    """A constructor with other defaults for some keywords."""
    signature = inspect.signature(init)

    @functools.wraps(init)
    def other(self, *args, **kwargs):
        init(self, *args, **{**defaults, **kwargs})

    each = signature.parameters.values()
    each = [one.replace(default=defaults.get(one.name, one.default)) for one in each]
    other.__signature__ = signature.replace(parameters=each)
    return other


def settings(options, own):
    """``options`` by name, and an estimator's ``own`` parameters, as JSON."""
    if options is not None and not hasattr(options, "items"):
        raise FishweirError(f'options is {options!r}: give a dictionary, such as {{"reject": 0.05}}')
    given = {}
    for name, value in (options or {}).items():
        name = str(name).replace("-", "_")
        if own and (name in own or name in _ONLY_PARAMETERS):
            raise FishweirError(f"option {name}: give it as {parameter(name)}, not among options")
        given[name] = value
    given.update(own)
    return json.dumps({name: _plain(name, value) for name, value in given.items() if value is not None})


def parameter(option):
    """What an option is called among the parameters of an estimator, or among its options."""
    return _PARAMETERS.get(option, option)


def _plain(name, value):
    """A value of JSON."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(f"{name}[{key!r}]", one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(name, one) for one in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise FishweirError(f"option {name} is {value}: give a finite number")
    if isinstance(value, (str, bool, int, float)):
        return value
    raise FishweirError(f"option {name} is {value!r}: give a number, a name, or a list of these")


def printable(given, what):
    """Refuses names that no model file can hold."""
    for name in given:
        if any(category(character) == "Cc" for character in name):
            raise FishweirError(f"{what} has {name!r}, a name with a control character: take it out")


def names(given, what="channels"):
    """A list of names, of a list or of text with commas; ``None`` of none."""
    if given is None:
        return None
    given = given.split(",") if isinstance(given, str) else [str(name) for name in given]
    given = [name.strip() for name in given]
    if "" in given:
        raise FishweirError(f"{what} has an empty name in it: {given}")
    printable(given, what)
    if len(set(given)) < len(given):
        raise FishweirError(f"{what} has a name twice: {', '.join(given)}")
    return given or None


def above_zero(name, value):
    """A finite number above zero, or ``None``."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, str) or not 0 < number < math.inf:
        raise FishweirError(f"{name} is {value!r}: give a number above 0")
    return number


def whole(name, value):
    """A whole number from 0 up."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < 2**32:
        raise FishweirError(f"{name} is {value!r}: give a whole number")
    return int(value)


def threads(n_jobs):
    """Threads of a call: all cores for none and for -1."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, str) or int(n_jobs) != n_jobs:
        raise FishweirError(f"n_jobs is {n_jobs!r}: give a whole number, or None for all cores")
    return int(n_jobs) if n_jobs > 0 else None


def seed(random_state, default=None):
    """A seed of the native part."""
    if random_state is None:
        return default
    if isinstance(random_state, (int, np.integer)):
        if not 0 <= random_state < 2**64:
            raise FishweirError(f"random_state is {random_state}: give a whole number from 0 up, or None")
        return int(random_state)
    return int(check_random_state(random_state).randint(1, 2**31 - 1))
