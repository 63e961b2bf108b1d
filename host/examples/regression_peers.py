"""What a regression of fishweir, MiniRocket with a ridge and a random forest do with three sets, on the same windows and splits.

    pip install aeon
    python3 host/examples/regression_peers.py FOLDER [--program target/release/fishweir] [--only covid,sentiment,turning]

covid and sentiment are sets of the archive of time series extrinsic regression that aeon ships (Covid3Month,
CardanoSentiment), with their own training and test parts. turning is a soft sensor: the turning rate of a wrist, the mean
length of the gyroscope's vector over a window of 4 s, from the accelerometer alone, in the bundled recordings of the watch;
each of the seven subjects is tested in turn. FOLDER is for tables and models. One thread; seconds are those of the clock.

MiniRocket has 2 000 kernels, and RidgeCV chooses its penalty by leave-one-out; the forest has 100 trees on each channel's mean,
deviation, least and largest.
"""
import argparse
import csv
import gzip
import json
import os
import pathlib
import subprocess
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import aeon.datasets
import numpy as np
from aeon.transformations.collection.convolution_based import MiniRocket
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

WATCH = pathlib.Path(__file__).parent.parent / "data/ts-watch-exercises/all.csv.gz"
LENGTH, HOP = 200, 50


def archive(name, folder):
    """Training and test parts that aeon ships: arrays, targets, and the file of each."""
    source = pathlib.Path(aeon.datasets.__file__).parent / "data" / name
    parts = []
    for part in ("TRAIN", "TEST"):
        x, y = aeon.datasets.load_regression(name, split=part, extract_path=str(source.parent))
        parts.append((x, y.astype(float), source / f"{name}_{part}.ts"))
    return [(parts[0], parts[1])], ["--target", "label"]


def turning(folder):
    """Windows of the watch by subject, and a table of all others and one of each subject."""
    series = {}
    with gzip.open(WATCH, "rt") as file:
        for row in csv.DictReader(file):
            acceleration = [float(row[name]) for name in ("ax", "ay", "az")]
            rate = float(np.linalg.norm([float(row[name]) for name in ("wx", "wy", "wz")]))
            series.setdefault((row["subject"], row["series"]), []).append([*acceleration, rate])
    splits = []
    for subject in sorted({key[0] for key in series}):
        parts = []
        for test in (False, True):
            windows, targets = [], []
            path = folder / f"turning_{subject}_{'test' if test else 'train'}.csv"
            with open(path, "w") as file:
                print("series,subject,t,ax,ay,az,rate", file=file)
                for (own, name), rows in series.items():
                    if (own == subject) != test:
                        continue
                    for t, row in enumerate(rows):
                        print(name, own, t, *row, sep=",", file=file)
                    rows = np.array(rows)
                    for start in range(0, len(rows) - LENGTH + 1, HOP):
                        window = rows[start:start + LENGTH]
                        windows.append(window[:, :3].T)
                        targets.append(window[:, 3].mean())
            parts.append((np.array(windows), np.array(targets), path))
        splits.append(tuple(parts))
    return splits, ["--target", "rate", "--group", "subject", "--window", str(LENGTH), "--hop", str(HOP)]


def statistics(x):
    return np.concatenate([x.mean(2), x.std(2), x.min(2), x.max(2)], axis=1)


def minirocket(train, targets, test):
    rocket = MiniRocket(n_kernels=2000, random_state=0)
    ridge = make_pipeline(StandardScaler(with_mean=False), RidgeCV(np.logspace(-3, 5, 17)))
    ridge.fit(rocket.fit_transform(train), targets)
    return ridge.predict(rocket.transform(test))


def forest(train, targets, test):
    trees = RandomForestRegressor(100, random_state=0).fit(statistics(train), targets)
    return trees.predict(statistics(test))


def fishweir(program, train, test, options, folder):
    """Errors on the test part, with the share that intervals cover and the cost on a device."""
    model = folder / "model.json"
    run = lambda *words: subprocess.run([program, *map(str, words)], check=True, capture_output=True, text=True).stdout
    run("fit", train, *options, "-o", model, "--json")
    judged = json.loads(run("evaluate", test, "--model", model, "--json"))
    return judged


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--program", default="target/release/fishweir")
    parser.add_argument("--only", default="covid,sentiment,turning")
    arguments = parser.parse_args()
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    sets = {
        "covid": lambda: archive("Covid3Month", folder),
        "sentiment": lambda: archive("CardanoSentiment", folder),
        "turning": lambda: turning(folder),
    }
    print("| set | program | RMSE | MAE | R2 | covered by 90 % | seconds |\n|---|---|---|---|---|---|---|")
    for name in arguments.only.split(","):
        splits, options = sets[name]()
        everything = np.concatenate([test[1] for _, test in splits])
        spread = ((everything - everything.mean()) ** 2).sum()

        def row(program, squares, absolute, seconds, covered=None):
            count = len(everything)
            cells = [name, program, f"{(squares / count) ** 0.5:.4g}", f"{absolute / count:.4g}", f"{1 - squares / spread:.3f}",
                     "" if covered is None else f"{covered / count:.3f}", f"{seconds:.0f}"]
            print("|", " | ".join(cells), "|", flush=True)

        for label, more in [("fishweir", []), ("fishweir, gaussian kernel", ["--classifier", "gaussian"])]:
            squares = absolute = covered = 0.0
            begun = time.monotonic()
            for train, test in splits:
                judged = fishweir(arguments.program, train[2], test[2], [*options, *more], folder)
                figures = judged["figures"]
                assert figures["windows"] == len(test[1]), (figures, len(test[1]))
                squares += figures["rmse"] ** 2 * figures["windows"]
                absolute += figures["mae"] * figures["windows"]
                covered += figures["coverage"] * figures["windows"]
            row(label, squares, absolute, time.monotonic() - begun, covered)
        peers = {"MiniRocket, ridge": minirocket, "random forest": forest,
                 "mean of training": lambda train, targets, test: np.full(len(test), targets.mean())}
        for label, peer in peers.items():
            begun = time.monotonic()
            errors = np.concatenate([peer(*train[:2], test[0]) - test[1] for train, test in splits])
            row(label, (errors**2).sum(), abs(errors).sum(), time.monotonic() - begun)


if __name__ == "__main__":
    main()
