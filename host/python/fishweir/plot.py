"""Figures. They need matplotlib: ``pip install fishweir[plot]``."""

import numpy as np

from ._panel import panel


def _axes(axes, rows=1):
    import matplotlib.pyplot as plt

    return plt.subplots(rows, 1, sharex=True, squeeze=False)[1][:, 0] if axes is None else np.atleast_1d(axes)


def stream(classifier, series, *, axes=None):
    """Draws the margins of a stream's decisions along a series, and the channels below. Returns the axes."""
    read = panel([series])
    samples = read.series[0]
    axes = _axes(axes, 2)
    live = classifier.stream()
    rows = samples if isinstance(samples, str) else np.asarray(samples)
    decisions = list(live.run(rows))
    ends = [one.end for one in decisions]
    for index, name in enumerate(classifier.classes_):
        axes[0].step(ends, [one.probabilities[index] for one in decisions], where="pre", label=str(name))
    axes[0].set_ylabel("probability")
    axes[0].legend(loc="upper left", fontsize="small")
    if not isinstance(samples, str):
        for channel, name in enumerate(classifier.model_.channels):
            axes[-1].plot(rows[:, channel], linewidth=0.8, label=name)
        axes[-1].set_ylabel("channels")
        axes[-1].legend(loc="upper left", fontsize="small")
    axes[-1].set_xlabel("sample")
    return axes


def gram(matrix, *, labels=None, axes=None):
    """Draws a Gram matrix, its items in the order of their labels. Returns the axes."""
    matrix = np.asarray(matrix)
    axes = _axes(axes)
    if labels is not None:
        order = np.argsort(np.asarray(labels), kind="stable")
        matrix = matrix[np.ix_(order, order)]
    image = axes[0].imshow(matrix, interpolation="nearest")
    axes[0].figure.colorbar(image, ax=axes[0])
    return axes
