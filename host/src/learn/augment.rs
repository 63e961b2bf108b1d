//! Training data as other devices would have recorded them: the sensor mounted a little askew, its
//! gains a little off, worn on the other side. The classifier that results is no larger.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::data::{DataError, Dataset, Kind, Rows, Samples, Series};
use crate::fit::normal;

/// What is varied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Augment {
    /// Jittered copies of each training series, and of its mirror image; 0 for none.
    pub copies: usize,
    /// Standard deviation of the angle, in degrees, by which a copy's vectors are turned about each
    /// axis. Three channels named alike but for `x`, `y` and `z` are a vector, and all vectors are
    /// turned alike, as one device.
    pub rotation_degrees: f64,
    /// Standard deviation of the logarithm of each channel's gain in a copy.
    pub gain: f64,
    /// Whether and how training series are mirrored as well.
    pub mirror: Mirror,
    /// Seed of the copies.
    pub seed: u64,
}

/// A mirror image: the other arm, the other side of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mirror {
    /// None, or one of those across an axis of the vectors found among the channels: whichever inner
    /// cross-validation finds best. Only classifiers that choose by inner cross-validation look.
    #[default]
    Choose,
    /// The channels that change sign; none for no mirror image.
    Channels(Vec<String>),
}

/// The mirror images to choose from: none, then, where channels form vectors, across `x`, `y`, `z`.
///
/// Mirrored across `x`, a velocity or an acceleration changes the sign of its `x`; a turning rate or
/// a magnetic field, an axial vector, that of its `y` and `z`. Names tell which is which.
pub(super) fn mirror_candidates(kind: &Kind) -> Vec<Vec<String>> {
    let mut candidates = vec![Vec::new()];
    let Kind::Channels(names) = kind else { return candidates };
    let vectors = vectors(names);
    if vectors.is_empty() {
        return candidates;
    }
    for axis in 0..3 {
        let changed = vectors.iter().flat_map(|vector| {
            let axial = is_axial(&names[vector[axis]]);
            (0..3).filter(move |&other| (other == axis) != axial).map(|other| vector[other])
        });
        candidates.push(changed.map(|channel| names[channel].clone()).collect());
    }
    candidates
}

fn is_axial(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let starts = |prefix: &&str| name.starts_with(prefix);
    !name.starts_with("grav") && ["w", "g", "omega", "rot", "mag"].iter().any(starts)
}

impl Default for Augment {
    fn default() -> Self {
        Self { copies: 2, rotation_degrees: 10.0, gain: 0.05, mirror: Mirror::Choose, seed: 1 }
    }
}

impl Augment {
    /// Nothing varied.
    pub const NONE: Self = Self {
        copies: 0,
        rotation_degrees: 0.0,
        gain: 0.0,
        mirror: Mirror::Channels(Vec::new()),
        seed: 1,
    };
}

/// A data set with its varied copies: variant `v` of series `i` is series `v n + i`, and variant 0
/// is the series itself.
pub(super) struct Augmented {
    pub(super) data: Dataset,
    originals: usize,
    /// Variants that are exact: the series, and its mirror image.
    exact: usize,
    variants: usize,
}

impl Augmented {
    pub(super) fn new(data: &Dataset, options: &Augment) -> Result<Self, AugmentError> {
        let originals = data.series().len();
        let Kind::Channels(names) = data.kind() else {
            return Ok(Self { data: data.clone(), originals, exact: 1, variants: 1 });
        };
        // A choice not made yet is no mirror image.
        let mirror = match &options.mirror {
            Mirror::Channels(channels) => channels.as_slice(),
            Mirror::Choose => &[],
        };
        let signs = signs(names, mirror)?;
        let vectors = vectors(names);
        let mut series = data.series().to_vec();
        if !mirror.is_empty() {
            for one in data.series() {
                series.push(varied(one, |row| {
                    row.iter_mut().zip(&signs).for_each(|(x, sign)| *x *= sign);
                }));
            }
        }
        let exact = series.len() / originals;
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
        for _ in 0..options.copies {
            for index in 0..exact * originals {
                let turn = rotation(options.rotation_degrees.to_radians(), &mut rng);
                let gains: Vec<f64> =
                    names.iter().map(|_| (options.gain * normal(&mut rng)).exp()).collect();
                series.push(varied(&series[index], |row| {
                    for vector in &vectors {
                        let [x, y, z] = vector.map(|channel| row[channel]);
                        for (&channel, turn) in vector.iter().zip(&turn) {
                            row[channel] = turn[0] * x + turn[1] * y + turn[2] * z;
                        }
                    }
                    row.iter_mut().zip(&gains).for_each(|(x, gain)| *x *= gain);
                }));
            }
        }
        let variants = series.len() / originals;
        let data = Dataset::new(
            data.source(),
            data.kind().clone(),
            data.classes().to_vec(),
            data.columns().to_vec(),
            series,
        )?;
        Ok(Self { data, originals, exact, variants })
    }

    /// The series given and their mirror images: what the models are fitted to.
    pub(super) fn exact(&self, series: &[usize]) -> Vec<usize> {
        self.of(series, self.exact)
    }

    /// The series given and all their variants: what the linear machine is trained on.
    pub(super) fn all(&self, series: &[usize]) -> Vec<usize> {
        self.of(series, self.variants)
    }

    fn of(&self, series: &[usize], variants: usize) -> Vec<usize> {
        (0..variants)
            .flat_map(|variant| series.iter().map(move |&index| variant * self.originals + index))
            .collect()
    }
}

/// Why nothing was varied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AugmentError {
    /// A channel to mirror that is none.
    #[error("no channel `{name}` to mirror; the channels are {channels}")]
    NoSuchChannel {
        /// Its name.
        name: String,
        /// The channels there are.
        channels: String,
    },
    /// A copy that is no data set: an overflow.
    #[error(transparent)]
    Data(#[from] DataError),
}

fn signs(names: &[String], mirror: &[String]) -> Result<Vec<f64>, AugmentError> {
    if let Some(name) = mirror.iter().find(|name| !names.contains(name)) {
        let (name, channels) = (name.clone(), names.join(", "));
        return Err(AugmentError::NoSuchChannel { name, channels });
    }
    Ok(names.iter().map(|name| if mirror.contains(name) { -1.0 } else { 1.0 }).collect())
}

/// Channels that are the components of a vector: their names differ in one `x`, `y`, `z` alone.
fn vectors(names: &[String]) -> Vec<[usize; 3]> {
    let mut found: BTreeMap<String, [Option<usize>; 3]> = BTreeMap::new();
    for (channel, name) in names.iter().enumerate() {
        for (at, letter) in name.char_indices() {
            if let Some(axis) = "xyz".find(letter.to_ascii_lowercase()) {
                let stem = format!("{}*{}", &name[..at], &name[at + 1..]);
                found.entry(stem).or_default()[axis] = Some(channel);
            }
        }
    }
    found.into_values().filter_map(|axes| Some([axes[0]?, axes[1]?, axes[2]?])).collect()
}

fn varied(series: &Series, vary: impl Fn(&mut [f64])) -> Series {
    let mut rows = Rows::new(series.samples.view().rows().map_or(0, |rows| rows.dimension()));
    for row in series.samples.view().rows().into_iter().flat_map(|rows| rows.iter()) {
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
        let (sine, cosine) = (deviation * normal(rng)).sin_cos();
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
mod tests {
    use super::*;

    #[test]
    fn vectors_are_found_by_name() {
        let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(vectors(&names("ax ay az wx wy wz")), [[0, 1, 2], [3, 4, 5]]);
        assert_eq!(vectors(&names("t gyro_Z gyro_X gyro_Y")), [[2, 3, 1]]);
        assert!(vectors(&names("x y current")).is_empty());
    }

    #[test]
    fn mirrors_know_axial_vectors() {
        let names = "ax ay az wx wy wz".split(' ').map(str::to_owned).collect();
        let candidates = mirror_candidates(&Kind::Channels(names));
        let expected: [&[&str]; 4] =
            [&[], &["ax", "wy", "wz"], &["ay", "wx", "wz"], &["az", "wx", "wy"]];
        assert_eq!(candidates, expected);
    }

    #[test]
    fn rotations_keep_lengths_and_handedness() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for _ in 0..20 {
            let r = rotation(1.0, &mut rng);
            let determinant = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1])
                - r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0])
                + r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
            assert!((determinant - 1.0).abs() < 1e-12);
            for row in r {
                assert!((row.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }
}
