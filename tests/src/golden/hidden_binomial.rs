use fishweir_core::kernel::{HiddenBinomial, PairTable};
use fishweir_core::number::Real;
use serde::Deserialize;

use super::compare::Comparison;
use super::kernel::{Slack, after, all, compare_kernel};
use super::precision::{Kind, Precise};
use super::schema::{Matrix, Row, zip_with};
use super::through_host;
use crate::build::filled;
use crate::oracle::words;

/// The kernel of independent hidden states.
pub(super) struct Binomial;

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Inputs {
    Shared { state_prior: Row, emission: Matrix, s: Vec<usize>, t: Vec<usize> },
    PerPosition { state_prior: Matrix, emission: Vec<Matrix>, s: Vec<usize>, t: Vec<usize> },
}

/// States and symbols that the tests are compiled for.
const STATES: usize = 16;
const SYMBOLS: usize = 16;

fn table<T: Real>(prior: &[f64], emission: &[Row]) -> Result<PairTable<T, SYMBOLS>, String> {
    if prior.len() != emission.len() {
        return Err("prior and emissions differ in their number of states".into());
    }
    let mut rows = [[T::ZERO; SYMBOLS]; STATES];
    for (state, row) in rows.iter_mut().enumerate() {
        row[0] = T::ONE;
        if let Some(plain) = emission.get(state) {
            *row = filled(plain, 0.0)?;
        }
    }
    PairTable::new::<STATES>(&filled(prior, 0.0)?, &rows).map_err(|error| error.to_string())
}

impl Kind for Binomial {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let host = match &inputs {
            Inputs::Shared { state_prior, emission, .. } => {
                through_host::hidden_binomial(Some((state_prior, emission)), vec![])?
            }
            Inputs::PerPosition { state_prior, emission, .. } => {
                let positions = zip_with(
                    state_prior.iter().collect(),
                    emission.iter().collect(),
                    |prior: &Row, emission: &Matrix| (prior, emission),
                )?;
                through_host::hidden_binomial(None, positions)?
            }
        };
        let (tables, symbols, s, t) = match inputs {
            Inputs::Shared { state_prior, emission, s, t } => {
                let symbols = emission.first().map_or(0, Vec::len);
                (vec![table::<T>(&state_prior, &emission)?], Some(symbols), s, t)
            }
            Inputs::PerPosition { state_prior, emission, s, t } => {
                let tables = zip_with(state_prior, emission, |p, e| table::<T>(&p, &e))?;
                (tables.into_iter().collect::<Result<_, _>>()?, None, s, t)
            }
        };
        let log_kernel = |s: &[usize], t: &[usize]| {
            let kernel = match symbols {
                Some(_) => HiddenBinomial::shared(&tables[0], [s]),
                None => HiddenBinomial::per_position(&tables, [s]),
            };
            let [log] = after(kernel.map_err(|error| error.to_string())?, all(t))?;
            Ok::<f64, String>(log.to_f64())
        };
        let log = log_kernel(&s, &t)?;
        let slack = Slack::new(T::ROUNDING, (STATES + 4) as f64 * s.len() as f64, log);
        compare_kernel(comparison, log, slack);
        if let Some(host) = host.filter(|_| T::ROUNDING == 0.0) {
            let log = through_host::log_kernel(&host, &s, &t)?;
            compare_kernel(comparison, log, slack);
        }
        if let Some(symbols) = symbols {
            let cut = tables[0].probability().iter().take(symbols);
            let rows: Vec<Row> =
                cut.map(|row| row.iter().take(symbols).map(|p| p.to_f64()).collect()).collect();
            comparison.field("pair_table", rows, slack.value());
            if comparison.expects("total_mass") {
                let mut mass = 0.0;
                for s in words(symbols, s.len()) {
                    for t in words(symbols, s.len()) {
                        mass += log_kernel(&s, &t)?.exp();
                    }
                }
                comparison.field("total_mass", mass, slack.value());
            }
        }
        Ok(())
    }
}
