"""What is refused, and how: an error names the option, the column or the series, and says what to do."""

import pickle
import signal
import threading
import warnings

import numpy as np
import pytest

import fishweir
from data import motions

X, Y = motions()
NAMES = ["ax", "ay", "az"]
FITTED = fishweir.BayesClassifier(states=1).fit(X, Y)

OPTIONS = {
    "stats": (2, "option stats is unknown; expected one of `effort`"),
    "states": (3, "option states: give it as states"),
    "seed": (3, "option seed: give it as random_state"),
    "n_jobs": (2, "option n_jobs: give it as n_jobs"),
    "std_floor": ("wide", 'option std_floor is "wide": expected a number'),
    "c": (float("nan"), "option c is nan: give a finite number"),
    "scaling": ("big", 'option scaling is "big": .*diagonal'),
    "calibrate": (1, "option calibrate is 1: expected True or False"),
    "landmarks": (0, "option landmarks is 0: expected a whole number above 0"),
    "max_ram": ("4k", 'option max_ram is "4k": expected a whole number from 0 up'),
    "copies": ({1}, r"option copies is \{1\}: give a number"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_is_named(name):
    value, words = OPTIONS[name]
    with pytest.raises(fishweir.FishweirError, match=words) as raised:
        fishweir.FisherClassifier(options={name: value}).fit(X, Y)
    assert "line 1" not in str(raised.value) and "usize" not in str(raised.value)


PARAMETERS = [
    ({"states": "two"}, 'option states is "two": expected a whole number'),
    ({"states": 0}, "states is 0"),
    ({"window": 10.0}, "option window is 10.0: expected a whole number above 0"),
    ({"window": 10, "hop": 0}, "option hop is 0: expected a whole number above 0"),
    ({"family": "gausian"}, "family: `gausian` is unknown; one of"),
    ({"rate": 0}, "rate is 0: give a number above 0"),
    ({"rate": "50"}, "rate is '50'"),
    ({"channels": ["a", "a", "b"]}, "channels has a name twice"),
    ({"channels": "a,,b"}, "empty name"),
    ({"channels": ["a", "b\n", "c\td"]}, "a name with a control character"),
    ({"channels": "a,b"}, "3 channels where 2"),
    ({"random_state": -1}, "random_state is -1"),
    ({"random_state": "x"}, "'x' cannot be used"),
    ({"n_jobs": "all"}, "n_jobs is 'all'"),
    ({"options": "states=3"}, "options is 'states=3': give a dictionary"),
]


@pytest.mark.parametrize("given, words", PARAMETERS)
def test_a_parameter_is_named(given, words):
    with pytest.raises(ValueError, match=words):
        fishweir.FisherClassifier(**given).fit(X, Y)


def test_numbers_of_numpy_are_parameters():
    given = {"states": np.int64(2), "window": np.int32(10), "rate": np.float32(50), "channels": np.array(NAMES)}
    fitted = fishweir.BayesClassifier(**given, options={"std_floor": np.array([0.1])}).fit(X, Y)
    plain = {"states": 2, "window": 10, "rate": 50, "channels": "ax,ay,az"}
    assert fitted.to_json() == fishweir.BayesClassifier(**plain, options={"std_floor": [0.1]}).fit(X, Y).to_json()


def test_groups_and_classes_have_a_place_for_each_series():
    for groups in (["a"] * 3, np.ones((len(X), 2)), "subject"):
        with pytest.raises(fishweir.FishweirError, match="groups has"):
            fishweir.FisherClassifier().fit(X, Y, groups=groups)
    with pytest.raises(fishweir.FishweirError, match="y has 1 class, 'a'"):
        fishweir.FisherClassifier().fit(X, ["a"] * len(X))
    with pytest.raises(fishweir.FishweirError, match="y has 'a.nb', a name with a control character"):
        fishweir.FisherClassifier().fit(X, ["a\nb", "c"] * (len(X) // 2))
    windows = fishweir.BayesClassifier(states=1, window=10).fit(X, Y)
    with pytest.raises(fishweir.FishweirError, match="y has 'jump', which is none of the classes circle, rest, shake"):
        windows.score(X, ["jump"] * len(X))


def test_columns_in_another_order_are_no_other_channels():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frames = [pandas.DataFrame(one.T, columns=NAMES) for one in X]
    turned = [frame[NAMES[::-1]] for frame in frames]
    fitted = fishweir.BayesClassifier(states=1).fit(frames, Y)
    with pytest.raises(fishweir.FishweirError, match="az, ay, ax, but .* ax, ay, az"):
        fitted.predict(turned)
    with pytest.raises(fishweir.FishweirError, match="series 1 has the columns az, ay, ax"):
        fishweir.BayesClassifier(states=1).fit([frames[0], *turned[1:]], Y)
    with pytest.raises(fishweir.FishweirError, match="series 0, column 'az' holds objects that are no numbers"):
        fitted.predict([frame.assign(az="still") for frame in frames])
    assert (fitted.predict(X) == FITTED.predict(X)).all()
    missing = [frame.mask(frame > 1) for frame in frames]
    nullable = [frame.astype("Float64") for frame in missing]
    assert (fitted.decision_function(nullable) == fitted.decision_function(missing)).all()
    strings = polars.Series(["ACACAC", "AACCAA"] * 4)
    assert fishweir.BayesClassifier(states=1).fit(strings, [0, 1] * 4).predict(strings).shape == (8,)


def test_masked_values_are_missing():
    masked = np.ma.masked_array(X, mask=X > 0.5)
    missing = np.where(X > 0.5, np.nan, X)
    assert (FITTED.decision_function(masked) == FITTED.decision_function(missing)).all()
    assert (FITTED.decision_function(list(masked)) == FITTED.decision_function(missing)).all()
    flat = fishweir.BayesClassifier(states=1).fit(masked[:, 0], Y)
    assert flat.to_json() == fishweir.BayesClassifier(states=1).fit(missing[:, 0], Y).to_json()


def test_samples_of_a_stream():
    stream = FITTED.stream()
    assert stream.push([None, 1.0, 0.0]).label in FITTED.classes_.tolist()
    for wrong in ("abc", {"ax": 1}, np.ones((1, 3)), [1j, 0, 0], ["1", "2", "x"], object()):
        with pytest.raises(fishweir.FishweirError, match="a sample is a row of 3 numbers, or None"):
            stream.push(wrong)
    symbols = fishweir.BayesClassifier(states=1).fit(["ACACAC", "AACCAA"] * 4, [0, 1] * 4).stream()
    with pytest.raises(fishweir.FishweirError, match="a sample is a symbol of AC, or None"):
        symbols.push(3)


def test_files(tmp_path):
    with pytest.raises(fishweir.FishweirError, match="there is no folder"):
        FITTED.export(tmp_path / "none" / "model.rs")
    with pytest.raises(fishweir.FishweirError, match="leave out number"):
        FITTED.export(tmp_path / "model.json", number="q15")
    path = tmp_path / "t.csv"
    rows = "".join(f"s{i},{'ab'[i % 2]},p{i // 4},{i + t}\n" for i in range(8) for t in range(9))
    path.write_text("series,label,subject,x\n" + rows)
    for wrong, words in [
        ({"lable": "x"}, "option lable is unknown; expected one of `format`"),
        ({"header": "yes"}, 'option header is "yes": expected True or False'),
        ({"like": fishweir.FisherClassifier()}, "give a fitted classifier"),
        ({"columns": "subject,nope"}, "no column `nope`.*subject"),
    ]:
        with pytest.raises(fishweir.FishweirError, match=words):
            fishweir.read(path, **wrong)
    data = fishweir.read(path, columns="subject", na="NA")
    again = pickle.loads(pickle.dumps(data))
    assert again.groups("subject") == data.groups("subject") and again.ids == data.ids
    assert fishweir.BayesClassifier(states=1).fit(again, groups="subject").score(data) >= 0.5
    with pytest.raises(fishweir.FishweirError, match="leave out y"):
        fishweir.BayesClassifier().fit(data, data.y)
    with pytest.raises(fishweir.FishweirError, match="name of one of its columns"):
        fishweir.BayesClassifier().fit(data, groups=[1] * 8)
    with pytest.raises(fishweir.FishweirError, match="^the model: "):
        fishweir._fishweir.Classifier.from_json(b"{}")
    with pytest.raises(fishweir.FishweirError, match="^X, line 3"):
        fishweir.BayesClassifier(alphabet="dna").fit(["ACGT", "AC!T"] * 2, [0, 1] * 2)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(fishweir.FishweirError, match="no profile"):
        fishweir.Profile(tmp_path / "binary")


IDLE = [
    ("bayes", {"c": 1.0}, "c has no effect: not used by bayes"),
    ("fisher", {"order": 1}, "order has no effect: not used by fisher"),
    ("fisher", {"lambda": 2.0}, "lambda has no effect: not used by fisher"),
    ("fisher", {"levels": 3, "codebooks": 0}, "levels has no effect: there are no codebooks"),
]


@pytest.mark.parametrize("kind, options, words", IDLE)
def test_options_without_effect_are_told(kind, options, words):
    classes = {"bayes": fishweir.BayesClassifier, "fisher": fishweir.FisherClassifier}
    with pytest.warns(UserWarning, match=words):
        classes[kind](2, options=options).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classes[kind](2, options={"calibrate": False}).fit(X, Y)


def test_options_of_channels_without_effect_on_symbols():
    with pytest.warns(UserWarning, match="lags has no effect: the data are symbols"):
        fishweir.FisherClassifier(2, options={"lags": "1"}).fit(["ACACAC", "AACCAA"] * 4, [0, 1] * 4)


@pytest.mark.parametrize("interruptible", [False, True])
def test_a_panic_is_an_exception(interruptible):
    with pytest.raises(BaseException, match="asked for") as raised:
        fishweir._fishweir.panic_in_a_task(interruptible)
    assert raised.type.__name__ == "PanicException"
    assert (FITTED.predict(X[:2]) == FITTED.predict(X)[:2]).all()


def test_what_is_run_has_the_channels_of_the_training():
    pandas = pytest.importorskip("pandas")
    frames = [pandas.DataFrame(one.T, columns=NAMES) for one in X]
    fitted = fishweir.BayesClassifier(states=1).fit(frames, Y)
    turned = [frame[NAMES[::-1]] for frame in frames[:2]]
    data = fishweir.Dataset.from_arrays([one.to_numpy() for one in turned], channels=NAMES[::-1])
    for given in (turned, data):
        with pytest.raises(fishweir.FishweirError, match="az, ay, ax, but"):
            fitted.run(given)
    with pytest.raises(fishweir.FishweirError, match="channels has a name twice: ax"):
        fishweir.Dataset.from_arrays(X, channels=["ax", "ay", "ax"])


def test_every_model_is_loaded_again(tmp_path):
    rng = np.random.default_rng(1)
    normal = [rng.normal(0, 1, (2, 500)) for _ in range(4)]
    marks = [([""] * 20 + ["knock"] * 5) * 20] * 4
    rows = [{"class": "open" if n % 2 else "shut", "n": n % 3} for n in range(60)]
    names = ["night" if n % 2 else "day" for n in range(60)]
    fitted = [
        (fishweir.ChangeDetector(20, memory=5, states=1).fit(normal), lambda model: model.alarms(normal)),
        (fishweir.EventSpotter(1, lag=20).fit(normal, marks), lambda model: model.spot(normal)),
        (fishweir.RecordClassifier().fit(rows, names), lambda model: model.predict(rows).tolist()),
    ]
    for index, (model, answer) in enumerate(fitted):
        path = tmp_path / f"{index}.json"
        model.export(path)
        again = fishweir.load(path)
        assert type(again) is type(model) and answer(again) == answer(model)
    with pytest.raises(fishweir.FishweirError, match="60 records and y has 3"):
        fishweir.RecordClassifier().fit(rows, names[:3])


def test_kernels_between_models():
    models = [fishweir.FisherTransformer(states=2).fit(X[Y == name]) for name in np.unique(Y)]
    gram = fishweir.gram(models)
    assert gram.shape == (3, 3) and np.allclose(np.diag(gram), 1.0) and gram[0, 1] < 0.9
    with pytest.raises(fishweir.FishweirError, match="model 0: give a model of fishweir.hmm"):
        fishweir.gram([FITTED])
    with pytest.raises(ValueError, match="has no width"):
        fishweir.KernelTransformer("gaussian", numbers={"width": 1.0}).fit(X)
    with pytest.raises(ValueError, match="scaling is 'big'"):
        fishweir.FisherTransformer(scaling="big").fit(X)
    assert "hidden-tree" not in fishweir.kernels()


def test_an_interrupt_ends_a_kernel():
    many, _ = motions(count=600, length=400)
    # A shell's background job ignores interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        fishweir.KernelTransformer("bhattacharyya", states=12).fit(many)
