"""Small data sets for tests."""

import numpy as np


def motions(count=36, length=30, seed=0):
    """Three classes over three channels: ``(series, channels, time)`` and their names."""
    rng = np.random.default_rng(seed)
    names = np.array(["rest", "shake", "circle"])
    X = np.empty((count, 3, length))
    for index in range(count):
        t = np.arange(length) + rng.uniform(0, 10)
        X[index] = {
            0: np.zeros((3, length)),
            1: np.stack([2 * np.sin(1.9 * t), np.zeros(length), 0.5 * np.sin(1.9 * t)]),
            2: np.stack([np.sin(0.5 * t), np.cos(0.5 * t), np.zeros(length)]),
        }[index % 3] + rng.normal(0, 0.3, (3, length))
    return X, names[np.arange(count) % 3]


def waves(count=24, length=30):
    """Two classes of one channel: ``(series, time)`` and their names."""
    t = np.arange(length)
    X = np.stack([np.sin((0.3 if index % 2 else 1.9) * t + index) for index in range(count)])
    return X, np.array(["slow" if index % 2 else "fast" for index in range(count)])
