use super::{Channels, Dynamics, Kalman, KalmanState};
use crate::emission::Marginal;
use crate::error::ObservationError;
use crate::filter::Streaming;
use crate::number::{Arithmetic, Parameter, Real};

impl<W: Arithmetic, const N: usize> Channels<'_, W, N> {
    /// Computes the whitened view of the channels present: the marginal over the others.
    ///
    /// A missing channel is an unknown in the whitened rows after it. Rotations collect it in one row, which is left out:
    ///
    /// ```text
    /// Q W = [ W_oo 0 ; . r_m ]      constant - log r_m + log(2 pi) / 2
    /// ```
    ///
    /// `rows` and `whitening` are scratch, `[channel][row]` and `[channel][channel]` of all channels; the result lies in
    /// their beginning and takes the values of the channels that are there, in order. Scratch must have room for all channels;
    /// otherwise the result is meaningless.
    ///
    /// Work: `M D (N + D)` multiply-adds, and a square root and a logarithm per missing channel, for `M` of `D` channels.
    #[inline]
    pub fn marginal<'s>(
        &self,
        is_there: impl Fn(usize) -> bool,
        rows: &'s mut [[W; N]],
        whitening: &'s mut [W],
    ) -> Channels<'s, W, N> {
        let size = self.observation.len().min(rows.len());
        for (to, &from) in rows.iter_mut().zip(self.observation) {
            *to = from;
        }
        for (to, &from) in whitening.iter_mut().zip(self.whitening) {
            *to = from;
        }
        let mut constant = self.constant;
        for m in 0..size {
            if is_there(m) {
                continue;
            }
            for d in m + 1..size {
                collect(m, d, rows, whitening, size);
            }
            let unknown = get(whitening, m * size + m);
            let half = W::constant(<W as Parameter>::Real::HALF_LN_TAU);
            constant = constant.plus(half.minus(unknown.logarithm()));
        }
        let mut kept = 0;
        let width = (0..size).filter(|&d| is_there(d)).count();
        for d in 0..size {
            if !is_there(d) {
                continue;
            }
            rows[kept] = rows[d];
            let mut column = 0;
            for e in 0..size {
                if is_there(e) {
                    let entry = get(whitening, d * size + e);
                    if let Some(to) = whitening.get_mut(kept * width + column) {
                        *to = entry;
                    }
                    column += 1;
                }
            }
            kept += 1;
        }
        let end = (width * width).min(whitening.len());
        Channels { observation: &rows[..kept], whitening: &whitening[..end], constant }
    }
}

#[inline(always)]
fn get<W: Arithmetic>(entries: &[W], at: usize) -> W {
    entries.get(at).copied().unwrap_or(W::ZERO)
}

/// Rotates the rows `m` and `d` so that the row `d` no longer depends on the channel `m`.
#[inline]
fn collect<W: Arithmetic, const N: usize>(
    m: usize,
    d: usize,
    rows: &mut [[W; N]],
    whitening: &mut [W],
    size: usize,
) {
    let (own, other) = (get(whitening, m * size + m), get(whitening, d * size + m));
    // A diagonal covariance has nothing to be rotated.
    if other == W::ZERO {
        return;
    }
    let norm = own.times(own).plus(other.times(other)).square_root().reciprocal();
    let (cosine, sine) = (own.times(norm), other.times(norm));
    let turn =
        |a: W, b: W| (cosine.times(a).plus(sine.times(b)), cosine.times(b).minus(sine.times(a)));
    for k in 0..N {
        (rows[m][k], rows[d][k]) = turn(rows[m][k], rows[d][k]);
    }
    for e in 0..size {
        let (a, b) = turn(get(whitening, m * size + e), get(whitening, d * size + e));
        if let Some(to) = whitening.get_mut(m * size + e) {
            *to = a;
        }
        if let Some(to) = whitening.get_mut(d * size + e) {
            *to = if e == m { W::ZERO } else { b };
        }
    }
}

impl<X: Arithmetic, const N: usize> KalmanState<X, N> {
    /// Takes in the channels present in this sample, after [`advance`](Self::advance). `rows` and `whitening` are
    /// scratch as [`Channels::marginal`] has it, and `values` a number per channel.
    ///
    /// # Errors
    /// As [`observe`](Self::observe).
    #[inline]
    pub fn observe_in_part(
        &mut self,
        channels: &Channels<'_, X, N>,
        x: impl Fn(usize) -> Option<<X as Parameter>::Real>,
        (rows, whitening, values): (&mut [[X; N]], &mut [X], &mut [<X as Parameter>::Real]),
    ) -> Result<(), ObservationError> {
        let mut kept = 0;
        for x in (0..channels.observation.len()).filter_map(&x) {
            if let Some(to) = values.get_mut(kept) {
                *to = x;
                kept += 1;
            }
        }
        let marginal = channels.marginal(|d| x(d).is_some(), rows, whitening);
        self.observe(&marginal, values.get(..kept).unwrap_or_default(), |_| ())
    }
}

/// Kalman filter for samples that may lack channels: it takes in the channels present.
///
/// With every channel it has the bits of [`Kalman`]; a sample without any is a missing sample.
impl<const N: usize, const D: usize, W: Arithmetic> Streaming for Marginal<Kalman<'_, N, D, W>> {
    type Observation = [Option<<W as Parameter>::Real>; D];
    type State = KalmanState<W, N>;
    type Reading = W;

    #[inline]
    fn initial_state(&self) -> Self::State {
        self.distribution().initial_state()
    }

    /// # Errors
    /// As [`Kalman`].
    #[inline]
    fn step(&self, state: &mut Self::State, x: &Self::Observation) -> Result<(), ObservationError> {
        let kalman = self.distribution();
        let mut all = [<W as Parameter>::Real::from_u32(0); D];
        let mut there = 0;
        for d in 0..D {
            if let Some(x) = x[d] {
                all[d] = x;
                there += 1;
            }
        }
        if there == D {
            return kalman.step(state, &all);
        }
        if there == 0 {
            kalman.step_missing(state);
            return Ok(());
        }
        kalman.step_in_part(state, x)
    }

    #[inline]
    fn step_missing(&self, state: &mut Self::State) {
        self.distribution().step_missing(state);
    }

    #[inline]
    fn read(&self, state: &Self::State) -> W {
        self.distribution().read(state)
    }
}

impl<const N: usize, const D: usize, W: Arithmetic> Kalman<'_, N, D, W> {
    /// Takes in a sample with some channels present. Out of line: few streams have such samples.
    #[inline(never)]
    fn step_in_part(
        &self,
        state: &mut KalmanState<W, N>,
        x: &[Option<<W as Parameter>::Real>; D],
    ) -> Result<(), ObservationError> {
        let mut next = *state;
        next.advance(self.system().transition(), self.system().noise());
        let (mut rows, mut whitening) = ([[W::ZERO; N]; D], [[W::ZERO; D]; D]);
        let mut values = [<W as Parameter>::Real::from_u32(0); D];
        let scratch = (&mut rows[..], whitening.as_flattened_mut(), &mut values[..]);
        next.observe_in_part(&self.system().channels(), |d| x.get(d).copied().flatten(), scratch)?;
        *state = next;
        Ok(())
    }
}

impl<const N: usize, const D: usize, W> Marginal<Dynamics<N, D, W>> {
    /// The system whose channels may be missing.
    pub const fn system(&self) -> &Dynamics<N, D, W> {
        self.distribution()
    }
}
