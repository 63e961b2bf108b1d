"""The classifiers with the interface of aeon. Needs aeon: ``pip install fishweir[aeon]``."""

from aeon.classification.base import BaseClassifier

from ._options import with_defaults
from ._panel import panel
from ._training import TrainedClassifier


class _Classifier(TrainedClassifier, BaseClassifier):
    _tags = {
        "X_inner_type": ["np-list", "numpy3D"],
        "capability:multivariate": True,
        "capability:unequal_length": True,
        "capability:missing_values": True,
        "capability:multithreading": True,
        "algorithm_type": "hybrid",
    }

    # One thread by default, as all of aeon has it.
    __init__ = with_defaults(TrainedClassifier.__init__, n_jobs=1)

    def _fit(self, X, y):
        self._train(panel(X), y)
        return self

    def _predict(self, X):
        return self.classes_[self._ask(panel(X), "predict")]

    def _predict_proba(self, X):
        return self._ask(panel(X), "probabilities")

    @classmethod
    def _get_test_params(cls, parameter_set="default"):
        return {"states": 2, "effort": "minimal"}


class FisherClassifier(_Classifier):
    """A linear machine on Fisher scores of hidden Markov models: see :class:`fishweir.FisherClassifier`."""

    _kind = "fisher"


class BayesClassifier(_Classifier):
    """One hidden Markov model per class: see :class:`fishweir.BayesClassifier`."""

    _kind = "bayes"
