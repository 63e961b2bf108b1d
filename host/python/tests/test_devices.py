"""Costs, streams, files, projects and an emulated board."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import fishweir
from data import motions

X, Y = motions(length=40)
FITTED = fishweir.FisherClassifier(states=2, window=20, hop=10, rate=50, channels=["ax", "ay", "az"]).fit(X, Y)


def test_costs_are_those_of_the_report():
    cost = FITTED.cost()
    assert cost["model_bytes"] > 1000 and cost["state_bytes"] > 100
    info = FITTED.info(rate=50)
    assert any(one["board"] == "nrf52840-dk" for one in info["boards"]) and info["classes"] == list(FITTED.classes_)
    assert "flash" in str(info) and "<pre>" in info._repr_html_()
    assert "multiply-adds" in FITTED._repr_html_() and "multiply-adds" not in fishweir.BayesClassifier()._repr_html_()


def test_a_stream_keeps_windows_gaps_and_refusals():
    stream = FITTED.stream()
    assert stream.windows == (20, 10)
    found = [stream.push(row) for row in X[1].T]
    assert [index for index, one in enumerate(found) if one] == [19, 29, 39]
    assert found[19].label == FITTED.predict(X[1:2, :, :20])[0]
    assert found[19].probability == pytest.approx(FITTED.predict_proba(X[1:2, :, :20]).max(), abs=0)
    assert stream.samples == 40
    stream.reset()
    assert stream.push(None) is None and stream.push([1.0, np.nan, 0.0]) is None and stream.samples == 2
    with pytest.raises(fishweir.FishweirError, match="2 numbers, and there are 3 channels"):
        stream.push([1.0, 2.0])
    with pytest.raises(fishweir.FishweirError):
        stream.push([1e300, 0.0, 0.0])
    assert stream.samples == 3
    endless = FITTED.stream(endless=True)
    assert endless.windows is None and endless.push(X[0, :, 0]).end == 1


def test_exports(tmp_path):
    FITTED.export(tmp_path / "gait.rs")
    assert "static MODEL" in (tmp_path / "gait.rs").read_text()
    FITTED.export(tmp_path / "gait.fishweir")
    FITTED.export(tmp_path / "gait.json")
    again = fishweir.load(tmp_path / "gait.json")
    assert (again.decision_function(X[:, :, :20]) == FITTED.decision_function(X[:, :, :20])).all()
    FITTED.export(tmp_path / "q15.rs", number="q15", data=(X, Y))
    assert "i16" in (tmp_path / "q15.rs").read_text()
    with pytest.raises(fishweir.FishweirError, match="data"):
        FITTED.export(tmp_path / "q.rs", number="q15")
    with pytest.raises(fishweir.FishweirError, match="ending"):
        FITTED.export(tmp_path / "gait.bin")


def test_projects(tmp_path):
    made = FITTED.project(tmp_path / "gait", "nrf52840-dk", data=(X, Y))
    assert made["rate"] == 50 and not made["noise"]
    assert (tmp_path / "gait" / "Cargo.toml").is_file()
    assert (tmp_path / "gait" / "vendor" / "core" / "Cargo.toml").is_file()
    with pytest.raises(fishweir.FishweirError, match="files in it"):
        FITTED.project(tmp_path / "gait", "nrf52840-dk")
    with pytest.raises(fishweir.FishweirError, match="board"):
        FITTED.project(tmp_path / "other", "no-such-board")


@pytest.mark.skipif(not (shutil.which("cargo") and shutil.which("qemu-system-arm")), reason="needs cargo and QEMU")
def test_an_emulated_board_computes_the_same_bits():
    report = FITTED.run((X[:6], Y[:6]), board="mps2-an386", limit=200)
    assert report["differing_bits"] == 0 and report["samples"] == 200 and not report["profile_differences"]
    assert report["decisions"] > 0 and report["instructions_per_sample"] > 100


def test_readers(tmp_path):
    root = Path(__file__).parents[3]
    watch = root / "host" / "data" / "ts-watch-exercises" / "all.csv.gz"
    if watch.is_file():
        data = fishweir.read(watch, columns="subject")
        assert len(data) == 98 and data.rate is None and len(data.channels) == 6
        windows, of = data.windows(200)
        assert windows[0].shape == (6, 200) and len(windows) == len(of)
        assert len(set(data.groups("subject"))) > 3
    text = "series,label,x\n" + "".join(f"s{i},{'ab'[i % 2]},{i + t}\n" for i in range(4) for t in range(9))
    (tmp_path / "t.csv").write_text(text)
    data = fishweir.read(tmp_path / "t.csv")
    assert data.y == ["a", "b", "a", "b"] and data.X[0].shape == (1, 9) and data.channels == ["x"]
    fitted = fishweir.BayesClassifier(states=1).fit(data)
    assert fitted.score(data) == fitted.score(data.X, data.y)
    assert len(fishweir.read(tmp_path / "t.csv", like=fitted)) == 4
    with pytest.raises(fishweir.FishweirError, match="other"):
        fishweir.read(tmp_path / "t.csv", label="other")
    with pytest.raises(fishweir.FishweirError, match="no-such"):
        fishweir.read(tmp_path / "no-such.csv")


def test_frames():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    names = ["ax", "ay", "az"]
    expected = fishweir.BayesClassifier(states=2, channels=names).fit(X, Y)
    of_pandas = [pandas.DataFrame(one.T, columns=names) for one in X]
    of_polars = [polars.DataFrame(one.T, schema=names) for one in X]
    for frames in (of_pandas, of_polars):
        fitted = fishweir.BayesClassifier(states=2).fit(frames, Y)
        assert fitted.model_.channels == names
        assert (fitted.decision_function(frames) == expected.decision_function(X)).all()
    wide = polars.DataFrame(X[:, 0])
    assert (fishweir.BayesClassifier(states=2).fit(wide, Y).predict(wide) == fishweir.BayesClassifier(states=2).fit(X[:, 0], Y).predict(X[:, 0])).all()


def test_detectors_spotters_records_and_profiles(tmp_path):
    rng = np.random.default_rng(1)
    normal = [rng.normal(0, 1, (2, 2000)) for _ in range(4)]
    detector = fishweir.ChangeDetector(mean_time=250, states=1).fit(normal)
    odd = np.hstack([normal[0][:, :500], 6 + rng.normal(0, 1, (2, 300))])
    assert detector.alarms([odd])[0] and list(detector.predict([odd])) == [-1]
    detector.export(tmp_path / "d.rs")
    assert detector.cost()["state_bytes"] > 0

    series, marks = [], []
    for index in range(4):
        x = rng.normal(0, 0.3, (1, 300))
        mark = [""] * 300
        for start in (60, 180):
            x[0, start : start + 30] += 3
            mark[start : start + 30] = ["knock"] * 30
        series.append(x)
        marks.append(mark)
    spotter = fishweir.EventSpotter(states=2, lag=50).fit(series, marks)
    events = spotter.spot(series[:1])[0]
    assert [name for name, *_ in events] == ["knock", "knock"] and abs(events[0][1] - 60) < 5
    assert spotter.cost()["state_bytes"] > 0

    rows = [{"door": "open" if n % 2 else "shut", "lamp": "on" if n % 3 else "off"} for n in range(60)]
    classes = np.array(["night" if n % 2 else "day" for n in range(60)])
    for method in ("naive-bayes", "tan", "fisher-tree"):
        network = fishweir.RecordClassifier(method).fit(rows, classes)
        assert network.score(rows, classes) == 1.0 and network.cost()["model_bytes"] > 0
    network.export(tmp_path / "n.rs")


def test_plots():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from fishweir import plot

    assert len(plot.stream(FITTED, X[0])) == 2
    assert len(plot.gram(np.eye(6), labels=Y[:6])) == 1
