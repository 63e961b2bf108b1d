//! Hidden semi-Markov models at run-time sizes.

mod durations;
mod fit;
mod posterior;

use fishweir_core::ObservationError;
use fishweir_core::emission::{Emission, Parametrisation, Probabilities};
use fishweir_core::smooth::SequenceError;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{DecodeError, Model, ModelScore, Scored, ViterbiPath, names_of_rows};
use crate::batch::Expectations;
use crate::data::{Rows, Samples, SamplesView};
use crate::elementary::Elementary;
use crate::model::score::push_emissions;
use crate::parallel::each;
use crate::runtime::family::entries;
use crate::runtime::numbers::{choose, push_row};
use crate::runtime::{Drawn, Emissions, Hmm, HmmError, Weighed, check, padded_states};

use durations::{NegativeBinomial, hazards};
pub use fit::SegmentEm;
use posterior::Tables;
pub use posterior::{SegmentPosterior, SegmentPrefixes};

/// A hidden semi-Markov model: a hidden Markov model whose states last as long as distributions of their own say, or whose strings
/// end in a final state, or both.
///
/// ```text
/// p(x, segments) = initial[i_1] prod_s P_is(d_s) prod_s A[i_s][i_s+1] prod_t b(x_t)
/// ```
///
/// Without a final state the last segment may be unfinished: it has the weight `P(d >= its length)`, at every prefix. With one,
/// every string ends: `end[i]` of the last segment's state is the last factor, and `transition[i]` and `end[i]` sum to one together.
///
/// Durations are a table, `durations[state][duration - 1]`, or negative binomial, `negative_binomial[state]`, `[shape, success]`:
/// then segments of one state do not follow each other. Without either a segment is one sample, and the model a hidden Markov
/// model.
///
/// Score: `initial`, the probability of the empty string if there is a final state, `transition` by rows, each with its `end`, then
/// durations by state (a table's row, or shape and success; their logarithm and logit by softmax), then emissions as of
/// [`Hmm`]. Work per sample: `2 N D + N^2` multiplications, of which the backward pass makes twice as many; RAM of a score:
/// `N D` numbers per sample.
///
/// Sources: Ferguson 1980; Yu, "Hidden semi-Markov models", 2010; Shawe-Taylor and Cristianini, "Kernel Methods for Pattern
/// Analysis", 2004, definition 12.5 and section 12.2.2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SemiMarkov {
    /// Initial distribution, `[state]`.
    pub initial: Vec<f64>,
    /// Transition probabilities, `[from][to]`.
    pub transition: Vec<Vec<f64>>,
    /// Emission distributions.
    pub emission: Emissions,
    /// Tables of durations, `[state][duration - 1]`; empty without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub durations: Vec<Vec<f64>>,
    /// Shape and success of negative binomial durations, `[state][2]`; empty without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub negative_binomial: Vec<Vec<f64>>,
    /// Probabilities that the string ends after a segment, `[state]`, then that of the empty string; empty without a final state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub end: Vec<f64>,
}

impl SemiMarkov {
    /// Number of states.
    pub fn states(&self) -> usize {
        self.initial.len()
    }

    fn has_durations(&self) -> bool {
        !(self.durations.is_empty() && self.negative_binomial.is_empty())
    }

    /// Probabilities of a row with the end's, if there is a final state.
    fn row(&self, row: &[f64], end: usize) -> Vec<f64> {
        let mut whole = row.to_vec();
        whole.extend(self.end.get(end));
        whole
    }

    /// Checks shapes and numbers.
    ///
    /// # Errors
    /// [`HmmError`] naming the first part that is wrong.
    pub fn validate(&self) -> Result<(), HmmError> {
        let states = self.states();
        if padded_states(states).is_none() {
            return Err(HmmError::States(states));
        }
        if !self.end.is_empty() {
            check::length("end", self.end.len(), states + 1)?;
        }
        check::length("transition", self.transition.len(), states)?;
        check::distribution("initial", &self.row(&self.initial, states))?;
        for (state, row) in self.transition.iter().enumerate() {
            check::length(format!("transition[{state}]"), row.len(), states)?;
            check::distribution(format!("transition[{state}]"), &self.row(row, state))?;
            if self.has_durations() && row[state] != 0.0 {
                let part = format!("transition[{state}][{state}]");
                return Err(HmmError::Range {
                    part,
                    wanted: "zero: durations say how long a state lasts",
                });
            }
        }
        if let Some(first) = self.durations.first() {
            check::distributions("durations", &self.durations, states, first.len())?;
        } else if !self.negative_binomial.is_empty() {
            check::numbers(
                "negative_binomial",
                &self.negative_binomial,
                (states, 2),
                check::POSITIVE,
            )?;
            if let Some(state) = self.negative_binomial.iter().position(|row| row[1] > 1.0) {
                let part = format!("negative_binomial[{state}][1]");
                return Err(HmmError::Range { part, wanted: "a probability from 0 to 1" });
            }
        }
        let shape = self.emission.shape();
        self.emission.family().validate(self.emission.parts(), states, shape)
    }

    fn tables(&self, length: usize) -> Tables {
        // Longer segments have no weight: the last cell keeps them.
        let mut longest = 1;
        for state in 0..self.negative_binomial.len() {
            longest = longest.max(self.negative(state).map_or(1, |law| law.reach(0)));
        }
        self.tables_of(length.min(longest))
    }

    /// Tables with a cell for each duration up to `length`, if durations have no longest.
    fn tables_of(&self, length: usize) -> Tables {
        let mut hazard = Vec::new();
        for state in 0..self.states() {
            match (self.durations.get(state), self.negative(state)) {
                (Some(table), _) => hazard.extend(hazards(table)),
                (None, Some(law)) => hazard.extend(law.terms(length.max(1)).hazard),
                (None, None) => hazard.push(1.0),
            }
        }
        let longest = hazard.len() / self.states().max(1);
        let mut end = self.end.clone();
        end.truncate(self.states());
        let (initial, transition) = (self.initial.clone(), self.transition.concat());
        Tables { initial, transition, hazard, end, longest }
    }

    /// Tables as the core's [`SegmentChain`](fishweir_core::semi_markov::SegmentChain) takes them: initial, transitions, and hazards of
    /// durations up to `length`, if they have no longest.
    pub fn device_tables(&self, length: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let Tables { initial, transition, hazard, .. } = self.tables(length);
        (initial, transition, hazard)
    }

    fn negative(&self, state: usize) -> Option<NegativeBinomial> {
        let row = self.negative_binomial.get(state)?;
        Some(NegativeBinomial { shape: row[0], success: row[1] })
    }

    /// Log-likelihoods of each sample in each state, `[time][state]`; a missing sample has none.
    ///
    /// # Errors
    /// [`SequenceError`] of a sample that is no observation of the model.
    pub fn log_rows(
        &self,
        samples: SamplesView<'_>,
    ) -> Result<Vec<Option<Vec<f64>>>, SequenceError> {
        let states = self.states();
        let mut logs: Vec<Option<Vec<f64>>> = Vec::with_capacity(samples.len());
        let refused = |time, error| SequenceError::Observation { time, error };
        if let Some(probability) = self.emission.symbols() {
            let symbols = samples.symbols().unwrap_or_default();
            for (time, symbol) in symbols.iter().enumerate() {
                let Some(symbol) = symbol.map(usize::from) else {
                    logs.push(None);
                    continue;
                };
                if symbol >= self.emission.shape().size {
                    return Err(refused(time, ObservationError::UnknownSymbol));
                }
                let mut own = Vec::with_capacity(states);
                for row in probability {
                    own.push(row[symbol].portable_ln());
                }
                logs.push(Some(own));
            }
            return Ok(logs);
        }
        let Some(rows) = samples.rows() else { return Ok(vec![None; samples.len()]) };
        let mut laws = Vec::with_capacity(states);
        for state in 0..states {
            let emission = self.emission.of_state(state);
            let alone = Hmm { initial: vec![1.0], transition: vec![vec![1.0]], emission };
            if let Some(model) = alone.channels::<f64, 2>() {
                laws.push(model.emission()[0].clone());
            }
        }
        for (time, row) in rows.iter_in_part().enumerate() {
            let Some(row) = row else {
                logs.push(None);
                continue;
            };
            let mut own = Vec::with_capacity(states);
            for law in &laws {
                law.check(row).map_err(|error| refused(time, error))?;
                own.push(law.log_likelihood(row));
            }
            logs.push(Some(own));
        }
        Ok(logs)
    }

    /// Likelihoods and states at every prefix of a sequence: those of a stream on a device.
    ///
    /// # Errors
    /// [`SequenceError`] of a sample that is no observation of the model.
    pub fn prefixes(&self, samples: SamplesView<'_>) -> Result<SegmentPrefixes, SequenceError> {
        Ok(self.tables(samples.len()).forward(&self.log_rows(samples)?).prefixes)
    }

    /// Expectations of the segments, given the whole sequence.
    ///
    /// # Errors
    /// [`SequenceError`] of a sequence that the model makes impossible; one that cannot end where it ends is, at its last sample.
    pub fn posterior(&self, samples: SamplesView<'_>) -> Result<SegmentPosterior, SequenceError> {
        self.posterior_of(samples, &self.tables(samples.len()))
    }

    fn posterior_of(
        &self,
        samples: SamplesView<'_>,
        tables: &Tables,
    ) -> Result<SegmentPosterior, SequenceError> {
        let pass = tables.forward(&self.log_rows(samples)?);
        let mut found = tables.backward(&pass)?;
        if samples.is_empty()
            && let Some(&empty) = self.end.get(self.states())
        {
            if empty == 0.0 {
                let error = ObservationError::Impossible;
                return Err(SequenceError::Observation { time: 0, error });
            }
            found.log_likelihood = empty.portable_ln();
        }
        Ok(found)
    }

    /// The likeliest segments, `[state, start, length]` each, and the logarithm of their probability with the sequence.
    ///
    /// # Errors
    /// [`DecodeError`] of a sequence that the model makes impossible.
    pub fn segments(
        &self,
        samples: SamplesView<'_>,
    ) -> Result<(Vec<[usize; 3]>, f64), DecodeError> {
        if samples.is_empty() {
            return Ok((Vec::new(), self.posterior(samples)?.log_likelihood));
        }
        let impossible = SequenceError::Observation {
            time: samples.len() - 1,
            error: ObservationError::Impossible,
        };
        let found = self.tables_of(samples.len()).best(&self.log_rows(samples)?);
        found.ok_or(DecodeError::Sequence(impossible))
    }

    /// `P(d)` over `P(d >= u)` of the durations that a segment of `u` samples may come to have, of tables.
    fn spread(&self, state: usize, elapsed: &[f64], into: &mut [f64]) {
        let mut open = 0.0;
        for (d, share) in hazards(&self.durations[state]).into_iter().enumerate() {
            // Of everything open a share ends here.
            open += elapsed.get(d).copied().unwrap_or(0.0);
            into[d] += open * share;
            open -= open * share;
        }
    }

    /// Expected counts of a sequence: `initial` with the empty string's, if there is a final state; `pairs` with rows of transitions and
    /// their end's, then of durations, of tables with what is censored spread over the durations that it may have; of negative binomial
    /// ones rows of those that ended, then of those that last, up to `length`.
    fn counts(
        &self,
        samples: SamplesView<'_>,
        length: usize,
    ) -> Result<Expectations, SequenceError> {
        let (states, ends) = (self.states(), !self.end.is_empty());
        let found = self.posterior_of(samples, &self.tables(length))?;
        let (family, shape) = (self.emission.family(), self.emission.shape());
        let mut counts = Expectations::zero_of(family, states, shape);
        counts.log_likelihood = found.log_likelihood;
        for (state, count) in counts.initial.iter_mut().enumerate() {
            *count = found.initial_rates[state] * self.initial[state];
        }
        if ends {
            counts.initial.push(if samples.is_empty() { 1.0 } else { 0.0 });
        }
        for (from, row) in counts.pairs.iter_mut().enumerate() {
            for to in 0..states {
                row[to] = found.transition_rates[from][to] * self.transition[from][to];
            }
            if ends {
                row.push(found.end_rates[from] * self.end[from]);
            }
        }
        for state in 0..self.durations.len() {
            let mut row = found.ended[state].clone();
            self.spread(state, &found.elapsed[state], &mut row);
            counts.pairs.push(row);
        }
        if !self.negative_binomial.is_empty() {
            counts.pairs.extend_from_slice(&found.ended);
            counts.pairs.extend_from_slice(&found.elapsed);
        }
        if self.emission.is_over_symbols() {
            let symbols = samples.symbols().unwrap_or_default();
            let rows = counts.emission.get_mut("counts").map_or(&mut [][..], Vec::as_mut_slice);
            for (time, symbol) in symbols.iter().enumerate() {
                let Some(symbol) = symbol else { continue };
                for (state, row) in rows.iter_mut().enumerate() {
                    row[usize::from(*symbol)] += found.states[time][state];
                }
            }
        } else if let Some(rows) = samples.rows() {
            let mut weighed: Vec<Weighed<'_>> = Vec::with_capacity(rows.len());
            for (time, row) in found.states.iter().enumerate() {
                if let Some(x) = rows.row_in_part(time) {
                    weighed.push((x, row));
                }
            }
            family.collect(self.emission.parts(), &weighed, &mut counts.emission);
        }
        Ok(counts)
    }

    /// The score and its log-likelihood.
    ///
    /// # Errors
    /// As [`posterior`](Self::posterior).
    pub fn score(
        &self,
        samples: SamplesView<'_>,
        by: Parametrisation,
    ) -> Result<ModelScore, SequenceError> {
        let counts = self.counts(samples, samples.len())?;
        let states = self.states();
        let mut score = Vec::with_capacity(self.parameters());
        push_row(&self.row(&self.initial, states), &counts.initial, by, &mut score);
        for from in 0..states {
            push_row(&self.row(&self.transition[from], from), &counts.pairs[from], by, &mut score);
        }
        for (state, table) in self.durations.iter().enumerate() {
            push_row(table, &counts.pairs[states + state], by, &mut score);
        }
        for state in 0..self.negative_binomial.len() {
            let Some(law) = self.negative(state) else { break };
            let (ended, lasting) =
                (&counts.pairs[states + state], &counts.pairs[2 * states + state]);
            let terms = law.terms(ended.len());
            for entry in 0..2 {
                let mut sum = 0.0;
                for u in 0..ended.len() {
                    sum += ended[u] * terms.at[entry][u] + lasting[u] * terms.from[entry][u];
                }
                let slope = match (by.probabilities, entry) {
                    (Probabilities::Ratio, _) => 1.0,
                    (Probabilities::Softmax, 0) => law.shape,
                    (Probabilities::Softmax, _) => law.success * (1.0 - law.success),
                };
                score.push(sum * slope);
            }
        }
        let units = vec![1.0; self.emission.shape().size];
        push_emissions(&self.emission, &counts.emission, by, &units, &mut score);
        Ok(ModelScore { log_likelihood: counts.log_likelihood, score })
    }
}

impl Model for SemiMarkov {
    fn noun(&self) -> &'static str {
        "hidden semi-Markov model"
    }

    fn size(&self) -> usize {
        self.emission.shape().size
    }

    fn parameter_names(&self) -> Vec<String> {
        let (states, shape) = (self.states(), self.emission.shape());
        let place = |to: usize| if to < states { format!("[{to}]") } else { "[end]".to_owned() };
        let width = states + usize::from(!self.end.is_empty());
        let mut names = Vec::with_capacity(self.parameters());
        for to in 0..width {
            names.push(format!("initial{}", place(to)));
        }
        for from in 0..states {
            for to in 0..width {
                names.push(format!("transition[{from}]{}", place(to)));
            }
        }
        let longest = self.durations.first().map_or(0, Vec::len);
        names.extend(names_of_rows("duration", self.durations.len(), longest));
        names.extend(names_of_rows("negative_binomial", self.negative_binomial.len(), 2));
        for state in 0..states {
            for block in self.emission.family().score() {
                for entry in 0..block.width.of(shape) {
                    names.push(format!("{}[{state}][{entry}]", block.name));
                }
            }
        }
        names
    }

    fn path(&self, samples: SamplesView<'_>) -> Option<Result<ViterbiPath, DecodeError>> {
        let (segments, log_probability) = match self.segments(samples) {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        };
        let mut states = Vec::with_capacity(samples.len());
        for [state, _, length] in segments {
            states.resize(states.len() + length, state);
        }
        Some(Ok(ViterbiPath { states, log_probability }))
    }
}

impl Scored for SemiMarkov {
    fn parameters(&self) -> usize {
        let (states, end) = (self.states(), usize::from(!self.end.is_empty()));
        let longest = self.durations.first().map_or(0, Vec::len);
        let durations = states * longest + 2 * self.negative_binomial.len();
        let emission = entries(self.emission.family().score(), self.emission.shape());
        (states + 1) * (states + end) + durations + states * emission
    }

    fn scores(
        &self,
        sequences: &[SamplesView<'_>],
        parametrisation: Parametrisation,
    ) -> Vec<Result<ModelScore, SequenceError>> {
        each(sequences.len(), &|index| self.score(sequences[index], parametrisation))
    }

    /// Draws segments until `length` samples; with a final state a whole string, of any length up to `length`.
    fn draw(&self, length: usize, seed: u64) -> Samples {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let tables = self.tables(length);
        let (family, parts, states) =
            (self.emission.family(), self.emission.parts(), self.states());
        let (mut symbols, mut rows) = (Vec::new(), Rows::new(self.emission.shape().size));
        let mut drawn = 0;
        let mut state = choose(&self.row(&self.initial, states), &mut rng);
        while state < states && drawn < length {
            let mut u = 0;
            loop {
                match family.draw(parts, state, &mut rng) {
                    Drawn::Symbol(symbol) => symbols.push(u16::try_from(symbol).ok()),
                    Drawn::Row(row) => rows.push(Some(&row)),
                }
                drawn += 1;
                let hazard = tables.hazard[state * tables.longest + u];
                u = (u + 1).min(tables.longest - 1);
                if drawn == length || choose(&[hazard, 1.0 - hazard], &mut rng) == 0 {
                    break;
                }
            }
            state = choose(&self.row(&self.transition[state], state), &mut rng);
        }
        if self.emission.is_over_symbols() {
            Samples::Symbols(symbols)
        } else {
            Samples::Channels(rows)
        }
    }

    fn symbols(&self) -> Option<usize> {
        self.emission.is_over_symbols().then(|| self.emission.shape().size)
    }
}
