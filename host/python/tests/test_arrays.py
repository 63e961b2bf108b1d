"""Arrays of every layout and type give the same bits, or an error that says what is wrong."""

import signal
import threading
import time

import numpy as np
import pytest

import fishweir
from data import motions, waves

X, Y = motions()
FITTED = fishweir.FisherClassifier(states=2).fit(X, Y)
MARGINS = FITTED.decision_function(X)


def big_endian(array):
    return array.astype(array.dtype.newbyteorder(">"))


def unaligned(array):
    raw = np.empty(array.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    assert not view.flags.aligned
    return view


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def padded(array):
    wide = np.full(tuple(2 * n + 1 for n in array.shape), 1e9)
    view = wide[tuple(slice(1, None, 2) for _ in array.shape)]
    view[...] = array
    return view


LAYOUTS = {
    "fortran": np.asfortranarray,
    "time first": lambda array: np.ascontiguousarray(array.transpose(2, 0, 1)).transpose(1, 2, 0),
    "channels first": lambda array: np.ascontiguousarray(array.transpose(1, 2, 0)).transpose(2, 0, 1),
    "negative strides": lambda array: array[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1],
    "padded": padded,
    "read-only": read_only,
    "big-endian": big_endian,
    "unaligned": unaligned,
    "object": lambda array: array.astype(object),
    "long double": lambda array: array.astype(np.longdouble),
    "list": list,
    "list of fortran": lambda array: [np.asfortranarray(one) for one in array],
    "memory of a file": None,
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, tmp_path):
    if layout == "memory of a file":
        np.save(tmp_path / "x.npy", X)
        other = np.load(tmp_path / "x.npy", mmap_mode="r")
    else:
        other = LAYOUTS[layout](X)
    assert (FITTED.decision_function(other) == MARGINS).all()
    assert fishweir.FisherClassifier(states=2).fit(other, Y).to_json() == FITTED.to_json()


@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "i4", "i2", "u1", "u2", "u8", "i1", ">i2", ">f4", "?"])
def test_types(dtype):
    values = np.clip(np.round(40 * X + 100), 0, 120)
    if dtype == "?":
        values = values > 100
    exact = values.astype(np.float64)
    other = values.astype(dtype)
    if dtype == "f2":
        exact = other.astype(np.float64)
    fitted = fishweir.BayesClassifier(states=2).fit(exact, Y)
    assert (fitted.decision_function(other) == fitted.decision_function(exact)).all()


def test_a_broadcast_array_and_two_dimensions():
    flat, y = waves()
    fitted = fishweir.BayesClassifier(states=2).fit(flat, y)
    same = np.broadcast_to(flat[:1], (5, flat.shape[1]))
    assert (fitted.decision_function(same) == fitted.decision_function(flat[:1])).all()
    assert (fitted.decision_function(np.asfortranarray(flat)) == fitted.decision_function(flat)).all()
    assert (fitted.decision_function(flat[:, ::-1][:, ::-1]) == fitted.decision_function(flat)).all()


WRONG = {
    "scalar": (np.array(3.0), "dimension|1D|scalar|0"),
    "flat": (np.arange(5.0), "dimension|1D|2D"),
    "four dimensions": (np.zeros((2, 2, 2, 2)), "dim"),
    "no series": (np.zeros((0, 3, 10)), "no series|0 sample"),
    "no samples": (np.zeros((4, 3, 0)), "no sample|no observation|0 feature|channels"),
    "no channels": (np.zeros((4, 0, 10)), "channels"),
    "infinite": (np.where(np.arange(30) == 7, np.inf, X), "sample 7, channel 0 is inf"),
    "objects": (np.array([[object(), 2.0]], dtype=object), "number|float"),
    "complex": (X.astype(complex), "omplex"),
    "dates": (np.zeros((4, 3, 10), dtype="M8[s]"), "datetime"),
    "text among arrays": ([X[0], "ACGT"], "symbols|string|channels"),
    "channels that differ": ([X[0], X[1][:2]], "channels"),
    "a word": ("walking", "str"),
    "nothing": (None, "None|NoneType|dim"),
    "empty list": ([], "0 sample|no series"),
    "nested too deeply": ([[[1.0, 2.0], [3.0]], [[1.0], [2.0]]], "inhomogeneous|number|shape"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_series_is_named(what):
    value, words = WRONG[what]
    count = len(value) if isinstance(value, list) or getattr(value, "ndim", 0) else 4

    def fit(value):
        fishweir.BayesClassifier().fit(value, np.arange(count) % 2)

    for use in (FITTED.predict, fit):
        with pytest.raises((ValueError, TypeError), match=words) as raised:
            use(value)
        assert "panic" not in str(raised.value).lower()


def test_all_missing_is_decided_by_priors_or_refused():
    decided = FITTED.predict(np.full((2, 3, 10), np.nan))
    assert len(set(decided)) == 1
    with pytest.raises(ValueError):
        fishweir.BayesClassifier().fit(np.full((4, 3, 10), np.nan), [0, 1, 0, 1])


def test_numbers_beyond_single_precision_are_counted():
    wild = X[:2].copy()
    wild[0, 0, 3] = 1e300
    with pytest.warns(UserWarning, match="1 samples are refused"):
        FITTED.predict(wild)


def test_the_lock_is_released():
    """Another thread runs while a fit does."""
    many, y = motions(count=240, length=200)
    done, ticks = threading.Event(), []

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    begin = time.perf_counter()
    fishweir.BayesClassifier(states=4, n_jobs=1).fit(many, y)
    end = time.perf_counter()
    done.set()
    ticker.join()
    inside = [one for one in ticks if begin <= one <= end]
    assert len(inside) > 0.2 * (end - begin) / 0.005, (len(inside), end - begin)


def test_an_interrupt_ends_a_fit():
    many, y = motions(count=400, length=400)
    # A shell's background job ignores interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        fishweir.FisherClassifier(effort="thorough").fit(many, y)
    assert time.perf_counter() - begin < 20


def test_threads_use_one_model_at_once():
    results = [None] * 4

    def ask(index):
        results[index] = FITTED.decision_function(X)

    threads = [threading.Thread(target=ask, args=(index,)) for index in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert all((one == MARGINS).all() for one in results)


def test_a_process_may_fork_afterwards():
    import multiprocessing

    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert (pool.apply(FITTED.decision_function, (X,)) == MARGINS).all()
