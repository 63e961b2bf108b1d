"""Fits over Dask: the bits of one process, whatever is killed."""

import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("dask")
pytest.importorskip("distributed")

import dask
import dask.array
import dask.bag

import fishweir
import fishweir.dask
from fishweir import FishweirError, hmm
from fishweir.dask import LEAF

SERIES, TIME, STEPS = 700, 60, 12
# More kills: FISHWEIR_KILLS=20; from another seed: FISHWEIR_SEED=100; of other numbers of workers: FISHWEIR_WORKERS=5.
KILLS = int(os.environ.get("FISHWEIR_KILLS", "2"))
SEED = int(os.environ.get("FISHWEIR_SEED", "0"))
WORKERS = int(os.environ.get("FISHWEIR_WORKERS", "3"))


def reals(count=SERIES, length=TIME):
    """Series whose level moves between three."""
    rng = np.random.default_rng(5)
    level = np.repeat(rng.integers(0, 3, (count, length // 10)), 10, axis=1)
    return 2.0 * level[:, :, None] + rng.normal(size=(count, length, 2))


def ragged(count=300):
    rng = np.random.default_rng(6)
    return [rng.normal(size=(int(length), 2)) + rng.integers(0, 2) for length in rng.integers(1, 40, count)]


def alone(model, sequences):
    """The fit in one process by the class of fishweir.hmm, from the start that a fit over Dask has."""
    kind = getattr(hmm, type(model).__name__)
    one = kind(**{**model.get_params(), "init_params": ""})
    head = sequences[: fishweir.dask._HEAD]
    start = kind(**model.get_params())
    if isinstance(start, hmm.CategoricalHMM):
        start.n_features = one.n_features = 1 + max(int(np.max(each)) for each in sequences)
    start._init(np.concatenate(head), [len(each) for each in head])
    start._check()
    for name, value in vars(start).items():
        if name in fishweir.dask._FITTED or name == "n_features":
            setattr(one, name, value)
    return one.fit(np.concatenate(sequences), lengths=[len(each) for each in sequences])


def same(one, other):
    for name in fishweir.dask._FITTED:
        assert (name in vars(one)) == (name in vars(other)), name
        if name in vars(one):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert list(one.monitor_.history) == list(other.monitor_.history)


def gaussian(**arguments):
    return fishweir.dask.GaussianHMM(3, n_iter=STEPS, tol=-np.inf, random_state=0, **arguments)


@pytest.mark.parametrize("chunks", [1, 37, LEAF, 130, SERIES])
def test_partitions_change_no_bit(chunks):
    X = reals()
    with dask.config.set(scheduler="threads"):
        found = gaussian().fit(dask.array.from_array(X, chunks=(chunks, 17, 1)))
    same(found, alone(gaussian(), list(X)))


def test_families_and_ragged_bags():
    rng = np.random.default_rng(7)
    counts = [rng.poisson(3.0, size=(int(length), 2)) for length in rng.integers(1, 40, 300)]
    symbols = [rng.integers(0, 4, (int(length), 1)) for length in rng.integers(1, 40, 300)]
    with dask.config.set(scheduler="synchronous"):
        for model, sequences in (
            (fishweir.dask.GaussianHMM(2, "full", random_state=1, n_iter=4), ragged()),
            (fishweir.dask.GMMHMM(2, 2, random_state=1, n_iter=4), ragged()),
            (fishweir.dask.PoissonHMM(2, random_state=1, n_iter=4), counts),
            (fishweir.dask.CategoricalHMM(2, random_state=1, n_iter=4), symbols),
        ):
            wanted = alone(model, sequences)
            for partitions in (1, 7):
                X = dask.bag.from_sequence(sequences, npartitions=partitions)
                found = type(model)(**model.get_params()).fit(X)
                same(found, wanted)
            lengths = [len(each) for each in sequences]
            assert found.score(X) == wanted.score(np.concatenate(sequences), lengths)


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X = reals(150)
    for file, some in enumerate(np.array_split(np.arange(150), 4)):
        rows = X[some].reshape(-1, 2)
        ids = np.repeat(some, TIME)
        labels = np.where(ids % 2 == 0, "even", "odd")
        table = pyarrow.table({"id": ids, "label": labels, "x": rows[:, 0], "y": rows[:, 1]})
        parquet.write_table(table, tmp_path / f"{file}.parquet")
    with dask.config.set(scheduler="threads"):
        found = gaussian().fit(fishweir.dask.read_parquet(tmp_path, series="id"))
        same(found, alone(gaussian(), list(X)))
        even = fishweir.dask.read_parquet(tmp_path, series="id", where={"label": "even"})
        np.testing.assert_array_equal(np.stack(even.compute()), X[::2])
        with pytest.raises(FishweirError, match="no column 'who'"):
            fishweir.dask.read_parquet(tmp_path, series="who")
        table = pyarrow.table({"id": [0, 1, 0], "x": [1.0, 2.0, 3.0]})
        parquet.write_table(table, tmp_path / "apart.parquet")
        with pytest.raises(FishweirError, match="rows of series 0 are apart"):
            fishweir.dask.read_parquet(tmp_path / "apart.parquet", series="id").compute()
        parquet.write_table(pyarrow.table({"id": [149], "label": ["odd"], "x": [1.0], "y": [1.0]}), tmp_path / "4.parquet")
        with pytest.raises(FishweirError, match="series 149 begins in"):
            fishweir.dask.read_parquet(tmp_path, series="id")


def test_sums_refuse_what_does_not_belong():
    X = [each[:, :1] for each in ragged(200)]
    model = hmm.GaussianHMM(2, random_state=0)
    model._init(np.concatenate(X), [len(each) for each in X])
    native = model._native()
    blocks = [fishweir.dask._block([fishweir.dask._piece(X[at : at + LEAF])], at // LEAF, False) for at in range(0, 200, LEAF)]
    digest = fishweir._fishweir.whole_digest([mark for block in blocks for mark in block[2]], 200)
    sums = [fishweir.dask._expect(native, block, digest, 200) for block in blocks]
    whole = sums[3].merged([sums[1], sums[0], sums[2]])
    assert native.expected(whole) == native.expected(sums[0].merged(sums[1:]))
    with pytest.raises(FishweirError, match="leaves 1 occur twice"):
        whole.merged([sums[1]])
    with pytest.raises(FishweirError, match="leaves 1 to 2 are missing"):
        native.expected(sums[0].merged([sums[3]]))
    other = fishweir.dask._expect(native, blocks[1], "0" * 32, 200)
    with pytest.raises(FishweirError, match="from other data"):
        sums[0].merged([other])
    model.means_ = model.means_ + 1.0
    with pytest.raises(FishweirError, match="with other models"):
        model._native().expected(whole)
    with pytest.raises(FishweirError, match="with other models"):
        sums[0].merged([fishweir.dask._expect(model._native(), blocks[1], digest, 200)])
    with pytest.raises(FishweirError, match="marks are of other leaves"):
        native.sums(blocks[0][0], 0, blocks[1][2], digest, 200)


def test_wrong_input_is_named():
    with pytest.raises(FishweirError, match="X is a DataFrame|X has 1 dimensions"):
        gaussian().fit(dask.array.ones(3, chunks=1))
    with pytest.raises(FishweirError, match="no sequence has a sample"):
        gaussian().fit(dask.bag.from_sequence([np.empty((0, 2))]))
    with pytest.raises(FishweirError, match="1 and 2 channels"), dask.config.set(scheduler="synchronous"):
        gaussian().fit(dask.bag.from_sequence([np.ones((3, 2)), np.ones((3, 1))], npartitions=2))


def test_decisions_are_those_of_one_process():
    X = reals(80)
    y = np.arange(80) % 2
    X[y == 1] *= 0.5
    classifier = fishweir.BayesClassifier(2).fit(X.transpose(0, 2, 1), y)
    series = [each.T for each in X]
    with dask.config.set(scheduler="threads"):
        found = fishweir.dask.predict(classifier, dask.bag.from_sequence(series, npartitions=3)).compute()
    np.testing.assert_array_equal(found, classifier.predict(series))


def test_a_search_over_dask_is_that_of_one_process():
    """Folds and configurations are tasks of joblib."""
    import joblib
    from distributed import Client, LocalCluster
    from sklearn.model_selection import GridSearchCV

    X = reals(60).transpose(0, 2, 1)
    y = np.arange(60) % 2
    X[y == 1] *= 0.7
    search = GridSearchCV(fishweir.BayesClassifier(2), {"states": [1, 2, 3]}, cv=3)
    wanted = search.fit(X, y).cv_results_
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        with joblib.parallel_config(backend="dask"):
            found = search.fit(X, y).cv_results_
    for name, scores in wanted.items():
        if "score" in name and "time" not in name:
            np.testing.assert_array_equal(found[name], scores, err_msg=name)


def test_tiles_of_a_kernel_are_the_kernel():
    X = [each[: 20 + index % 5] for index, each in enumerate(reals(30, 60))]
    whole = fishweir.KernelTransformer("bhattacharyya", family="gaussian", normalise=True, states=2, options={"iterations": 3})
    arguments = {"family": "gaussian", "normalise": True, "states": 2, "options": {"iterations": 3}}
    with dask.config.set(scheduler="threads"):
        found = fishweir.dask.gram(dask.bag.from_sequence(X, npartitions=4), "bhattacharyya", **arguments).compute()
        wanted = np.tril(whole.fit([each.T for each in X]).transform([each.T for each in X]))
        # Each pair in one order: the earlier series first.
        np.testing.assert_array_equal(found, wanted + np.tril(wanted, -1).T)
        words = ["".join("ab"[(i * j) % 3 % 2] for j in range(12)) for i in range(9)]
        found = fishweir.dask.gram(dask.bag.from_sequence(words, npartitions=3), "spectrum").compute()
        np.testing.assert_array_equal(found, fishweir.KernelTransformer("spectrum").fit(words).transform(words))
        with pytest.raises(FishweirError, match="'practical' is not of pairs alone"):
            fishweir.dask.gram(dask.bag.from_sequence(words), "practical")


def test_a_checkpoint_goes_on_to_the_same_bits(tmp_path):
    X = dask.array.from_array(reals(), chunks=(100, TIME, 2))
    kept = tmp_path / "fit.json"
    with dask.config.set(scheduler="threads"):
        whole = gaussian().fit(X)
        half = fishweir.dask.GaussianHMM(3, n_iter=5, tol=-np.inf, random_state=0)
        half.fit(X, checkpoint=kept)
        found = gaussian().fit(X, checkpoint=kept)
        same(found, whole)
        before = kept.read_bytes()
        same(gaussian().fit(X, checkpoint=kept), whole)
        assert kept.read_bytes() == before
        with pytest.raises(FishweirError, match="fit.json: data is"):
            gaussian().fit(X[:600], checkpoint=kept)
        with pytest.raises(FishweirError, match="fit.json: arguments is"):
            gaussian(min_covar=0.5).fit(X, checkpoint=kept)
        kept.write_text("{}")
        with pytest.raises(FishweirError, match="not a checkpoint"):
            gaussian().fit(X, checkpoint=kept)
    assert [path.name for path in tmp_path.iterdir()] == ["fit.json"]


def test_killed_workers_change_no_bit(tmp_path):
    """Workers, one of which is killed in the middle of a fit; another takes its place."""
    from dask_cluster import Cluster

    X = reals(2000)
    wanted = alone(gaussian(), list(X))
    with Cluster(tmp_path, WORKERS) as cluster, cluster.client():
        data = dask.array.from_array(X, chunks=(190, TIME, 2))
        for seed in range(SEED, SEED + KILLS):
            chance = random.Random(seed)
            step, moment, victim = chance.randrange(STEPS - 4), chance.uniform(0.0, 0.2), chance.randrange(WORKERS)
            found, failed = gaussian(), []

            def fit(found=found, failed=failed):
                try:
                    found.fit(data)
                except BaseException as error:  # noqa: BLE001 - it is raised below
                    failed.append(error)

            thread = threading.Thread(target=fit)
            thread.start()
            while thread.is_alive() and len(found.monitor_.history) < step:
                time.sleep(0.001)
            time.sleep(moment)
            assert thread.is_alive(), "the fit was over before the kill"
            cluster.kill(cluster.workers[victim])
            cluster.workers[victim] = cluster.start_worker()
            thread.join(timeout=120)
            assert not thread.is_alive()
            assert not failed, failed
            same(found, wanted)


SCRIPT = """
import sys
import dask.array
import numpy as np
sys.path.insert(0, {tests!r})
from distributed import Client
from test_dask import TIME, gaussian, reals
client = Client(scheduler_file={file!r}, timeout=30)
data = dask.array.from_array(reals(2000), chunks=(190, TIME, 2))
model = gaussian().fit(data, checkpoint={kept!r})
np.savez({out!r}, means=model.means_, transmat=model.transmat_, history=list(model.monitor_.history))
"""


def test_a_killed_scheduler_is_started_again(tmp_path):
    """Scheduler, workers and client all go in the middle; what was done is not done again."""
    import json

    from dask_cluster import Cluster

    wanted = alone(gaussian(), list(reals(2000)))
    kept, out = tmp_path / "fit.json", tmp_path / "model.npz"
    script = tmp_path / "script.py"
    tests = str(Path(__file__).parent)
    script.write_text(SCRIPT.format(tests=tests, file=str(tmp_path / "scheduler.json"), kept=str(kept), out=str(out)))
    steps = random.Random(1).randrange(2, 6)
    with Cluster(tmp_path, 2) as cluster:
        cluster.client().close()
        # Threads of other libraries change no bit of the start either.
        threads = {**os.environ, "OMP_NUM_THREADS": "1"}
        client = subprocess.Popen([sys.executable, str(script)], env=threads, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 120
        done = 0
        while done < steps and time.monotonic() < until and client.poll() is None:
            time.sleep(0.01)
            done = len(json.loads(kept.read_text())["history"]) if kept.exists() else 0
        cluster.kill(cluster.scheduler)
        cluster.kill(client)
    done = len(json.loads(kept.read_text())["history"])
    assert steps <= done < STEPS
    (tmp_path / "scheduler.json").unlink(missing_ok=True)
    with Cluster(tmp_path, 2) as cluster:
        cluster.client().close()
        subprocess.run([sys.executable, str(script)], env={**os.environ, "OMP_NUM_THREADS": "3"}, check=True, timeout=120)
    found = np.load(out)
    np.testing.assert_array_equal(found["means"], wanted.means_)
    np.testing.assert_array_equal(found["transmat"], wanted.transmat_)
    assert found["history"].tolist() == list(wanted.monitor_.history)
