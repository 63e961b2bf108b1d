"""What other programs' classifiers do with the data of the experiments, on the same items.

    pip install aeon
    python3 host/examples/kernel_peers.py motions train.csv test.csv
    python3 host/examples/kernel_peers.py strings exon-intron-fragments.tsv.gz
    python3 host/examples/kernel_peers.py pages train.txt.gz test.txt.gz

motions: MiniRocket (2 000 kernels, ridge), the nearest neighbour by dynamic time warping, and a random
forest of 100 trees on each channel's mean, deviation, least and largest; each split both ways.
strings: the same of symbols as four channels that are zero or one, 500 of each class, ten folds that part no
gene; the forest on counts of words of three. Drawn like those of exon_intron_models, not the same ones.
pages: a forest on frequencies of words, 622 pages of 20 draws; series' classifiers have nothing to say.
"""
import gzip
import sys
import warnings
from itertools import product

import numpy as np
from sklearn.ensemble import RandomForestClassifier

warnings.filterwarnings("ignore")


def wilson(wrong, count):
    """The share, with Wilson's interval of 95 %."""
    z, p = 1.959964, wrong / count
    centre, half = p + z * z / (2 * count), z * np.sqrt(p * (1 - p) / count + (z / (2 * count)) ** 2)
    low, high = (centre - half) / (1 + z * z / count), (centre + half) / (1 + z * z / count)
    return f"{p:.3f} ({max(low, 0):.3f} to {min(high, 1):.3f})"


def series_classifiers():
    """By name, those of aeon."""
    try:
        from aeon.classification.convolution_based import MiniRocketClassifier
        from aeon.classification.distance_based import KNeighborsTimeSeriesClassifier
    except ImportError:
        print("aeon is not installed: no MiniRocket, no dynamic time warping", file=sys.stderr)
        return {}
    return {
        "MiniRocket": lambda: MiniRocketClassifier(n_kernels=2000, random_state=1),
        "nearest neighbour, DTW": lambda: KNeighborsTimeSeriesClassifier(
            n_neighbors=1, distance="dtw", distance_params={"window": 0.1}
        ),
    }


def forest():
    return RandomForestClassifier(100, random_state=1)


def wrong(classifier, x, y, train, test):
    return int(np.sum(classifier.fit(x[train], y[train]).predict(x[test]) != y[test]))


def opened(path):
    return gzip.open(path, "rt") if path.endswith(".gz") else open(path)


def read_series(path):
    """Samples `[series][channel][time]`, and classes."""
    rows = {}
    with opened(path) as file:
        next(file)
        for line in file:
            series, label, _, *channels = line.rstrip().split(",")
            rows.setdefault((series, label), []).append([float(x) for x in channels])
    return np.array([np.array(x).T for x in rows.values()]), np.array([label for _, label in rows])


def motions(first, second):
    (one, of_one), (other, of_other) = read_series(first), read_series(second)
    x, y = np.concatenate([one, other]), np.concatenate([of_one, of_other])
    a, b = np.arange(len(one)), np.arange(len(one), len(x))
    summary = np.concatenate([f(x, axis=2) for f in (np.mean, np.std, np.min, np.max)], axis=1)
    for name, make in {**series_classifiers(), "random forest": forest}.items():
        data = summary if make is forest else x
        forth, back = wrong(make(), data, y, a, b), wrong(make(), data, y, b, a)
        both = wilson(forth + back, len(x))
        print(f"| {name} | {wilson(forth, len(b))} | {wilson(back, len(a))} | {both} |")


def strings(path):
    with opened(path) as file:
        next(file)
        rows = [line.rstrip().split("\t") for line in file]
    rng = np.random.default_rng(1)
    labels = np.array([row[0] for row in rows])
    chosen = np.concatenate(
        [rng.permutation(np.flatnonzero(labels == name))[:500] for name in np.unique(labels)]
    )
    y = labels[chosen]
    genes = np.array([rows[i][1].split(":")[-1].split("(")[0] for i in chosen])
    text = [rows[i][2] for i in chosen]
    x = np.array([[[float(s == base) for s in one] for base in "ACGT"] for one in text])
    words = ["".join(word) for word in product("ACGT", repeat=3)]
    counts = [[sum(one[i : i + 3] == word for i in range(len(one))) for word in words] for one in text]
    of_gene = {gene: fold % 10 for fold, gene in enumerate(rng.permutation(np.unique(genes)))}
    fold = np.array([of_gene[gene] for gene in genes])
    for name, make in {**series_classifiers(), "random forest": forest}.items():
        data = np.array(counts) if make is forest else x
        errors = sum(
            wrong(make(), data, y, np.flatnonzero(fold != k), np.flatnonzero(fold == k))
            for k in range(10)
        )
        print(f"| {name} | {wilson(errors, len(y))} |")


def pages(*paths):
    from sklearn.feature_extraction.text import CountVectorizer

    text, labels = [], []
    for path in paths:
        with opened(path) as file:
            for line in file:
                label, _, words = line.rstrip("\n").partition("\t")
                if label in ("faculty", "student") and words.split():
                    text.append(words)
                    labels.append(label)
    x, y = CountVectorizer(token_pattern=r"\S+").fit_transform(text).astype(float), np.array(labels)
    x = x.multiply(1 / x.sum(axis=1)).tocsr()
    losses = []
    for draw in range(20):
        order = np.random.default_rng(draw).permutation(len(y))
        losses.append(wrong(forest(), x, y, order[:622], order[622:]) / (len(y) - 622))
    print(f"| random forest | {np.mean(losses):.3f} (deviation of draws {np.std(losses):.3f}) |")


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("motions", "strings", "pages"):
        sys.exit(__doc__)
    globals()[sys.argv[1]](*sys.argv[2:])
