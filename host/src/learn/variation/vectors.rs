//! Channels that are the components of physical vectors, and their mirror images.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::data::{Kind, split_unit};

/// Choice of the channels that are components of vectors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vectors {
    /// Three channels whose names, units aside, are one stem and then `x`, `y`, `z`: `ax ay az`, `gyro_X gyro_Y gyro_Z`,
    /// but not `x y z`, which may be anything. A vector is axial where the stem, or its last word, is
    /// one of `w`, `g`, `gyr`, `gyro`, `gyroscope`, `omega`, `rot`, `rotation`, `m`, `mag`,
    /// `magnetometer`.
    #[default]
    Named,
    /// Exactly these vectors.
    Given(Vec<Vector>),
}

/// Three channels that are a vector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vector {
    /// Components along `x`, `y`, `z`.
    pub channels: [String; 3],
    /// `true` for a turning rate or a magnetic field: mirrored across `x` it changes the sign of its
    /// `y` and `z`, where a velocity or an acceleration changes that of its `x`.
    pub axial: bool,
}

impl fmt::Display for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.channels.join(" "))
    }
}

/// Last words of the stems of axial vectors.
const AXIAL: [&str; 11] =
    ["w", "g", "gyr", "gyro", "gyroscope", "omega", "rot", "rotation", "m", "mag", "magnetometer"];

impl Vectors {
    /// The vectors among some channels; given ones may name unknown channels.
    pub(crate) fn among(&self, names: &[String]) -> Vec<Vector> {
        if let Self::Given(vectors) = self {
            return vectors.clone();
        }
        let mut found: BTreeMap<(&str, bool), [Option<&String>; 3]> = BTreeMap::new();
        for whole in names {
            let (name, _) = split_unit(whole);
            let Some((at, letter)) = name.char_indices().next_back() else { continue };
            let axis = "xyz".find(letter.to_ascii_lowercase());
            if let (Some(axis), true) = (axis, at > 0) {
                let stem = (&name[..at], letter.is_ascii_uppercase());
                found.entry(stem).or_default()[axis] = Some(whole);
            }
        }
        let whole = found.into_iter().filter_map(|((stem, _), [x, y, z])| {
            let last = stem.split(|c: char| !c.is_alphanumeric()).rfind(|word| !word.is_empty());
            let last = last.unwrap_or_default().to_lowercase();
            let channels = [x?.clone(), y?.clone(), z?.clone()];
            Some(Vector { channels, axial: AXIAL.contains(&last.as_str()) })
        });
        whole.collect()
    }
}

/// The mirror images to choose from: no mirroring, then, where channels form vectors, across `x`, `y`, `z`.
pub(crate) fn mirror_candidates(kind: &Kind, vectors: &Vectors) -> Vec<Vec<String>> {
    let mut candidates = vec![Vec::new()];
    let Kind::Channels(names) = kind else { return candidates };
    let vectors = vectors.among(names);
    if vectors.is_empty() {
        return candidates;
    }
    for axis in 0..3 {
        let changed = vectors.iter().flat_map(|Vector { channels, axial }| {
            (0..3).filter(move |&other| (other == axis) != *axial).map(|other| &channels[other])
        });
        candidates.push(changed.cloned().collect());
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn vectors_are_a_stem_and_then_x_y_z() {
        let found = |text: &str| -> Vec<(String, bool)> {
            let vectors = Vectors::Named.among(&names(text));
            vectors.iter().map(|vector| (vector.to_string(), vector.axial)).collect()
        };
        let vector = |text: &str, axial| (text.to_owned(), axial);
        let both = [vector("ax ay az", false), vector("wx wy wz", true)];
        assert_eq!(found("ax ay az wx wy wz"), both);
        assert_eq!(found("t gyro_Z gyro_X gyro_Y"), [vector("gyro_X gyro_Y gyro_Z", true)]);
        let wrist = "wrist_x wrist_y wrist_z";
        assert_eq!(found(wrist), [vector(wrist, false)]);
        assert!(found("left.mag.x left.mag.y left.mag.z")[0].1);
        assert!(!found("gravx gravy gravz")[0].1);
        for none in ["x y z", "x y current", "ax ay aZ", "xa ya za", "axis ayis azis"] {
            assert!(found(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn mirrors_know_axial_vectors() {
        let kind = Kind::Channels(names("ax ay az wx wy wz"));
        let candidates = mirror_candidates(&kind, &Vectors::Named);
        let expected: [&[&str]; 4] =
            [&[], &["ax", "wy", "wz"], &["ay", "wx", "wz"], &["az", "wx", "wy"]];
        assert_eq!(candidates, expected);
        let given = Vector { channels: ["ax", "ay", "az"].map(str::to_owned), axial: true };
        let candidates = mirror_candidates(&kind, &Vectors::Given(vec![given]));
        assert_eq!(candidates[1], ["ay", "az"]);
    }
}
