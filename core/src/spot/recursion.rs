use super::event::{Event, Spotted, Undecided};
use super::model::{BACKGROUND, Spotter};
use super::token::{Entered, Token};
use crate::emission::Emission;
use crate::error::ObservationError;
use crate::filter::{Evidence, Streaming};
use crate::number::{Max, Real};
use crate::smooth::Survivors;

/// State of a [`Spotter`].
#[derive(Clone, Debug, PartialEq)]
pub struct SpotState<T: Real, const S: usize, const B: usize, const PENDING: usize> {
    survivors: Survivors<T, S>,
    /// The best path of the background by itself.
    reference: Survivors<T, B>,
    tokens: [Token<T, PENDING>; S],
    samples: u64,
    forced: u64,
    spotted: Spotted<T, PENDING>,
}

impl<T: Real, const S: usize, const B: usize, const PENDING: usize> SpotState<T, S, B, PENDING> {
    /// State before the first sample.
    pub const NEW: Self = Self {
        survivors: Survivors::NEW,
        reference: Survivors::NEW,
        tokens: [const { Token::NEW }; S],
        samples: 0,
        forced: 0,
        spotted: Spotted { events: heapless::Vec::new(), forced: false },
    };

    /// Events decided by the last sample: the reading, without a copy.
    pub const fn spotted(&self) -> &Spotted<T, PENDING> {
        &self.spotted
    }

    /// Number of samples of the stream, missing ones included.
    pub const fn samples(&self) -> u64 {
        self.samples
    }

    /// Number of events decided before survivors agreed; while it is 0, events are exact.
    pub const fn forced(&self) -> u64 {
        self.forced
    }

    /// The tokens of survivors that are alive.
    fn alive(&self) -> impl Iterator<Item = &Token<T, PENDING>> {
        let alive = |(token, entry): (_, &Max<T>)| (entry.0 > T::ZERO).then_some(token);
        self.tokens.iter().zip(self.survivors.row()).filter_map(alive)
    }

    /// The oldest undecided event on the best path.
    fn best_event(&self) -> Option<Event<T>> {
        self.tokens.get(self.survivors.best())?.events.first().copied()
    }

    /// Decides the events that are certain, then those that cannot wait.
    fn decide(&mut self, lag: u32) {
        self.spotted.events.clear();
        self.spotted.forced = false;
        // Each round decides an event of the best path, which has `PENDING` at most, or drops a survivor.
        for _ in 0..S + PENDING {
            let best = self.best_event();
            let agrees = |token: &Token<T, PENDING>| match (&best, token.events.first()) {
                (Some(best), Some(event)) => best.is_at(event),
                (None, None) => true,
                _ => false,
            };
            let agreed = self.alive().all(agrees);
            let late = |token: &Token<T, PENDING>| {
                token.events.is_full()
                    || token.events.first().is_some_and(|event| {
                        self.samples.saturating_sub(event.end) >= u64::from(lag)
                    })
            };
            if !agreed {
                if !self.alive().any(late) {
                    return;
                }
                let keep: [bool; S] =
                    core::array::from_fn(|j| self.tokens.get(j).is_some_and(agrees));
                self.survivors.retain(|j| keep.get(j) == Some(&true));
                self.spotted.forced = true;
                self.forced += 1;
            }
            let Some(event) = best else { return };
            for token in &mut self.tokens {
                if token.events.first().is_some_and(|first| first.is_at(&event)) {
                    token.events.remove(0);
                }
            }
            // The best path's events have room: it has no more than `PENDING`.
            let _ = self.spotted.events.push(event);
        }
    }
}

impl<T: Real, const S: usize, const B: usize, const PENDING: usize> Default
    for SpotState<T, S, B, PENDING>
{
    fn default() -> Self {
        Self::NEW
    }
}

impl<T, E, const S: usize, const B: usize, const PENDING: usize> Spotter<E, S, B, PENDING>
where
    T: Real,
    E: Emission<Weight = T>,
{
    /// Returns the best path through the stretch that is not decided.
    pub fn undecided(&self, state: &SpotState<T, S, B, PENDING>) -> Undecided<T, PENDING> {
        let best = state.survivors.best();
        let (mut events, mut open) = (heapless::Vec::new(), None);
        if let (Some(token), Some(score)) =
            (state.tokens.get(best), state.survivors.evidence_of(best))
        {
            events.clone_from(&token.events);
            let class = self.class_of(best);
            if class != BACKGROUND {
                let now = [&score, &state.reference.evidence()];
                open = Some(token.entered.until(class, state.samples, now));
            }
        }
        Undecided { events, open }
    }

    /// The survivors have taken in a sample: so do the tokens.
    #[inline]
    fn pass(
        &self,
        state: &mut SpotState<T, S, B, PENDING>,
        before: &Survivors<T, S>,
        reference: &Evidence<Max<T>>,
        pointers: &[u8; S],
    ) {
        let now = state.samples;
        let first = before.is_new();
        let tokens = core::mem::replace(&mut state.tokens, [const { Token::NEW }; S]);
        let row = state.survivors.row();
        for (j, ((token, &pointer), entry)) in
            state.tokens.iter_mut().zip(pointers).zip(row).enumerate()
        {
            if entry.0 <= T::ZERO {
                continue;
            }
            let from = usize::from(pointer);
            let (class, was) =
                (self.class_of(j), if first { BACKGROUND } else { self.class_of(from) });
            if let Some(old) = tokens.get(from) {
                token.clone_from(old);
            }
            if class == was {
                continue;
            }
            let score = before.evidence_of(from).unwrap_or(Evidence::NONE);
            if was != BACKGROUND {
                // A token that is full has been decided on before.
                let _ = token.events.push(token.entered.until(was, now, [&score, reference]));
            }
            token.entered = match class {
                BACKGROUND => Entered::NEVER,
                _ => Entered { start: now, score, reference: *reference },
            };
        }
        state.samples += 1;
        state.decide(self.lag);
    }

    /// The background's states in the network.
    #[inline(always)]
    fn background_emission(&self) -> Option<&[E; B]> {
        self.network.emission().first_chunk()
    }
}

impl<T, E, const S: usize, const B: usize, const PENDING: usize> Streaming
    for Spotter<E, S, B, PENDING>
where
    T: Real,
    E: Emission<Weight = T>,
{
    type Observation = E::Observation;
    type State = SpotState<T, S, B, PENDING>;
    type Reading = Spotted<T, PENDING>;

    #[inline]
    fn initial_state(&self) -> Self::State {
        SpotState::NEW
    }

    fn step(&self, state: &mut Self::State, x: &E::Observation) -> Result<(), ObservationError> {
        let before = state.survivors;
        let (predicted, pointers) = before.predict_pointing(self.network.chain());
        state.survivors.observe(self.network.emission(), &predicted, x)?;
        let earned = state.reference.evidence();
        let predicted = state.reference.predict(&self.background);
        let possible = self
            .background_emission()
            .is_some_and(|states| state.reference.observe(states, &predicted, x).is_ok());
        if !possible {
            state.reference.advance(predicted);
        }
        self.pass(state, &before, &earned, &pointers);
        Ok(())
    }

    fn step_missing(&self, state: &mut Self::State) {
        let before = state.survivors;
        let (predicted, pointers) = before.predict_pointing(self.network.chain());
        state.survivors.advance(predicted);
        let earned = state.reference.evidence();
        state.reference.advance(state.reference.predict(&self.background));
        self.pass(state, &before, &earned, &pointers);
    }

    /// Returns the events decided by the last sample: to be read once after each.
    fn read(&self, state: &Self::State) -> Spotted<T, PENDING> {
        state.spotted.clone()
    }
}
