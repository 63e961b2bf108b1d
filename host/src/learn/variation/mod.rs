//! Training data as other devices would have recorded them: the sensor mounted a little askew, its
//! gains a little off, worn on the other side. The classifier that results is no larger.
//!
//! A rotation or a mirror image means something for a physical vector alone: three channels in one
//! unit, whose zero is zero. So nothing is varied, unless asked for, where no channels are vectors.

pub(crate) mod vectors;

use std::borrow::Cow;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::data::centre_and_scale;
use crate::data::{DataError, Dataset, Kind, Rows, Samples, Series};
use crate::elementary::Elementary;
use crate::learn::list::all_of;
use crate::learn::variation::vectors::{Vectors, mirror_candidates};
use crate::runtime::numbers::normal;
use crate::words::short;

/// Augmentation of training series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Augment {
    /// Jittered copies of each training series, and of its mirror image. `None`: two where channels form
    /// vectors, none elsewhere.
    pub copies: Option<usize>,
    /// Other numbers of them to choose from, by what is held back: one is taken that leads by more than two standard
    /// errors. Only classifiers that choose a setting so look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_copies: Vec<usize>,
    /// Channels that form vectors. All vectors are turned alike, as one device.
    pub vectors: Vectors,
    /// Standard deviation of the angle, in degrees, by which a copy's vectors are turned about each axis.
    pub rotation_degrees: f64,
    /// Standard deviation of the logarithm of each channel's gain in a copy. It stretches what deviates
    /// from the channel's mean over the training series, so that no offset matters.
    pub gain: f64,
    /// Mirroring of training series, if any.
    pub mirror: Mirror,
    /// Seed of the copies.
    pub seed: u64,
}

/// A mirror image: the other arm, the other side of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mirror {
    /// No image, or one across an axis of the vectors found among the channels: whichever is best in inner folds.
    ///
    /// Only classifiers that choose a setting use it. In closed form, models are fitted to the series alone, and an image is used
    /// if it wins by more than two standard errors over series.
    #[default]
    Choose,
    /// The channels that change sign; empty for no mirror image.
    Channels(Vec<String>),
}

impl Default for Augment {
    fn default() -> Self {
        Self {
            copies: None,
            other_copies: Vec::new(),
            vectors: Vectors::Named,
            rotation_degrees: 10.0,
            gain: 0.05,
            mirror: Mirror::Choose,
            seed: 1,
        }
    }
}

impl Augment {
    /// No augmentation.
    pub const NONE: Self = Self {
        copies: Some(0),
        other_copies: Vec::new(),
        vectors: Vectors::Given(Vec::new()),
        rotation_degrees: 0.0,
        gain: 0.0,
        mirror: Mirror::Channels(Vec::new()),
        seed: 1,
    };
}

/// Description of series without augmentation.
pub(crate) const AS_THEY_ARE: &str = "as they are";

impl Augment {
    /// Number of copies of a series of this kind, unless others are chosen.
    pub(crate) fn copies(&self, kind: &Kind) -> usize {
        let Kind::Channels(names) = kind else { return 0 };
        let by_default = || if self.vectors.among(names).is_empty() { 0 } else { 2 };
        self.copies.unwrap_or_else(by_default)
    }

    /// The numbers of copies to choose from, that of [`copies`](Self::copies) first.
    pub(crate) fn numbers_of_copies(&self, kind: &Kind) -> Vec<usize> {
        let any = matches!(kind, Kind::Channels(_));
        all_of(&self.copies(kind), self.other_copies.iter().filter(|_| any))
    }

    /// Sets the number of copies, without a choice.
    pub(crate) fn with_copies(&self, copies: usize) -> Self {
        Self { copies: Some(copies), other_copies: Vec::new(), ..self.clone() }
    }

    /// The channels that change sign in a mirror image; `None` where that is to be chosen.
    pub(crate) fn mirrors(&self, kind: &Kind) -> Option<&[String]> {
        match &self.mirror {
            Mirror::Channels(channels) => Some(channels),
            Mirror::Choose if mirror_candidates(kind, &self.vectors).len() == 1 => Some(&[]),
            Mirror::Choose => None,
        }
    }

    /// Describes the augmentation of series of a kind.
    pub fn describe(&self, kind: &Kind) -> String {
        let Kind::Channels(names) = kind else { return AS_THEY_ARE.to_owned() };
        let mut parts = Vec::new();
        match self.mirrors(kind) {
            Some([]) => {}
            Some(channels) => parts.push(format!("mirrored in {} as well", channels.join(", "))),
            None => {
                parts.push("mirrored across an axis if that is better in inner folds".to_owned())
            }
        }
        let copies = self.numbers_of_copies(kind);
        if copies.iter().any(|&number| number > 0) {
            let vectors: Vec<String> =
                self.vectors.among(names).iter().map(|vector| format!("({vector})")).collect();
            let (turned, gain) = (vectors.join(" "), short((1e11 * self.gain).round() / 1e9));
            let copy = if copies == [1] { "copy" } else { "copies" };
            let numbers: Vec<String> = copies.iter().map(usize::to_string).collect();
            let numbers = numbers.join(" or ");
            let mut how = Vec::new();
            if self.gain > 0.0 {
                how.push(format!("with gains off by {gain} % about the mean"));
            }
            if !vectors.is_empty() && self.rotation_degrees > 0.0 {
                how.push(format!("{turned} turned by {} degrees", self.rotation_degrees));
            }
            let mut copied = format!("{numbers} {copy} of each {}", how.join(", "));
            if copies.len() > 1 {
                copied += ", if that is better in inner folds";
            }
            parts.push(copied);
        }
        if parts.is_empty() {
            return AS_THEY_ARE.to_owned();
        }
        parts.join("; ")
    }
}

/// Checked augmentation of the training series of a data set; copies are made later.
pub(crate) struct Variation<'a> {
    data: &'a Dataset,
    training: &'a [usize],
    options: &'a Augment,
    /// Factors of a mirror image, one per channel.
    signs: Vec<f64>,
    /// The channels of each vector.
    vectors: Vec<Vec<usize>>,
    copies: usize,
    /// Variants that are exact: the series, and its mirror image.
    exact: usize,
}

/// A data set with variants of some of its series. All its own series come first, then the mirror images,
/// then the copies.
///
/// RAM: where anything is varied the data set once more, and a series a variant.
pub(crate) struct Augmented<'a> {
    pub(crate) data: Cow<'a, Dataset>,
    /// The series that are varied.
    series: &'a [usize],
    exact: usize,
    variants: usize,
}

/// Largest number of bytes of augmented series.
const MOST_BYTES: u64 = 2 << 30;

impl<'a> Variation<'a> {
    /// Prepares the augmentation of some series of a data set; the others are not used.
    pub(crate) fn of(
        data: &'a Dataset,
        training: &'a [usize],
        options: &'a Augment,
    ) -> Result<Self, AugmentError> {
        let Kind::Channels(names) = data.kind() else {
            let (signs, vectors) = (Vec::new(), Vec::new());
            return Ok(Self { data, training, options, signs, vectors, copies: 0, exact: 1 });
        };
        // A choice not made yet is no mirror image.
        let mirror = options.mirrors(data.kind()).unwrap_or_default();
        let signed = places(names, mirror.iter())?;
        let signs =
            (0..names.len()).map(|n| if signed.contains(&n) { -1.0 } else { 1.0 }).collect();
        let vectors = options.vectors.among(names);
        places(names, vectors.iter().flat_map(|vector| &vector.channels))?;
        let vectors =
            vectors.iter().map(|v| places(names, v.channels.iter())).collect::<Result<_, _>>()?;
        let copies = options.copies(data.kind());
        let exact = 1 + usize::from(!mirror.is_empty());
        let variation = Self { data, training, options, signs, vectors, copies, exact };
        let samples: usize = training.iter().map(|&i| data.series()[i].samples.view().len()).sum();
        let bytes = (samples * (8 * names.len() + 1)) as u64;
        let bytes = bytes.saturating_mul(variation.variants() as u64);
        if variation.variants() > 1 && bytes > MOST_BYTES {
            return Err(AugmentError::TooLarge { copies, gigabytes: bytes as f64 / 1e9 });
        }
        Ok(variation)
    }

    /// Removes the jittered copies.
    pub(crate) fn exactly(&self) -> Self {
        let (signs, vectors) = (self.signs.clone(), self.vectors.clone());
        Self { signs, vectors, copies: 0, ..*self }
    }

    /// Number of variants of each series.
    pub(crate) fn variants(&self) -> usize {
        self.exact.saturating_mul(self.copies.saturating_add(1))
    }

    /// The data set with variants of some of the training series. Gains are about the mean of these
    /// alone, so that inner folds do not see what they hold back; what is drawn for a series is the same
    /// whichever others are with it.
    pub(crate) fn apply<'s>(&self, varying: &'s [usize]) -> Result<Augmented<'s>, AugmentError>
    where
        'a: 's,
    {
        let (data, exact, variants) = (self.data, self.exact, self.variants());
        let augmented = |data| Augmented { data, series: varying, exact, variants };
        if variants == 1 {
            return Ok(augmented(Cow::Borrowed(data)));
        }
        let channels = self.signs.len();
        let mut series = data.series().to_vec();
        let originals = series.len();
        if exact > 1 {
            series.extend(varying.iter().map(|&index| {
                varied(&data.series()[index], |row| {
                    row.iter_mut().zip(&self.signs).for_each(|(x, sign)| *x *= sign);
                })
            }));
        }
        let mut place = vec![None; originals];
        varying.iter().enumerate().for_each(|(number, &index)| place[index] = Some(number));
        let (centre, _) = centre_and_scale(data, varying);
        let mut rng = ChaCha8Rng::seed_from_u64(self.options.seed);
        for _ in 0..self.copies {
            for variant in 0..exact {
                for &index in self.training {
                    let turn = rotation(self.options.rotation_degrees.to_radians(), &mut rng);
                    let gain = |_| (self.options.gain * normal(&mut rng)).portable_exp();
                    let gains: Vec<f64> = (0..channels).map(gain).collect();
                    let Some(number) = place[index] else { continue };
                    let (of, mirrored) = match variant {
                        0 => (index, false),
                        _ => (originals + number, true),
                    };
                    // A mirror image deviates from the mirror image of the mean.
                    let centre = |channel: usize| {
                        if mirrored {
                            self.signs[channel] * centre[channel]
                        } else {
                            centre[channel]
                        }
                    };
                    series.push(varied(&series[of], |row| {
                        for vector in &self.vectors {
                            let &[x, y, z] = &vector[..] else { continue };
                            let before = [row[x], row[y], row[z]];
                            for axis in 0..3 {
                                let [a, b, c] = turn[axis];
                                row[vector[axis]] = a * before[0] + b * before[1] + c * before[2];
                            }
                        }
                        for channel in 0..row.len() {
                            let centre = centre(channel);
                            row[channel] = centre + gains[channel] * (row[channel] - centre);
                        }
                    }));
                }
            }
        }
        // What was read is within single precision; what was made of it need not be.
        let overflows = |series: &Series| {
            let view = series.samples.view();
            let Some(rows) = view.rows() else { return false };
            let observed = (0..rows.len()).filter_map(|t| rows.row(t));
            observed.into_iter().any(|row| row.iter().any(|value| !(*value as f32).is_finite()))
        };
        if let Some(series) = series[originals..].iter().find(|series| overflows(series)) {
            let what = "overflows single precision";
            return Err(AugmentError::wild(series, what, self.options, data.kind()));
        }
        let data = Dataset::new(
            data.source(),
            data.kind().clone(),
            data.classes().to_vec(),
            data.columns().to_vec(),
            series,
        )?;
        Ok(augmented(Cow::Owned(data)))
    }
}

impl<'a> Augmented<'a> {
    /// Some series of a data set as they are.
    pub(crate) fn plain(data: &'a Dataset, series: &'a [usize]) -> Self {
        Self { data: Cow::Borrowed(data), series, exact: 1, variants: 1 }
    }

    /// The series that are varied.
    pub(crate) fn series(&self) -> &[usize] {
        self.series
    }

    /// Returns the series and their mirror images: models are fitted to them, except in closed form.
    pub(crate) fn exact(&self) -> Vec<usize> {
        self.with(self.exact)
    }

    /// Returns the series and all their variants: the linear machine is trained on them.
    pub(crate) fn all(&self) -> Vec<usize> {
        self.with(self.variants)
    }

    /// The number of the first jittered copy: these come last.
    pub(crate) fn first_copy(&self) -> usize {
        self.data.series().len() - self.series.len() * (self.variants - self.exact)
    }

    fn with(&self, variants: usize) -> Vec<usize> {
        let made = self.series.len() * (self.variants - 1);
        let originals = self.data.series().len() - made;
        let varied = originals..originals + self.series.len() * (variants - 1);
        self.series.iter().copied().chain(varied).collect()
    }
}

/// Reason why augmentation failed.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum AugmentError {
    /// A channel to mirror or turn that does not exist.
    #[error("no channel `{name}` to mirror or turn; the channels are {channels}")]
    #[strum(serialize = "unknown-channel")]
    NoSuchChannel {
        /// Name of the channel.
        name: String,
        /// The channels there are.
        channels: String,
    },
    /// A channel that is named twice.
    #[error("channel `{0}` is named twice; name each channel once")]
    #[strum(serialize = "channel-twice")]
    Twice(String),
    /// More copies than memory holds.
    #[error(
        "{copies} copies of each training series take {gigabytes:.1} GB, and 2.1 are the most: take \
         fewer copies"
    )]
    #[strum(serialize = "too-many-copies")]
    TooLarge {
        /// Copies asked for.
        copies: usize,
        /// Memory that they would take.
        gigabytes: f64,
    },
    /// A copy that is like nothing a sensor records.
    #[error(
        "a copy of series `{id}` {what} ({varied}): take a smaller gain, or where vectors are turned a \
         smaller rotation, or no copies"
    )]
    #[strum(serialize = "wild-copy")]
    Wild {
        /// The series.
        id: String,
        /// Description of the fault.
        what: &'static str,
        /// Description of the augmentation.
        varied: String,
    },
    /// Copies that are no data set.
    #[error(transparent)]
    Data(#[from] DataError),
}

crate::kinds!(AugmentError,
    Self::Data(error) => error,
);

impl AugmentError {
    /// Error of a copy of a series.
    pub(crate) fn wild(copy: &Series, what: &'static str, options: &Augment, kind: &Kind) -> Self {
        Self::Wild { id: copy.id.clone(), what, varied: options.describe(kind) }
    }
}

/// The places of channels by name.
fn places<'n>(
    names: &[String],
    wanted: impl Iterator<Item = &'n String>,
) -> Result<Vec<usize>, AugmentError> {
    let mut found = Vec::new();
    for name in wanted {
        let place = names.iter().position(|one| one == name).ok_or_else(|| {
            let (name, channels) = (name.clone(), names.join(", "));
            AugmentError::NoSuchChannel { name, channels }
        })?;
        if found.contains(&place) {
            return Err(AugmentError::Twice(name.clone()));
        }
        found.push(place);
    }
    Ok(found)
}

fn varied(series: &Series, vary: impl Fn(&mut [f64])) -> Series {
    let mut rows = Rows::new(series.samples.view().rows().map_or(0, |rows| rows.dimension()));
    for row in series.samples.view().rows().into_iter().flat_map(|rows| rows.iter_in_part()) {
        let row = row.map(|row| {
            let mut row = row.to_vec();
            vary(&mut row);
            row
        });
        rows.push(row.as_deref());
    }
    Series { samples: Samples::Channels(rows), ..series.clone() }
}

/// A rotation by independent normal angles about the three axes.
fn rotation(deviation: f64, rng: &mut ChaCha8Rng) -> [[f64; 3]; 3] {
    let mut turn = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for axis in 0..3 {
        let (sine, cosine) = (deviation * normal(rng)).portable_sin_cos();
        let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
        let (row_a, row_b) = (turn[a], turn[b]);
        for column in 0..3 {
            turn[a][column] = cosine * row_a[column] - sine * row_b[column];
            turn[b][column] = sine * row_a[column] + cosine * row_b[column];
        }
    }
    turn
}

#[cfg(test)]
mod tests;
