//! The best path of a sequence under a model with run-time sizes.

use fishweir_core::emission::Emission;
use fishweir_core::hmm::Hmm as CoreHmm;
use fishweir_core::smooth::viterbi;

use crate::data::SamplesView;
use crate::runtime::{Hmm, with_states};

/// Viterbi's path, `[time]`; `None` for a sequence that the model makes impossible.
pub(super) fn best_path(model: &Hmm, samples: SamplesView<'_>) -> Option<Vec<usize>> {
    with_states!(model.states(), N => match samples {
        SamplesView::Channels(rows) => path::<_, N>(&model.channels::<f64, N>()?, rows.iter()),
        SamplesView::Symbols(symbols) => {
            path::<_, N>(&model.categorical::<f64, N>()?, symbols.iter().map(Option::as_ref))
        }
    })
}

fn path<'x, E, const N: usize>(
    hmm: &CoreHmm<E, N>,
    samples: impl Iterator<Item = Option<&'x E::Observation>> + Clone,
) -> Option<Vec<usize>>
where
    E: Emission<Weight = f64, Observation: 'x>,
{
    let length = samples.clone().count();
    let mut back = vec![[0_u8; N]; length];
    let mut path = vec![0_u8; length];
    viterbi(hmm, samples, &mut back, &mut path).ok()?;
    Some(path.into_iter().map(usize::from).collect())
}
