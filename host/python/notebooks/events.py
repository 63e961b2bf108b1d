"""Networks of events: `marimo edit events.py`, or run it as a program."""

import marimo

app = marimo.App()


@app.cell
def _():
    import marimo as mo

    mo.md(
        """
        # Networks of events

        A house has sensors that say `open` or `shut`, `on` or `off`. A Bayesian network over what they say at one time tells who is at
        home, and fits in some hundred bytes. Where the order of events matters, a hidden Markov model reads them as words.
        """
    )
    return


@app.cell
def _():
    import numpy as np

    rng = np.random.default_rng(7)

    def record():
        home = rng.random() < 0.5
        night = rng.random() < 0.4
        lamp = rng.random() < (0.8 if home and night else 0.1)
        door = rng.random() < (0.4 if home and not night else 0.05)
        kettle = rng.random() < (0.5 if home and not night else 0.02)
        sensors = {
            "time": "night" if night else "day",
            "lamp": "on" if lamp else "off",
            "door": "open" if door else "shut",
            "kettle": "on" if kettle else "off",
        }
        return sensors, "home" if home else "away"

    drawn = [record() for _ in range(2000)]
    records, who = [one for one, _ in drawn], np.array([one for _, one in drawn])
    print(records[0], who[0])
    return np, records, rng, who


@app.cell
def _(records, who):
    import fishweir

    half = len(who) // 2
    scores = {}
    for method in ("naive-bayes", "tan", "fisher-tree", "top-tan"):
        network = fishweir.RecordClassifier(method).fit(records[:half], who[:half])
        scores[method] = network.score(records[half:], who[half:])
        cost = network.cost()
        print(f"{method:12} right in {scores[method]:.3f}, {cost['model_bytes']} B of flash")
    assert max(scores.values()) > 0.7
    return fishweir, half, network


@app.cell
def _(network):
    import tempfile
    from pathlib import Path

    source = Path(tempfile.mkdtemp()) / "home.rs"
    network.export(source)
    assert "static MODEL" in source.read_text()
    return


@app.cell
def _(fishweir, np, rng):
    # Order: a person opens the door and then lights the lamp, a burglar does not. `d` door, `l` lamp, `m` motion.
    def evening(person):
        events = []
        for _ in range(rng.integers(3, 7)):
            events += ["d", "l", "m", "m"] if person else ["d", "m", "m", "m"]
            if rng.random() < 0.3:
                events.append("m")
        return "".join(events)

    labels = np.array(["person" if n % 2 else "burglar" for n in range(80)])
    logs = [evening(label == "person") for label in labels]
    classifier = fishweir.BayesClassifier(states=4, alphabet="dlm").fit(logs[:60], labels[:60])
    assert classifier.score(logs[60:], labels[60:]) > 0.9
    stream = classifier.stream()
    decisions = [decision.label for decision in stream.run("dlmmdlmm")]
    print(decisions)
    assert decisions[-1] == "person"
    return


if __name__ == "__main__":
    app.run()
