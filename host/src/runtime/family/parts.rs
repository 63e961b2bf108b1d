//! Named blocks of numbers, a row per state.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::data::internals::is_partial;

/// The sizes of a family's blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Channels or symbols.
    pub size: usize,
    /// Components of a mixture; rows of the sensor's channels in a row of the past's; one of any other family.
    pub components: usize,
}

/// Length of the rows of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// One number, which a file holds without brackets.
    One,
    /// A number per channel or symbol.
    Size,
    /// A square matrix over the channels, row by row.
    Square,
    /// A number per component.
    Components,
    /// A number per channel, component by component.
    ComponentsSize,
    /// A number a channel of the sensor's, where rows hold their past, too.
    Own,
    /// A number of the past in a row, lag by lag.
    Past,
    /// Numbers of the past by lags.
    PastLags,
}

impl Shape {
    /// The sensor's channels, where rows hold their past, too.
    pub(crate) fn own(self) -> usize {
        self.size / self.components.max(1)
    }
}

impl Width {
    /// Entries of a row.
    #[must_use]
    pub fn of(self, shape: Shape) -> usize {
        match self {
            Self::One => 1,
            Self::Size => shape.size,
            Self::Square => shape.size * shape.size,
            Self::Components => shape.components,
            Self::ComponentsSize => shape.components * shape.size,
            Self::Own => shape.own(),
            Self::Past => shape.size - shape.own(),
            Self::PastLags => (shape.size - shape.own()) * shape.components.saturating_sub(1),
        }
    }
}

/// A block: its name in files and messages, and the length of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Name of the block.
    pub name: &'static str,
    /// The length of its rows.
    pub width: Width,
}

impl Block {
    /// A block.
    pub const fn new(name: &'static str, width: Width) -> Self {
        Self { name, width }
    }
}

/// Entries of all blocks of a state.
pub(crate) fn entries(blocks: &[Block], shape: Shape) -> usize {
    blocks.iter().map(|block| block.width.of(shape)).sum()
}

/// Blocks with their numbers, `[block][state][entry]`: parameters, expected statistics, rates of change.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    blocks: Vec<(Block, Vec<Vec<f64>>)>,
    /// Counts of missing channels, for statistics.
    absent: Absent,
}

/// The weights of the samples in which a channel was missing, `[state][channel]`, of a mixture component by component; empty
/// where nothing was missing.
///
/// Statistics are those of complete samples: a missing channel counts as what is expected of it, given the state. Estimates of
/// channels that are independent take that out again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Absent(Vec<Vec<f64>>);

impl Absent {
    /// Adds a sample in which one of `channels` channels was missing.
    pub(crate) fn add(&mut self, state: usize, channel: usize, channels: usize, weight: f64) {
        self.row(state, channels)[channel] += weight;
    }

    fn row(&mut self, state: usize, channels: usize) -> &mut [f64] {
        if self.0.len() <= state {
            self.0.resize(state + 1, Vec::new());
        }
        let row = &mut self.0[state];
        row.resize(row.len().max(channels), 0.0);
        row
    }
}

impl Parts {
    /// Blocks from their rows, `[block][state][entry]`.
    pub fn new(blocks: &[Block], rows: impl IntoIterator<Item = Vec<Vec<f64>>>) -> Self {
        Self { blocks: blocks.iter().copied().zip(rows).collect(), absent: Absent::default() }
    }

    /// No block.
    pub(crate) fn none() -> Self {
        Self { blocks: Vec::new(), absent: Absent::default() }
    }

    /// Zeros.
    pub(crate) fn zero(blocks: &[Block], states: usize, shape: Shape) -> Self {
        let rows = |block: &Block| vec![vec![0.0; block.width.of(shape)]; states];
        Self::new(blocks, blocks.iter().map(rows))
    }

    /// Blocks whose numbers come state by state, and of a state block by block.
    pub(crate) fn taken(
        blocks: &[Block],
        states: usize,
        shape: Shape,
        mut take: impl FnMut(&Block, usize) -> Vec<f64>,
    ) -> Self {
        let mut rows = vec![Vec::with_capacity(states); blocks.len()];
        for _ in 0..states {
            for (rows, block) in rows.iter_mut().zip(blocks) {
                rows.push(take(block, block.width.of(shape)));
            }
        }
        Self::new(blocks, rows)
    }

    /// The rows of a block, `[state][entry]`; `None` of a name that there is not.
    pub fn get(&self, name: &str) -> Option<&[Vec<f64>]> {
        self.blocks.iter().find(|(block, _)| block.name == name).map(|(_, rows)| rows.as_slice())
    }

    /// The rows of a block, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Vec<Vec<f64>>> {
        self.blocks.iter_mut().find(|(block, _)| block.name == name).map(|(_, rows)| rows)
    }

    /// The rows of the first blocks, in order; empty where there are fewer.
    pub fn rows<const P: usize>(&self) -> [&[Vec<f64>]; P] {
        std::array::from_fn(|p| self.blocks.get(p).map_or(&[][..], |(_, rows)| rows))
    }

    /// The rows of the first blocks, to be changed.
    pub fn rows_mut<const P: usize>(&mut self) -> [&mut [Vec<f64>]; P] {
        let mut blocks = self.blocks.iter_mut();
        std::array::from_fn(|_| blocks.next().map_or(&mut [][..], |(_, rows)| rows))
    }

    /// States of the first block.
    pub fn states(&self) -> usize {
        self.blocks.first().map_or(0, |(_, rows)| rows.len())
    }

    /// All numbers, state by state, and of a state block by block.
    pub fn by_state(&self) -> impl Iterator<Item = f64> {
        let of = move |state: usize| {
            self.blocks.iter().flat_map(move |(_, rows)| rows.get(state)).flatten().copied()
        };
        (0..self.states()).flat_map(of)
    }

    /// Fills in all numbers, state by state, and of a state block by block.
    pub(crate) fn fill(&mut self, next: &mut dyn FnMut() -> f64) {
        for state in 0..self.states() {
            for entry in
                self.blocks.iter_mut().filter_map(|(_, rows)| rows.get_mut(state)).flatten()
            {
                *entry = next();
            }
        }
    }

    /// Adds numbers of the same blocks.
    pub(crate) fn add(&mut self, other: &Self) {
        for ((_, to), (_, from)) in self.blocks.iter_mut().zip(&other.blocks) {
            for (to, from) in to.iter_mut().zip(from) {
                let entries = to.len().min(from.len());
                let (to, from) = (&mut to[..entries], &from[..entries]);
                for k in 0..entries {
                    to[k] += from[k];
                }
            }
        }
        for (state, from) in other.absent.0.iter().enumerate() {
            let to = self.absent.row(state, from.len());
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
    }

    /// The weights of the samples in which a state's channels were missing; empty where nothing was.
    pub fn absent(&self, state: usize) -> &[f64] {
        self.absent.0.get(state).map_or(&[], Vec::as_slice)
    }

    /// The weights of the samples in which channels were missing, `[state][channel]`; fewer rows, or shorter ones, where nothing
    /// was.
    pub(crate) fn all_absent(&self) -> &[Vec<f64>] {
        &self.absent.0
    }

    /// Replaces the weights of the samples in which channels were missing.
    pub(crate) fn set_absent(&mut self, rows: Vec<Vec<f64>>) {
        self.absent = Absent(rows);
    }

    /// The rows of the first blocks, to be changed, and what was missing.
    pub(crate) fn rows_and_absent<const P: usize>(
        &mut self,
    ) -> ([&mut [Vec<f64>]; P], &mut Absent) {
        let mut blocks = self.blocks.iter_mut();
        let rows = std::array::from_fn(|_| blocks.next().map_or(&mut [][..], |(_, rows)| rows));
        (rows, &mut self.absent)
    }

    /// Numbers of the channels that are `kept`, of `size` channels; `None` if a number belongs to two channels.
    pub(crate) fn of_channels(&self, size: usize, kept: impl Fn(usize) -> bool) -> Option<Self> {
        let entries = |row: &Vec<f64>| -> Vec<f64> {
            let all = row.iter().enumerate();
            all.filter(|(entry, _)| kept(entry % size.max(1))).map(|(_, &x)| x).collect()
        };
        let of = |(block, rows): &(Block, Vec<Vec<f64>>)| match block.width {
            Width::One | Width::Components => Some((*block, rows.clone())),
            Width::Size | Width::ComponentsSize => {
                Some((*block, rows.iter().map(entries).collect()))
            }
            Width::Square | Width::Own | Width::Past | Width::PastLags => None,
        };
        let blocks = self.blocks.iter().map(of).collect::<Option<_>>()?;
        let absent = Absent(self.absent.0.iter().map(entries).collect());
        Some(Self { blocks, absent })
    }

    /// Returns whether these are the blocks of `states` states, and all numbers finite.
    pub(crate) fn fits(&self, blocks: &[Block], states: usize, shape: Shape) -> bool {
        let good = |(block, (own, rows)): (&Block, &(Block, Vec<Vec<f64>>))| {
            let row = |row: &Vec<f64>| {
                row.len() == block.width.of(shape) && row.iter().all(|x| x.is_finite())
            };
            own == block && rows.len() == states && rows.iter().all(row)
        };
        self.blocks.len() == blocks.len() && blocks.iter().zip(&self.blocks).all(good)
    }
}

impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.blocks.len()))?;
        for (block, rows) in &self.blocks {
            if block.width == Width::One {
                let column: Vec<f64> = rows.iter().flatten().copied().collect();
                map.serialize_entry(block.name, &column)?;
            } else {
                map.serialize_entry(block.name, rows)?;
            }
        }
        map.end()
    }
}

/// Reads the numbers of known blocks.
pub(super) struct Reading(pub(super) &'static [Block]);

impl<'de> DeserializeSeed<'de> for Reading {
    type Value = Parts;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Parts, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Reading {
    type Value = Parts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the parts {}", names(self.0))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parts, A::Error> {
        let mut found: Vec<Option<Vec<Vec<f64>>>> = vec![None; self.0.len()];
        while let Some(name) = map.next_key::<String>()? {
            let place = self.0.iter().position(|block| block.name == name).ok_or_else(|| {
                A::Error::custom(format!("unknown field `{name}`, expected {}", names(self.0)))
            })?;
            let rows = if self.0[place].width == Width::One {
                map.next_value::<Vec<f64>>()?.into_iter().map(|x| vec![x]).collect()
            } else {
                map.next_value()?
            };
            if found[place].replace(rows).is_some() {
                return Err(A::Error::custom(format!("duplicate field `{name}`")));
            }
        }
        let rows = found.into_iter().zip(self.0).map(|(rows, block)| {
            rows.ok_or_else(|| A::Error::custom(format!("missing field `{}`", block.name)))
        });
        Ok(Parts::new(self.0, rows.collect::<Result<Vec<_>, _>>()?))
    }
}

fn names(blocks: &[Block]) -> String {
    let names: Vec<String> = blocks.iter().map(|block| format!("`{}`", block.name)).collect();
    names.join(" or ")
}

/// A row of channels and the posterior of the states, `[state]`.
pub type Weighed<'x> = (&'x [f64], &'x [f64]);

/// Adds rows to statistics that are an occupancy, and sums of what exceeds a table, `[state][channel]`.
pub fn excesses(table: &[Vec<f64>], samples: &[Weighed<'_>], into: &mut Parts) {
    let ([occupancy, excess], absent) = into.rows_and_absent();
    for (x, posterior) in samples {
        let partial = is_partial(x);
        let states = occupancy.iter_mut().zip(excess.iter_mut()).zip(table.iter().zip(*posterior));
        for (state, ((occupancy, excess), (expected, &weight))) in states.enumerate() {
            occupancy[0] += weight;
            if partial {
                for d in 0..x.len() {
                    match x[d].is_nan() {
                        true => absent.add(state, d, x.len(), weight),
                        false => excess[d] += weight * (x[d] - expected[d]),
                    }
                }
                continue;
            }
            for ((excess, x), expected) in excess.iter_mut().zip(*x).zip(expected) {
                *excess += weight * (x - expected);
            }
        }
    }
}
