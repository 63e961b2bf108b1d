"""From hmmlearn to C: models that are there already become a classifier in flash."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    mo.md(
        """
        # From hmmlearn to C

        Two machines hum in two ways. hmmlearn has a model of each. Here they become one classifier that runs on a
        microcontroller, with the likelihoods that hmmlearn computes.
        """
    )
    return (mo,)


@app.cell
def _():
    import numpy as np
    from hmmlearn.hmm import GaussianHMM

    rng = np.random.RandomState(0)

    def hum(strength, length=400):
        """Two channels that switch between a quiet and a loud state."""
        loud = np.cumsum(rng.rand(length) < 0.05) % 2
        return rng.randn(length, 2) * np.where(loud, strength, 0.3)[:, None] + loud[:, None]

    pump, fan = hum(2.0), hum(0.8)
    models = {
        "pump": GaussianHMM(2, "diag", n_iter=30, random_state=0).fit(pump),
        "fan": GaussianHMM(2, "diag", n_iter=30, random_state=0).fit(fan),
    }
    return fan, hum, models, np, pump


@app.cell
def _(mo):
    mo.md("## The same numbers")
    return


@app.cell
def _(models, np, pump):
    from fishweir import hmm

    mine = hmm.from_hmmlearn(models["pump"])
    difference = abs(mine.score(pump) - models["pump"].score(pump))
    assert difference < 1e-6
    assert (mine.predict(pump) == models["pump"].predict(pump)).all()
    np.testing.assert_allclose(mine.predict_proba(pump), models["pump"].predict_proba(pump), atol=1e-9)
    return (hmm,)


@app.cell
def _(mo):
    mo.md(
        """
        ## A classifier

        One model per class, and a decision on each 100 samples. `cost` is what a device needs.
        """
    )
    return


@app.cell
def _(hmm, hum, models):
    classifier = hmm.classifier(models, channels=["ax", "ay"], window=100, hop=50)
    decisions = [label for _, _, label in classifier.predict_windows([hum(2.0).T])[0]]
    assert decisions.count("pump") > len(decisions) / 2
    cost = classifier.cost()
    assert cost["model_bytes"] < 2000
    cost
    return (classifier,)


@app.cell
def _(mo):
    mo.md("A device computes in single precision. Its likelihoods are hmmlearn's to five digits and more.")
    return


@app.cell
def _(classifier, fan, models, np):
    stream = classifier.stream()
    for sample in fan[:99]:
        stream.push(sample)
    wanted = [model.score(fan[:99]) for model in models.values()]
    np.testing.assert_allclose(stream.log_likelihoods, wanted, rtol=1e-5)
    stream.log_likelihoods
    return


@app.cell
def _(mo):
    mo.md(
        """
        ## On a board, and in C

        `run` streams series to an emulated Cortex-M and compares every bit with the host. `export` writes a library for C: a header,
        `libfishweir.a` per core, and files for Arduino and Zephyr. Both build firmware: they need cargo and its targets.
        """
    )
    return


@app.cell
def _(classifier, fan, pump):
    import shutil
    import tempfile
    from pathlib import Path

    folder = Path(tempfile.mkdtemp())
    classifier.export(folder / "hum.rs")
    classifier.export(folder / "hum.fishweir")
    source = (folder / "hum.rs").read_text()
    assert "static MODEL" in source
    if shutil.which("cargo") and shutil.which("qemu-system-arm"):
        report = classifier.run([pump[:200].T, fan[:200].T], board="mps2-an386")
        assert report["differing_bits"] == 0
        classifier.export(folder / "hum", cores=["cortex-m4"])
        assert any((folder / "hum").rglob("*.h"))
    sorted(path.name for path in folder.iterdir())
    return


if __name__ == "__main__":
    app.run()
