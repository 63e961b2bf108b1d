"""Passes of Baum-Welch by Dask with one worker and with two, of one thread each, in turn: `python speed_dask.py [SECONDS [ROUNDS]]`.

SECONDS is what a pass takes with one worker, about; a ratio of times of a pass with one and two workers is printed for each round,
and their median. Beside it the ratio of the processor time of the busiest worker: what the ratio of times would be if nothing else ran and
nothing waited. Before it: the merge of 10 000 parts.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import dask
import dask.bag
import numpy as np
import psutil

import fishweir.dask
from fishweir import _fishweir
from fishweir.dask import LEAF

sys.path.insert(0, str(Path(__file__).parent))
from dask_cluster import Cluster

# Many states, so that a pass of a minute needs no more memory than a laptop has.
LENGTH, CHANNELS, STATES = 2000, 3, 64


def partition(number, series):
    """Series of a partition, made where it lies."""
    rng = np.random.default_rng(number)
    level = np.repeat(rng.integers(0, STATES, (series, LENGTH // 50)), 50, axis=1)
    return list(2.0 * level[:, :, None] + rng.normal(size=(series, LENGTH, CHANNELS)))


def merged(count=10_000):
    """Seconds of a merge of parts of a leaf each, as `merge` reads them and as tasks pass them."""
    X = np.concatenate(partition(0, LEAF))[: LEAF * 20]
    model = fishweir.dask.GaussianHMM(8, random_state=0)
    model._init(X)
    model._check()
    sequences = _fishweir.Sequences(X, [20] * LEAF, False)
    marks = [(leaf, 0, sequences.marks(0)[0][2]) for leaf in range(count)]
    digest = _fishweir.whole_digest(marks, LEAF * count)
    one = model._native().sums(sequences, 0, marks[:1], digest, LEAF * count).to_json()
    parts = [model._native().sums(sequences, leaf, marks[leaf : leaf + 1], digest, LEAF * count) for leaf in range(count)]
    begun = time.perf_counter()
    whole = parts[0].merged(parts[1:])
    model._native().expected(whole)
    added = time.perf_counter() - begun
    begun = time.perf_counter()
    for _ in range(count):
        _fishweir.ExpectedSums.from_json(one)
    return added, time.perf_counter() - begun, len(one)


def seconds(folder, workers, parts, series):
    """Seconds of a pass, and of the processor of the busiest worker, without the first two; and the log-likelihoods."""
    times, busy = [], []
    with Cluster(folder, workers) as cluster, cluster.client():
        made = [dask.delayed(partition)(number, series) for number in range(parts)]
        model = fishweir.dask.GaussianHMM(STATES, n_iter=4, tol=-np.inf, init_params="")
        model.startprob_, model.transmat_ = np.full(STATES, 1 / STATES), np.full((STATES, STATES), 1 / STATES)
        model.means_ = np.repeat(2.0 * np.arange(STATES)[:, None], CHANNELS, axis=1)
        model.covars_ = np.ones((STATES, CHANNELS))

        class Clock(type(model.monitor_)):
            def report(self, log_prob):
                times.append(time.perf_counter())
                busy.append([sum(psutil.Process(worker.pid).cpu_times()[:2]) for worker in cluster.workers])
                super().report(log_prob)

        model.monitor_ = Clock(model.tol, model.n_iter, False)
        model.fit(dask.bag.from_delayed(made))
    busiest = np.diff(busy, axis=0).max(axis=1)
    return (statistics.median(np.diff(times)), statistics.median(busiest)), list(model.monitor_.history)


def main():
    wanted = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    added, read, length = merged()
    print(f"merge of 10000 parts: {added:.2f} s to add, {read:.2f} s to read from memory ({length} B each)", flush=True)
    series = LEAF
    with tempfile.TemporaryDirectory() as folder:
        (_, trial), _ = seconds(Path(folder), 1, 8, series)
    # As many for each of two workers.
    parts = max(8, 2 * round(4 * wanted / trial))
    print(f"{parts} partitions of {series} series of {LENGTH} samples, {CHANNELS} channels, {STATES} states", flush=True)
    ratios = []
    for _ in range(rounds):
        found = []
        for workers in (1, 2):
            with tempfile.TemporaryDirectory() as folder:
                found.append(seconds(Path(folder), workers, parts, series))
        ((one, alone), history), ((two, shared), other) = found
        assert history == other, "the bits differ"
        ratios.append(one / two)
        print(f"one worker {one:.1f} s a pass, two workers {two:.1f} s: {one / two:.2f} times", flush=True)
        print(f"  processor of the busiest {alone:.1f} s and {shared:.1f} s: {alone / shared:.2f} times", flush=True)
    print(f"median of ratios {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
