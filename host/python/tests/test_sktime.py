"""The checks of sktime, and its containers."""

import numpy as np
import pandas as pd
import pytest
from sktime.datatypes import convert_to
from sktime.utils.estimator_checks import parametrize_with_checks

import fishweir
from data import motions
from fishweir.sktime import BayesClassifier, FisherClassifier


@parametrize_with_checks([BayesClassifier, FisherClassifier])
def test_checks_of_sktime(obj, test_name):
    from sktime.utils.estimator_checks import check_estimator

    check_estimator(obj, tests_to_run=test_name, raise_exceptions=True)


@pytest.mark.parametrize("kind", [BayesClassifier, FisherClassifier])
@pytest.mark.parametrize("mtype", ["numpy3D", "nested_univ", "pd-multiindex", "df-list"])
def test_containers(kind, mtype):
    X, y = motions()
    other = convert_to(X, mtype)
    expected = getattr(fishweir, kind.__name__)(states=2).fit(X, y)
    fitted = kind(states=2).fit(other, y)
    assert (fitted.predict(other) == expected.predict(X)).all()
    # The estimators with scikit-learn's interface take the same containers.
    direct = getattr(fishweir, kind.__name__)(states=2).fit(other, y)
    assert (direct.decision_function(other) == expected.decision_function(X)).all()


def test_unequal_lengths():
    X, y = motions()
    frames = [pd.DataFrame(one[:, : 20 + index % 7].T, columns=["a", "b", "c"]) for index, one in enumerate(X)]
    frames[0].iloc[3, 1] = np.nan
    fitted = FisherClassifier(states=2).fit(frames, y)
    assert (fitted.predict(frames) == y).mean() > 0.9
    assert fitted.model_.channels == ["a", "b", "c"]
