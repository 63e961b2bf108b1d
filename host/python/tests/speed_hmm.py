"""Baum-Welch beside hmmlearn: the same arrays and parameters, one core, in turn. Run it with `OMP_NUM_THREADS=1 taskset -c 0`."""

import logging
import time

import numpy as np
from hmmlearn import hmm as theirs

from fishweir import hmm

SAMPLES, STEPS, ROUNDS = 40_000, 10, 3


def seconds(module, kind, X, lengths, arguments, implementation):
    model = getattr(module, kind)(
        **arguments, n_iter=STEPS, tol=-np.inf, random_state=1, implementation=implementation
    )
    model._init(X, lengths)
    model.init_params = ""
    begun = time.perf_counter()
    model.fit(X, lengths=lengths)
    return time.perf_counter() - begun


def reals(rng, channels):
    level = np.repeat(rng.randint(0, 4, SAMPLES // 50) * 2, 50)[:, None]
    return rng.randn(SAMPLES, channels) + level


def main():
    logging.disable(logging.WARNING)
    rng = np.random.RandomState(0)
    real = reals(rng, 3)
    counts, symbols = rng.poisson(np.abs(reals(rng, 2))), np.clip(reals(rng, 1) + 3, 0, 7).astype(int)
    cases = [("GaussianHMM", dict(n_components=states), real) for states in (2, 4, 8, 16)]
    cases += [
        ("GaussianHMM", dict(n_components=4, covariance_type="full"), real),
        ("GMMHMM", dict(n_components=3, n_mix=2), real),
        ("GMMHMM", dict(n_components=3, n_mix=2, covariance_type="full"), real),
        ("PoissonHMM", dict(n_components=4), counts),
        ("CategoricalHMM", dict(n_components=4), symbols),
    ]
    for kind, arguments, X in cases:
        for lengths in ([100] * (SAMPLES // 100), [SAMPLES]):
            ways = [(hmm, "log"), (theirs, "log"), (theirs, "scaling")]
            found = [[seconds(one, kind, X, lengths, arguments, how) for one, how in ways] for _ in range(ROUNDS)]
            own, log, scaling = np.min(found, axis=0)
            print(
                f"{kind} {arguments} {len(lengths)} sequences: {own * 1e3:.0f} ms, hmmlearn {log / own:.1f} times (log), "
                f"{scaling / own:.1f} times (scaling)",
                flush=True,
            )


if __name__ == "__main__":
    main()
