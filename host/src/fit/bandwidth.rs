use super::options::FitError;
use crate::elementary::Elementary;

/// Points that a bandwidth is chosen from at most: every evaluation compares all pairs.
pub const MOST_POINTS: usize = 5_000;

/// Bandwidths tried before the best is refined, in powers of the fourth root of two below one.
const COARSE: i32 = 28;

/// The bandwidth of a kernel density estimate, in units of each channel's scale, for which every point is
/// likeliest given all others:
///
/// ```text
/// L(b) = sum_i log ( 1/(n-1) sum_{j != i} N(x_i; x_j, b^2 S) ),   S = diag(scale^2)
/// ```
///
/// A grid finds where, and a golden section refines it; of what the grid's end is best for it is the end.
/// Points that are repeated make `L` grow without bound as `b` falls, hence `least`.
///
/// Sources: Habbema, Hermans and van den Broek, "A stepwise discriminant analysis program using density
/// estimation", 1974; Duin, "On the choice of smoothing parameters for Parzen estimators of probability density
/// functions", 1976. Work: some `50 n^2` exponentials and `n^2 D / 2` multiply-adds. RAM: `2 n^2` bytes.
///
/// # Errors
/// [`FitError`] of fewer than two points, of more than [`MOST_POINTS`], and of a `least` that is not between
/// zero and one.
pub fn loo_bandwidth(points: &[Vec<f64>], scale: &[f64], least: f64) -> Result<f64, FitError> {
    let n = points.len();
    let option = |good: bool, option, value: String, wanted| {
        if good { Ok(()) } else { Err(FitError::Option { option, value, wanted }) }
    };
    let floor = least > 0.0 && least < 1.0;
    option(floor, "least bandwidth", least.to_string(), "between 0 and 1")?;
    if n < 2 {
        return Err(FitError::FewPoints { found: n });
    }
    let wanted = "at most 5000; cut series into windows";
    option(n <= MOST_POINTS, "number of points of a density", n.to_string(), wanted)?;
    let mut squared = Vec::with_capacity(n * (n - 1) / 2);
    for (i, x) in points.iter().enumerate() {
        squared.extend(points[..i].iter().map(|y| distance(x, y, scale) as f32));
    }
    // Relative to the nearest: of a point far from all others every term would be zero.
    let mut nearest = vec![f64::INFINITY; n];
    for_pairs(&squared, n, |i, j, d| {
        nearest[i] = nearest[i].min(d);
        nearest[j] = nearest[j].min(d);
    });
    let channels = scale.len() as f64;
    let score = |log: f64| {
        let rate = -0.5 * (-2.0 * log).portable_exp();
        let mut sums = vec![0.0_f64; n];
        for_pairs(&squared, n, |i, j, d| {
            sums[i] += (rate * (d - nearest[i])).portable_exp();
            sums[j] += (rate * (d - nearest[j])).portable_exp();
        });
        let terms =
            sums.iter().zip(&nearest).map(|(sum, nearest)| sum.portable_ln() + rate * nearest);
        terms.sum::<f64>() - n as f64 * channels * log
    };
    let (low, step) = (least.portable_ln(), 0.25 * std::f64::consts::LN_2);
    let coarse = (-COARSE..=8).map(|k| f64::from(k) * step).filter(|&log| log > low);
    let grid: Vec<(f64, f64)> =
        std::iter::once(low).chain(coarse).map(|log| (log, score(log))).collect();
    let best = (0..grid.len()).fold(0, |best, k| if grid[k].1 > grid[best].1 { k } else { best });
    let (mut a, mut b) = (grid[best.saturating_sub(1)].0, grid[(best + 1).min(grid.len() - 1)].0);
    if best == 0 {
        return Ok(least);
    }
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let scored = |log: f64| (log, score(log));
    let (mut inner, mut outer) = (scored(b - GOLDEN * (b - a)), scored(a + GOLDEN * (b - a)));
    while b - a > 1e-3 {
        if inner.1 >= outer.1 {
            (b, outer) = (outer.0, inner);
            inner = scored(b - GOLDEN * (b - a));
        } else {
            (a, inner) = (inner.0, outer);
            outer = scored(a + GOLDEN * (b - a));
        }
    }
    Ok((0.5 * (a + b)).portable_exp())
}

/// `sum_d ((x_d - y_d) / scale_d)^2`.
pub(crate) fn distance(x: &[f64], y: &[f64], scale: &[f64]) -> f64 {
    let parts = x.iter().zip(y).zip(scale);
    parts.map(|((x, y), scale)| ((x - y) / scale).powi(2)).sum()
}

/// All pairs `i > j` with their distances.
fn for_pairs(squared: &[f32], n: usize, mut of: impl FnMut(usize, usize, f64)) {
    let mut rest = squared.iter();
    for i in 1..n {
        for (j, &d) in (0..i).zip(rest.by_ref()) {
            of(i, j, d.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of `log p` of each point under the estimate of the others, as it is defined.
    fn score(points: &[Vec<f64>], scale: &[f64], b: f64) -> f64 {
        let others = points.len() as f64 - 1.0;
        let of = |i: usize| {
            let term = |(j, y): (usize, &Vec<f64>)| {
                let density = |((x, y), scale): ((&f64, &f64), &f64)| {
                    let h = b * scale;
                    (-0.5 * ((x - y) / h).powi(2)).exp() / (h * std::f64::consts::TAU.sqrt())
                };
                let parts = points[i].iter().zip(y).zip(scale);
                if i == j { 0.0 } else { parts.map(density).product::<f64>() / others }
            };
            points.iter().enumerate().map(term).sum::<f64>().ln()
        };
        (0..points.len()).map(of).sum()
    }

    #[test]
    fn no_bandwidth_makes_points_likelier_given_the_others() {
        let at = |t: usize, k: usize| ((t * t * k + 7 * t) % 101) as f64 / 10.0;
        let points: Vec<Vec<f64>> = (0..60).map(|t| vec![at(t, 3), 100.0 * at(t, 5)]).collect();
        let scale = [3.0, 300.0];
        let found = loo_bandwidth(&points, &scale, 0.01).expect("points");
        let best = score(&points, &scale, found);
        for factor in [0.25, 0.5, 0.9, 1.1, 2.0, 4.0] {
            let other = score(&points, &scale, factor * found);
            assert!(other < best, "{factor} times {found}: {other} beside {best}");
        }
        // What is repeated would have none.
        let twice: Vec<Vec<f64>> = (0..20).map(|t| vec![f64::from(t / 2)]).collect();
        assert_eq!(loo_bandwidth(&twice, &[5.0], 0.01).expect("points"), 0.01);
    }

    #[test]
    fn too_few_points_and_too_many_are_refused() {
        let points = |n| vec![vec![0.0]; n];
        assert!(matches!(
            loo_bandwidth(&points(1), &[1.0], 0.1),
            Err(FitError::FewPoints { found: 1 })
        ));
        let error = loo_bandwidth(&points(5_001), &[1.0], 0.1).expect_err("too many");
        assert!(error.to_string().contains("5001"), "{error}");
        assert!(loo_bandwidth(&points(3), &[1.0], 0.0).is_err());
    }
}
