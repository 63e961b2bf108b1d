//! The host's run of a spotter: the core's recursion at run-time sizes.

use fishweir_core::ModelError;
use fishweir_core::filter::Streaming;
use fishweir_core::hmm::Hmm;
use fishweir_core::spot::{BACKGROUND, Event, SpotState, Spotter as CoreSpotter};

use super::super::block::{Build, Observation, chain, states_of};
use super::super::error::PushError;
use super::super::narrowed::Narrowed;
use super::super::validate::validate;
use super::{BACKGROUND_STATES, PENDING, Spotter};
use crate::data::{Sample, SamplesView};
use crate::runtime::{CategoricalVec, RowState, at_sizes, padded_states};
use fishweir_core::number::array_of;

/// An event, and when it was decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The event.
    pub event: Event,
    /// Samples that the stream had then.
    pub decided: u64,
}

/// A stream through a [`Spotter`], with the device's arithmetic and its bits.
pub struct SpotterStream {
    run: Box<dyn Run + Send>,
    samples: Narrowed,
}

impl Spotter {
    fn run(&self) -> Box<dyn Run + Send> {
        if self.network.is_over_symbols() {
            running::<CategoricalVec<f32>>(self)
        } else {
            running::<RowState<f32>>(self)
        }
    }

    /// Checks the rounded numbers, as the core does.
    pub(super) fn validate(&self) -> Result<(), ModelError> {
        self.run().validate(self.states())
    }

    /// A stream before its first sample.
    pub fn stream(&self) -> SpotterStream {
        SpotterStream { run: self.run(), samples: Narrowed::new(&self.observations, self.in_part) }
    }

    /// The events of a whole series, those at its end that are still undecided last. A sample that is
    /// refused counts as missing.
    pub fn spot(&self, samples: &SamplesView<'_>) -> Vec<Found> {
        let mut stream = self.stream();
        let mut found = Vec::new();
        for sample in samples.iter() {
            // A refused sample is missing already; no time has passed over one of another kind.
            if stream.push(sample) == Err(PushError::Kind) {
                stream.run.push_missing();
            }
            found.extend(stream.decided());
        }
        found.extend(stream.undecided());
        found
    }
}

impl SpotterStream {
    /// Takes in one sample; the values of a row are rounded to `f32`, as the device receives them.
    ///
    /// # Errors
    /// Why it was refused: it is missing then. Of [`PushError::Kind`] no time has passed.
    pub fn push(&mut self, sample: Sample<'_>) -> Result<(), PushError> {
        match self.samples.narrow(sample)? {
            Some(x) => {
                let pushed = self.run.push(&x);
                if matches!(pushed, Err(PushError::Observation(_))) {
                    self.run.push_missing();
                }
                pushed
            }
            None => {
                self.run.push_missing();
                Ok(())
            }
        }
    }

    /// The events that the last sample has decided: to be read once after each.
    pub fn decided(&self) -> Vec<Found> {
        self.run.decided()
    }

    /// The events of the best path that are not decided, the one that the last sample is in among them.
    pub fn undecided(&self) -> Vec<Found> {
        self.run.undecided()
    }

    /// Number of events decided before survivors agreed.
    pub fn forced(&self) -> u64 {
        self.run.forced()
    }

    /// Forgets the past.
    pub fn reset(&mut self) {
        self.run.reset();
    }
}

trait Run {
    fn validate(&self, states: usize) -> Result<(), ModelError>;
    fn push(&mut self, x: &Observation<'_, f32>) -> Result<(), PushError>;
    fn push_missing(&mut self);
    fn reset(&mut self);
    fn decided(&self) -> Vec<Found>;
    fn undecided(&self) -> Vec<Found>;
    fn forced(&self) -> u64;
}

struct SpotterRun<E: Build<f32, Weight = f32>, const S: usize> {
    spotter: CoreSpotter<E, S, BACKGROUND_STATES, PENDING>,
    state: SpotState<f32, S, BACKGROUND_STATES, PENDING>,
}

impl<E: Build<f32, Weight = f32>, const S: usize> Run for SpotterRun<E, S> {
    fn validate(&self, states: usize) -> Result<(), ModelError> {
        // The class of each state is right by construction.
        validate(self.spotter.network(), states)?;
        self.spotter.background().validate()
    }
    fn push(&mut self, x: &Observation<'_, f32>) -> Result<(), PushError> {
        let x = E::observe(x).ok_or(PushError::Kind)?;
        Ok(self.spotter.step(&mut self.state, x)?)
    }
    fn push_missing(&mut self) {
        self.spotter.step_missing(&mut self.state);
    }
    fn reset(&mut self) {
        self.state = self.spotter.initial_state();
    }
    fn decided(&self) -> Vec<Found> {
        let decided = self.state.samples();
        self.state.spotted().events.iter().map(|&event| Found { event, decided }).collect()
    }
    fn undecided(&self) -> Vec<Found> {
        let (rest, decided) = (self.spotter.undecided(&self.state), self.state.samples());
        rest.events.iter().copied().chain(rest.open).map(|event| Found { event, decided }).collect()
    }
    fn forced(&self) -> u64 {
        self.state.forced()
    }
}

fn running<E>(spotter: &Spotter) -> Box<dyn Run + Send>
where
    E: Build<f32, Weight = f32> + Send + 'static,
{
    // Of the sizes that there are those with room for a background and a class.
    at_sizes!(padded_states(spotter.class.len()), S => {
        let class = array_of(0, |j| match spotter.class.get(j) {
            Some(&class) => class,
            None if j < BACKGROUND_STATES => BACKGROUND,
            None => 0, // Out of reach.
        });
        let mut emission = states_of::<f32, E, S>(&spotter.network.emission, 0);
        // Likelihoods of the background alone are relative to its own largest, as on a device.
        let own = states_of::<f32, E, BACKGROUND_STATES>(&spotter.background.emission, 0);
        emission.iter_mut().zip(own).for_each(|(state, own)| *state = own);
        let network = Hmm::new(chain::<f32, f32, S>(&spotter.network, 0), emission);
        let background = chain::<f32, f32, BACKGROUND_STATES>(&spotter.background, 0);
        let spotter = CoreSpotter::from_parts(network, background, class, spotter.lag);
        let state = spotter.initial_state();
        Box::new(SpotterRun { spotter, state })
    }; Some(2 | 4 | 8) => 8, Some(16) => 16, Some(32) => 32, _ => 64)
}

#[cfg(test)]
mod tests {
    use fishweir_core::emission::{Gaussian, Marginal};
    use fishweir_core::filter::Stream;

    use super::super::{SpottedClass, SpotterModel};
    use super::*;
    use crate::classifier::{ChannelRange, Observations, Provenance};
    use crate::data::{Rows, Samples};
    use crate::runtime::family::{DeployedEmission, Field};
    use crate::runtime::{Emissions, Hmm as HostHmm};

    fn level(mean: f64) -> HostHmm {
        HostHmm {
            initial: vec![1.0],
            transition: vec![vec![1.0]],
            emission: Emissions::gaussian(vec![vec![mean, -mean]], vec![vec![1.0, 1.5]]),
        }
    }

    fn model(missing: bool) -> SpotterModel {
        let class = |name: &str, mean| SpottedClass {
            name: name.into(),
            model: level(mean),
            entry: 0.02,
            exit: 0.1,
        };
        let channel = |missing| ChannelRange { missing, ..ChannelRange::default() };
        SpotterModel {
            observations: Observations::Channels(vec!["x".into(), "y".into()]),
            background: level(0.0),
            classes: vec![class("up", 3.0), class("down", -3.0)],
            lag: 50,
            provenance: Provenance {
                channels: vec![channel(false), channel(missing)],
                ..Provenance::default()
            },
        }
    }

    /// Levels that change, seen now by one channel, now by the other, seldom by both.
    fn series() -> Samples {
        let mut rows = Rows::new(2);
        for t in 0..400_usize {
            let level = match t % 100 {
                20..40 => 3.0,
                60..80 => -3.0,
                _ => 0.0,
            };
            let noise = (t * 7919 % 101) as f64 / 50.0 - 1.0;
            let row = match t % 100 {
                99 => [level + noise, -level - noise],
                at if at % 2 == 0 => [level + noise, f64::NAN],
                _ => [f64::NAN, noise - level],
            };
            rows.push(Some(&row));
        }
        Samples::Channels(rows)
    }

    /// Emission of a state as written in the source.
    fn exported(one: &DeployedEmission) -> Marginal<Gaussian<2>> {
        let reals = |at: usize| match &one.fields[at] {
            Field::Reals(reals) => std::array::from_fn(|d| reals[d]),
            _ => [0.0; 2],
        };
        let constant = match &one.fields[2] {
            Field::Weights(weights) => weights[0].value,
            _ => 0.0,
        };
        Marginal::new(Gaussian::from_parts(reals(0), reals(1), constant, [(); 2], [(); 2]))
    }

    #[test]
    fn samples_that_lack_channels_have_the_events_of_the_core_s_own_type() {
        let (spotter, series) = (model(true).deploy().expect("sound"), series());
        assert!(spotter.lacks_some());
        let network = Hmm::new(
            chain::<f32, f32, 6>(&spotter.network, 0),
            std::array::from_fn(|j| exported(&spotter.network.emission[j])),
        );
        let background = chain::<f32, f32, BACKGROUND_STATES>(&spotter.background, 0);
        let class = std::array::from_fn(|j| spotter.class[j]);
        let core = CoreSpotter::<_, 6, BACKGROUND_STATES, PENDING>::from_parts(
            network,
            background,
            class,
            spotter.lag,
        );
        core.network().validate().expect("sound");
        let (mut device, mut told) = (Stream::new(&core), Vec::new());
        for (t, row) in series.view().rows().expect("channels").iter_in_part().enumerate() {
            let there = |x: f64| (!x.is_nan()).then_some(x as f32);
            let row: Option<[Option<f32>; 2]> = row.map(|row| [there(row[0]), there(row[1])]);
            device.push(row.as_ref()).expect("possible");
            let decided = t as u64 + 1;
            told.extend(device.read().events.iter().map(|&event| Found { event, decided }));
        }
        let mut stream = spotter.stream();
        let mut heard = Vec::new();
        for sample in series.view().iter() {
            stream.push(sample).expect("possible");
            heard.extend(stream.decided());
        }
        assert_eq!(told, heard);
        let found = spotter.spot(&series.view());
        assert!(found.len() >= 8, "{found:?}");
        assert!(spotter.to_source().contains("Marginal<Gaussian<2"), "{}", spotter.to_source());
        // Trained on whole samples it misses most of them.
        let whole = model(false).deploy().expect("sound");
        assert!(!whole.lacks_some() && !whole.to_source().contains("Marginal"));
        assert!(whole.spot(&series.view()).len() < found.len());
        let (cost, of_whole) = (spotter.cost(), whole.cost());
        assert_eq!(
            (of_whole.logarithms_per_partial_sample, cost.state_bytes),
            (0, of_whole.state_bytes)
        );
        assert!(cost.logarithms_per_partial_sample > 0);
    }
}
