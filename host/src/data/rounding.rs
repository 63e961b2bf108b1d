//! Times that were rounded to a unit about as long as their steps: 800 Hz in whole milliseconds steps by one and by two.
//!
//! Samples that were lost leave such steps too. They are told apart by where the longer steps are: rounding an even clock
//! spreads them evenly. Any two stretches of as many steps then differ by one unit at most; where samples are lost at
//! random they soon differ by more.

/// Steps that are looked at as one.
const BLOCK: usize = 64;
/// Fewer say nothing.
const LEAST: usize = 16;
/// Steps of the rarer length without which there is no sign of rounding.
const FEWEST: usize = 6;
/// Where the mean differs by less from the commonest step there is nothing to mend.
const APART: f64 = 0.04;

/// How some times go together with an even clock that was rounded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounding {
    /// Steps in blocks without a leap, and the time that they take.
    steps: usize,
    time: f64,
    /// The commonest step of the last block.
    common: f64,
    /// Blocks of two lengths of steps, and those in which they are evenly spread.
    mixed: usize,
    even: usize,
    /// Steps of the rarer length in these.
    rarer: usize,
}

impl Rounding {
    pub(super) fn of(times: &[f64]) -> Self {
        let mut all = Self::default();
        let Some(unit) = unit_of(times) else { return all };
        let mut start = 0;
        for end in 1..=times.len() {
            let ends = end == times.len() || times[end] - times[end - 1] > 2.5 * unit.short;
            if ends || end - start > BLOCK {
                // A block's last time is the next one's first.
                let last = if ends { end - 1 } else { end };
                if let Some(block) = times.get(start..=last).filter(|block| block.len() > LEAST) {
                    all.take(block, &unit);
                }
                start = if ends { end } else { last };
            }
        }
        all
    }

    /// The same of both.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            time: self.time + other.time,
            common: if other.steps > 0 { other.common } else { self.common },
            mixed: self.mixed + other.mixed,
            even: self.even + other.even,
            rarer: self.rarer + other.rarer,
        }
    }

    fn take(&mut self, block: &[f64], unit: &Unit) {
        let count = block.len() - 1;
        let time = block[count] - block[0];
        let long = block.windows(2).filter(|pair| pair[1] - pair[0] > unit.middle()).count();
        let rarer = long.min(count - long);
        self.steps += count;
        self.time += time;
        self.common = if 2 * long > count { unit.long } else { unit.short };
        if rarer >= 2 {
            self.mixed += 1;
            if is_even(block, unit) {
                self.even += 1;
                self.rarer += rarer;
            }
        }
    }

    /// The mean step, where the times were rounded, and it is another than the commonest.
    pub(super) fn step(&self) -> Option<f64> {
        let holds = self.rarer >= FEWEST && 10 * self.even >= 9 * self.mixed;
        let mean = self.time / self.steps as f64;
        (holds && (mean / self.common - 1.0).abs() > APART).then_some(mean)
    }
}

/// The two lengths of steps, which are a unit apart.
struct Unit {
    short: f64,
    long: f64,
    /// By which floating point may differ.
    noise: f64,
}

impl Unit {
    fn middle(&self) -> f64 {
        f64::midpoint(self.short, self.long)
    }
}

/// The two lengths of the steps that are no leaps; `None` where there are others, or one alone.
fn unit_of(times: &[f64]) -> Option<Unit> {
    let largest = times.iter().fold(0.0_f64, |most, t| most.max(t.abs()));
    let steps = || times.windows(2).map(|pair| pair[1] - pair[0]);
    let short = steps().fold(f64::INFINITY, f64::min);
    let noise = (8.0 * f64::EPSILON * largest).max(1e-6 * short);
    if !(short > 10.0 * noise) {
        return None;
    }
    let longer = steps().filter(|&step| step > short + noise);
    let long = longer.fold(f64::INFINITY, f64::min);
    // Two whole numbers of a unit: one and two, two and three.
    let (unit, most) = (long - short, 2.5 * short);
    let whole = (short / unit).round();
    let is_whole = (short - whole * unit).abs() <= (whole + 1.0) * noise;
    let other = |step: f64| step > long + noise && step <= most;
    (long <= most && is_whole && !steps().any(other)).then_some(Unit { short, long, noise })
}

/// Whether all stretches of as many steps take the same time but for one unit.
fn is_even(block: &[f64], unit: &Unit) -> bool {
    let most = unit.long - unit.short + 2.0 * unit.noise;
    (2..block.len() - 1).all(|steps| {
        let (mut least, mut longest) = (f64::INFINITY, 0.0_f64);
        for start in 0..block.len() - steps {
            let time = block[start + steps] - block[start];
            (least, longest) = (least.min(time), longest.max(time));
        }
        longest - least <= most
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from zero to one.
    fn random() -> impl FnMut() -> f64 {
        let mut state = 1_u32;
        move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 24)
        }
    }

    #[test]
    fn rounded_clocks_have_their_rate() {
        for hertz in 510..1000 {
            let period = 1000.0 / f64::from(hertz);
            for (origin, scale) in [(0.0, 1.0), (1.7e9, 0.001)] {
                let times: Vec<f64> = (0..200)
                    .map(|t| origin + (f64::from(t) * period + 0.3).floor() * scale)
                    .collect();
                // Close to a whole number nothing is mended, and nothing need be.
                let bound = if (period.round() / period - 1.0).abs() > 0.06 { 0.01 } else { 0.07 };
                let found = Rounding::of(&times).step().unwrap_or(period.round() * scale);
                assert!((found / scale / period - 1.0).abs() < bound, "{hertz}: {found}");
            }
        }
    }

    #[test]
    fn lost_samples_are_no_rounding() {
        let mut random = random();
        for lost in [0.02, 0.05, 0.1, 0.2, 0.3] {
            let mut taken = 0;
            for _ in 0..500 {
                let times: Vec<f64> = (0..300).map(f64::from).filter(|_| random() > lost).collect();
                taken += usize::from(Rounding::of(&times).step().is_some());
            }
            assert!(taken <= 1, "{lost}: {taken} of 500");
        }
    }

    #[test]
    fn jitter_and_single_steps_are_none() {
        let mut random = random();
        let jittered: Vec<f64> = (0..300).map(|t| f64::from(t) + 0.2 * random()).collect();
        assert_eq!(Rounding::of(&jittered).step(), None);
        for times in [&[][..], &[1.0], &[1.0, 2.0], &[0.0; 40]] {
            assert_eq!(Rounding::of(times).step(), None);
        }
        let even: Vec<f64> = (0..300).map(|t| f64::from(t) * 0.02).collect();
        assert_eq!(Rounding::of(&even).step(), None);
    }
}
