"""The checks of sktime, and its containers."""

import numpy as np
import pandas as pd
import pytest
from sktime.datatypes import check_raise, convert_to
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


@pytest.mark.parametrize("mtype", ["numpy3D", "nested_univ", "pd-multiindex", "df-list"])
def test_containers_out(mtype):
    X, _ = motions()
    found = fishweir.convert(X, mtype)
    check_raise(found, mtype, scitype="Panel")
    for other in ("numpy3D", "pd-multiindex"):
        assert (np.asarray(fishweir.convert(found, other)) == np.asarray(fishweir.convert(X, other))).all()
    assert (convert_to(found, "numpy3D") == X).all()
    ragged = [X[0], X[1][:, :7]]
    if mtype == "numpy3D":
        with pytest.raises(fishweir.FishweirError, match="7 to 30 samples, and numpy3D has one length"):
            fishweir.convert(ragged, mtype)
    else:
        again = fishweir.convert(fishweir.convert(ragged, mtype), "np-list")
        assert all((one == other).all() for one, other in zip(again, ragged, strict=True))


def test_channels_in_another_order_are_refused():
    X, y = motions()
    names = ["ax", "ay", "az"]
    frames = [pd.DataFrame(one.T, columns=names) for one in X]
    turned = [frame[names[::-1]] for frame in frames]
    fitted = BayesClassifier(states=1).fit(frames, y)
    with pytest.raises(fishweir.FishweirError, match="az, ay, ax, but BayesClassifier was fitted to ax, ay, az"):
        fitted.predict(turned)


def test_unequal_lengths():
    X, y = motions()
    frames = [pd.DataFrame(one[:, : 20 + index % 7].T, columns=["a", "b", "c"]) for index, one in enumerate(X)]
    frames[0].iloc[3, 1] = np.nan
    fitted = FisherClassifier(states=2).fit(frames, y)
    assert (fitted.predict(frames) == y).mean() > 0.9
    assert fitted.model_.channels == ["a", "b", "c"]
