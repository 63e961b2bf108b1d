//! A spotter: class models and a background as one network, in the numbers of a device.

mod stream;

pub use stream::{Found, SpotterStream};

use super::compile::{Names, attach};
use super::{DeployError, DeployedModel};
use crate::classifier::Observations;
use crate::runtime::{Emissions, Hmm, HmmError};

/// States of a background: fewer are padded to so many.
pub(crate) const BACKGROUND_STATES: usize = 4;
/// Events that a path carries undecided.
pub(crate) const PENDING: usize = 4;

/// A class beside the background: its model, and how often it is entered and left.
#[derive(Clone, Debug, PartialEq)]
pub struct SpottedClass {
    /// Its name.
    pub name: String,
    /// Its model.
    pub model: Hmm,
    /// Probability that a sample of background is followed by one of the class.
    pub entry: f64,
    /// Probability that a sample of the class is followed by one of background.
    pub exit: f64,
}

/// A spotter as a device holds it: the core's `Spotter`, in `f32`, in the sensor's own units.
#[derive(Clone, Debug, PartialEq)]
pub struct Spotter {
    observations: Observations,
    classes: Vec<String>,
    network: DeployedModel,
    background: DeployedModel,
    /// The class of each state.
    class: Vec<u8>,
    lag: u32,
}

/// Why there is no spotter of some models.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpotterError {
    /// A model that is none, or more states in all than there are sizes for.
    #[error(transparent)]
    Model(#[from] HmmError),
    /// A number that a device cannot hold.
    #[error(transparent)]
    Compile(#[from] DeployError),
    /// A background with too many states.
    #[error("the background has {0} states: {BACKGROUND_STATES} are the most")]
    Background(usize),
    /// Models that do not go together.
    #[error("the model of {0} and the background's differ in emissions or their sizes")]
    Emission(String),
    /// No class, or more than there are names for.
    #[error("{0} classes: a spotter needs between 1 and 255")]
    Classes(usize),
    /// A probability that is none, or entries that leave nothing for the background.
    #[error(
        "{0} cannot be entered or left so often: probabilities lie between 0 and 1, those of \
         entries below 1 in all"
    )]
    Probability(String),
}

impl Spotter {
    /// Joins models: see the core's `Spotter` for the network.
    ///
    /// # Errors
    /// [`SpotterError`].
    pub fn join(
        observations: Observations,
        background: &Hmm,
        classes: &[SpottedClass],
        lag: u32,
    ) -> Result<Self, SpotterError> {
        background.validate()?;
        if background.states() > BACKGROUND_STATES {
            return Err(SpotterError::Background(background.states()));
        }
        if !(1..=usize::from(u8::MAX)).contains(&classes.len()) {
            return Err(SpotterError::Classes(classes.len()));
        }
        let mut stays = 1.0;
        for SpottedClass { name, model, entry, exit } in classes {
            model.validate()?;
            stays -= entry;
            if !(*entry > 0.0 && *exit > 0.0 && *exit < 1.0 && stays > 0.0) {
                return Err(SpotterError::Probability(name.clone()));
            }
            if model.emission.difference(&background.emission).is_some() {
                return Err(SpotterError::Emission(name.clone()));
            }
        }
        let background = padded(background);
        let first: Vec<usize> = classes
            .iter()
            .scan(BACKGROUND_STATES, |next, one| {
                let first = *next;
                *next += one.model.states();
                Some(first)
            })
            .collect();
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
        let mut class = vec![fishweir_core::spot::BACKGROUND; BACKGROUND_STATES];
        for (index, (one, &first)) in classes.iter().zip(&first).enumerate() {
            for own in &one.model.transition {
                let mut row = vec![0.0; states];
                let leaves = background.initial.iter().map(|p| one.exit * p);
                row.iter_mut().zip(leaves).for_each(|(to, p)| *to = p);
                let remains = own.iter().map(|p| (1.0 - one.exit) * p);
                row[first..].iter_mut().zip(remains).for_each(|(to, p)| *to = p);
                transition.push(row);
                class.push(index as u8);
            }
        }
        let models = std::iter::once(&background).chain(classes.iter().map(|one| &one.model));
        let emission = joined(&models.map(|model| &model.emission).collect::<Vec<_>>());
        let network = Hmm { initial: enters(&background.initial), transition, emission };
        network.validate()?;
        let deploy =
            |model: &Hmm| attach((0, Names::of(&[], 1, &observations)), model, &[], model.states());
        let (network, background) = (deploy(&network)?, deploy(&background)?);
        let classes = classes.iter().map(|one| one.name.clone()).collect();
        Ok(Self { observations, classes, network, background, class, lag })
    }

    /// What it observes.
    pub fn observations(&self) -> &Observations {
        &self.observations
    }

    /// The names of the classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// States of the network, the background's padding among them.
    pub fn states(&self) -> usize {
        self.class.len()
    }
}

/// A background with as many states as are compiled for: those added are out of reach.
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
