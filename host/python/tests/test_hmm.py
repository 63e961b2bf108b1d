"""The classes with the names of hmmlearn: its numbers, its own tests, and the way to a device."""

import logging
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import fishweir
from fishweir import hmm

theirs = pytest.importorskip("hmmlearn.hmm")

RNG = np.random.RandomState(0)
LENGTHS = [1000, 500, 1500]
REALS = RNG.randn(3000, 3) + np.repeat(RNG.randint(0, 3, 60) * 3, 50)[:, None]
COUNTS = RNG.poisson(np.repeat(RNG.randint(1, 20, 60), 50))[:, None]
SYMBOLS = COUNTS // 5
TYPES = ["spherical", "diag", "tied", "full"]


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def compare(name, X, fields, **arguments):
    """Fits both from one seed, and asks both everything."""
    arguments = dict(random_state=3, n_iter=12, tol=-np.inf) | arguments
    mine = getattr(hmm, name)(**arguments).fit(X, LENGTHS)
    other = getattr(theirs, name)(**arguments).fit(X, LENGTHS)
    for field in ("startprob_", "transmat_", *fields):
        np.testing.assert_allclose(getattr(mine, field), getattr(other, field), rtol=1e-7, atol=1e-9, err_msg=field)
    np.testing.assert_allclose(list(mine.monitor_.history), list(other.monitor_.history), rtol=1e-10)
    assert mine.score(X, LENGTHS) == pytest.approx(other.score(X, LENGTHS), rel=1e-10)
    np.testing.assert_allclose(mine.predict_proba(X, LENGTHS), other.predict_proba(X, LENGTHS), atol=1e-8)
    for algorithm in ("viterbi", "map"):
        log_prob, path = mine.decode(X, LENGTHS, algorithm)
        log_other, other_path = other.decode(X, LENGTHS, algorithm)
        assert log_prob == pytest.approx(log_other, rel=1e-9) and (path == other_path).all()
    np.testing.assert_allclose(mine.get_stationary_distribution(), other.get_stationary_distribution(), atol=1e-9)
    return mine, other


@pytest.mark.parametrize("covariance_type", TYPES)
def test_gaussian(covariance_type):
    mine, other = compare("GaussianHMM", REALS, ["means_", "_covars_"], n_components=4, covariance_type=covariance_type)
    assert mine.aic(REALS, LENGTHS) == pytest.approx(other.aic(REALS, LENGTHS), rel=1e-10)
    assert mine.bic(REALS, LENGTHS) == pytest.approx(other.bic(REALS, LENGTHS), rel=1e-10)


@pytest.mark.parametrize("covariance_type", TYPES)
def test_mixtures(covariance_type):
    compare("GMMHMM", REALS, ["means_", "covars_", "weights_"], n_components=3, n_mix=2, covariance_type=covariance_type)


def test_priors_and_parts():
    priors = dict(startprob_prior=1.5, transmat_prior=2.0, means_prior=0.5, means_weight=2.0, covars_prior=0.3, covars_weight=5)
    compare("GaussianHMM", REALS, ["means_", "_covars_"], n_components=3, **priors)
    compare("GaussianHMM", REALS, ["means_", "_covars_"], n_components=3, covariance_type="full", **priors)
    compare("GaussianHMM", REALS, ["means_", "_covars_"], n_components=3, params="mt")
    compare("CategoricalHMM", SYMBOLS, ["emissionprob_"], n_components=3, emissionprob_prior=1.5)
    compare("PoissonHMM", COUNTS, ["lambdas_"], n_components=3, lambdas_prior=2.0, lambdas_weight=1.0)


def test_symbols_and_counts():
    compare("CategoricalHMM", SYMBOLS, ["emissionprob_"], n_components=3)
    compare("PoissonHMM", COUNTS, ["lambdas_"], n_components=3)


def test_the_likeliest_path_of_a_mixture_is_one_of_states_not_of_components():
    # In state 0 two components share what one of state 1 has alone.
    model = hmm.GMMHMM(2, 2, covariance_type="full")
    model.n_features = 1
    model.startprob_, model.transmat_ = [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]]
    model.weights_ = [[0.5, 0.5], [0.999, 0.001]]
    model.means_, model.covars_ = [[[0.0], [0.0]], [[0.6], [0.6]]], np.ones((2, 2, 1, 1))
    assert list(model.predict([[0.0], [0.6]])) == [0, 1]
    assert model.decode([[0.0]])[0] == pytest.approx(np.log(0.5) - 0.5 * np.log(2 * np.pi))


def test_draws_have_the_parameters_and_begin_where_they_are_told():
    model = hmm.PoissonHMM(2, random_state=1)
    model.startprob_, model.transmat_ = [1.0, 0.0], [[0.9, 0.1], [0.3, 0.7]]
    model.lambdas_ = [[2.0, 30.0], [9.0, 1.0]]
    X, states = model.sample(20000)
    assert X.dtype.kind == "i" and X.shape == (20000, 2) and states[0] == 0
    np.testing.assert_allclose(X[states == 1].mean(axis=0), [9.0, 1.0], rtol=0.05)
    assert np.mean(states) == pytest.approx(0.25, abs=0.02)
    assert model.sample(3, currstate=1)[1][0] == 1
    assert (model.sample(5)[0] == model.sample(5)[0]).all()


def test_missing_values_are_left_out():
    holes = REALS.copy()
    holes[10:20, 1] = np.nan
    holes[100] = np.nan
    model = hmm.GaussianHMM(2, init_params="st", random_state=0, n_iter=20)
    model.means_, model.covars_ = REALS[:2].copy(), np.ones((2, 3))
    model.fit(holes)
    assert np.isfinite(model.score(holes)) and model.predict_proba(holes).sum() == pytest.approx(3000)
    history = list(model.monitor_.history)
    assert all(b >= a - 1e-8 for a, b in zip(history, history[1:]))
    with pytest.raises(ValueError, match="means_"):
        hmm.GaussianHMM(2).fit(holes)


def test_estimators_are_cloned_and_pickled():
    model = hmm.GMMHMM(2, 2, random_state=0).fit(REALS)
    assert clone(model).get_params() == model.get_params()
    assert pickle.loads(pickle.dumps(model)).score(REALS) == model.score(REALS)


def test_errors_say_what_to_do():
    model = hmm.GaussianHMM(2, random_state=0).fit(REALS)
    for call, words in [
        (lambda: model.score(REALS, [1, 2]), "do not sum to the 3000"),
        (lambda: model.score(REALS[:, :2]), "channels|entries|observ"),
        (lambda: model.decode(REALS, algorithm="beam"), "viterbi or map"),
        (lambda: hmm.GaussianHMM(70).fit(REALS), "64"),
        (lambda: hmm.CategoricalHMM(2).fit([[0.5]]), "whole numbers"),
        (lambda: hmm.PoissonHMM(2).fit([[1], [-2], [3]]), "whole numbers"),
        (lambda: hmm.classifier({"a": model}), "two models"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()


def test_models_of_hmmlearn_become_a_classifier_with_their_likelihoods(tmp_path):
    slow = theirs.GaussianHMM(3, "full", random_state=1).fit(REALS)
    fast = theirs.GaussianHMM(2, "full", random_state=1).fit(REALS[::2] * 0.5)
    one = hmm.from_hmmlearn(slow)
    assert one.score(REALS) == pytest.approx(slow.score(REALS), rel=1e-10)
    assert fishweir.gram([one, hmm.from_hmmlearn(fast)]).shape == (2, 2)
    fitted = hmm.classifier({"slow": slow, "fast": fast}, channels=["ax", "ay", "az"])
    stream = fitted.stream()
    for row in REALS[:300]:
        stream.push(row)
    wanted = [slow.score(REALS[:300]), fast.score(REALS[:300])]
    np.testing.assert_allclose(stream.log_likelihoods, wanted, rtol=1e-5)
    series = [REALS[:100].T, REALS[:100:2].T * 0.5]
    assert set(fitted.predict(series)) <= {"slow", "fast"}
    assert fitted.cost()["state_bytes"] > 0
    windows = hmm.classifier({"slow": slow, "fast": fast}, window=50, hop=25)
    windows.export(tmp_path / "pace.rs")
    windows.export(tmp_path / "pace.json")
    assert fishweir.load(tmp_path / "pace.json").predict_windows(series) == windows.predict_windows(series)


@pytest.mark.parametrize("kind", ["CategoricalHMM", "PoissonHMM", "GMMHMM"])
def test_every_kind_reaches_a_device(kind, tmp_path):
    X = {"CategoricalHMM": SYMBOLS, "PoissonHMM": COUNTS, "GMMHMM": REALS}[kind]
    more = {"n_mix": 2} if kind == "GMMHMM" else {"n_features": 7} if kind == "CategoricalHMM" else {}
    models = {name: getattr(theirs, kind)(2, random_state=seed, **more).fit(X) for seed, name in enumerate("ab")}
    fitted = hmm.classifier(models, window=20)
    fitted.export(tmp_path / "model.rs")
    assert "static MODEL" in (tmp_path / "model.rs").read_text()
    for name, model in models.items():
        assert hmm.from_hmmlearn(model).score(X) == pytest.approx(model.score(X), rel=1e-9), name


def test_numbers_that_are_typed_run_on_a_board():
    rain = hmm.CategoricalHMM(2)
    rain.startprob_, rain.transmat_ = [0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]]
    rain.emissionprob_ = [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]
    assert rain.decode([[0], [1], [2]])[0] == pytest.approx(np.log(0.01344))
    fitted = hmm.classifier({"rain": rain, "even": _even(3)}, alphabet="wsc", window=3)
    assert fitted.predict(["wsc"])[0] in ("rain", "even")
    stream = fitted.stream()
    for letter in "wsc"[:2]:
        stream.push(letter)
    assert stream.log_likelihoods[1] == pytest.approx(2 * np.log(1 / 3), rel=1e-6)


def _even(symbols):
    model = hmm.CategoricalHMM(1)
    model.startprob_, model.transmat_ = [1.0], [[1.0]]
    model.emissionprob_ = np.full((1, symbols), 1 / symbols)
    return model


def test_models_of_pomegranate():
    """As pomegranate 1.1.2 holds its numbers: logarithms of the chain, a distribution per state."""

    def law(name, **numbers):
        return type(name, (), {key: np.asarray(value) for key, value in numbers.items()})()

    def normal(means, covs, covariance_type):
        found = law("Normal", means=means, covs=covs)
        found.covariance_type = covariance_type
        return found

    def mixed(*parts):
        found = law("GeneralMixtureModel", priors=[0.25, 0.75])
        found.distributions = parts
        return found

    full = [normal([0.0, 1.0], [[1.0, 0.2], [0.2, 2.0]], "full"), normal([3.0, -1.0], [[0.5, 0.0], [0.0, 1.0]], "full")]
    diag = [normal([0.0, 1.0], [1.0, 2.0], "diag"), normal([3.0, 0.0], [0.5, 1.0], "diag")]
    kinds = {
        "GaussianHMM": [full, diag],
        "PoissonHMM": [[law("Poisson", lambdas=[2.0, 9.0]), law("Poisson", lambdas=[7.0, 1.0])]],
        "CategoricalHMM": [[law("Categorical", probs=[[0.1, 0.4, 0.5]]), law("Categorical", probs=[[0.6, 0.3, 0.1]])]],
        "GMMHMM": [[mixed(*full), mixed(*reversed(full))], [mixed(*diag), mixed(*reversed(diag))]],
    }
    for kind, several in kinds.items():
        for laws in several:
            model = law("DenseHMM", edges=np.log([[0.8, 0.1], [0.3, 0.6]]), starts=np.log([0.4, 0.6]))
            model.distributions = laws
            mine = hmm.from_pomegranate(model)
            assert type(mine).__name__ == kind
            np.testing.assert_allclose(mine.transmat_, [[8 / 9, 1 / 9], [1 / 3, 2 / 3]])
            assert np.isfinite(mine.score(mine.sample(50, random_state=1)[0]))
    assert mine.weights_[0, 1] == 0.75 and mine.means_[1, 0, 0] == 3.0
    with pytest.raises(ValueError, match="several kinds"):
        model.distributions = [full[0], kinds["PoissonHMM"][0][0]]
        hmm.from_pomegranate(model)


TESTS = [
    "test_gaussian_hmm",
    "test_categorical_hmm",
    "test_poisson_hmm",
    "test_gmm_hmm",
    "test_gmm_hmm_new",
    "test_gmm_hmm_multisequence",
]


def test_the_tests_of_hmmlearn_pass():
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "hmmlearn_names", "-p", "no:cacheprovider", "--pyargs"]
    command += [f"hmmlearn.tests.{name}" for name in TESTS]
    environment = os.environ | {"PYTHONPATH": path, "HMMLEARN_SEED": "1"}
    found = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=here)
    assert found.returncode == 0, found.stdout[-4000:]


def test_more_states_than_there_are_sizes_for_are_refused_by_name():
    X = np.random.RandomState(0).randn(300, 1)
    with pytest.raises(fishweir.FishweirError, match="^n_components is 65: give at most 64"):
        hmm.GaussianHMM(65, n_iter=1).fit(X)
    with pytest.raises(fishweir.FishweirError, match="^n_components is 9 and n_mix 9: 81 components in all: give at most 64"):
        hmm.GMMHMM(9, 9, covariance_type="full", n_iter=1).fit(X)
    assert hmm.GaussianHMM(64, n_iter=1).fit(X).means_.shape == (64, 1)
