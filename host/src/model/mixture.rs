use crate::elementary::Elementary;
use fishweir_core::emission::{Gaussian, Mixture};

/// The Fisher information of one point under a mixture of two Gaussians, over the means of both and the
/// logit of the first's weight (the other's fixed), `[parameter][parameter]`.
pub type MixtureInformation = [[f64; 3]; 3];

/// Standard deviations past the outermost mean: the density is `10^-31` of its height there.
const REACH: f64 = 12.0;

/// Intervals in the distance from the real line to the nearest pole of the integrand, and in the
/// narrower standard deviation.
const INTERVALS: f64 = 8.0;

/// The exact information of one point under a mixture of two Gaussians of one channel.
///
/// ```text
/// I = integral p(x) s(x) s(x)' dx        s = ( r_1 (x - m_1) / v_1,  r_2 (x - m_2) / v_2,  r_1 - w_1 )
/// ```
///
/// with posteriors `r`. There is no closed form. The trapezoidal rule is used: of a function that is
/// analytic in a strip around the real line and vanishes at its ends the error falls with
/// `exp(-2 pi a / h)`, `a` the half-width of the strip and `h` the step, and `h <= a / 8` leaves
/// `10^-21`. The strip ends where the two densities cancel.
///
/// Source: Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, example
/// 12.31, with the posteriors it leaves out. Cost: some hundred evaluations for means a few
/// standard deviations apart, growing with their distance.
pub fn information_of_means(mixture: &Mixture<Gaussian<1, f64>, 2>) -> MixtureInformation {
    let [first, second] = mixture.component();
    let ([m1], [m2]) = (*first.mean(), *second.mean());
    let ([r1], [r2]) = (*first.rate(), *second.rate());
    let (narrow, wide) = (1.0 / f64::max(r1, r2), 1.0 / f64::min(r1, r2));
    // At the pole nearest to the line the phases of the two densities differ by pi.
    let apart = (m1 - m2).abs();
    let bend = (r1 * r1 - r2 * r2).abs();
    let reach = REACH * wide + apart;
    let strip =
        std::f64::consts::PI / (apart * f64::max(r1, r2).powi(2) + bend * reach + 1.0 / wide);
    let step = f64::min(strip, narrow) / INTERVALS;
    let (low, high) = (f64::min(m1, m2) - REACH * wide, f64::max(m1, m2) + REACH * wide);
    let points = ((high - low) / step).ceil() as usize;
    let mut information = [[0.0; 3]; 3];
    for point in 0..=points {
        let x = low + point as f64 * step;
        let Some([p1, p2]) = mixture.responsibilities(&[x]) else { continue };
        let density = step * density(mixture, x);
        let score = [p1 * (x - m1) * r1 * r1, p2 * (x - m2) * r2 * r2, p1 - mixture.weight()[0]];
        for (row, a) in information.iter_mut().zip(score) {
            for (entry, b) in row.iter_mut().zip(score) {
                *entry += density * a * b;
            }
        }
    }
    information
}

fn density(mixture: &Mixture<Gaussian<1, f64>, 2>, x: f64) -> f64 {
    fishweir_core::emission::Emission::log_likelihood(mixture, &[x]).portable_exp()
}
