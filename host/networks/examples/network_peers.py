"""Peers in Python of what the examples `network_speed` and `network_classifiers` have done, on the same rows,
queries and folds.

    pip install pgmpy scikit-learn
    python3 host/networks/examples/network_peers.py networks FOLDER NETWORK.bif ... [--seconds S]
    python3 host/networks/examples/network_peers.py classify DATA CLASS RIGHT.csv [DROP ...]

`networks` lets pgmpy answer the queries by variable elimination, each stopped after ten seconds, and climb on the
rows by BIC, stopped after S seconds (default 1800); its seconds are those of the processor. `classify` sets a
random forest and gradient boosting beside the classifiers on networks, on the columns as they are: numbers as
numbers.
"""

import gzip
import io
import json
import multiprocessing
import re
import signal
import sys
import time
from collections import Counter
from itertools import combinations
from math import log, sqrt
from pathlib import Path

import numpy as np
import pandas as pd


def pattern(edges):
    """The graph that stands for all equivalent ones: directed and undirected edges. Verma and Pearl 1990;
    Meek 1995, rules 1 to 3."""
    parents = {}
    for a, b in edges:
        parents.setdefault(b, set()).add(a)
    near = {frozenset(edge) for edge in edges}
    arrows = {
        (a, child)
        for child, of_child in parents.items()
        for pair in combinations(of_child, 2)
        if frozenset(pair) not in near
        for a in pair
    }
    nodes = sorted({node for edge in edges for node in edge})
    while True:
        more = set()
        for one in near:
            if any(tuple(order) in arrows for order in (sorted(one), sorted(one)[::-1])):
                continue
            for a, b in (sorted(one), sorted(one)[::-1]):
                joined = [c for c in nodes if frozenset((c, b)) in near and c not in (a, b)]
                first = any((c, a) in arrows and frozenset((c, b)) not in near for c in nodes)
                second = any((a, c) in arrows and (c, b) in arrows for c in joined)
                into = [c for c in joined if (c, b) in arrows and frozenset((a, c)) in near
                        and (c, a) not in arrows and (a, c) not in arrows]
                third = any(frozenset(pair) not in near for pair in combinations(into, 2))
                if first or second or third:
                    more.add((a, b))
                    break
        if not more - arrows:
            return near, arrows
        arrows |= more


def hamming(edges, truth):
    """Edges that differ, present or in direction, between the patterns of two graphs."""
    (near, arrows), (true_near, true_arrows) = pattern(edges), pattern(truth)
    turned = sum(
        any(((a, b) in arrows) != ((a, b) in true_arrows) for a, b in (tuple(one), tuple(one)[::-1]))
        for one in near & true_near
    )
    return len(near ^ true_near) + turned


def bic(edges, rows, cards):
    """The log-likelihood less log(n)/2 a free parameter."""
    score = 0.0
    for node in rows.columns:
        parents = [a for a, b in edges if b == node]
        families = Counter(zip(*(rows[column] for column in [*parents, node])))
        above = Counter()
        for family, count in families.items():
            above[family[:-1]] += count
        score += sum(n * log(n / above[family[:-1]]) for family, n in families.items())
        free = (cards[node] - 1) * int(np.prod([cards[a] for a in parents], dtype=float))
        score -= 0.5 * log(len(rows)) * free
    return score


def climb(rows, queue):
    from pgmpy.estimators import HillClimbSearch

    begun = time.process_time()
    found = HillClimbSearch(rows).estimate(scoring_method="bic-d", show_progress=False)
    queue.put((time.process_time() - begun, list(found.edges())))


# Seconds that a query of a peer may take.
A_QUERY = 10


class TooLong(Exception):
    pass


def too_long(*_):
    raise TooLong


def networks(folder, paths, seconds):
    from pgmpy.inference import VariableElimination
    from pgmpy.readwrite import BIFReader

    for path in map(Path, paths):
        ours = json.loads((Path(folder) / f"{path.stem}.json").read_text())
        text = path.read_text()
        states = {
            name: [state.strip() for state in listed.split(",")]
            for name, listed in re.findall(r"variable\s+(\S+)\s*\{[^{]*\{([^}]*)\}", text)
        }
        cards = {name: len(listed) for name, listed in states.items()}
        rows = pd.read_csv(Path(folder) / f"{path.stem}.csv", dtype=str, keep_default_na=False)
        categories = pd.DataFrame(
            {name: pd.Categorical(rows[name], categories=states[name]) for name in rows.columns}
        )
        edges, truth = [[tuple(edge) for edge in ours[key]] for key in ("edges", "truth")]
        print(f"{path.stem}: {len(rows)} rows, true graph BIC {bic(truth, rows, cards):.1f}")
        line = "  {:<22} {:>10.3f} s   BIC {:.1f}   Hamming distance {}"
        print(line.format("climb, fishweir", ours["climb_seconds"], bic(edges, rows, cards),
                          hamming(edges, truth)), flush=True)

        model = BIFReader(string=text).get_model()
        queries = ours["queries"]
        print(f"  {'query, fishweir':<22} {ours['query_microseconds']:>10.1f} us")
        engine, worst, stopped, begun = VariableElimination(model), 0.0, 0, time.process_time()
        signal.signal(signal.SIGVTALRM, too_long)
        for query in queries:
            signal.setitimer(signal.ITIMER_VIRTUAL, A_QUERY)
            try:
                answer = engine.query([query["node"]], evidence=query["given"], show_progress=False)
            except TooLong:
                stopped += 1
                continue
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            order = [answer.state_names[query["node"]].index(state) for state in query["states"]]
            worst = max(worst, *np.abs(answer.values[order] - query["answer"]))
        each = (time.process_time() - begun) / len(queries) * 1e6
        print(f"  {'query, pgmpy':<22} {each:>10.1f} us   variable elimination; {stopped} of {len(queries)} "
              f"stopped; answers differ by {worst:.1e}", flush=True)

        queue = multiprocessing.Queue()
        peer = multiprocessing.Process(target=climb, args=(categories, queue))
        peer.start()
        try:
            took, edges = queue.get(timeout=seconds)
            print(line.format("climb, pgmpy", took, bic(edges, rows, cards), hamming(edges, truth)), flush=True)
        except multiprocessing.queues.Empty:
            print(f"  climb, pgmpy           not done after {seconds:.0f} s", flush=True)
        peer.kill()
        peer.join()


def table(path):
    """A table as it is, CSV or ARFF; `?` and nothing are missing."""
    raw = Path(path).read_bytes()
    text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode()
    if not text.lstrip().startswith(("%", "@")):
        return pd.read_csv(io.StringIO(text), na_values=["?", ""], keep_default_na=False)
    head, rows = re.split(r"(?im)^@data\s*$", text, maxsplit=1)
    names = re.findall(r"(?im)^@attribute\s+('[^']*'|\S+)", head)
    return pd.read_csv(io.StringIO(rows), names=[name.strip("'") for name in names], na_values=["?", ""],
                       keep_default_na=False, comment="%", quotechar="'", skipinitialspace=True)


def classify(data, target, right, dropped):
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

    whole, ours = table(data).drop(columns=dropped), pd.read_csv(right)
    labels = whole[target].dropna().astype(str).to_numpy()
    records = whole[whole[target].notna()].drop(columns=target)
    assert len(records) == len(ours), "not the records of that output"
    texts = [name for name in records if not pd.api.types.is_numeric_dtype(records[name])]
    records[texts] = records[texts].fillna("?").astype(str)
    numbers = [name for name in records if name not in texts]
    records[numbers] = records[numbers].fillna(-1)
    one_hot = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), remainder="passthrough")
    ordinal = make_column_transformer(
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), texts), remainder="passthrough"
    )
    categorical = np.arange(len(texts))
    peers = {
        "random forest": lambda: make_pipeline(one_hot, RandomForestClassifier(500, random_state=1)),
        "gradient boosting": lambda: make_pipeline(
            ordinal,
            # Without a penalty on leaves a class of two records, as nursery has, upsets all others: its
            # curvature is near zero, and a step is their quotient.
            HistGradientBoostingClassifier(
                categorical_features=categorical, l2_regularization=1.0, random_state=1
            ),
        ),
    }
    for name, make in peers.items():
        begun, hits = time.perf_counter(), np.zeros(len(labels), dtype=int)
        for fold in range(ours["fold"].max() + 1):
            test = (ours["fold"] == fold).to_numpy()
            fitted = make().fit(records[~test], labels[~test])
            hits[test] = fitted.predict(records[test]) == labels[test]
        ours[name] = hits
        print(f"{name}: {time.perf_counter() - begun:.1f} s", flush=True)
    columns = list(ours.columns[2:])
    print(f"{Path(data).name}: {len(ours)} records, accuracy; above the forest by, 95 % over records in pairs")
    for name in columns:
        apart = ours[name] - ours["random forest"]
        half = 1.96 * sqrt((apart.var() * len(ours) + 1) / len(ours) ** 2)
        print(f"  {name:<18} {ours[name].mean():.4f}   {apart.mean():+.4f} "
              f"({apart.mean() - half:+.4f} to {apart.mean() + half:+.4f})")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["networks", folder, *paths]:
            limit = 1800.0
            if "--seconds" in paths:
                at = paths.index("--seconds")
                limit, paths = float(paths[at + 1]), paths[:at] + paths[at + 2:]
            networks(folder, paths, limit)
        case ["classify", data, target, right, *dropped]:
            classify(data, target, right, dropped)
        case _:
            sys.exit(__doc__)
