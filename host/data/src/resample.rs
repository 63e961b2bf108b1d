//! Resampling: series at another rate, without frequencies that this rate cannot carry.
//!
//! ```text
//! y(t) = sum_i x_i k( (t - t_i) / T ) / sum_i k( (t - t_i) / T ),    k(u) = sinc(c u) Kaiser(u / H)
//! ```
//!
//! with `T` the period of the input. Towards a lower rate the low-pass ends at 0.85 of the new Nyquist frequency
//! (`c` is 0.85 times the ratio of the rates) and is 80 dB down at about that frequency; towards a higher one `c = 1`.
//! The kernel reaches over 16 zeros on either side. Dividing by the weights keeps constants at the ends of a series and
//! beside missing samples. Source: Smith, Digital Audio Resampling (2002), section "Theory of ideal bandlimited
//! interpolation".

use super::dataset::Clock;
use super::dataset::{Dataset, Kind, Series};
use super::error::DataError;
use super::gaps::usual_step;
use super::samples::{Rows, RowsView, Samples};

/// The rate to resample to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resample {
    /// The lowest of the series' rates.
    Lowest,
    /// Number of samples per second.
    To(f64),
}

/// Zeros of the kernel on either side.
const ZEROS: usize = 16;
/// Entries of the table between two zeros.
const FINENESS: usize = 256;
/// The shape of Kaiser's window: 80 dB.
const SHAPE: f64 = 8.0;
/// End of the low-pass, as a share of the lower Nyquist frequency.
const CUTOFF: f64 = 0.85;
/// Steps in a gap of the time that is filled with missing samples; a longer one stays a leap.
const LONGEST_FILLED: f64 = 64.0;
/// Steps above which the time leaps, once short gaps are filled.
const LEAP: f64 = 1.5;
/// Largest ratio of a rate to that of the samples: beyond, times are most likely in another unit.
const HIGHEST: f64 = 64.0;
/// Rates as near as this are the same.
const SAME: f64 = 1e-3;

/// The windowed sinc, `[FINENESS * zero]`, for one side.
struct Kernel(Vec<f64>);

impl Kernel {
    fn new() -> Self {
        let entry = |index: usize| {
            let x = index as f64 / FINENESS as f64;
            let edge = x / ZEROS as f64;
            let angle = std::f64::consts::PI * x;
            let sinc = if index == 0 { 1.0 } else { libm::sin(angle) / angle };
            sinc * bessel(SHAPE * (1.0 - edge * edge).max(0.0).sqrt()) / bessel(SHAPE)
        };
        Self((0..=ZEROS * FINENESS).map(entry).collect())
    }

    /// Value at a distance in zeros.
    fn at(&self, x: f64) -> f64 {
        let place = x.abs() * FINENESS as f64;
        let index = place as usize;
        match self.0.get(index..index + 2) {
            Some(&[this, next]) => this + (place - index as f64) * (next - this),
            _ => 0.0,
        }
    }
}

/// The modified Bessel function of the first kind and order zero, by its series.
fn bessel(x: f64) -> f64 {
    let (mut sum, mut term, mut k) = (1.0, 1.0, 1.0);
    while term > 1e-17 * sum {
        term *= (x / (2.0 * k)).powi(2);
        (sum, k) = (sum + term, k + 1.0);
    }
    sum
}

impl Dataset {
    /// Resamples all series to one rate, with times in seconds.
    ///
    /// Missing samples stay missing, lost ones become missing, and a leap of the time over more than 64 samples stays one.
    ///
    /// Work: some 40 multiply-adds per channel and sample of the higher rate.
    ///
    /// # Errors
    /// [`DataError::NotResampled`] for symbols, for data whose times give no rate, and for a rate that is invalid or more than 64
    /// times that of a series.
    pub fn resampled(&self, to: Resample) -> Result<Self, DataError> {
        Ok(self.resampled_from(to)?.0)
    }

    /// Resamples the series, and returns the nearest original sample for each new one, `[series][time]`.
    pub(super) fn resampled_from(
        &self,
        to: Resample,
    ) -> Result<(Self, Vec<Vec<usize>>), DataError> {
        let failed = |why| DataError::NotResampled { file: self.source().to_owned(), why };
        if matches!(self.kind(), Kind::Symbols(_)) {
            return Err(failed("symbols cannot be interpolated"));
        }
        // Numbers of samples are not times, whatever period is given.
        let (all, known) = (self.series(), self.periods());
        let numbered = |(one, period): (&Series, &Option<f64>)| {
            *period == Some(1.0) && one.times.iter().all(|t| t.fract() == 0.0)
        };
        let numbered = all.iter().zip(&known).any(numbered);
        // Times that come unevenly have a usual step all the same.
        let usual = |(one, period): (&Series, Option<f64>)| {
            period.or_else(|| usual_step(&one.times)).filter(|&step| step > 0.0)
        };
        let each: Vec<Option<f64>> = all.iter().zip(known).map(usual).collect();
        let periods: Vec<f64> = each.iter().flatten().copied().collect();
        if periods.is_empty() || !self.clock().named && numbered {
            return Err(failed(
                "there is no column `t` with times, or it numbers the samples; write seconds, or name its unit: `t \
                 [ms]`",
            ));
        }
        let lowest = periods.iter().copied().fold(0.0, f64::max);
        let new = match to {
            Resample::Lowest => lowest,
            Resample::To(rate) => 1.0 / rate,
        };
        if !(new > 0.0 && new.is_finite()) {
            return Err(failed("the rate must be above zero"));
        }
        if lowest > HIGHEST * new {
            return Err(failed(
                "the rate is more than 64 times that of the samples by the column `t`; if the times are not in \
                 seconds, name their unit: `t [ms]`",
            ));
        }
        let kernel = Kernel::new();
        let (mut series, mut nearest) = (Vec::new(), Vec::new());
        for (one, own) in all.iter().zip(each) {
            let (resampled, from) = one.resampled(own.unwrap_or(lowest), new, &kernel);
            series.push(resampled);
            nearest.push(from);
        }
        let [classes, columns] = [self.classes(), self.columns()].map(<[String]>::to_vec);
        let data = Self::new(self.source(), self.kind().clone(), classes, columns, series)?;
        let clock = Clock { named: true, resampled: true };
        Ok((data.with_clock(clock).with_checksum_of(self), nearest))
    }
}

impl Series {
    /// Resamples a series from an old period to a new one, and returns the nearest samples of the new ones.
    fn resampled(&self, old: f64, new: f64, kernel: &Kernel) -> (Self, Vec<usize>) {
        let view = self.samples.view();
        let Some(rows) = view.rows() else { return (self.clone(), Vec::new()) };
        let Filled { times, rows, origin } = self.filled(rows, old);
        let mut made = ResampledSeries {
            times: Vec::new(),
            rows: Rows::new(rows.view().dimension()),
            nearest: Vec::new(),
            row: vec![0.0; rows.view().dimension()],
            sums: vec![0.0; rows.view().dimension()],
        };
        let (rows, mut start) = (rows.view(), 0);
        for end in 1..=rows.len() {
            if end == rows.len() || times[end] - times[end - 1] > LEAP * old {
                let run = (&times[start..end], rows.slice(start..end), &origin[start..end]);
                made.run(run, [old, new], kernel);
                start = end;
            }
        }
        let ResampledSeries { times, rows, nearest, .. } = made;
        (Self { times, samples: Samples::Channels(rows), ..self.clone() }, nearest)
    }

    /// Inserts a missing sample for each lost one, of the period `old`; long gaps stay leaps.
    fn filled(&self, rows: RowsView<'_>, old: f64) -> Filled {
        let mut filled =
            Filled { times: Vec::new(), rows: Rows::new(rows.dimension()), origin: Vec::new() };
        for index in 0..rows.len() {
            let t = self.times[index];
            if let Some(&last) = filled.times.last() {
                let steps = ((t - last) / old).round();
                let lost = if steps <= LONGEST_FILLED { steps as usize } else { 1 };
                for k in 1..lost {
                    filled.times.push(last + (t - last) * k as f64 / steps);
                    filled.rows.push(None);
                    filled.origin.push(index - 1);
                }
            }
            filled.times.push(t);
            filled.rows.push(rows.row_in_part(index));
            filled.origin.push(index);
        }
        filled
    }
}

/// A series without short gaps in time, and the sample that each of its own is, or follows.
struct Filled {
    times: Vec<f64>,
    rows: Rows,
    origin: Vec<usize>,
}

/// A series in the making.
struct ResampledSeries {
    times: Vec<f64>,
    rows: Rows,
    nearest: Vec<usize>,
    row: Vec<f64>,
    /// Weights of the present samples, `[channel]`.
    sums: Vec<f64>,
}

impl ResampledSeries {
    /// Appends a run of samples without a leap, and where in their series they were.
    fn run(
        &mut self,
        (times, rows, origin): (&[f64], RowsView<'_>, &[usize]),
        [old, new]: [f64; 2],
        kernel: &Kernel,
    ) {
        let (first, steps) = (times[0], times.len() - 1);
        let length = times[steps] - first;
        let old = if steps > 0 { length / steps as f64 } else { old };
        // A clock that is even but for its rounding is even; another is followed from sample to sample.
        let even = times
            .iter()
            .enumerate()
            .all(|(index, t)| (t - first - index as f64 * old).abs() <= old);
        let ratio = old / new;
        let cutoff = if ratio < 1.0 - SAME { CUTOFF * ratio } else { 1.0 };
        let reach = ZEROS as f64 / cutoff;
        let (count, mut before) = ((length / new + 1e-6) as usize + 1, 0);
        for k in 0..count {
            let t = first + k as f64 * new;
            let place = if even || steps == 0 {
                (t - first) / old
            } else {
                while before + 2 < times.len() && times[before + 1] <= t {
                    before += 1;
                }
                let [from, to] = [times[before], times[before + 1]];
                before as f64 + (t - from) / (to - from)
            };
            let nearest = (place.round() as usize).min(steps);
            self.times.push(t);
            self.nearest.push(origin[nearest]);
            let Some(there) = rows.row_in_part(nearest) else {
                self.rows.push(None);
                continue;
            };
            if cutoff == 1.0 && (place - nearest as f64).abs() < 1e-6 {
                self.rows.push(Some(there));
                continue;
            }
            self.row.fill(0.0);
            self.sums.fill(0.0);
            let last = ((place + reach) as usize).min(steps);
            for index in (place - reach).max(0.0).ceil() as usize..=last {
                let Some(row) = rows.row_in_part(index) else { continue };
                let weight = kernel.at(cutoff * (place - index as f64));
                for d in 0..row.len() {
                    if !row[d].is_nan() {
                        self.sums[d] += weight;
                        self.row[d] += weight * row[d];
                    }
                }
            }
            for d in 0..there.len() {
                // A channel that is missing in the nearest sample is missing.
                self.row[d] = if there[d].is_nan() { f64::NAN } else { self.row[d] / self.sums[d] };
            }
            self.rows.push(Some(&self.row));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use crate::ReadOptions;

    /// A tone of some frequency at some rate, of ten seconds.
    fn tone(frequency: f64, rate: f64) -> Dataset {
        let row = |t: usize| {
            let t = t as f64 / rate;
            format!("0,{t},{}\n", (TAU * frequency * t).sin())
        };
        let rows: String = (0..(10.0 * rate) as usize).map(row).collect();
        parse(&format!("series,t,x\n{rows}"))
    }

    fn parse(text: &str) -> Dataset {
        Dataset::parse("data", text.as_bytes(), &ReadOptions::default()).expect("valid")
    }

    fn values(data: &Dataset) -> Vec<Option<f64>> {
        let view = data.series()[0].samples.view();
        view.rows().expect("channels").iter().map(|row| row.map(|row| row[0])).collect()
    }

    /// The largest difference from the tone, and the largest value, in the middle of the series.
    fn against(data: &Dataset, frequency: f64) -> [f64; 2] {
        let (values, times) = (values(data), &data.series()[0].times);
        let middle = values.len() / 5..values.len() * 4 / 5;
        let mut most = [0.0_f64; 2];
        for t in middle {
            let value = values[t].expect("observed");
            let wanted = (TAU * frequency * times[t]).sin();
            most = [most[0].max((value - wanted).abs()), most[1].max(value.abs())];
        }
        most
    }

    #[test]
    fn a_tone_below_the_new_nyquist_frequency_stays_and_one_above_goes() {
        for (from, to) in [(100.0, 50.0), (100.0, 30.0), (50.0, 100.0), (104.0, 50.0)] {
            let within = 0.3 * f64::min(from, to);
            let new = tone(within, from).resampled(Resample::To(to)).expect("resampled");
            assert!((new.series()[0].period().expect("even") * to - 1.0).abs() < 1e-6);
            let [off, _] = against(&new, within);
            assert!(off < 2e-3, "{from} to {to}: {off}");
            if to < from {
                let beyond = 0.5 * to + 0.3 * (from - to) * 0.5;
                let new = tone(beyond, from).resampled(Resample::To(to)).expect("resampled");
                let [_, left] = against(&new, beyond);
                assert!(left < 2e-3, "{from} to {to}: {left} is left of {beyond} Hz");
            }
        }
    }

    #[test]
    fn constants_stay_and_so_do_missing_samples_and_leaps() {
        let missing = |t: u32| (40..44).contains(&t);
        let row = |t: u32| match missing(t) {
            true => format!("0,{},NA\n", f64::from(t) / 100.0),
            // A leap of two seconds.
            false => format!("0,{},3\n", f64::from(t + 200 * u32::from(t > 79)) / 100.0),
        };
        let data = parse(&("series,t,x\n".to_owned() + &(0..120).map(row).collect::<String>()));
        for rate in [50.0, 200.0] {
            let new = data.resampled(Resample::To(rate)).expect("resampled");
            for (value, t) in values(&new).iter().zip(&new.series()[0].times) {
                match value {
                    Some(value) => assert!((value - 3.0).abs() < 1e-9, "{value} at {t}"),
                    None => assert!((0.39..0.44).contains(t), "{t}"),
                }
            }
            let lost = values(&new).iter().filter(|value| value.is_none()).count();
            assert!((0.03..=0.05).contains(&(lost as f64 / rate)), "{lost}");
            assert_eq!(new.gaps().expect("a leap").count, 1);
        }
    }

    #[test]
    fn lost_samples_become_missing_and_the_grid_goes_on() {
        let row = |t: u32| format!("0,{},{}\n", f64::from(t) / 100.0, 2);
        let lost = |t: &u32| t.pow(2) % 10 != 4 && !(50..56).contains(t);
        let rows: String = (0..300).filter(lost).map(row).collect();
        let data = parse(&format!("series,t,x\n{rows}"));
        let new = data.resampled(Resample::To(50.0)).expect("resampled");
        assert_eq!((new.series()[0].times.len(), new.gaps()), (150, None));
        assert_eq!(new.series()[0].period(), Some(0.02));
        for (t, value) in values(&new).iter().enumerate() {
            let old = 2 * t as u32;
            assert_eq!(value.is_some(), lost(&old), "{t}");
        }
    }

    /// Microseconds that are read as seconds would become millions of samples.
    #[test]
    fn a_rate_far_above_that_of_the_samples_is_refused() {
        let data = tone(3.0, 50.0);
        for rate in [50.0 * HIGHEST * 1.01, 1e9, 1e300] {
            let refused = data.resampled(Resample::To(rate)).expect_err("far above");
            assert!(refused.to_string().contains("`t [ms]`"), "{refused}");
        }
        assert!(data.resampled(Resample::To(50.0 * HIGHEST * 0.99)).is_ok());
    }

    #[test]
    fn the_same_rate_is_the_same_series() {
        let data = tone(3.0, 50.0);
        let same = data.resampled(Resample::Lowest).expect("resampled");
        assert_eq!(same.series()[0].samples, data.series()[0].samples);
        assert!(same.is_resampled() && !data.is_resampled());
        assert_eq!(same.checksum(), data.checksum());
    }

    #[test]
    fn what_has_no_rate_is_refused() {
        let refused = |text: &str| {
            let error = parse(text).resampled(Resample::To(50.0)).expect_err(text);
            assert_eq!(error.kind(), "not-resampled");
        };
        refused("series,x\n0,1\n0,2\n0,3\n");
        refused("series,t,x\n0,0,1\n0,1,2\n0,2,3\n");
        refused("sequence\nACGT\n");
        assert!(tone(1.0, 50.0).resampled(Resample::To(0.0)).is_err());
    }
}
