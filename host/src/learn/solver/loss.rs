//! Losses of the margin `m = y f(x)`: convex, with the derivatives that Newton's method needs.

use crate::elementary::Elementary;

/// A loss of the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// `log(1 + exp(-m))`: logistic regression.
    Logistic,
    /// `max(0, 1 - m)^2`: the support vector machine with the squared hinge.
    SquaredHinge,
}

impl Loss {
    /// The loss.
    #[inline]
    #[must_use]
    pub fn value(self, margin: f64) -> f64 {
        match self {
            Self::Logistic => softplus(-margin),
            Self::SquaredHinge => (1.0 - margin).max(0.0).powi(2),
        }
    }

    /// First derivative, not positive.
    #[inline]
    #[must_use]
    pub fn slope(self, margin: f64) -> f64 {
        match self {
            Self::Logistic => -sigmoid(-margin),
            Self::SquaredHinge => -2.0 * (1.0 - margin).max(0.0),
        }
    }

    /// Second derivative, not negative; for the squared hinge the one from the right at the kink, which is zero.
    #[inline]
    #[must_use]
    pub fn curvature(self, margin: f64) -> f64 {
        match self {
            Self::Logistic => {
                let e = (-margin.abs()).portable_exp();
                e / ((1.0 + e) * (1.0 + e))
            }
            Self::SquaredHinge => 2.0 * f64::from(margin < 1.0),
        }
    }
}

/// A sum of losses. The logistic loss takes a logarithm per 512 terms: `sum log(1 + e) = log prod (1 + e)`, each factor at most 2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossSum {
    loss: Loss,
    sum: f64,
    product: f64,
    factors: usize,
}

/// Factors up to 2 whose product is finite.
const FACTORS: usize = 512;

impl LossSum {
    pub(crate) fn new(loss: Loss) -> Self {
        Self { loss, sum: 0.0, product: 1.0, factors: 0 }
    }

    /// Adds the loss of a margin.
    #[inline]
    pub(crate) fn add(&mut self, margin: f64) {
        match self.loss {
            Loss::SquaredHinge => self.sum += self.loss.value(margin),
            Loss::Logistic => {
                self.sum += (-margin).max(0.0);
                self.product *= 1.0 + (-margin.abs()).portable_exp();
                self.factors += 1;
                if self.factors == FACTORS {
                    self.sum += self.product.portable_ln();
                    (self.product, self.factors) = (1.0, 0);
                }
            }
        }
    }

    /// The sum of all that were added.
    pub(crate) fn total(self) -> f64 {
        self.sum + self.product.portable_ln()
    }
}

/// `1 / (1 + exp(-z))` without overflow, and without cancellation on either side.
pub fn sigmoid(z: f64) -> f64 {
    if z >= 0.0 {
        1.0 / (1.0 + (-z).portable_exp())
    } else {
        let e = z.portable_exp();
        e / (1.0 + e)
    }
}

/// `log(1 + exp(z))` without overflow.
#[inline]
pub(crate) fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).portable_exp().portable_ln_1p()
}

/// Cost of an error by the class of the item: the bounds on the multipliers in the dual.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// Cost of an item of the class that the machine is to find.
    pub positive: f64,
    /// Cost of any other item.
    pub negative: f64,
}

impl Costs {
    /// Equal costs for both.
    pub const fn even(c: f64) -> Self {
        Self { positive: c, negative: c }
    }

    /// Cost of an item.
    #[inline]
    #[must_use]
    pub fn of(self, positive: bool) -> f64 {
        if positive { self.positive } else { self.negative }
    }

    /// Returns whether neither side's cost is above the other's.
    pub(crate) fn at_most(self, other: Self) -> bool {
        self.positive <= other.positive && self.negative <= other.negative
    }

    pub(crate) fn are_valid(self) -> bool {
        [self.positive, self.negative].iter().all(|cost| cost.is_finite() && *cost > 0.0)
    }
}

/// Relative weights of the classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassWeight {
    /// Every window weighs the same.
    #[default]
    Even,
    /// Equal total weights for both sides of a machine: an item of a side with `n_s` of `n` items costs
    /// `C n / (2 n_s)`.
    Balanced,
}

impl ClassWeight {
    /// The costs of a machine's two sides for a value of C.
    #[must_use]
    pub fn costs(self, c: f64, positive: &[bool]) -> Costs {
        let count = positive.iter().filter(|positive| **positive).count();
        let side = |count: usize| c * positive.len() as f64 / (2.0 * count.max(1) as f64);
        match self {
            Self::Even => Costs::even(c),
            Self::Balanced => {
                Costs { positive: side(count), negative: side(positive.len() - count) }
            }
        }
    }

    /// Costs for several values of C.
    pub(crate) fn all_costs(self, c: &[f64], positive: &[bool]) -> Vec<Costs> {
        c.iter().map(|&c| self.costs(c, positive)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_value() {
        for loss in [Loss::Logistic, Loss::SquaredHinge] {
            for margin in [-30.0, -2.5, -0.1, 0.4, 0.9, 1.7, 20.0] {
                let h = 1e-5;
                let slope = (loss.value(margin + h) - loss.value(margin - h)) / (2.0 * h);
                assert!((slope - loss.slope(margin)).abs() < 1e-8, "{loss:?} at {margin}");
                let curvature = (loss.slope(margin + h) - loss.slope(margin - h)) / (2.0 * h);
                assert!((curvature - loss.curvature(margin)).abs() < 1e-8, "{loss:?} at {margin}");
            }
        }
        assert_eq!(Loss::SquaredHinge.curvature(1.0), 0.0);
    }

    #[test]
    fn a_sum_is_that_of_its_terms() {
        for loss in [Loss::Logistic, Loss::SquaredHinge] {
            let (mut sum, mut wanted) = (LossSum::new(loss), 0.0);
            for item in 0..1300_u32 {
                let margin = (f64::from(item) - 650.0) * 0.05;
                sum.add(margin);
                wanted += loss.value(margin);
            }
            assert!((sum.total() - wanted).abs() < 1e-10 * wanted, "{loss:?}");
        }
        let mut sum = LossSum::new(Loss::Logistic);
        [f64::INFINITY, 1e6, -1e6].into_iter().for_each(|margin| sum.add(margin));
        assert_eq!(sum.total(), 1e6);
    }

    #[test]
    fn extremes_are_numbers() {
        assert_eq!(sigmoid(-1e6), 0.0);
        assert_eq!(sigmoid(1e6), 1.0);
        assert_eq!(softplus(1e6), 1e6);
        assert!(sigmoid(-700.0) > 0.0 && softplus(-700.0) > 0.0);
    }

    #[test]
    fn balanced_sides_cost_the_same_in_sum() {
        let positive = [true, false, false, false];
        let costs = ClassWeight::Balanced.costs(3.0, &positive);
        assert_eq!(costs.positive, 3.0 * costs.negative);
        assert_eq!(costs.positive + 3.0 * costs.negative, 12.0);
        assert_eq!(ClassWeight::Balanced.costs(3.0, &[true, true]).positive, 1.5 * 2.0 / 2.0);
    }
}
