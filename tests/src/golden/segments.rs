//! Models of segments: states with durations of their own, strings with a final state.

use fishweir::data::{Rows, Samples, SamplesView};
use fishweir::fit::{BaumWelch, FittedMoments};
use fishweir::model::{SegmentEm, SegmentPosterior, SemiMarkov};
use fishweir::runtime::Emissions;
use fishweir_core::emission::Parametrisation;
use fishweir_core::semi_markov::SegmentChain;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::compare::Comparison;
use super::host_missing::host_of;
use super::inference::at;
use super::precision::{Kind, Precise};
use super::schema::{InPartJson, Matrix, Row};
use super::tree::Tree;
use crate::oracle::{Law, Model, Observation, Sequence};
use crate::rounding::Tolerance;

/// Strings with a final state.
pub(super) struct FinalState;

/// States with durations of their own.
pub(super) struct Durations;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Inputs {
    hmm: Value,
    sequences: Vec<InPartJson>,
}

const EXACT: Tolerance = Tolerance::EXACT;

/// Number of lengths that a case states the probabilities of.
const LENGTHS: usize = 8;

impl Kind for FinalState {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let (model, law) = read(inputs.hmm, &[])?;
        check_all::<T>(&model, &law, inputs.sequences, comparison)?;
        let silent = vec![None; LENGTHS];
        let symbols = Samples::Symbols(silent);
        let mut rows = Rows::new(model.emission.shape().size);
        (0..LENGTHS).for_each(|_| rows.push(None));
        let any = if model.emission.is_over_symbols() { symbols } else { Samples::Channels(rows) };
        let prefixes = model.prefixes(any.view()).map_err(|error| error.to_string())?;
        let empty = model.end.last().copied().unwrap_or(0.0);
        let others = prefixes.log_if_ended.iter().map(|log| log.exp());
        let lengths: Row = std::iter::once(empty).chain(others).collect();
        comparison.field("length_probability", lengths, EXACT);
        Ok(())
    }
}

impl Kind for Durations {
    type Inputs = Inputs;

    fn check<T: Precise>(inputs: Inputs, comparison: &mut Comparison) -> Result<(), String> {
        let (model, law) = read(inputs.hmm, &["durations", "shape", "success"])?;
        check_all::<T>(&model, &law, inputs.sequences, comparison)
    }
}

/// The model, and the law of its first state.
fn read(hmm: Value, durations: &[&str]) -> Result<(SemiMarkov, Law), String> {
    let Value::Object(mut fields) = hmm else { return Err("hmm: no object".into()) };
    fn take<A: serde::de::DeserializeOwned>(
        fields: &mut Map<String, Value>,
        name: &str,
    ) -> Result<Option<A>, String> {
        let value = fields.remove(name).map(serde_json::from_value).transpose();
        value.map_err(|error| format!("hmm: {name}: {error}"))
    }
    let (mut end, mut tables, mut negative): (Row, Matrix, Matrix) = Default::default();
    if durations.is_empty() {
        end = take(&mut fields, "end")?.ok_or("no `end`")?;
        end.push(take(&mut fields, "initial_end")?.ok_or("no `initial_end`")?);
    } else {
        tables = take(&mut fields, durations[0])?.unwrap_or_default();
        let shape: Row = take(&mut fields, durations[1])?.unwrap_or_default();
        let success: Row = take(&mut fields, durations[2])?.unwrap_or_default();
        negative = shape.into_iter().zip(success).map(|(r, p)| vec![r, p]).collect();
    }
    let plain: Model =
        serde_json::from_value(Value::Object(fields)).map_err(|error| format!("hmm: {error}"))?;
    let law = plain.emission.first().cloned().ok_or("no state")?;
    let model = SemiMarkov {
        initial: plain.initial.clone(),
        transition: plain.transition.clone(),
        emission: emissions(&plain)?,
        durations: tables,
        negative_binomial: negative,
        end,
    };
    model.validate().map_err(|error| error.to_string())?;
    // Through its file.
    let text = serde_json::to_string(&model).map_err(|error| error.to_string())?;
    let model = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    Ok((model, law))
}

pub(super) fn emissions(plain: &Model) -> Result<Emissions, String> {
    let row = |law: &Law| if let Law::Categorical(p) = law { Some(p.clone()) } else { None };
    match plain.emission.iter().map(row).collect::<Option<Matrix>>() {
        Some(rows) => Ok(Emissions::categorical(rows)),
        None => Ok(host_of(plain)?.emission),
    }
}

pub(super) fn samples(sequence: &Sequence, model: &Emissions) -> Samples {
    if model.is_over_symbols() {
        let symbol = |x: &Option<Observation>| match x {
            Some(Observation::Symbol(symbol)) => u16::try_from(*symbol).ok(),
            _ => None,
        };
        return Samples::Symbols(sequence.iter().map(symbol).collect());
    }
    let mut rows = Rows::new(model.shape().size);
    for x in sequence {
        rows.push(if let Some(Observation::Channels(x)) = x { Some(x) } else { None });
    }
    Samples::Channels(rows)
}

fn check_all<T: Precise>(
    model: &SemiMarkov,
    law: &Law,
    sequences: Vec<InPartJson>,
    comparison: &mut Comparison,
) -> Result<(), String> {
    let sequences: Vec<Sequence> = sequences.into_iter().map(Into::into).collect();
    let samples: Vec<Samples> = sequences.iter().map(|x| samples(x, &model.emission)).collect();
    comparison.blocks("per_sequence", samples.len());
    let mut possible = Vec::new();
    for (index, one) in samples.iter().enumerate() {
        let mut fields = Fields { prefix: format!("per_sequence[{index}]."), comparison };
        if T::ROUNDING > 0.0 {
            in_precision::<T>(model, one.view(), &mut fields)?;
        }
        fields.check(model, law, one.view(), T::ROUNDING == 0.0)?;
        if model.posterior(one.view()).is_ok() {
            possible.push(one.view());
        }
    }
    step(model, law, &possible, comparison)
}

struct Fields<'a> {
    prefix: String,
    comparison: &'a mut Comparison,
}

impl Fields<'_> {
    fn put(&mut self, name: &str, got: impl Into<Tree>) {
        self.comparison.field(&format!("{}{name}", self.prefix), got, EXACT);
    }

    /// A field over time, or its values at some times.
    fn timed<A: Clone>(&mut self, name: &str, rows: Vec<A>, slack: Tolerance) -> Result<(), String>
    where
        Vec<A>: Into<Tree>,
    {
        let prefix = &self.prefix;
        if let Some(indices) = self.comparison.read::<Vec<usize>>(&format!("{prefix}indices"))? {
            self.comparison.field(&format!("{prefix}{name}_at"), at(&indices, &rows)?, slack);
        }
        self.comparison.field(&format!("{prefix}{name}"), rows, slack);
        Ok(())
    }

    fn check(
        &mut self,
        model: &SemiMarkov,
        law: &Law,
        x: SamplesView<'_>,
        streamed: bool,
    ) -> Result<(), String> {
        let ended = !model.end.is_empty();
        let prefixes = model.prefixes(x).map_err(|error| error.to_string())?;
        let found = model.posterior(x).ok();
        let log = found.as_ref().map_or(f64::NEG_INFINITY, |found| found.log_likelihood);
        self.put("log_likelihood", log);
        if streamed {
            let padded = |rows: Vec<Row>| -> Vec<Option<Row>> {
                let rows = rows.into_iter().map(Some);
                rows.chain(std::iter::repeat(None)).take(x.len()).collect()
            };
            let ends = prefixes.end_probability.iter().copied().map(Some);
            let ends = ends.chain(std::iter::repeat(None)).take(x.len()).collect::<Vec<_>>();
            self.timed("prefix_log_likelihood", prefixes.log_likelihood, EXACT)?;
            self.timed("log_likelihood_if_ended", prefixes.log_if_ended, EXACT)?;
            self.timed("filter", padded(prefixes.filter), EXACT)?;
            if ended {
                self.timed("end_probability", ends, EXACT)?;
            }
        }
        let best = model.segments(x).ok();
        let log = best.as_ref().map_or(f64::NEG_INFINITY, |(_, log)| *log);
        self.put("viterbi_log_prob", log);
        let segments = best.map(|(segments, _)| segments);
        if ended {
            let path = segments.map(|segments| {
                segments.iter().flat_map(|s| vec![s[0]; s[2]]).collect::<Vec<usize>>()
            });
            self.put("viterbi_path", path);
        } else {
            let rows = segments.map(|rows| rows.iter().map(|row| row.to_vec()).collect());
            let rows: Option<Vec<Vec<usize>>> = rows;
            self.put("viterbi_segments", rows);
        }
        let Some(found) = found else {
            for name in ["gamma", "xi_sum", "ratio", "softmax"] {
                if self.comparison.expects(&format!("{}{name}", self.prefix)) {
                    self.put(name, Tree::Undefined);
                }
            }
            return Ok(());
        };
        self.timed("gamma", found.states.clone(), EXACT)?;
        let product = |(rates, row): (&Row, &Row)| -> Row {
            rates.iter().zip(row).map(|(rate, p)| rate * p).collect()
        };
        let pairs: Matrix =
            found.transition_rates.iter().zip(&model.transition).map(product).collect();
        if ended {
            self.put("xi_sum", pairs);
            self.ratio(model, &found, x);
        } else {
            self.timed("segment_end", found.segment_end.clone(), EXACT)?;
            let cut = |row: &Row| -> Row {
                row.iter().copied().chain(std::iter::repeat(0.0)).take(x.len()).collect()
            };
            self.put("elapsed", found.elapsed.iter().map(cut).collect::<Matrix>());
            self.put("expected_transitions", pairs);
            self.put("expected_segments", found.segments.clone());
            self.put("expected_durations", expected_durations(model, &found));
        }
        self.scores(model, law, x)
    }

    /// Ratios, whose limits the posterior has where a probability is zero.
    fn ratio(&mut self, model: &SemiMarkov, found: &SegmentPosterior, x: SamplesView<'_>) {
        let less = |rates: &Row, by: f64| rates.iter().map(|rate| rate - by).collect::<Row>();
        let states = model.states();
        self.put("ratio.initial", less(&found.initial_rates, 1.0));
        let empty = if x.is_empty() { 1.0 / model.end[states] } else { 0.0 };
        self.put("ratio.initial_end", empty - 1.0);
        let visits: Row =
            (0..states).map(|i| found.states.iter().map(|row| row[i]).sum()).collect();
        let rows = found.transition_rates.iter().zip(&visits);
        self.put("ratio.transition", rows.map(|(row, &by)| less(row, by)).collect::<Matrix>());
        let ends = found.end_rates.iter().zip(&visits);
        self.put("ratio.end", ends.map(|(rate, by)| rate - by).collect::<Row>());
        let (Some(symbols), Some(rows)) = (x.symbols(), model.emission.symbols()) else { return };
        let mut score: Matrix = rows.iter().map(|row| vec![0.0; row.len()]).collect();
        for (time, symbol) in symbols.iter().enumerate() {
            let Some(symbol) = symbol else { continue };
            for (state, row) in score.iter_mut().enumerate() {
                row.iter_mut().for_each(|entry| *entry -= found.states[time][state]);
                row[usize::from(*symbol)] += found.rates[time][state];
            }
        }
        self.put("ratio.emission", score);
    }

    fn scores(&mut self, model: &SemiMarkov, law: &Law, x: SamplesView<'_>) -> Result<(), String> {
        let score = |by| model.score(x, by).map(|one| one.score).map_err(|error| error.to_string());
        let soft = score(Parametrisation::SOFTMAX)?;
        let ratio = score(Parametrisation::RATIO)?;
        let soft = Blocks::of(model, law, soft);
        let ratio = Blocks::of(model, law, ratio);
        let (states, end) = (model.states(), usize::from(!model.end.is_empty()));
        self.put("softmax.initial", soft.rows[0][..states].to_vec());
        let rows: Matrix = soft.rows[1..].iter().map(|row| row[..states].to_vec()).collect();
        self.put("softmax.transition", rows);
        if end == 1 {
            self.put("softmax.initial_end", soft.rows[0][states]);
            self.put("softmax.end", soft.rows[1..].iter().map(|row| row[states]).collect::<Row>());
        }
        self.put("softmax.durations", soft.durations.clone());
        if !model.negative_binomial.is_empty() {
            let column = |k: usize| ratio.durations.iter().map(|row| row[k]).collect::<Row>();
            self.put("negative_binomial.shape", column(0));
            self.put("negative_binomial.success", column(1));
        }
        let part = |name| model.emission.part(name).unwrap_or_default();
        match law {
            Law::Categorical(_) => self.put("softmax.emission", soft.emission[0].clone()),
            Law::Gaussian { .. } => {
                self.put("gaussian.means", ratio.emission[0].clone());
                self.put("gaussian.variances", ratio.emission[1].clone());
                self.put("gaussian.log_std", soft.emission[1].clone());
            }
            Law::FullGaussian { mean, .. } => {
                self.put("gaussian.means", ratio.emission[0].clone());
                let square = |row: &Row| Tree::from(split(row, mean.len()));
                let rows = ratio.emission[1].iter().map(square).collect();
                self.put("gaussian.covariances", Tree::List(rows));
            }
            Law::Mixture { weight, .. } => {
                self.put("softmax.weights", soft.emission[0].clone());
                let parts = |rows: &Matrix| {
                    let split = |row: &Row| Tree::from(split(row, row.len() / weight.len()));
                    Tree::List(rows.iter().map(split).collect())
                };
                self.put("gaussian.means", parts(&ratio.emission[1]));
                self.put("gaussian.variances", parts(&ratio.emission[2]));
                self.put("gaussian.log_std", parts(&soft.emission[2]));
            }
            Law::Poisson(_) | Law::Bernoulli(_) => {
                let counts = matches!(law, Law::Poisson(_));
                let plain = part(if counts { "rate" } else { "probability" });
                let slope = |p: f64| if counts { p } else { p * (1.0 - p) };
                let own = soft.emission[0].iter().zip(plain).map(|(score, own)| {
                    score.iter().zip(own).map(|(score, &own)| score / slope(own)).collect()
                });
                let own: Matrix = own.collect();
                let [family, natural, name] = match counts {
                    true => ["poisson", "log_rates", "rates"],
                    false => ["bernoulli", "logits", "probabilities"],
                };
                self.put(&format!("{family}.{natural}"), soft.emission[0].clone());
                self.put(&format!("{family}.{name}"), own);
            }
        }
        Ok(())
    }
}

fn split(row: &Row, size: usize) -> Matrix {
    row.chunks(size.max(1)).map(<[f64]>::to_vec).collect()
}

/// What a case calls expected durations of tables: the unfinished segment is spread.
fn expected_durations(model: &SemiMarkov, found: &SegmentPosterior) -> Matrix {
    let of_state = |(state, table): (usize, &Row)| {
        let count = |d: usize| {
            let open = (0..=d).map(|u| {
                let left: f64 = table[u..].iter().sum();
                let elapsed = found.elapsed[state].get(u).copied().unwrap_or(0.0);
                if elapsed > 0.0 { elapsed * table[d] / left } else { 0.0 }
            });
            found.ended[state][d] + open.sum::<f64>()
        };
        (0..table.len()).map(count).collect()
    };
    model.durations.iter().enumerate().map(of_state).collect()
}

/// A score's blocks.
struct Blocks {
    /// Initial, then transitions, with the end's entry.
    rows: Matrix,
    durations: Matrix,
    /// `[block][state][entry]`.
    emission: Vec<Matrix>,
}

impl Blocks {
    fn of(model: &SemiMarkov, law: &Law, score: Row) -> Self {
        let mut rest = score.as_slice();
        let mut take = |count: usize| -> Row {
            let (row, others) = rest.split_at(count);
            rest = others;
            row.to_vec()
        };
        let width = model.states() + usize::from(!model.end.is_empty());
        let rows = (0..=model.states()).map(|_| take(width)).collect();
        let durations = model.durations.iter().chain(&model.negative_binomial);
        let durations = durations.map(|row| take(row.len())).collect();
        let size = model.emission.shape().size;
        let widths: Vec<usize> = match law {
            Law::Gaussian { .. } => vec![size, size],
            Law::FullGaussian { .. } => vec![size, size * size],
            Law::Mixture { weight, .. } => {
                vec![weight.len(), weight.len() * size, weight.len() * size]
            }
            _ => vec![size],
        };
        let mut emission = vec![Matrix::new(); widths.len()];
        for _ in 0..model.states() {
            for (block, &width) in emission.iter_mut().zip(&widths) {
                block.push(take(width));
            }
        }
        Self { rows, durations, emission }
    }
}

/// The device's recursion in the precision under test, over likelihoods made in `f64`.
///
/// A sample adds the roundings of its sums, `N + D`, and some more; a filtered probability has those of all samples twice.
fn in_precision<T: Precise>(
    model: &SemiMarkov,
    x: SamplesView<'_>,
    fields: &mut Fields<'_>,
) -> Result<(), String> {
    let tables = model.device_tables(x.len());
    let of = |row: &[f64]| row.iter().map(|&p| T::from_f64(p)).collect::<Vec<T>>();
    let (initial, transition) = (of(&tables.0), of(&tables.1));
    let hazard = of(&tables.2);
    let chain = SegmentChain::new(&initial, &transition, &hazard).map_err(|e| e.to_string())?;
    let states = chain.states();
    let mut cells = vec![T::ZERO; hazard.len()];
    let mut room = vec![T::ZERO; states];
    let (mut log, mut possible, mut range) = (0.0, true, 0.0);
    let (mut prefix, mut ended, mut filter, mut ends) = (vec![], vec![], vec![], vec![]);
    for (time, row) in model.log_rows(x).map_err(|error| error.to_string())?.iter().enumerate() {
        if time == 0 {
            chain.begin(&mut cells)
        } else {
            chain.advance(&mut cells, &mut room)
        }
        let likelihood: Row = match row {
            None => vec![1.0; states],
            Some(logs) => {
                chain.states_of(&cells, &mut room);
                let reached = logs.iter().zip(&room).filter(|(_, mass)| mass.to_f64() > 0.0);
                let best: f64 = reached.map(|(log, _)| *log).fold(f64::NEG_INFINITY, f64::max);
                possible &= best > f64::NEG_INFINITY;
                log += best;
                range += if best.is_finite() { best.abs() } else { 0.0 };
                logs.iter().map(|log| (log - best).min(1.0).exp()).collect()
            }
        };
        let sum = chain.weigh(&mut cells, &of(&likelihood));
        possible &= sum.to_f64() > 0.0;
        if !possible {
            prefix.push(f64::NEG_INFINITY);
            ended.push(f64::NEG_INFINITY);
            filter.push(None);
            ends.push(None);
            continue;
        }
        cells.iter_mut().for_each(|cell| *cell = *cell / sum);
        log += sum.to_f64().ln();
        range += sum.to_f64().ln().abs();
        prefix.push(log);
        chain.states_of(&cells, &mut room);
        filter.push(Some(room.iter().map(|p| p.to_f64()).collect::<Row>()));
        chain.leaving(&cells, &mut room);
        let end = |i: usize| if model.end.is_empty() { 1.0 } else { model.end[i] };
        let leaves: f64 = (0..states).map(|i| room[i].to_f64() * end(i)).sum();
        ended.push(log + leaves.ln());
        ends.push(Some(leaves));
    }
    let longest = hazard.len() / states.max(1);
    let each = T::ROUNDING * (states + longest + 8) as f64;
    let steps = x.len().max(1) as f64;
    let logs = Tolerance::absolute(each * steps + 4.0 * T::ROUNDING * range);
    let probability = Tolerance::absolute(2.0 * each * steps);
    fields.timed("prefix_log_likelihood", prefix, logs)?;
    // A rare end has as many digits as its state.
    fields.timed("log_likelihood_if_ended", ended, logs.plus(probability))?;
    fields.timed("filter", filter, probability)?;
    if !model.end.is_empty() {
        fields.timed("end_probability", ends, probability)?;
    }
    Ok(())
}

/// One step of expectation and maximisation.
fn step(
    model: &SemiMarkov,
    law: &Law,
    sequences: &[SamplesView<'_>],
    comparison: &mut Comparison,
) -> Result<(), String> {
    if !comparison.expects("after_one_step") {
        return Ok(());
    }
    let start = BaumWelch {
        states: model.states(),
        std_floor: 1e-12,
        symbol_pseudocount: 0.0,
        transition_pseudocount: 0.0,
        ..BaumWelch::default()
    };
    let em = SegmentEm { start, durations: false, longest: None, end: false };
    let channels = if model.emission.is_over_symbols() { 0 } else { model.emission.shape().size };
    let scale = vec![1.0; channels];
    let moments = || FittedMoments::of(&em.start, model.emission.family(), sequences, &scale);
    let improve =
        |model| em.improve(model, sequences, moments()).map_err(|error| error.to_string());
    let (after, before) = improve(model)?;
    let (_, log) = improve(&after)?;
    comparison.field("total_log_likelihood", before, EXACT);
    comparison.field("total_log_likelihood_after", log, EXACT);
    let _: Option<String> = comparison.read("after_one_step.emission_type")?;
    let mut put = |name: &str, got: Tree| {
        comparison.field(&format!("after_one_step.{name}"), got, EXACT);
    };
    put("initial", after.initial.clone().into());
    put("transition", after.transition.clone().into());
    put("durations", after.durations.clone().into());
    if let Some((empty, end)) = after.end.split_last() {
        put("initial_end", (*empty).into());
        put("end", end.to_vec().into());
    }
    let part = |name| after.emission.part(name).unwrap_or_default();
    let squares = |rows: &[Row]| -> Matrix {
        rows.iter().map(|row| row.iter().map(|std| std * std).collect()).collect()
    };
    match law {
        Law::Categorical(_) => put("emission", part("probability").to_vec().into()),
        Law::Gaussian { .. } => {
            put("means", part("mean").to_vec().into());
            put("variances", squares(part("std")).into());
        }
        Law::FullGaussian { mean, .. } => {
            put("means", part("mean").to_vec().into());
            let square = |row: &Row| Tree::from(split(row, mean.len()));
            put("covariances", Tree::List(part("covariance").iter().map(square).collect()));
        }
        Law::Mixture { weight, .. } => {
            put("weights", part("weight").to_vec().into());
            for (name, rows) in
                [("means", part("mean").to_vec()), ("variances", squares(part("std")))]
            {
                let parts = |row: &Row| Tree::from(split(row, row.len() / weight.len()));
                put(name, Tree::List(rows.iter().map(parts).collect()));
            }
        }
        Law::Poisson(_) => put("rates", part("rate").to_vec().into()),
        Law::Bernoulli(_) => put("probabilities", part("probability").to_vec().into()),
    }
    Ok(())
}
