use core::marker::PhantomData;

use crate::error::ObservationError;
use crate::filter::Streaming;
use crate::number::Real;

/// The largest absolute value of a feature, `2^48`: sums of squares stay finite.
const FARTHEST: f32 = 281_474_976_710_656.0;

/// A kernel by its features: `k(x, y) = <phi(x), phi(y)>`, vectors `v` of some dimension being sums of `phi`.
///
/// [`DenseFeatures`] are the numbers of the item itself; [`EventFeatures`](crate::network::EventFeatures) those of a Bayesian
/// network's Fisher kernel.
pub trait FeatureMap {
    /// Item that is kept: a row of numbers, an event.
    type Item: Clone;

    /// Checks an item.
    ///
    /// # Errors
    /// An item that has no features.
    fn check(&self, item: &Self::Item) -> Result<(), ObservationError>;

    /// Returns the dimension of an item's features, where the item says.
    fn dimension(&self, _item: &Self::Item) -> Option<usize> {
        None
    }

    /// Adds `weight phi(x)` to a vector.
    fn add(&self, item: &Self::Item, weight: f32, vector: &mut [f32]);

    /// Returns `<phi(x), v>`.
    fn product(&self, item: &Self::Item, vector: &[f32]) -> f32;

    /// Returns `<v, v>`.
    fn square(&self, vector: &[f32]) -> f32;

    /// Returns `|phi(x) - phi(y)|^2`.
    fn distance(&self, x: &Self::Item, y: &Self::Item) -> f32;
}

/// Features that are the numbers of an item, `phi(x) = x`: whitened scores or evidence of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DenseFeatures<I> {
    item: PhantomData<I>,
}

impl<I> DenseFeatures<I> {
    /// The features.
    #[must_use]
    pub const fn new() -> Self {
        Self { item: PhantomData }
    }
}

impl<I: AsRef<[f32]> + Clone> FeatureMap for DenseFeatures<I> {
    type Item = I;

    fn check(&self, item: &I) -> Result<(), ObservationError> {
        for number in item.as_ref() {
            // Not within, rather than beyond: NaN is neither.
            let within = number.abs() <= FARTHEST;
            if !within {
                return Err(ObservationError::NotFinite);
            }
        }
        Ok(())
    }

    fn dimension(&self, item: &I) -> Option<usize> {
        Some(item.as_ref().len())
    }

    fn add(&self, item: &I, weight: f32, vector: &mut [f32]) {
        for (sum, &number) in vector.iter_mut().zip(item.as_ref()) {
            *sum += weight * number;
        }
    }

    fn product(&self, item: &I, vector: &[f32]) -> f32 {
        let mut sum = 0.0;
        for (&number, &entry) in item.as_ref().iter().zip(vector) {
            sum += number * entry;
        }
        sum
    }

    fn square(&self, vector: &[f32]) -> f32 {
        let mut sum = 0.0;
        for &entry in vector {
            sum += entry * entry;
        }
        sum
    }

    fn distance(&self, x: &I, y: &I) -> f32 {
        let mut sum = 0.0;
        for (&x, &y) in x.as_ref().iter().zip(y.as_ref()) {
            sum += (x - y) * (x - y);
        }
        sum
    }
}

/// An item that a coreset keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct KeptItem<I> {
    /// Place in the stream, from 0; missing items count.
    pub index: u32,
    /// Items that it stands for, itself included.
    pub weight: u32,
    /// The item.
    pub item: I,
}

/// State of a coreset: places for kept items and two numbers per feature, in arrays or other slices.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CoresetState<P, V> {
    places: P,
    /// Mean of the features of all items, and what its additions have rounded off.
    mean: V,
    rest: V,
    /// Items that were taken in.
    seen: u32,
    /// Index of the next item.
    next: u32,
}

impl<P, V> CoresetState<P, V> {
    /// State before the first item: free places, and vectors of zeros.
    pub const fn new(places: P, mean: V, rest: V) -> Self {
        Self { places, mean, rest, seen: 0, next: 0 }
    }

    /// Number of items that were taken in: the sum of the weights.
    #[must_use]
    pub const fn seen(&self) -> u32 {
        self.seen
    }

    /// The kept items, by their places; free places come last.
    pub fn kept<'s, I: 's>(&'s self) -> impl Iterator<Item = &'s KeptItem<I>>
    where
        P: AsRef<[Option<KeptItem<I>>]>,
    {
        self.places.as_ref().iter().flatten()
    }

    /// Takes in an item. `room` has an entry per feature: what it held does not matter.
    ///
    /// # Errors
    /// An item without features, or more items than 32 bits count ([`ObservationError::PastEnd`]); the state is unchanged.
    pub fn step<M: FeatureMap>(
        &mut self,
        features: &M,
        item: &M::Item,
        room: &mut [f32],
    ) -> Result<(), ObservationError>
    where
        P: AsMut<[Option<KeptItem<M::Item>>]>,
        V: AsMut<[f32]>,
    {
        features.check(item)?;
        if let Some(found) = features.dimension(item)
            && found != room.len()
        {
            return Err(ObservationError::WrongLength);
        }
        let (Some(seen), Some(next)) = (self.seen.checked_add(1), self.next.checked_add(1)) else {
            return Err(ObservationError::PastEnd);
        };
        let index = self.next;
        (self.seen, self.next) = (seen, next);
        add_to_mean(features, item, seen, self.mean.as_mut(), self.rest.as_mut(), room);
        let new = KeptItem { index, weight: 1, item: item.clone() };
        take_in(features, new, self.places.as_mut(), self.mean.as_mut(), room);
        Ok(())
    }

    /// Takes in a missing item: the index of the next one grows.
    pub const fn step_missing(&mut self) {
        self.next = self.next.saturating_add(1);
    }

    /// Returns the squared maximum mean discrepancy between the kept items and all.
    ///
    /// `room` has an entry per feature.
    pub fn discrepancy<M: FeatureMap>(&self, features: &M, room: &mut [f32]) -> f32
    where
        P: AsRef<[Option<KeptItem<M::Item>>]>,
        V: AsRef<[f32]>,
    {
        deviate(features, self.places.as_ref(), self.mean.as_ref(), room);
        features.square(room)
    }
}

/// Takes an item into the mean, by Kahan's compensated addition: it does not freeze however long the stream is.
fn add_to_mean<M: FeatureMap>(
    features: &M,
    item: &M::Item,
    seen: u32,
    mean: &mut [f32],
    rest: &mut [f32],
    room: &mut [f32],
) {
    room.fill(0.0);
    features.add(item, 1.0, room);
    let share = 1.0 / f32::from_count(seen.into());
    for ((mean, rest), &feature) in mean.iter_mut().zip(rest).zip(&*room) {
        let step = (feature - *mean) * share - *rest;
        let sum = *mean + step;
        *rest = (sum - *mean) - step;
        *mean = sum;
    }
}

/// Writes the mean feature of the kept items, less that of all.
fn deviate<M: FeatureMap>(
    features: &M,
    places: &[Option<KeptItem<M::Item>>],
    mean: &[f32],
    room: &mut [f32],
) {
    let mut kept = 0_u32;
    for place in places {
        kept += u32::from(place.is_some());
    }
    for (entry, &mean) in room.iter_mut().zip(mean) {
        *entry = -mean;
    }
    let share = 1.0 / f32::from_count(kept.max(1).into());
    for kept in places.iter().flatten() {
        features.add(&kept.item, share, room);
    }
}

/// Keeps an item in a free place, or in that of another where that brings the mean closer; else the nearest stands for it.
fn take_in<M: FeatureMap>(
    features: &M,
    new: KeptItem<M::Item>,
    places: &mut [Option<KeptItem<M::Item>>],
    mean: &[f32],
    room: &mut [f32],
) {
    if let Some(free) = places.iter_mut().find(|place| place.is_none()) {
        *free = Some(new);
        return;
    }
    deviate(features, places, mean, room);
    let share = 1.0 / f32::from_count(places.len() as u64);
    let own = features.product(&new.item, room);
    // The change of the discrepancy by an exchange, times half the places.
    let (mut least, mut worst) = (0.0, None);
    let (mut nearest, mut near) = (f32::INFINITY, 0);
    for (place, kept) in places.iter().enumerate() {
        let Some(kept) = kept else { continue };
        let distance = features.distance(&new.item, &kept.item);
        let change = own - features.product(&kept.item, room) + 0.5 * share * distance;
        if change < least {
            (least, worst) = (change, Some(place));
        }
        if distance < nearest {
            (nearest, near) = (distance, place);
        }
    }
    let Some(worst) = worst else {
        if let Some(Some(kept)) = places.get_mut(near) {
            kept.weight += 1;
        }
        return;
    };
    let Some(old) = places.get_mut(worst).and_then(|place| place.replace(new)) else { return };
    // Whoever is nearest, the new one included, stands for what the old one stood for.
    let (mut nearest, mut near) = (f32::INFINITY, worst);
    for (place, kept) in places.iter().enumerate() {
        let Some(kept) = kept else { continue };
        let distance = features.distance(&old.item, &kept.item);
        if distance < nearest {
            (nearest, near) = (distance, place);
        }
    }
    if let Some(Some(kept)) = places.get_mut(near) {
        kept.weight += old.weight;
    }
}

/// A coreset of a stream: `K` items that stand for all that were seen, in memory that does not grow; `D` features.
///
/// Kept are those whose mean feature is close to the mean of all, `m_t` after `t` items. An item that comes is exchanged for the
/// kept one whose exchange brings the mean closest, if any does:
///
/// ```text
/// R  = 1/K sum_s phi(s) - m_t                           s over the kept items
/// |R'|^2 - |R|^2 = 2/K ( <phi(x), R> - <phi(s), R> ) + |phi(x) - phi(s)|^2 / K^2
/// ```
///
/// [`read`](Streaming::read) returns `|R|^2`, the squared maximum mean discrepancy between the kept items and all. The weight of an
/// item counts those that were nearest to it when they came; an item that leaves hands its weight to the one nearest to it.
///
/// State: `K` items with two integers each, and `2 D` numbers; a push has `D` numbers on the stack. Work per item for
/// [`DenseFeatures`]: `4 K D + 4 D` multiply-adds.
///
/// Source: Leppä-aho, Silander and Roos, "Bayesian network Fisher kernel for categorical feature spaces", 2020, algorithm 1 and
/// equation 10; there all items are candidates for each place in turn, here each is one once, when it comes.
///
/// ```
/// use fishweir_core::filter::Stream;
/// use fishweir_core::kernel::{Coreset, DenseFeatures};
///
/// let features = DenseFeatures::<[f32; 1]>::new();
/// let mut stream = Stream::new(Coreset::<_, 4, 1>::new(features));
/// for time in 0..1000_u32 {
///     stream.push(&[(time % 10) as f32])?;
/// }
/// let state = stream.state();
/// assert_eq!(state.kept().map(|kept| kept.weight).sum::<u32>(), 1000);
/// assert!(stream.read() < 0.01); // the mean of the four is near 4.5
/// # Ok::<(), fishweir_core::ObservationError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Coreset<M, const K: usize, const D: usize> {
    features: M,
}

impl<M: FeatureMap, const K: usize, const D: usize> Coreset<M, K, D> {
    /// A coreset of items with these features.
    pub const fn new(features: M) -> Self {
        const { assert!(K > 0, "a coreset has a place at least") };
        Self { features }
    }

    /// The features.
    pub const fn features(&self) -> &M {
        &self.features
    }
}

impl<M: FeatureMap, const K: usize, const D: usize> Streaming for Coreset<M, K, D> {
    type Observation = M::Item;
    type State = CoresetState<[Option<KeptItem<M::Item>>; K], [f32; D]>;
    /// The squared maximum mean discrepancy between the kept items and all.
    type Reading = f32;

    fn initial_state(&self) -> Self::State {
        CoresetState::new([const { None }; K], [0.0; D], [0.0; D])
    }

    fn step(&self, state: &mut Self::State, x: &M::Item) -> Result<(), ObservationError> {
        state.step(&self.features, x, &mut [0.0; D])
    }

    fn step_missing(&self, state: &mut Self::State) {
        state.step_missing();
    }

    fn read(&self, state: &Self::State) -> f32 {
        state.discrepancy(&self.features, &mut [0.0; D])
    }
}
