//! The time of a live stream against that of the training: leaps, another rate, numbers in place of times.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::BufRead;

use fishweir::classifier::Period;
use fishweir::data::{LiveReader, Windowing, rate_words};

use super::leaps::{Leaps, Pace};
use super::{FIRST_UNTOLD, MOST_TOLD};
use crate::{Failure, Topic, note};

/// Times of a stream so far.
pub(super) struct Times {
    /// The sample period of the training.
    period: Option<Period>,
    windowing: Option<Windowing>,
    leaps: Leaps,
    /// `true` if time has leapt since the last observed sample.
    leaping: bool,
    leapt: usize,
    /// Kinds of notes that were written.
    told: BTreeSet<&'static str>,
}

impl Times {
    pub(super) fn new(period: Option<Period>, windowing: Option<Windowing>) -> Self {
        let (leaps, told) = (Leaps::default(), BTreeSet::new());
        Self { period, windowing, leaps, leaping: false, leapt: 0, told }
    }

    /// Takes in the time of the sample that was read, or of one that was refused.
    ///
    /// # Errors
    /// Where the samples come at another rate than in training.
    pub(super) fn take<R: BufRead>(
        &mut self,
        reader: &LiveReader<R>,
        refused: bool,
    ) -> Result<(), Failure> {
        let line = reader.line();
        match (reader.time(), self.windowing) {
            (Some(time), windowing) => {
                // Without windows nothing is cut, and the rate is the model's all the same.
                let length = windowing.map_or(usize::MAX, |by| by.length.get());
                let leapt = self.leaps.passes(time, length, self.period);
                self.leaping |= leapt && windowing.is_some();
                if self.period.is_none()
                    && let Some(found) = self.leaps.first_period(reader.names_unit_of_time())
                {
                    self.once(
                        Topic::UnknownRate,
                        format_args!(
                            "standard input: the samples come at {}, and the rate of the training is unknown: if it \
                        was another, the decisions are wrong",
                            rate_words(found)
                        ),
                    );
                }
                if let Some(period) = self.period
                    && let Some(pace) =
                        self.leaps.judge(period, length, reader.names_unit_of_time())
                {
                    self.tell(pace, period, line)?;
                }
            }
            (None, _) if reader.has_times() && !refused => {
                self.leaps.pass_untimed();
                self.once(
                    Topic::NoTime,
                    format_args!(
                        "standard input, line {line}: the column `{}` has no time; such a sample is taken as the next one",
                        reader.time_column().unwrap_or("t")
                    ),
                );
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns whether a new window begins with an observed sample: after a leap, which is noted.
    pub(super) fn parts(&mut self, line: u64) -> bool {
        if !std::mem::take(&mut self.leaping) {
            return false;
        }
        self.leapt += 1;
        match self.leapt {
            ..=MOST_TOLD => note(
                Topic::TimeLeaps,
                format_args!(
                    "standard input, line {line}: the time leaps, and a new window begins"
                ),
            ),
            FIRST_UNTOLD => note(Topic::FurtherLeaps, "further leaps are not reported"),
            _ => {}
        }
        true
    }

    /// Ends a series: the next sample belongs to another, or the stream ends.
    ///
    /// # Errors
    /// Where the last samples came at another rate than in training.
    pub(super) fn end_series<R: BufRead>(&mut self, reader: &LiveReader<R>) -> Result<(), Failure> {
        let named = reader.names_unit_of_time();
        if let Some(period) = self.period
            && let Some(pace) = self.leaps.judge_rest(period, named)
        {
            self.tell(pace, period, reader.line())?;
        }
        self.leaps.begin();
        self.leaping = false;
        Ok(())
    }

    /// Notes the assumption about a stream without a column of times.
    pub(super) fn note_none(&mut self) {
        if let Some(period) = self.period {
            self.once(
                Topic::NoTimes,
                format_args!(
                    "the stream has no times: its samples are taken as {} s apart, as in training",
                    period.seconds
                ),
            );
        }
    }

    fn tell(&mut self, pace: Pace, period: Period, line: u64) -> Result<(), Failure> {
        let trained = rate_words(period.seconds);
        match pace {
            Pace::AsInTraining => {}
            Pace::Numbered => self.once(
                Topic::NoTimes,
                format_args!(
                    "standard input: the column `t` numbers the samples, which are taken as {} s apart, as in training; \
                     write seconds, or name the unit: `t [ms]`",
                    period.seconds
                ),
            ),
            Pace::Uneven => self.once(
                Topic::IrregularTimes,
                format_args!(
                    "standard input, line {line}: the times of the column `t` are irregular; the model counts \
                     samples, {trained}, not seconds"
                ),
            ),
            Pace::Other(found) => {
                let found = if found > 0.0 { rate_words(found) } else { "one time".into() };
                return Err(Failure::input(
                    Topic::OtherRate,
                    format!(
                        "standard input, line {line}: by the column `t` the samples come at {found}, and the model \
                        was trained at {trained}; a stream is not resampled: send it at the model's rate, or name \
                        the unit of the time if it is not seconds: `t [ms]`"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Writes a note, the first of its kind alone.
    fn once(&mut self, kind: Topic, text: impl Display) {
        if self.told.insert(kind.into()) {
            note(kind, text);
        }
    }
}
