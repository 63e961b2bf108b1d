"""Nanoseconds a symbol of an iteration of Baum-Welch in hmmlearn, on one thread: what `recursions` compares with.

    pip install hmmlearn
    python3 host/benches/hmmlearn_peers.py

Prints a line a model, the best of runs during two seconds, on 32 sequences of 1000 samples; the quicker of its two
implementations, which scales rows.
"""
import logging
import os
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
from hmmlearn import hmm

LENGTH, SEQUENCES, ITERATIONS, SECONDS = 1000, 32, 2, 2

logging.disable(logging.CRITICAL)
rng = np.random.default_rng(1)


def rows(count, length):
    row = rng.uniform(0.1, 1, (count, length))
    return row / row.sum(axis=1, keepdims=True)


def best(kind, data, states, **start):
    """The shortest time of an iteration, in nanoseconds a symbol."""
    shortest, begin = np.inf, time.perf_counter()
    while time.perf_counter() < begin + SECONDS:
        model = kind(states, n_iter=ITERATIONS, tol=-np.inf, init_params="", implementation="scaling")
        for name, value in start.items():
            setattr(model, name, value)
        now = time.perf_counter()
        model.fit(data, [LENGTH] * SEQUENCES)
        shortest = min(shortest, time.perf_counter() - now)
    return shortest / ITERATIONS / len(data) * 1e9


for states in 2, 4, 8, 16, 32, 64:
    for symbols in 4, 16:
        data = rng.integers(0, symbols, (LENGTH * SEQUENCES, 1))
        start = {
            "n_features": symbols,
            "startprob_": rows(1, states)[0],
            "transmat_": rows(states, states),
            "emissionprob_": rows(states, symbols),
        }
        print(f"categorical {states} {symbols} {best(hmm.CategoricalHMM, data, states, **start):.1f}", flush=True)

states, channels = 4, 3
data = rng.uniform(-0.5, 1.5, (LENGTH * SEQUENCES, channels))
start = {
    "startprob_": rows(1, states)[0],
    "transmat_": rows(states, states),
    "means_": rows(states, channels),
    "covars_": rows(states, channels) ** 2,
}
print(f"gaussian {states} {channels} {best(hmm.GaussianHMM, data, states, **start):.1f}")
