/// `f'(0)` by central differences at steps `h` and `h / 2`, extrapolated (Richardson): truncation of
/// order `h^4`, rounding of order `2^-52 |f| / h`.
pub fn derivative(f: impl Fn(f64) -> f64, h: f64) -> f64 {
    let central = |h: f64| (f(h) - f(-h)) / (2.0 * h);
    (4.0 * central(0.5 * h) - central(h)) / 3.0
}
