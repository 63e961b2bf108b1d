use std::collections::BTreeMap;

use fishweir_core::context::{ContextRule, StringHistory};
use fishweir_core::kernel::Affinity;
use fishweir_core::number::power;

use super::compared::checked;
use super::{BetweenError, ModelKernel, check};
use crate::elementary::Elementary;
use crate::model::{MarkovModel, Model};

/// The kernel between Markov chains of any order, padded or of variable contexts, over strings of one length.
///
/// ```text
/// probability product   k(p, q) = sum_x p(x)^rho q(x)^rho
/// mean map              k(p, q) = sum_x sum_y p(x) q(y) prod_t exp(-lambda [x_t != y_t])
/// ```
///
/// The sums run over all strings, by a forward recursion over the pairs of contexts that can be reached. Where strings end by an
/// event, they end after that length. Symbols that a model does not predict, the first of an order that is not padded, are any, all as
/// likely: as they are drawn.
///
/// Source: Jebara, Kondor and Howard, "Probability Product Kernels", 2004, equation 1, of observed chains. Time per pair of models with
/// `P` pairs of contexts: `P K` multiply-adds per symbol, `P K^2` of the mean map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarkovKernel {
    measure: Affinity<f64>,
    length: usize,
}

/// Pairs of contexts at most.
const MOST_PAIRS: usize = 1 << 20;
/// Ways from pairs to pairs at most: above, a pair of models would not fit a few gigabytes.
const MOST_WAYS: usize = 1 << 27;

/// One way on: to which pair of contexts, with which weight.
struct Way {
    to: usize,
    weight: f64,
}

impl MarkovKernel {
    /// The kernel by a measure, over strings of `length` symbols.
    ///
    /// # Errors
    /// [`BetweenError::Parameter`] where the measure's parameter is out of range.
    pub fn new(measure: Affinity<f64>, length: usize) -> Result<Self, BetweenError> {
        Ok(Self { measure: checked(measure)?, length })
    }

    /// `weight(k, l)` of two symbols' probabilities.
    fn weight(&self, p: f64, q: f64, same: bool) -> f64 {
        match self.measure {
            Affinity::Product { rho } if same => power(p, rho) * power(q, rho),
            Affinity::Product { .. } => 0.0,
            Affinity::MeanMap { .. } if same => p * q,
            Affinity::MeanMap { lambda } => p * q * (-lambda).portable_exp(),
        }
    }
}

impl ModelKernel for MarkovKernel {
    type Model = MarkovModel;

    fn log_value(&self, a: &MarkovModel, b: &MarkovModel) -> Result<f64, BetweenError> {
        let symbols = a.size();
        check::same("symbols", symbols, b.size())?;
        if a.has_end() != b.has_end() {
            let why = "one model's strings end by an event, the other's do not: fit both alike";
            return Err(BetweenError::Model { part: "end".into(), why: why.into() });
        }
        let (first, second) = (a.rule(), b.rule());
        let start = |rule| ContextRule::<usize, 1>::start(rule);
        let next = |rule, place, symbol| ContextRule::<usize, 1>::step(rule, place, &symbol);
        let p = |model: &MarkovModel, place: StringHistory, symbol: usize| match place.context() {
            Some(context) => model.probability()[context][symbol],
            None => 1.0 / symbols as f64,
        };
        let key = |[a, b]: [StringHistory; 2]| (a.parts(), b.parts());
        // Pairs of contexts in the order in which they are found.
        let mut pairs = vec![[start(&first), start(&second)]];
        let mut known = BTreeMap::from([(key(pairs[0]), 0)]);
        let (mut ways, mut first_way): (Vec<Way>, Vec<usize>) = (Vec::new(), vec![0]);
        let mut ends = Vec::new();
        while let Some(&[left, right]) = pairs.get(first_way.len() - 1) {
            for k in 0..symbols {
                for l in 0..symbols {
                    let weight = self.weight(p(a, left, k), p(b, right, l), k == l);
                    let (Ok((_, to)), Ok((_, other))) =
                        (next(&first, left, k), next(&second, right, l))
                    else {
                        continue;
                    };
                    if weight == 0.0 {
                        continue;
                    }
                    let found = pairs.len();
                    let to = *known.entry(key([to, other])).or_insert_with(|| {
                        pairs.push([to, other]);
                        found
                    });
                    ways.push(Way { to, weight });
                }
            }
            if pairs.len() > MOST_PAIRS || ways.len() > MOST_WAYS {
                let why = format!(
                    "more than {MOST_PAIRS} pairs of contexts, or {MOST_WAYS} ways between them: take shorter contexts"
                );
                return Err(BetweenError::Model { part: "contexts".into(), why });
            }
            ends.push(match a.has_end() {
                true => self.weight(p(a, left, symbols), p(b, right, symbols), true),
                false => 1.0,
            });
            first_way.push(ways.len());
        }
        let (mut here, mut log) = (vec![0.0; pairs.len()], 0.0);
        here[0] = 1.0;
        for _ in 0..self.length {
            let mut there = vec![0.0; pairs.len()];
            for (pair, &mass) in here.iter().enumerate() {
                for way in &ways[first_way[pair]..first_way[pair + 1]] {
                    there[way.to] += mass * way.weight;
                }
            }
            let mut sum = 0.0;
            for mass in &there {
                sum += mass;
            }
            if sum == 0.0 {
                return Ok(f64::NEG_INFINITY);
            }
            for mass in &mut there {
                *mass /= sum;
            }
            log += sum.portable_ln();
            here = there;
        }
        let mut last = 0.0;
        for (mass, end) in here.iter().zip(&ends) {
            last += mass * end;
        }
        Ok(log + last.portable_ln())
    }
}
