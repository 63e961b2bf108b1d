//! Parts of a spotter, and its file.

use std::collections::{BTreeMap, BTreeSet};

use fishweir_core::spot::BACKGROUND;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::super::attach::{Names, attach};
use super::{BACKGROUND_STATES, Spotter, SpotterError};
use crate::classifier::{self, Observations, Provenance};
use crate::runtime::{Emissions, Hmm, HmmError};

/// A class of events: its model, and its rates of entry and exit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpottedClass {
    /// Name of the class.
    pub name: String,
    /// Model of the class.
    pub model: Hmm,
    /// Probability that a sample of background is followed by one of the class, any penalty taken off.
    pub entry: f64,
    /// Probability that a sample of the class is followed by one of background.
    pub exit: f64,
}

/// Models of classes and one of the background, in `f64`, in the sensor's own units: what was fitted, and
/// [`deploy`](Self::deploy)s as a [`Spotter`].
///
/// Its file is JSON with a checksum, as a classifier's is.
///
/// ```
/// use fishweir::classifier::{Observations, Provenance};
/// use fishweir::deploy::{SpottedClass, SpotterModel};
/// use fishweir::runtime::{Emissions, Hmm};
///
/// let coin = |heads: f64| Hmm {
///     initial: vec![1.0],
///     transition: vec![vec![1.0]],
///     emission: Emissions::categorical(vec![vec![heads, 1.0 - heads]]),
/// };
/// let model = SpotterModel {
///     observations: Observations::Symbols("HT".into()),
///     background: coin(0.5),
///     classes: vec![SpottedClass { name: "run".into(), model: coin(0.95), entry: 0.05, exit: 0.1 }],
///     lag: 100,
///     provenance: Provenance::default(),
/// };
/// let again = SpotterModel::parse("runs.json", model.to_json()?.as_bytes())?;
/// assert_eq!(again.deploy()?.classes(), ["run"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpotterModel {
    /// Observations of the models.
    pub observations: Observations,
    /// The model of the background between events: four states at most.
    pub background: Hmm,
    /// The classes, in order; no two of one name.
    pub classes: Vec<SpottedClass>,
    /// Largest number of samples between the end of an event and its decision.
    pub lag: u32,
    /// Provenance of the training.
    pub provenance: Provenance,
}

classifier::has_a_file!(SpotterModel);

impl SpotterModel {
    /// Returns whether bytes are the file of a spotter and of nothing else, by the names of its fields.
    ///
    /// The values may still be invalid.
    pub fn is_one(bytes: &[u8]) -> bool {
        let content = classifier::unseal("", bytes).and_then(|content| content.parse());
        content.is_ok_and(|found: BTreeMap<String, IgnoredAny>| {
            ["background", "classes", "lag"].iter().all(|&name| found.contains_key(name))
        })
    }

    fn check(&self) -> Result<(), String> {
        self.observations.kind().map_err(|error| error.to_string())?;
        self.deploy().map(drop).map_err(|error| error.to_string())
    }

    /// Joins the models, in the numbers of a device: see the core's `Spotter` for the network.
    ///
    /// # Errors
    /// [`SpotterError`] naming the class and the entry.
    pub fn deploy(&self) -> Result<Spotter, SpotterError> {
        let stays = self.stays()?;
        self.check_models()?;
        let (network, class) = self.network(stays)?;
        let deploy = |model: &Hmm| {
            let names = Names::of(&[], 1, &self.observations);
            attach((0, names), model, &[], model.states())
        };
        let spotter = Spotter {
            observations: self.observations.clone(),
            classes: self.classes.iter().map(|one| one.name.clone()).collect(),
            network: deploy(&network)?,
            background: deploy(&padded(&self.background))?,
            class,
            lag: self.lag,
            in_part: self.provenance.contract_in_part().lacks_some(),
        };
        spotter.validate().map_err(SpotterError::Rounded)?;
        Ok(spotter)
    }

    /// Names and probabilities are sound; how likely the background is to be followed by itself.
    fn stays(&self) -> Result<f64, SpotterError> {
        if !(1..=usize::from(u8::MAX)).contains(&self.classes.len()) {
            return Err(SpotterError::Classes(self.classes.len()));
        }
        let (mut stays, mut names) = (1.0, BTreeSet::new());
        for SpottedClass { name, entry, exit, .. } in &self.classes {
            if !names.insert(name) || name.contains(char::is_control) {
                return Err(SpotterError::Name(name.clone()));
            }
            stays -= entry;
            let wrong =
                |entry, value| SpotterError::Probability { class: name.clone(), entry, value };
            if !(*entry > 0.0 && stays > 0.0) {
                return Err(wrong("entry", *entry));
            }
            if !(*exit > 0.0 && *exit < 1.0) {
                return Err(wrong("exit", *exit));
            }
        }
        Ok(stays)
    }

    /// Checks that models are valid, fit the observations, and are of one family.
    fn check_models(&self) -> Result<(), SpotterError> {
        let (size, background) = (self.observations.size(), &self.background);
        let check = |of: String, model: &Hmm| {
            model.validate_over(size).map_err(|error| SpotterError::Model { of, error })
        };
        check("background".into(), background)?;
        if background.states() > BACKGROUND_STATES {
            return Err(SpotterError::Background(background.states()));
        }
        let family = background.emission.family();
        let symbols = matches!(self.observations, Observations::Symbols(_));
        if family.has_past() || symbols != background.emission.is_over_symbols() {
            return Err(SpotterError::Observed(family.name()));
        }
        let words = |model: &Hmm| model.emission.family().words(model.emission.shape());
        for SpottedClass { name, model, .. } in &self.classes {
            check(format!("class `{name}`"), model)?;
            if model.emission.difference(&background.emission).is_some() {
                let what =
                    format!("has {}, and the background's {}", words(model), words(background));
                return Err(SpotterError::Emission { class: name.clone(), what });
            }
        }
        Ok(())
    }

    /// The joined network, and the class of each state.
    fn network(&self, stays: f64) -> Result<(Hmm, Vec<u8>), SpotterError> {
        let (background, classes) = (padded(&self.background), &self.classes);
        let states =
            BACKGROUND_STATES + classes.iter().map(|one| one.model.states()).sum::<usize>();
        let enters = |row: &[f64]| -> Vec<f64> {
            let own = row.iter().map(|p| stays * p);
            let entered =
                classes.iter().flat_map(|one| one.model.initial.iter().map(|p| one.entry * p));
            own.chain(entered).collect()
        };
        let mut transition: Vec<Vec<f64>> =
            background.transition.iter().map(|row| enters(row)).collect();
        let mut class = vec![BACKGROUND; BACKGROUND_STATES];
        for (index, one) in (0..).zip(classes) {
            let first = class.len();
            for own in &one.model.transition {
                let mut row = vec![0.0; states];
                let leaves = background.initial.iter().map(|p| one.exit * p);
                row.iter_mut().zip(leaves).for_each(|(to, p)| *to = p);
                let remains = own.iter().map(|p| (1.0 - one.exit) * p);
                row[first..].iter_mut().zip(remains).for_each(|(to, p)| *to = p);
                transition.push(row);
                class.push(index);
            }
        }
        let models = std::iter::once(&background).chain(classes.iter().map(|one| &one.model));
        let emission = joined(&models.map(|model| &model.emission).collect::<Vec<_>>());
        let network = Hmm { initial: enters(&background.initial), transition, emission };
        let of = || "background and classes joined".into();
        network.validate().map_err(|error: HmmError| SpotterError::Model { of: of(), error })?;
        Ok((network, class))
    }
}

/// Pads a background to a compiled number of states: those added are out of reach.
fn padded(model: &Hmm) -> Hmm {
    let states = model.states();
    let mut padded = model.clone();
    padded.initial.resize(BACKGROUND_STATES, 0.0);
    padded.transition.iter_mut().for_each(|row| row.resize(BACKGROUND_STATES, 0.0));
    for state in states..BACKGROUND_STATES {
        let mut row = vec![0.0; BACKGROUND_STATES];
        row[state] = 1.0;
        padded.transition.push(row);
    }
    let family = model.emission.family();
    let parts = family.parts().iter().map(|block| {
        let rows = model.emission.part(block.name).unwrap_or_default();
        (0..BACKGROUND_STATES).filter_map(|j| rows.get(j).or(rows.first()).cloned()).collect()
    });
    padded.emission = Emissions::new(family, parts);
    padded
}

/// The states of several models, which are of one family.
fn joined(emissions: &[&Emissions]) -> Emissions {
    let family = emissions[0].family();
    let parts = family.parts().iter().map(|block| {
        emissions.iter().flat_map(|one| one.part(block.name).unwrap_or_default().to_vec()).collect()
    });
    Emissions::new(family, parts.collect::<Vec<Vec<Vec<f64>>>>())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn level(mean: f64) -> Hmm {
        Hmm {
            initial: vec![0.75, 0.25],
            transition: vec![vec![0.5, 0.5], vec![0.125, 0.875]],
            emission: Emissions::gaussian(
                vec![vec![mean], vec![mean + 1.0]],
                vec![vec![0.5], vec![0.25]],
            ),
        }
    }

    pub(in super::super) fn two() -> SpotterModel {
        let class = |name: &str, mean| SpottedClass {
            name: name.into(),
            model: level(mean),
            entry: 1.0 / 3.0,
            exit: 0.1,
        };
        SpotterModel {
            observations: Observations::Channels(vec!["x".into()]),
            background: level(0.0),
            classes: vec![class("up", 3.0), class("down", -3.0)],
            lag: 50,
            provenance: Provenance::default(),
        }
    }

    #[test]
    fn a_spotter_is_read_as_it_was_written_and_is_known() {
        let (model, set) = (two(), "{}");
        let text = model.to_json().expect("numbers");
        let again = SpotterModel::parse("s.json", text.as_bytes()).expect("the same");
        assert_eq!(again, model);
        assert_eq!(again.deploy(), model.deploy());
        assert!(SpotterModel::is_one(text.as_bytes()) && !SpotterModel::is_one(set.as_bytes()));
        assert!(!crate::model::ModelSet::is_one(text.as_bytes()));
    }

    #[test]
    fn what_is_wrong_in_a_file_is_named() {
        type Spoil = fn(&mut SpotterModel);
        let spoiled: [(Spoil, &str); 11] = [
            (|m| m.classes.clear(), "0 classes"),
            (|m| m.classes[1].name = "up".into(), "class `up`: names must differ"),
            (|m| m.classes[0].name = "a\nb".into(), "class `a\\nb`"),
            (|m| m.classes[0].entry = 0.0, "class `up`: `entry` is 0"),
            (|m| m.classes[1].entry = 0.7, "class `down`: `entry` is 0.7"),
            (|m| m.classes[1].exit = 1.0, "class `down`: `exit` is 1"),
            (
                |m| m.classes[1].model.transition[1][0] = 0.25,
                "class `down`: transition[1] is no probability distribution",
            ),
            (|m| m.background.initial[0] = 0.5, "background: initial"),
            (|m| m.observations = Observations::Channels(vec![]), "background: "),
            (
                |m| m.observations = Observations::Symbols("a".into()),
                "background: a spotter cannot use gaussian emissions",
            ),
            (
                |m| m.classes[1].model.emission = Emissions::categorical(vec![vec![1.0]; 2]),
                "class `down`: its model has",
            ),
        ];
        for (spoil, words) in spoiled {
            let mut model = two();
            spoil(&mut model);
            let text = model.to_json().expect("numbers");
            let error = SpotterModel::parse("s.json", text.as_bytes()).expect_err(words);
            let text = error.to_string();
            assert!(text.starts_with(&format!("s.json: {words}")), "{text}");
        }
    }
}
