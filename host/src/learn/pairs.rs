//! The dual of a support vector machine, solved a pair of multipliers at a time.

use super::loss::Costs;
use crate::kernel::Gram;

/// The largest violation of the optimality conditions, in units of the margin.
const TOLERANCE: f64 = 1e-6;
/// The curvature along a pair of items that are alike: some number above zero.
const FLAT: f64 = 1e-12;
/// Steps at most, and at most an item where that is more.
const STEPS: usize = 10_000_000;
const STEPS_AN_ITEM: usize = 100;
/// The violation at which what was shrunken early is looked at again.
const NEAR: f64 = 10.0 * TOLERANCE;
/// Steps from one shrinking to the next, or one an item where that is fewer.
const SHRINK: usize = 1_000;

/// An item and its multiplier.
#[derive(Clone, Copy)]
struct Item {
    index: usize,
    diagonal: f64,
    /// `S_i`.
    sign: f64,
    low: f64,
    high: f64,
    multiplier: f64,
    /// What its margin lacks: its entry of `S - K b`.
    lacking: f64,
}

impl Item {
    /// With the bounds of its side.
    fn bounded(self, costs: Costs) -> Self {
        match self.sign > 0.0 {
            true => Self { low: 0.0, high: costs.positive, ..self },
            false => Self { low: -costs.negative, high: 0.0, ..self },
        }
    }

    fn may_rise(&self) -> bool {
        self.multiplier < self.high
    }

    fn may_fall(&self) -> bool {
        self.multiplier > self.low
    }

    fn is_free(&self) -> bool {
        self.may_rise() && self.may_fall()
    }
}

/// The dual in signed multipliers `b_i = S_i alpha_i`: least `1/2 b' K b - S' b` with
/// `low_i <= b_i <= high_i` and `sum_i b_i = 0`.
pub(super) struct Dual<'g> {
    gram: &'g Gram,
    costs: Costs,
    /// Items that steps are chosen from, by index; between calls all.
    active: Vec<Item>,
    /// Items left out, at bounds that they press against; what their margins lack is not followed.
    shrunken: Vec<Item>,
}

impl<'g> Dual<'g> {
    /// All multipliers zero.
    pub(super) fn new(gram: &'g Gram, positive: &[bool], costs: Costs) -> Self {
        let item = |(index, (&is, diagonal)): (usize, (&bool, f64))| {
            let sign = if is { 1.0 } else { -1.0 };
            let none =
                Item { index, diagonal, sign, low: 0.0, high: 0.0, multiplier: 0.0, lacking: sign };
            none.bounded(costs)
        };
        let active = positive.iter().zip(gram.diagonal()).enumerate().map(item).collect();
        Self { gram, costs, active, shrunken: Vec::with_capacity(positive.len()) }
    }

    /// Other costs, and the multipliers as a start for them: times the factor that makes the objective least, of those
    /// that keep every one within its bounds and, where costs rise, make none smaller. They sum to zero as before, and
    /// what margins lack follows without a look at the matrix. Seeds of larger costs: D. DeCoste and K. Wagstaff,
    /// Alpha seeding for support vector machines, KDD 2000.
    pub(super) fn carry_to(&mut self, costs: Costs) {
        let ratio =
            (costs.positive / self.costs.positive).min(costs.negative / self.costs.negative);
        // Of the objective along a factor t: 1/2 t^2 b' K b - t S' b.
        let (slope, square) = self.active.iter().fold((0.0, 0.0), |(slope, square), one| {
            let value = one.sign - one.lacking;
            (slope + one.multiplier * one.sign, square + one.multiplier * value)
        });
        let best = if square > 0.0 { slope / square } else { 1.0 };
        let by = best.clamp(ratio.min(1.0), ratio);
        for one in &mut self.active {
            *one = one.bounded(costs);
            one.multiplier = (by * one.multiplier).clamp(one.low, one.high);
            one.lacking = one.sign - by * (one.sign - one.lacking);
        }
        self.costs = costs;
    }

    /// Whether larger costs change nothing: the conditions hold, and no multiplier is at its cost.
    pub(super) fn bounds_none(&self) -> bool {
        self.active.iter().all(|one| one.multiplier == 0.0 || one.is_free())
    }

    /// Takes steps until the conditions hold of all items; false where there were too many.
    ///
    /// Shrinking: C.-C. Chang and C.-J. Lin, LIBSVM: a library for support vector machines, ACM Transactions on
    /// Intelligent Systems and Technology 2, 2011, section 5.1. Once in a while items at a bound that press
    /// against it harder than any pair gives way are left out. When the others are near the end, and when they are
    /// settled, all come back, what their margins lack had anew, and the conditions are asked of all.
    pub(super) fn solve(&mut self) -> bool {
        let count = self.active.len();
        let period = SHRINK.min(count);
        let (mut wait, mut near) = (period, false);
        for _ in 0..STEPS.max(STEPS_AN_ITEM * count) {
            if self.step() {
                wait -= 1;
                if wait == 0 {
                    wait = period;
                    if !near && self.rising().is_some_and(|(_, most)| most - self.least() < NEAR) {
                        near = true;
                        self.unshrink();
                    }
                    self.shrink();
                }
            } else if self.shrunken.is_empty() {
                return true;
            } else {
                self.unshrink();
                wait = 1;
            }
        }
        self.unshrink();
        false
    }

    /// Leaves out what cannot be of a pair as things are.
    fn shrink(&mut self) {
        let Some((_, most)) = self.rising() else { return };
        let least = self.least();
        let presses = |one: &mut Item| {
            !one.may_rise() && one.lacking > most || !one.may_fall() && one.lacking < least
        };
        self.shrunken.extend(self.active.extract_if(.., presses));
    }

    /// All items again, what margins lack had anew where it was not followed: a product of so many items and so
    /// many that have a multiplier.
    fn unshrink(&mut self) {
        let all = self.active.iter().chain(&self.shrunken);
        let support: Vec<(usize, f64)> = all
            .filter(|one| one.multiplier != 0.0)
            .map(|one| (one.index, one.multiplier))
            .collect();
        for item in &mut self.shrunken {
            let row = self.gram.row(item.index);
            let value: f64 =
                support.iter().map(|&(index, multiplier)| multiplier * row[index]).sum();
            item.lacking = item.sign - value;
        }
        self.active.append(&mut self.shrunken);
        self.active.sort_unstable_by_key(|item| item.index);
    }

    /// The item whose multiplier should rise most, and by how much its margin lacks more than another's.
    fn rising(&self) -> Option<(usize, f64)> {
        let may_rise = self.active.iter().enumerate().filter(|(_, one)| one.may_rise());
        let lacking = may_rise.map(|(place, one)| (place, one.lacking));
        lacking.reduce(|most, one| if one.1 > most.1 { one } else { most })
    }

    /// The least that a margin lacks whose multiplier may fall.
    fn least(&self) -> f64 {
        let may_fall = self.active.iter().filter(|one| one.may_fall());
        may_fall.map(|one| one.lacking).fold(f64::INFINITY, f64::min)
    }

    /// Raises one multiplier and lowers another by as much. False where the conditions hold.
    fn step(&mut self) -> bool {
        let Some((i, most)) = self.rising() else { return false };
        let rising = self.active[i];
        let row = self.gram.row(rising.index);
        let (mut best, mut least) = (None, f64::INFINITY);
        // The gain is a quotient, `top / below`: compared without dividing.
        let (mut top, mut below) = (0.0, 1.0);
        for (place, one) in self.active.iter().enumerate().filter(|(_, one)| one.may_fall()) {
            least = least.min(one.lacking);
            let slope = most - one.lacking;
            if slope > 0.0 {
                let curvature = (rising.diagonal + one.diagonal - 2.0 * row[one.index]).max(FLAT);
                let square = slope * slope;
                if square * below > top * curvature {
                    (top, below) = (square, curvature);
                    best = Some((place, slope));
                }
            }
        }
        let Some((j, slope)) = best.filter(|_| most - least >= TOLERANCE) else { return false };
        let falling = self.active[j];
        let up = rising.high - rising.multiplier;
        let down = falling.multiplier - falling.low;
        let step = (slope / below).min(up).min(down);
        // A bound that is reached is reached to the bit.
        self.active[i].multiplier = if step >= up { rising.high } else { rising.multiplier + step };
        self.active[j].multiplier =
            if step >= down { falling.low } else { falling.multiplier - step };
        let other = self.gram.row(falling.index);
        for one in &mut self.active {
            one.lacking -= step * (row[one.index] - other[one.index]);
        }
        true
    }

    /// What margins lack where they should be one: the mean over multipliers between their bounds, or
    /// else the middle of what the others allow.
    pub(super) fn bias(&self) -> f64 {
        let free = self.active.iter().filter(|one| one.is_free());
        let (sum, count) =
            free.fold((0.0, 0_usize), |(sum, count), one| (sum + one.lacking, count + 1));
        match self.rising() {
            _ if count > 0 => sum / count as f64,
            Some((_, most)) => 0.5 * (most + self.least()),
            None => self.least(),
        }
    }

    /// `S_i alpha_i`, `[item]`.
    pub(super) fn multipliers(&self) -> Vec<f64> {
        self.active.iter().map(|item| item.multiplier).collect()
    }
}
