"""What other programs' classifiers do with the sets of the example `accuracy`, on the same splits, and the table of the
page with all of them.

    pip install aeon
    python3 host/examples/accuracy_peers.py splits --all DATA BENCH --page host/docs/ACCURACY.md

runs all: the example `accuracy` on the sets that are in the folders DATA and BENCH at `--effort quick` and `normal`,
then the peers on the splits that it wrote into the folder `splits`, then the page, of which it replaces what is between two
marks and nothing else. Without `--all` the splits and figures that are there are taken; without `--page` nothing is
written. `--only gunpoint,italy` measures these sets alone; the table has all that there are figures of. Figures of peers
that are there are not measured again: remove `peers.csv` of a set to have them so.

MiniRocket with 2 000 and 10 000 kernels and a ridge (series of unequal lengths are resampled to the middle one), a
random forest of 100 trees on each channel's mean, deviation, least and largest, and the nearest neighbour by dynamic
time warping in a band of a tenth (where there are 1 000 series to train on at most). Of strings: logistic regression,
with C = 1 and with what five folds of the training part choose among ten, and such a forest on an indicator of each
letter at each position (one-hot), and logistic regression on how often each run of three letters occurs. One thread;
seconds are those of the processor.
"""
import argparse
import csv
import os
import pathlib
import subprocess
import sys
import time
import warnings

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

warnings.filterwarnings("ignore")

DTW_AT_MOST = 1000
# In a string.
MISSING = "-"


def wilson(right, count):
    p, z = right / count, 1.959964
    centre, half = p + z * z / (2 * count), z * np.sqrt(p * (1 - p) / count + (z / (2 * count)) ** 2)
    return (centre - half) / (1 + z * z / count), (centre + half) / (1 + z * z / count)


def read(path):
    """Strings, or series as arrays of channels by samples, missing ones interpolated; and their labels."""
    if path.suffix == ".tsv":
        labels, _, strings = zip(*list(csv.reader(path.open(), delimiter="\t"))[1:])
        return list(strings), np.array(labels)
    series, labels = {}, {}
    with open(path) as file:
        rows = csv.reader(file)
        channels = len(next(rows)) - 3
        for name, label, _, *values in rows:
            series.setdefault(name, []).append([float("nan") if x == "NA" else float(x) for x in values])
            labels[name] = label
    whole = []
    for rows in series.values():
        array = np.array(rows).T
        for channel in range(channels):
            gaps = np.isnan(array[channel])
            if gaps.any():
                array[channel][gaps] = np.interp(np.flatnonzero(gaps), np.flatnonzero(~gaps), array[channel][~gaps])
        whole.append(array)
    return whole, np.array([labels[name] for name in series])


def resampled(series, length):
    places = lambda n: np.linspace(0, n - 1, length)
    one = lambda array: [np.interp(places(len(x)), np.arange(len(x)), x) for x in array]
    return np.array([one(array) if array.shape[1] != length else array for array in series])


def summary(series):
    return np.array([np.concatenate([f(x, axis=1) for f in (np.mean, np.std, np.min, np.max)]) for x in series])


def mini_rocket(kernels):
    from aeon.classification.convolution_based import MiniRocketClassifier

    class Padded:
        def __init__(self):
            self.of = MiniRocketClassifier(n_kernels=kernels, random_state=1, n_jobs=1)

        def fit(self, series, labels):
            # Its kernels take nine samples.
            self.length = max(9, int(np.median([x.shape[1] for x in series])))
            self.of.fit(resampled(series, self.length), labels)

        def predict(self, series):
            return self.of.predict(resampled(series, self.length))

    return Padded()


class Forest:
    def __init__(self):
        self.of = RandomForestClassifier(100, random_state=1, n_jobs=1)

    def fit(self, series, labels):
        self.of.fit(summary(series), labels)

    def predict(self, series):
        return self.of.predict(summary(series))


class Warping:
    def fit(self, series, labels):
        from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier

        self.length = int(np.median([x.shape[1] for x in series]))
        self.of = KNeighborsTimeSeriesClassifier(
            n_neighbors=1, distance="dtw", distance_params={"window": 0.1}, n_jobs=1
        )
        self.of.fit(resampled(series, self.length), labels)

    def predict(self, series):
        return self.of.predict(resampled(series, self.length))


class Letters:
    """A classifier on an indicator of each letter at each position; a missing letter has none."""

    def __init__(self, classifier):
        self.classifier = classifier

    def columns(self, strings):
        return np.array([list(one[: self.length].ljust(self.length, MISSING)) for one in strings])

    def fit(self, strings, labels):
        self.length = max(map(len, strings))
        letters = sorted(set("".join(strings)) - {MISSING})
        indicators = OneHotEncoder(categories=[letters] * self.length, handle_unknown="ignore")
        self.of = make_pipeline(indicators, self.classifier)
        self.of.fit(self.columns(strings), labels)

    def predict(self, strings):
        return self.of.predict(self.columns(strings))


def logistic():
    return LogisticRegression(max_iter=1000)


def chosen_logistic():
    return LogisticRegressionCV(Cs=10, cv=5, max_iter=1000, n_jobs=1)


def three_mers(string):
    runs = [string[place : place + 3] for place in range(len(string) - 2)]
    return [run for run in runs if MISSING not in run]


def of_three_mers():
    return make_pipeline(CountVectorizer(analyzer=three_mers), logistic())


# By what a split's files end in.
PEERS = {
    ".csv": {
        "MiniRocket 2000": lambda: mini_rocket(2000),
        "MiniRocket 10000": lambda: mini_rocket(10000),
        "random forest": Forest,
        "1-NN DTW": Warping,
    },
    ".tsv": {
        "logistic on one-hot": lambda: Letters(logistic()),
        "logistic on one-hot of chosen C": lambda: Letters(chosen_logistic()),
        "random forest on one-hot": lambda: Letters(RandomForestClassifier(100, random_state=1, n_jobs=1)),
        "logistic on 3-mers": of_three_mers,
    },
}


def warm_up():
    """What compiles when it is first called is not a set's time; peers of strings compile nothing."""
    series = [np.sin(np.arange(20) * rate).reshape(1, -1) for rate in (0.1, 0.2, 0.5, 0.7)]
    both = [np.vstack([one, one[:, ::-1]]) for one in series]
    for some in (series, both):
        for make in PEERS[".csv"].values():
            peer = make()
            peer.fit(some, np.array(["a", "b", "a", "b"]))
            peer.predict(some)


def measure(folder, folds, name, make):
    """A row of figures over all folds; none where there are too many series for it."""
    truth, decided, fitting, deciding = [], [], 0.0, 0.0
    for path in folds:
        train, labels = read(path)
        test, wanted = read(path.with_name(path.name.replace(".train.", ".test.")))
        if name == "1-NN DTW" and len(train) > DTW_AT_MOST:
            return None
        peer, start = make(), time.process_time()
        peer.fit(train, labels)
        fitted = time.process_time()
        decided.extend(peer.predict(test))
        deciding += time.process_time() - fitted
        fitting += fitted - start
        truth.extend(wanted)
    right = sum(a == b for a, b in zip(truth, decided))
    low, high = wilson(right, len(truth))
    macro = f1_score(truth, decided, average="macro")
    count = len(folds)
    return [folder.name, name, len(truth), right / len(truth), low, high, macro, fitting / count, deciding / count, "", ""]


# What a rerun replaces of a page lies between these.
BEGIN = "<!-- table of accuracy_peers.py: what follows is replaced by a rerun -->"
END = "<!-- end of the table of accuracy_peers.py -->"

EFFORTS = ("quick", "normal")


def cell(row, best, is_own):
    right, low, high, macro, fitting, deciding = (float(row[k]) for k in (3, 4, 5, 6, 7, 8))
    figure = f"**{right:.3f}**" if right >= best - 5e-4 else f"{right:.3f}"
    size = f"; {row[9]}, {row[10]} B" if is_own else ""
    return f"{figure}, {low:.3f} to {high:.3f}; F1 {macro:.3f} ({fitting:.2f}/{deciding:.2f} s{size})"


def mean_ranks(of, sets, names):
    """The mean rank of each over the sets that all have, equals sharing theirs, in words."""
    whole = [one for one in sets if all((one, name) in of for name in names)]
    if not whole:
        return None
    ranks = []
    for one in whole:
        figures = np.array([-float(of[one, name][3]) for name in names])
        ranks.append([(figures < x).sum() + ((figures == x).sum() + 1) / 2 for x in figures])
    told = ", ".join(f"{name} {mean:.2f}" for name, mean in zip(names, np.mean(ranks, axis=0)))
    return f"over {len(whole)} set{'s' if len(whole) > 1 else ''} that all have: {told}"


def table(rows, kinds, sources):
    """A table for each kind of set, the mean rank of each effort beside the peers, and where the sets are."""
    known = {name for peers in PEERS.values() for name in peers}
    own = list(dict.fromkeys(row[1] for row in rows if row[1] not in known))
    of = {(row[0], row[1]): row for row in rows}
    lines = []
    for kind, peers in PEERS.items():
        # By name, whichever were measured first.
        sets = sorted({row[0] for row in rows if kinds[row[0]] == kind})
        if not sets:
            continue
        names = [*own, *peers]
        lines += ["| set, tests | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
        for one in sets:
            best = max(float(of[one, name][3]) for name in names if (one, name) in of)
            cells = [cell(of[one, name], best, name in own) if (one, name) in of else "" for name in names]
            count = next(of[one, name][2] for name in names if (one, name) in of)
            lines.append(f"| {one}, {count} | " + " | ".join(cells) + " |")
        lines += ["", "Mean ranks by accuracy, each effort beside the peers and not beside the other:", ""]
        for name in own:
            ranks = mean_ranks(of, sets, [name, *peers])
            lines += [f"- {ranks}" if ranks else f"- of {name} none, for no set has all"]
        lines += [""]
    lines += ["| set | where it is |", "|---|---|"]
    measured = sorted({row[0] for row in rows})
    lines += [f"| {one} | {f'<{sources[one]}>' if sources.get(one) else ''} |" for one in measured]
    return "\n".join(lines)


def page(path, made):
    """Replaces what lies between the marks of a page."""
    text = path.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        sys.exit(f"{path}: the lines `{BEGIN}` and `{END}` are not in it once each, in this order")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}")


def run_fishweir(given):
    """The example `accuracy` at each effort, which writes splits and figures."""
    only = ["--only", given.only] if given.only else []
    for effort in EFFORTS:
        workspace = pathlib.Path(__file__).resolve().parents[2] / "Cargo.toml"
        example = ["cargo", "run", "--release", "--locked", "--manifest-path", str(workspace), "--example", "accuracy", "--"]
        # A folder that is none is told by the example.
        folders = [str(folder) for folder in given.all]
        subprocess.run([*example, *folders, "--write", str(given.splits), "--effort", effort, *only], check=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("splits", type=pathlib.Path, help="the folder of splits and figures, a folder a set")
    help = "run fishweir on the sets in these folders first"
    arguments.add_argument("--all", nargs="+", type=pathlib.Path, metavar="DATA", help=help)
    arguments.add_argument("--page", type=pathlib.Path, help="put the table between the marks of this page")
    arguments.add_argument("--only", default="", help="measure these sets alone, parted by commas")
    given = arguments.parse_args()
    if given.page and not given.page.is_file():
        sys.exit(f"{given.page}: no such page")
    if given.all:
        run_fishweir(given)
    if not given.splits.is_dir():
        sys.exit(f"{given.splits}: no such folder; --all DATA writes it")
    rows, kinds, sources = [], {}, {}
    warmed = False
    for folder in sorted(folder for folder in given.splits.iterdir() if folder.is_dir()):
        folds = sorted(folder.glob("*.train.*"))
        kind = folds[0].suffix if folds else None
        if kind not in PEERS:
            print(f"{folder}: left out, for it has no splits that end in {' or '.join(PEERS)}", file=sys.stderr)
            continue
        kinds[folder.name] = kind
        for effort in EFFORTS:
            own = folder / f"fishweir-{effort}.csv"
            if own.exists():
                rows += list(csv.reader(own.open()))
        source = folder / "source.txt"
        sources[folder.name] = source.read_text().strip() if source.exists() else ""
        kept = folder / "peers.csv"
        if kept.exists():
            rows += list(csv.reader(kept.open()))
            continue
        if given.only and folder.name not in given.only.split(","):
            continue
        if not warmed and kind == ".csv":
            warm_up()
            warmed = True
        found = []
        for name, make in PEERS[kind].items():
            try:
                row = measure(folder, folds, name, make)
            except (OSError, ValueError) as error:
                sys.exit(f"{folder}, {name}: {error}; write its splits anew by --all DATA --only {folder.name}")
            if row:
                found.append(row)
                print(*(f"{x:.3f}" if isinstance(x, float) else x for x in row), flush=True)
        with kept.open("w") as file:
            csv.writer(file).writerows(found)
        rows += found
    if not rows:
        sys.exit(f"{given.splits}: no figures of any set in it; --all DATA measures them")
    if given.page:
        page(given.page, table(rows, kinds, sources))


main()
