//! Events of a stream that stand for all, as a device keeps them.

use std::num::NonZeroUsize;

use fishweir_core::ObservationError;
use fishweir_core::kernel::CoresetState;
use fishweir_core::network::EventFeatures;

use super::super::{NetworkError, NetworkFisher};
use super::{DeployedAlarm, Lists, unfit};
use crate::records::Records;

/// Records that stand for all, kept in one pass.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptRecords {
    /// Indices of the records, from 0, in their order.
    pub indices: Vec<usize>,
    /// Records that each stands for, itself included.
    pub weights: Vec<u32>,
    /// The squared maximum mean discrepancy between the kept records and all.
    pub discrepancy: f32,
}

impl NetworkFisher {
    /// Keeps `keep` records in one pass, in a device's numbers: see the core's
    /// [`Coreset`](fishweir_core::kernel::Coreset) and [`EventFeatures`].
    ///
    /// Source: Leppä-aho, Silander and Roos 2020, algorithm 1, each record a candidate once.
    ///
    /// # Errors
    /// A record that does not fit or is impossible; what [`DeployedAlarm::silent`] refuses.
    pub fn coreset(
        &self,
        records: &Records,
        keep: NonZeroUsize,
    ) -> Result<KeptRecords, NetworkError> {
        /// A memory that alarms may have: of their tables none that has to do with it is used.
        const MEMORY: f64 = 200.0;
        self.network().check(records)?;
        let alarm = DeployedAlarm::silent(self, MEMORY)?;
        let lists = Lists::of(&alarm.columns, &alarm.scopes);
        let terms = lists.terms(&alarm.columns)?;
        let features = EventFeatures::new(terms, &alarm.theta, &alarm.precision).map_err(unfit)?;
        let zeros = || vec![0.0_f32; alarm.theta.len()];
        let mut state = CoresetState::new(vec![None; keep.get()], zeros(), zeros());
        let mut room = zeros();
        for (record, row) in records.rows().enumerate() {
            let taken = state.step(&features, &row.to_vec(), &mut room);
            taken.map_err(|error| match error {
                ObservationError::Impossible => NetworkError::Impossible { record, node: None },
                error => NetworkError::Other(format!("record {record}: {error}")),
            })?;
        }
        let discrepancy = state.discrepancy(&features, &mut room);
        let mut kept: Vec<_> = state.kept().collect();
        kept.sort_unstable_by_key(|kept| kept.index);
        Ok(KeptRecords {
            indices: kept.iter().map(|kept| kept.index as usize).collect(),
            weights: kept.iter().map(|kept| kept.weight).collect(),
            discrepancy,
        })
    }
}
