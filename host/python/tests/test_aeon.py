"""The checks of aeon, and its containers."""

import numpy as np
import pytest
from aeon.testing.estimator_checking import parametrize_with_checks

import fishweir
from data import motions
from fishweir.aeon import BayesClassifier, FisherClassifier


@parametrize_with_checks([BayesClassifier, FisherClassifier])
def test_checks_of_aeon(check):
    check()


@pytest.mark.parametrize("kind", [BayesClassifier, FisherClassifier])
def test_containers(kind):
    X, y = motions()
    fitted = kind(states=2).fit(X, y)
    same = getattr(fishweir, kind.__name__)(states=2).fit(X, y)
    assert fitted.to_json() == same.to_json()
    unequal = [one[:, : 20 + index % 7] for index, one in enumerate(X)]
    assert (kind(states=2).fit(unequal, y).predict(unequal) == y).mean() > 0.9
    holes = X.copy()
    holes[::3, :, 5] = np.nan
    assert (kind(states=2).fit(holes, y).predict(holes) == y).mean() > 0.9
    assert fitted.cost()["state_bytes"] > 0
