"""One test of everything between Python and the library, in a second. Run as a program."""

import pickle
import tempfile
from pathlib import Path

import numpy as np

import fishweir
from data import motions, waves

X, y = motions()
model = fishweir.FisherClassifier(states=2, window=30).fit(X, y)
assert model.score(X, y) > 0.9
margins = model.decision_function(X)
assert (model.decision_function(np.asfortranarray(X)) == margins).all()
assert (pickle.loads(pickle.dumps(model)).decision_function(X) == margins).all()
assert [one.label for one in model.stream().run(X[0].T)] == [model.predict(X[:1])[0]]
with tempfile.TemporaryDirectory() as folder:
    model.export(Path(folder) / "model.fishweir")
    model.export(Path(folder) / "model.json")
    again = fishweir.load(Path(folder) / "model.json")
    assert (again.decision_function(X) == margins).all()
flat, names = waves()
assert fishweir.BayesClassifier(states=2).fit(flat, names).score(flat, names) > 0.9
assert fishweir.KernelTransformer(states=2).fit_transform(flat).shape == (24, 24)
try:
    fishweir.read("no-such-file.csv")
except fishweir.FishweirError as error:
    assert "no-such-file.csv" in str(error)
else:
    raise AssertionError("a file that is not there was read")
print(f"fishweir {fishweir.__version__} from Python: fits, decides, streams, exports")
