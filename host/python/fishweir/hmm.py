"""Hidden Markov models with the names of hmmlearn, on the recursions of fishweir.

``from fishweir import hmm`` takes the place of ``from hmmlearn import hmm`` for :class:`CategoricalHMM`,
:class:`GaussianHMM`, :class:`GMMHMM` and :class:`PoissonHMM`. Likelihoods, posteriors, paths, expectations and draws are the
library's; the estimates from expectations, with their priors, are hmmlearn's. What differs:

- ``implementation`` changes nothing: nothing underflows, so that nothing is raised for it.
- A value that is NaN is missing, in all methods; an initialisation that clusters the data needs whole samples.
- A state that is never left keeps its row of ``transmat_``; hmmlearn makes it zero.
- A component without observations keeps its mean and its covariance.
- ``aic`` and ``bic`` of a mixture count the weights of every state.
- Draws of a seed are others than hmmlearn's.
- There are at most 64 states; of a mixture with ``full`` or ``tied`` covariances, or of more than 8 components, at most 64
  components of all states.
"""

from ._hmm_base import ConvergenceMonitor, DECODER_ALGORITHMS
from ._hmm_covariance import COVARIANCE_TYPES
from ._hmm_discrete import CategoricalHMM, PoissonHMM
from ._hmm_gaussian import GaussianHMM
from ._hmm_mixture import GMMHMM
from ._hmm_models import classifier, from_hmmlearn, from_pomegranate

__all__ = [
    "CategoricalHMM",
    "ConvergenceMonitor",
    "GMMHMM",
    "GaussianHMM",
    "PoissonHMM",
    "classifier",
    "from_hmmlearn",
    "from_pomegranate",
]

for _name in __all__:
    globals()[_name].__module__ = __name__
