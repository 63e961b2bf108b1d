"""The checks of scikit-learn, and what its users do."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import fishweir
from data import motions, waves

@parametrize_with_checks(
    [
        fishweir.BayesClassifier(),
        fishweir.FisherClassifier(),
        fishweir.FisherTransformer(states=2),
        fishweir.KernelTransformer(states=2),
    ]
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", [fishweir.BayesClassifier, fishweir.FisherClassifier])
def test_classifiers_of_three_dimensions(kind):
    X, y = motions()
    fitted = kind(states=2, random_state=3).fit(X, y)
    assert fitted.n_features_in_ == 3
    assert fitted.score(X, y) > 0.9
    assert list(fitted.classes_) == ["circle", "rest", "shake"]
    proba = fitted.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert (fitted.classes_[proba.argmax(axis=1)] == fitted.predict(X)).all()
    assert (fitted.classes_[fitted.decision_function(X).argmax(axis=1)] == fitted.predict(X)).all()
    with pytest.raises(ValueError, match="2 channels"):
        fitted.predict(X[:, :2])


def test_lengths_may_differ_and_values_may_be_missing():
    X, y = motions()
    series = [one[:, : 20 + 3 * (index % 5)] for index, one in enumerate(X)]
    series[0] = series[0].copy()
    series[0][1, 4] = np.nan
    series[1] = series[1].copy()
    series[1][:, 7] = np.nan
    fitted = fishweir.FisherClassifier(states=2).fit(series, y)
    assert fitted.score(series, y) > 0.9


def test_pickles_and_clones_decide_the_same_bits():
    X, y = motions()
    fitted = fishweir.FisherClassifier(states=2).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.decision_function(X) == fitted.decision_function(X)).all()
    assert clone(fitted).fit(X, y).to_json() == fitted.to_json()


def test_searches_and_folds_by_group():
    X, y = motions()
    groups = np.arange(len(y)) % 5
    search = GridSearchCV(fishweir.BayesClassifier(), {"states": [1, 2]}, cv=GroupKFold(3))
    search.fit(X, y, groups=groups)
    assert search.best_score_ > 0.8
    fitted = fishweir.FisherClassifier(effort="normal", states=2).fit(X, y, groups=groups)
    assert "group" in fitted.to_json().decode() or fitted.score(X, y) > 0.8
    assert cross_val_score(fishweir.BayesClassifier(states=2), X, y, cv=3).mean() > 0.8


def test_windows_decide_as_the_command_does():
    X, y = motions(length=60)
    fitted = fishweir.FisherClassifier(states=2, window=20, hop=10).fit(X, y)
    with pytest.raises(fishweir.FishweirError, match="window"):
        fitted.predict(X)
    windows = fitted.predict_windows(X[:2])
    assert [(start, end) for start, end, _ in windows[0]] == [(0, 20), (10, 30), (20, 40), (30, 50), (40, 60)]
    assert fitted.score(X, y) > 0.8
    assert fitted.predict(X[:, :, :20]).shape == (len(X),)
    decisions = list(fitted.stream().run(X[0].T))
    assert [(one.start, one.end, one.label) for one in decisions] == windows[0]


def test_rejection():
    X, y = motions()
    fitted = fishweir.FisherClassifier(states=2, options={"reject": 0.05}).fit(X, y)
    strange = 1000.0 + np.zeros_like(X[:2])
    assert all(fitted.doubt(strange))
    assert sum(reason is not None for reason in fitted.doubt(X)) < len(X) // 2


def test_options_are_those_of_the_command():
    X, y = motions()
    options = {"std-floor": [0.3, 0.1], "learner": "logistic", "score_model": "all", "scaling": "diagonal", "c": 1.0}
    assert fishweir.FisherClassifier(states=2, options=options).fit(X, y).score(X, y) > 0.8
    for wrong in [{"stats": 2}, {"learner": "forest"}, {"scaling": "big"}]:
        with pytest.raises(ValueError, match=next(iter(wrong))):
            fishweir.FisherClassifier(options=wrong).fit(X, y)
    with pytest.raises(ValueError, match="gaussian"):
        fishweir.FisherClassifier(family="gausian").fit(X, y)


def test_scores_have_names():
    X, y = motions()
    scores = fishweir.FisherTransformer(states=2).set_output(transform="pandas").fit_transform(X)
    assert scores.shape == (len(X), 2 + 4 + 2 * 6)
    assert list(scores.columns[:3]) == ["initial[0]", "initial[1]", "transition[0][0]"]
    of_classes = fishweir.FisherTransformer(states=2, per_class=True).fit(X, y)
    assert of_classes.get_feature_names_out()[0] == "circle.initial[0]"
    assert of_classes.transform(X).shape == (len(X), 3 * 18)
    machine = make_pipeline(fishweir.FisherTransformer(states=2), StandardScaler(), LinearSVC())
    assert machine.fit(X, y).score(X, y) > 0.9
    whitened = fishweir.FisherTransformer(states=2, scaling="empirical").fit(X)
    np.testing.assert_allclose(whitened.transform(X[:3]), whitened.transform(X)[:3], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", ["practical", "invariant", "gaussian", "cosine", "bhattacharyya", "mean-map"])
def test_kernels_are_gram_matrices(kernel):
    X, y = motions(count=18)
    transformer = fishweir.KernelTransformer(kernel, states=2, normalise=True).fit(X)
    gram = transformer.transform(X)
    assert gram.shape == (len(X), len(X))
    np.testing.assert_allclose(gram, gram.T, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(np.diag(gram), 1.0, rtol=1e-6)
    assert np.linalg.eigvalsh((gram + gram.T) / 2).min() > -1e-6
    np.testing.assert_allclose(pickle.loads(pickle.dumps(transformer)).transform(X[:4]), gram[:4], rtol=1e-12)
    machine = make_pipeline(fishweir.KernelTransformer(kernel, states=2, normalise=True), SVC(kernel="precomputed"))
    assert machine.fit(X, y).score(X, y) > 0.6


def test_kernels_of_strings():
    strings = ["ACGTACGTACGT", "AAAAACCCCC", "ACGTACGTAC", "AAAACCCCCC"]
    gram = fishweir.KernelTransformer("spectrum", normalise=True, numbers={"order": 2}).fit(strings).transform(strings)
    assert gram[0, 2] > 0.9 > gram[0, 1]
    assert "spectrum" in fishweir.kernels()
    with pytest.raises(ValueError, match="has no sigma"):
        fishweir.KernelTransformer("spectrum", numbers={"sigma": 2}).fit(strings).transform(strings)


def test_strings_are_classified():
    X = ["ACACACACACAC", "CACACACACA", "ACACACAC"] * 4 + ["AACCAACCAACC", "CCAACCAACC", "AACCAACC"] * 4
    y = ["fast"] * 12 + ["slow"] * 12
    for kind in (fishweir.BayesClassifier, fishweir.FisherClassifier):
        fitted = kind(states=4, alphabet="dna").fit(X, y)
        assert fitted.score(X, y) > 0.9
        stream = fitted.stream()
        assert [one.label for one in stream.run("ACACACACAC")][-1] == "fast"
        with pytest.raises(fishweir.FishweirError):
            stream.push("Z")


def test_two_dimensions_are_one_channel():
    X, y = waves()
    flat = fishweir.BayesClassifier(states=2).fit(X, y)
    deep = fishweir.BayesClassifier(states=2).fit(X[:, None, :], y)
    lists = fishweir.BayesClassifier(states=2).fit(list(X), y)
    assert flat.to_json() == deep.to_json() == lists.to_json()
    assert (flat.predict(X[:, None, :]) == deep.predict(X)).all()
