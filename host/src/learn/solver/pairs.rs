//! The dual of a support vector machine, solved a pair of multipliers at a time.

use multiversion::multiversion;

use crate::kernel::Gram;
use crate::learn::solver::loss::Costs;

/// The largest violation of the optimality conditions, in units of the margin.
pub(crate) const TOLERANCE: f64 = 1e-6;
/// The curvature along a pair of items that are alike: some number above zero.
const FLAT: f64 = 1e-12;
/// Steps at most, and at most an item where that is more; among some of the items, an item at a stretch.
const STEPS: usize = 10_000_000;
const STEPS_AN_ITEM: usize = 100;
/// The violation at which items that were shrunken early are checked again.
const NEAR: f64 = 10.0 * TOLERANCE;
/// Steps from one shrinking to the next, or one an item where that is fewer.
const SHRINK: usize = 1_000;
/// Number of times that settled items may return before the rest is read in double precision.
///
/// After twice that no item is left out.
///
/// Rounding may recall items.
const ROUNDS: usize = 8;
/// Numbers that are compared at a time.
const LANES: usize = 8;

/// The dual in signed multipliers `b_i = S_i alpha_i`: least `1/2 b' K b - S' b` with
/// `low_i <= b_i <= high_i` and `sum_i b_i = 0`.
pub(crate) struct Dual<'g> {
    gram: &'g Gram,
    costs: Costs,
    /// `S_i`, `[item]`.
    sign: Vec<f64>,
    /// `b_i`, `[item]`.
    multiplier: Vec<f64>,
    /// Shortfall of the margin, `S - K b`, `[item]`.
    lacking: Vec<f64>,
}

impl<'g> Dual<'g> {
    /// All multipliers zero.
    pub(crate) fn new(gram: &'g Gram, positive: &[bool], costs: Costs) -> Self {
        let sign: Vec<f64> = positive.iter().map(|&is| if is { 1.0 } else { -1.0 }).collect();
        Self { gram, costs, lacking: sign.clone(), multiplier: vec![0.0; sign.len()], sign }
    }

    /// The least and the most that an item's multiplier may be.
    fn bounds(&self, item: usize) -> (f64, f64) {
        match self.sign[item] > 0.0 {
            true => (0.0, self.costs.positive),
            false => (-self.costs.negative, 0.0),
        }
    }

    /// Other costs, and the multipliers as a start for them: times the factor that makes the objective least, of those
    /// that keep every one within its bounds and, where costs rise, make none smaller. They sum to zero as before, and
    /// what margins lack follows without a look at the matrix. Seeds of larger costs: D. DeCoste and K. Wagstaff,
    /// Alpha seeding for support vector machines, KDD 2000.
    pub(crate) fn carry_to(&mut self, costs: Costs) {
        let ratio =
            (costs.positive / self.costs.positive).min(costs.negative / self.costs.negative);
        // Of the objective along a factor t: 1/2 t^2 b' K b - t S' b.
        let (mut slope, mut square) = (0.0, 0.0);
        for ((multiplier, sign), lacking) in
            self.multiplier.iter().zip(&self.sign).zip(&self.lacking)
        {
            slope += multiplier * sign;
            square += multiplier * (sign - lacking);
        }
        let best = if square > 0.0 { slope / square } else { 1.0 };
        let by = best.clamp(ratio.min(1.0), ratio);
        self.costs = costs;
        for item in 0..self.sign.len() {
            let (low, high) = self.bounds(item);
            self.multiplier[item] = (by * self.multiplier[item]).clamp(low, high);
            self.lacking[item] = self.sign[item] - by * (self.sign[item] - self.lacking[item]);
        }
    }

    /// Returns whether larger costs change nothing: the conditions hold, and no multiplier is at its cost.
    pub(crate) fn bounds_none(&self) -> bool {
        (0..self.sign.len()).all(|item| self.multiplier[item] == 0.0 || self.is_free(item))
    }

    fn is_free(&self, item: usize) -> bool {
        let (low, high) = self.bounds(item);
        low < self.multiplier[item] && self.multiplier[item] < high
    }

    /// Takes steps until the conditions hold of all items; false where there were too many.
    ///
    /// Shrinking: C.-C. Chang and C.-J. Lin, LIBSVM: a library for support vector machines, ACM Transactions on
    /// Intelligent Systems and Technology 2, 2011, section 5.1. Once in a while items at a bound that press
    /// against it harder than any pair gives way are left out. When the others are near the end, and when they are
    /// settled, all come back, what their margins lack had anew, and the conditions are asked of all.
    ///
    /// Steps among all items read the matrix where it is. Those that are left after shrinking have a block of it of their
    /// own, in single precision, as LIBSVM has rows; what its rounding leaves of a violation is seen when all come back.
    pub(crate) fn solve(&mut self) -> bool {
        let count = self.sign.len();
        let period = SHRINK.min(count);
        let (mut wait, mut near) = (period, false);
        let (mut rounds, mut taken) = (0, 0);
        let mut active = Active::of_all(self);
        for _ in 0..STEPS.max(STEPS_AN_ITEM * count) {
            let whole = active.items.len() == count;
            // Steps that rounding leads in circles end as well.
            if (whole || taken < STEPS_AN_ITEM * count) && active.step(self.gram) {
                taken += usize::from(!whole);
                wait -= 1;
                if wait == 0 {
                    wait = period;
                    if rounds >= 2 * ROUNDS {
                        continue;
                    }
                    if !near && active.violation() < NEAR {
                        near = true;
                        active.give_back(self);
                        active = Active::of_all(self);
                    }
                    active.shrink(self, rounds < ROUNDS);
                }
            } else {
                active.give_back(self);
                if whole {
                    return true;
                }
                active = Active::of_all(self);
                (rounds, taken, wait) = (rounds + 1, 0, 1);
            }
        }
        active.give_back(self);
        false
    }

    /// The mean of what margins lack over multipliers between their bounds, or else the middle of what the others
    /// allow: what is lacking where nothing should be.
    pub(crate) fn bias(&self) -> f64 {
        let free = (0..self.sign.len()).filter(|&item| self.is_free(item));
        let (sum, count) =
            free.fold((0.0, 0_usize), |(sum, count), item| (sum + self.lacking[item], count + 1));
        if count > 0 {
            return sum / count as f64;
        }
        let all = Active::of_all(self);
        let (most, least) = (largest(&all.lacking, &all.rise).1, least(&all.lacking, &all.fall));
        if most.is_finite() { 0.5 * (most + least) } else { least }
    }

    /// `S_i alpha_i`, `[item]`.
    pub(crate) fn multipliers(&self) -> Vec<f64> {
        self.multiplier.clone()
    }
}

/// The items that steps are chosen from, place by place, and after them places that none is in, so that all are of whole
/// [`LANES`].
struct Active {
    /// Indices of the items, rising, `[place]` without the empty ones.
    items: Vec<usize>,
    /// `[place]`.
    diagonal: Vec<f64>,
    lacking: Vec<f64>,
    /// Offset: zero if the multiplier may rise, otherwise minus infinity; `fall` likewise if it may fall, with the other sign.
    rise: Vec<f64>,
    fall: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    multiplier: Vec<f64>,
    /// Rows of the items if they are fewer than all, unless the matrix is read in place.
    block: Option<Block>,
    /// The rows of a pair.
    raised: Vec<f64>,
    lowered: Vec<f64>,
}

/// Rows of the matrix of some items and no others, in single precision: half the bytes, one after the other.
struct Block {
    width: usize,
    values: Vec<f32>,
}

/// Number of places for `count` items, rounded up to whole lanes.
fn padded(count: usize) -> usize {
    count.next_multiple_of(LANES)
}

impl Active {
    /// All items.
    fn of_all(dual: &Dual<'_>) -> Self {
        let count = dual.sign.len();
        let width = padded(count);
        let with = |value: f64| vec![value; width];
        let mut all = Self {
            items: (0..count).collect(),
            diagonal: with(1.0),
            lacking: with(0.0),
            rise: with(f64::NEG_INFINITY),
            fall: with(f64::INFINITY),
            low: with(0.0),
            high: with(0.0),
            multiplier: with(0.0),
            block: None,
            raised: with(0.0),
            lowered: with(0.0),
        };
        all.lacking[..count].copy_from_slice(&dual.lacking);
        all.multiplier[..count].copy_from_slice(&dual.multiplier);
        for (item, diagonal) in dual.gram.diagonal().enumerate() {
            all.diagonal[item] = diagonal;
            (all.low[item], all.high[item]) = dual.bounds(item);
            all.bar(item);
        }
        all
    }

    /// Sets the directions in which the multiplier of a place may move.
    fn bar(&mut self, place: usize) {
        let multiplier = self.multiplier[place];
        self.rise[place] = if multiplier < self.high[place] { 0.0 } else { f64::NEG_INFINITY };
        self.fall[place] = if multiplier > self.low[place] { 0.0 } else { f64::INFINITY };
    }

    /// Largest violation of the conditions.
    fn violation(&self) -> f64 {
        largest(&self.lacking, &self.rise).1 - least(&self.lacking, &self.fall)
    }

    /// The row of the matrix of a place.
    fn row(&self, place: usize, gram: &Gram, into: &mut [f64]) {
        match &self.block {
            Some(block) => {
                let row = &block.values[place * block.width..][..block.width];
                into.iter_mut().zip(row).for_each(|(wide, &k)| *wide = f64::from(k));
            }
            None if self.items.len() == gram.len() => {
                into[..gram.len()].copy_from_slice(gram.row(place));
            }
            None => {
                let row = gram.row(self.items[place]);
                into.iter_mut().zip(&self.items).for_each(|(wide, &item)| *wide = row[item]);
            }
        }
    }

    /// Raises one multiplier, that of the margin that lacks most, and lowers another by as much, the one that gains most
    /// with it to second order. False where the conditions hold.
    fn step(&mut self, gram: &Gram) -> bool {
        let (i, most) = largest(&self.lacking, &self.rise);
        if most == f64::NEG_INFINITY {
            return false;
        }
        let mut raised = std::mem::take(&mut self.raised);
        self.row(i, gram, &mut raised);
        let own = (self.diagonal[i], most);
        let (j, least) = second(&self.lacking, &self.fall, &self.diagonal, &raised, own);
        self.raised = raised;
        let Some(j) = j.filter(|_| most - least >= TOLERANCE) else { return false };
        let mut lowered = std::mem::take(&mut self.lowered);
        self.row(j, gram, &mut lowered);
        self.lowered = lowered;
        // Of alike items single precision rounds all of it away, or has more than there is: no step goes beyond what is
        // followed.
        let across = gram.get(self.items[i], self.items[j]);
        let followed = (self.raised[i] - self.raised[j]) - (self.lowered[i] - self.lowered[j]);
        let curvature = self.diagonal[i] + self.diagonal[j] - 2.0 * across;
        let curvature = curvature.max(followed).max(FLAT);
        let up = self.high[i] - self.multiplier[i];
        let down = self.multiplier[j] - self.low[j];
        let step = ((most - self.lacking[j]) / curvature).min(up).min(down);
        // A bound that is reached is reached to the bit.
        let (before, after) = (self.multiplier[i], self.multiplier[j]);
        self.multiplier[i] = if step >= up { self.high[i] } else { before + step };
        self.multiplier[j] = if step >= down { self.low[j] } else { after - step };
        self.bar(i);
        self.bar(j);
        follow(&mut self.lacking, &self.raised, &self.lowered, step);
        true
    }

    /// Leaves out items that cannot be in a pair now; the others may have a block.
    fn shrink(&mut self, dual: &mut Dual<'_>, block: bool) {
        let most = largest(&self.lacking, &self.rise).1;
        if most == f64::NEG_INFINITY {
            return;
        }
        let least = least(&self.lacking, &self.fall);
        let presses = |place: usize| {
            self.rise[place] < 0.0 && self.lacking[place] > most
                || self.fall[place] > 0.0 && self.lacking[place] < least
        };
        let kept: Vec<usize> = (0..self.items.len()).filter(|&place| !presses(place)).collect();
        if kept.len() == self.items.len() {
            return;
        }
        self.give_multipliers(dual);
        let width = padded(kept.len());
        let pick = |all: &mut Vec<f64>, empty: f64| {
            kept.iter().enumerate().for_each(|(to, &from)| all[to] = all[from]);
            all.truncate(width);
            all[kept.len()..].fill(empty);
        };
        pick(&mut self.diagonal, 1.0);
        pick(&mut self.lacking, 0.0);
        pick(&mut self.rise, f64::NEG_INFINITY);
        pick(&mut self.fall, f64::INFINITY);
        for all in [&mut self.low, &mut self.high, &mut self.multiplier] {
            pick(all, 0.0);
        }
        for row in [&mut self.raised, &mut self.lowered] {
            row.truncate(width);
            row.fill(0.0);
        }
        self.items = kept.iter().map(|&place| self.items[place]).collect();
        match &mut self.block {
            Some(block) => block.keep(&kept),
            None if block => self.block = Block::of(dual.gram, &self.items),
            None => {}
        }
    }

    fn give_multipliers(&self, dual: &mut Dual<'_>) {
        for (&item, &multiplier) in self.items.iter().zip(&self.multiplier) {
            dual.multiplier[item] = multiplier;
        }
    }

    /// Gives back all multipliers, and what margins lack of them: where some items were left out had anew, a product of
    /// all items and those that have a multiplier.
    fn give_back(&self, dual: &mut Dual<'_>) {
        self.give_multipliers(dual);
        if self.items.len() == dual.sign.len() {
            dual.lacking.copy_from_slice(&self.lacking[..self.items.len()]);
            return;
        }
        let all = dual.multiplier.iter().copied().enumerate();
        let support: Vec<(usize, f64)> = all.filter(|(_, multiplier)| *multiplier != 0.0).collect();
        for ((lacking, sign), row) in dual.lacking.iter_mut().zip(&dual.sign).zip(dual.gram.rows())
        {
            *lacking = sign - support.iter().map(|&(item, by)| by * row[item]).sum::<f64>();
        }
    }
}

impl Block {
    /// Block of some items; `None` if entries exceed single precision.
    fn of(gram: &Gram, items: &[usize]) -> Option<Self> {
        let width = padded(items.len());
        let mut values = vec![0.0; items.len() * width];
        for (own, &item) in values.chunks_exact_mut(width.max(1)).zip(items) {
            let row = gram.row(item);
            own.iter_mut().zip(items).for_each(|(narrow, &item)| *narrow = row[item] as f32);
        }
        values.iter().all(|k: &f32| k.is_finite()).then_some(Self { width, values })
    }

    /// Keeps some of its places, in rising order, in place.
    fn keep(&mut self, kept: &[usize]) {
        let (before, width) = (self.width, padded(kept.len()));
        for (to, &from) in kept.iter().enumerate() {
            for (column, &place) in kept.iter().enumerate() {
                self.values[to * width + column] = self.values[from * before + place];
            }
            self.values[to * width + kept.len()..(to + 1) * width].fill(0.0);
        }
        self.values.truncate(kept.len() * width);
        self.width = width;
    }
}

/// The first place of the largest sum, and it.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn largest(values: &[f64], barred: &[f64]) -> (usize, f64) {
    let (mut most, mut at) = ([f64::NEG_INFINITY; LANES], [0_u64; LANES]);
    let (values, barred) = (values.as_chunks::<LANES>().0, barred.as_chunks::<LANES>().0);
    for (chunk, (values, barred)) in (0_u64..).zip(values.iter().zip(barred)) {
        for lane in 0..LANES {
            let value = values[lane] + barred[lane];
            let larger = value > most[lane];
            most[lane] = if larger { value } else { most[lane] };
            at[lane] = if larger { chunk } else { at[lane] };
        }
    }
    first_of(most, at)
}

/// First place of the largest value, from the largest value and chunk of each lane.
fn first_of(most: [f64; LANES], at: [u64; LANES]) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (lane, (value, chunk)) in most.into_iter().zip(at).enumerate() {
        let place = chunk as usize * LANES + lane;
        if value > best.1 || value == best.1 && place < best.0 {
            best = (place, value);
        }
    }
    best
}

/// The least sum.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn least(values: &[f64], barred: &[f64]) -> f64 {
    let mut least = [f64::INFINITY; LANES];
    let (values, barred) = (values.as_chunks::<LANES>().0, barred.as_chunks::<LANES>().0);
    for (values, barred) in values.iter().zip(barred) {
        for lane in 0..LANES {
            let value = values[lane] + barred[lane];
            least[lane] = if value < least[lane] { value } else { least[lane] };
        }
    }
    least.into_iter().fold(f64::INFINITY, f64::min)
}

/// The first place that gains most with an item of this diagonal that lacks `most`, `(most - lacking)^2 / curvature`,
/// if any lacks less; and the least that any lacks.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn second(
    lacking: &[f64],
    barred: &[f64],
    diagonal: &[f64],
    row: &[f64],
    (own, most): (f64, f64),
) -> (Option<usize>, f64) {
    let (mut best, mut at) = ([f64::NEG_INFINITY; LANES], [0_u64; LANES]);
    let mut least = [f64::INFINITY; LANES];
    let lacking = lacking.as_chunks::<LANES>().0.iter().zip(barred.as_chunks::<LANES>().0);
    let curved = diagonal.as_chunks::<LANES>().0.iter().zip(row.as_chunks::<LANES>().0);
    for (chunk, ((lacking, barred), (diagonal, row))) in (0_u64..).zip(lacking.zip(curved)) {
        for lane in 0..LANES {
            let value = lacking[lane] + barred[lane];
            least[lane] = if value < least[lane] { value } else { least[lane] };
            let slope = most - value;
            let curvature = own + diagonal[lane] - 2.0 * row[lane];
            let curvature = if curvature > FLAT { curvature } else { FLAT };
            let gain = if slope > 0.0 { slope * slope / curvature } else { f64::NEG_INFINITY };
            let larger = gain > best[lane];
            best[lane] = if larger { gain } else { best[lane] };
            at[lane] = if larger { chunk } else { at[lane] };
        }
    }
    let (place, gain) = first_of(best, at);
    let place = (gain > f64::NEG_INFINITY).then_some(place);
    (place, least.into_iter().fold(f64::INFINITY, f64::min))
}

/// Updates the shortfalls of margins after a step along a pair.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn follow(lacking: &mut [f64], raised: &[f64], lowered: &[f64], step: f64) {
    for (lacking, (raised, lowered)) in lacking.iter_mut().zip(raised.iter().zip(lowered)) {
        *lacking -= step * (raised - lowered);
    }
}
