"""From aeon to a board: `marimo edit aeon_to_board.py`, or run it as a program."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    mo.md(
        """
        # From aeon to a board

        A classifier of aeon says how often it is right. fishweir also says what it takes on a microcontroller, and runs there
        with the same bits. The data are aeon's own: four motions, six channels of a smart watch at 10 Hz.
        """
    )
    return


@app.cell
def _():
    from aeon.datasets import load_basic_motions

    X_train, y_train = load_basic_motions(split="train")
    X_test, y_test = load_basic_motions(split="test")
    print(X_train.shape, sorted(set(y_train)))
    return X_test, X_train, y_test, y_train


@app.cell
def _(X_test, X_train, y_test, y_train):
    from fishweir.aeon import FisherClassifier

    # Names and rate go with the model: a device refuses samples of another rate.
    channels = ["ax", "ay", "az", "gx", "gy", "gz"]
    classifier = FisherClassifier(effort="quick", rate=10, channels=channels, random_state=1)
    classifier.fit(X_train, y_train)
    accuracy = classifier.score(X_test, y_test)
    print(f"accuracy {accuracy:.3f} on {len(y_test)} series")
    assert accuracy > 0.9
    return (classifier,)


@app.cell
def _(classifier):
    # Before anything is flashed: bytes and operations, and which boards keep up.
    cost = classifier.cost()
    print(f"{cost['model_bytes']} B of flash, {cost['state_bytes']} B of RAM, {cost['multiply_adds_per_sample']} multiply-adds per sample")
    info = classifier.info(rate=10)
    print(info)
    assert any(board["holds"] == "yes" for board in info["boards"])
    return


@app.cell
def _(X_train, classifier, y_train):
    # Too dear for a small part: the search stays within limits.
    from fishweir.aeon import FisherClassifier as Fisher

    small = Fisher(states=2, options={"score_model": "all", "max_ram": 2000}, rate=10, channels=classifier.channels)
    small.fit(X_train, y_train)
    assert small.cost()["state_bytes"] <= 2000
    return (small,)


@app.cell
def _(X_test, small, y_test):
    # Sample by sample, in the device's arithmetic.
    stream = small.stream()
    for sample in X_test[0].T:
        decision = stream.push(sample)
    print(decision.label, f"{decision.probability:.3f}", "is", y_test[0])
    assert decision.label == small.predict(X_test[:1])[0]
    return


@app.cell
def _(X_test, small, y_test):
    import tempfile
    from pathlib import Path

    folder = Path(tempfile.mkdtemp())
    small.export(folder / "motions.rs")
    small.export(folder / "motions.fishweir")
    # A project that builds alone and flashes with `cargo run --release`.
    project = small.project(folder / "motions", "nrf52840-dk", data=(X_test, y_test))
    print(project)
    return


@app.cell
def _(X_test, small, y_test):
    # The same on an emulated Cortex-M4F, if cargo and QEMU are here: every bit is compared.
    import shutil

    if shutil.which("cargo") and shutil.which("qemu-system-arm"):
        report = small.run((X_test[:4], y_test[:4]), board="mps2-an386")
        print(report)
        assert report["differing_bits"] == 0
    return


if __name__ == "__main__":
    app.run()
