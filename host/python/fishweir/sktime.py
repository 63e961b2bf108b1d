"""The classifiers with the interface of sktime. Needs sktime: ``pip install fishweir[sktime]``."""

from sktime.classification.base import BaseClassifier

from ._panel import panel
from ._training import TrainedClassifier


class _Classifier(TrainedClassifier, BaseClassifier):
    _tags = {
        "authors": "The fishweir developers",
        "maintainers": "The fishweir developers",
        "X_inner_mtype": ["df-list", "numpy3D"],
        "y_inner_mtype": "numpy1D",
        "capability:multivariate": True,
        "capability:unequal_length": True,
        "capability:missing_values": True,
        "capability:predict_proba": True,
        "capability:random_state": True,
        "capability:categorical_in_X": False,
        "property:randomness": "derandomized",
    }

    def _fit(self, X, y):
        self._train(panel(X), y)
        return self

    def _predict(self, X):
        return self.classes_[self._ask(panel(X), "predict")]

    def _predict_proba(self, X):
        return self._ask(panel(X), "probabilities")

    @classmethod
    def get_test_params(cls, parameter_set="default"):
        """Parameters for the checks of sktime."""
        return [{"states": 2, "effort": "minimal"}, {"states": 3, "random_state": 7}]


class FisherClassifier(_Classifier):
    """A linear machine on Fisher scores of hidden Markov models: see :class:`fishweir.FisherClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from fishweir.sktime import FisherClassifier
    >>> t = np.arange(30)
    >>> X = np.stack([np.sin((0.3 if n % 2 else 1.9) * t + n) for n in range(12)])[:, np.newaxis]
    >>> y = np.array(["slow" if n % 2 else "fast" for n in range(12)])
    >>> classifier = FisherClassifier(states=2).fit(X, y)
    >>> classifier.predict(X)[:2].tolist()
    ['fast', 'slow']
    >>> classifier.cost()["multiply_adds_per_sample"] > 0
    True
    """

    _kind = "fisher"


class BayesClassifier(_Classifier):
    """One hidden Markov model per class: see :class:`fishweir.BayesClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from fishweir.sktime import BayesClassifier
    >>> t = np.arange(30)
    >>> X = np.stack([np.sin((0.3 if n % 2 else 1.9) * t + n) for n in range(12)])[:, np.newaxis]
    >>> y = np.array(["slow" if n % 2 else "fast" for n in range(12)])
    >>> classifier = BayesClassifier(states=2).fit(X, y)
    >>> classifier.predict(X)[:2].tolist()
    ['fast', 'slow']
    >>> classifier.cost()["multiply_adds_per_sample"] > 0
    True
    """

    _kind = "bayes"
