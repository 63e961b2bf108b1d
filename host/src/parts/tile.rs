use std::fmt;

use serde::{Deserialize, Serialize};

use super::share::Share;
use crate::classifier::{self, has_a_file};
use crate::kernel::{Gram, Items};
use crate::sums::Digest;

/// Reason why tiles make no matrix.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum TileError {
    /// A tile of another matrix.
    #[error("the tile is part of another matrix ({found}, not {expected}); compute it again")]
    #[strum(serialize = "other-matrix")]
    Other {
        /// The kernel of the tile, and the fingerprint of its data.
        found: String,
        /// That of the matrix.
        expected: String,
    },
    /// A tile that is there already.
    #[error("tile {row},{column} comes twice; leave one of the two out")]
    #[strum(serialize = "repeated-tile")]
    Repeated {
        /// Block of rows, from 1.
        row: usize,
        /// Block of columns, from 1.
        column: usize,
    },
    /// A tile that no file has.
    #[error("tile {row},{column} of {of} blocks is missing; add the file that has it")]
    #[strum(serialize = "missing-tile")]
    Missing {
        /// Block of rows, from 1.
        row: usize,
        /// Block of columns, from 1.
        column: usize,
        /// Number of blocks.
        of: usize,
    },
    /// A matrix that does not fit.
    #[error(
        "the matrix of {0} items does not fit into memory; at most {ITEMS_AT_MOST} items can be joined: use the tiles"
    )]
    #[strum(serialize = "too-many-items")]
    TooMany(usize),
}

crate::kinds!(TileError);

/// Items whose tiles are joined: a matrix of 800 MB.
const ITEMS_AT_MOST: usize = 10_000;

/// Blocks of items at most.
const MOST_BLOCKS: usize = 1_000;

/// Place of a tile: block `row` of rows and block `column` of columns, of `of` blocks of items; from 1, above the diagonal or on
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TilePlace {
    row: usize,
    column: usize,
    of: usize,
}

impl TilePlace {
    /// The place; `None` if there is no such tile.
    pub fn new(row: usize, column: usize, of: usize) -> Option<Self> {
        (1 <= row && row <= column && column <= of && of <= MOST_BLOCKS).then_some(Self {
            row,
            column,
            of,
        })
    }

    /// The two blocks of items.
    fn blocks(self, items: usize) -> [std::ops::Range<usize>; 2] {
        let block = |number| Share::new(number, self.of).map_or(0..0, |share| share.range(items));
        [block(self.row), block(self.column)]
    }

    /// The items of both blocks, in order.
    pub fn items(self, items: usize) -> Vec<usize> {
        let [rows, columns] = self.blocks(items);
        match self.row == self.column {
            true => rows.collect(),
            false => rows.chain(columns).collect(),
        }
    }
}

/// As file names have it: `1-2-of-8`.
impl fmt::Display for TilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-of-{}", self.row, self.column, self.of)
    }
}

/// A tile of a [`Gram`] matrix, with the names of all items.
///
/// Its file is JSON with a checksum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GramTile {
    place: TilePlace,
    /// The kernel in words.
    kernel: String,
    /// Fingerprint of the data, and of all that the kernel depends on.
    of: Digest,
    ids: Vec<String>,
    labels: Vec<Option<usize>>,
    classes: Vec<String>,
    /// Values, `[row][column]`.
    values: Vec<Vec<f64>>,
}

has_a_file!(GramTile);

/// A matrix joined from its tiles.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinedTiles {
    /// The matrix.
    pub gram: Gram,
    /// Its items.
    pub items: Items,
    /// The kernel in words.
    pub kernel: String,
}

impl GramTile {
    /// The tile at a place, cut from the matrix of the [items](TilePlace::items) of both blocks.
    pub fn of(place: TilePlace, gram: &Gram, kernel: String, of: Digest, items: Items) -> Self {
        let Items { ids, labels, classes } = items;
        let [rows, columns] = place.blocks(ids.len());
        let first = if place.row == place.column { 0 } else { rows.len() };
        let row = |i: usize| gram.row(i)[first..first + columns.len()].to_vec();
        let values = (0..rows.len()).map(row).collect();
        Self { place, kernel, of, ids, labels, classes, values }
    }

    /// Returns whether bytes are the file of a tile, by the names of its fields.
    pub fn is_one(bytes: &[u8]) -> bool {
        #[derive(Deserialize)]
        struct Fields {
            #[serde(rename = "place")]
            _place: TilePlace,
        }
        let content = classifier::unseal("", bytes);
        content.is_ok_and(|content| content.parse::<Fields>().is_ok())
    }

    fn check(&self) -> Result<(), String> {
        let TilePlace { row, column, of } = self.place;
        if TilePlace::new(row, column, of).is_none() || self.labels.len() != self.ids.len() {
            return Err(format!("no tile {row},{column} of {of} blocks, or no label per item"));
        }
        let known = |label: &Option<usize>| label.is_none_or(|label| label < self.classes.len());
        let [rows, columns] = self.place.blocks(self.ids.len());
        let whole = |row: &Vec<f64>| row.len() == columns.len();
        let fits = self.values.len() == rows.len() && self.values.iter().all(whole);
        match fits && self.labels.iter().all(known) {
            true => Ok(()),
            false => Err("its values are those of another tile".to_owned()),
        }
    }

    /// The kernel in words.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    fn described(&self) -> String {
        format!("{} in {} blocks ({})", self.kernel, self.place.of, self.of)
    }

    /// The matrix of all tiles, in any order.
    ///
    /// # Errors
    /// [`TileError`], and the index of the tile that it is about: tiles of another matrix, repeated ones. The index of missing
    /// ones is that of the first tile. `None` without a tile.
    pub fn joined(tiles: Vec<Self>) -> Result<Option<JoinedTiles>, (usize, TileError)> {
        let Some(first) = tiles.first() else { return Ok(None) };
        let (blocks, items) = (first.place.of, first.ids.len());
        if items > ITEMS_AT_MOST {
            return Err((0, TileError::TooMany(items)));
        }
        let names = (first.ids.clone(), first.labels.clone(), first.classes.clone());
        let (of, kernel, expected) = (first.of, first.kernel.clone(), first.described());
        let mut places = vec![None; blocks * blocks];
        for (index, tile) in tiles.iter().enumerate() {
            let same = (tile.of, tile.place.of, tile.ids.len()) == (of, blocks, items);
            if !same || tile.kernel != kernel {
                let found = tile.described();
                return Err((index, TileError::Other { found, expected }));
            }
            let TilePlace { row, column, .. } = tile.place;
            if places[(row - 1) * blocks + column - 1].replace(index).is_some() {
                return Err((index, TileError::Repeated { row, column }));
            }
        }
        let block: Vec<usize> = (1..=blocks)
            .filter_map(|number| Some((number, Share::new(number, blocks)?.range(items))))
            .flat_map(|(number, range)| range.map(move |_| number))
            .collect();
        let starts: Vec<usize> = (1..=blocks)
            .filter_map(|number| Some(Share::new(number, blocks)?.range(items).start))
            .collect();
        for row in 1..=blocks {
            for column in row..=blocks {
                let empty = |number| !block.contains(&number);
                let there = places[(row - 1) * blocks + column - 1].is_some();
                if !(there || empty(row) || empty(column)) {
                    return Err((0, TileError::Missing { row, column, of: blocks }));
                }
            }
        }
        let gram = Gram::from_fn(items, |i, j| {
            let (row, column) = (block[i], block[j]);
            let tile = places[(row - 1) * blocks + column - 1].map(|index| &tiles[index]);
            tile.map_or(f64::NAN, |tile| tile.values[i - starts[row - 1]][j - starts[column - 1]])
        });
        let (ids, labels, classes) = names;
        Ok(Some(JoinedTiles { gram, items: Items { ids, labels, classes }, kernel }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles(items: usize, of: usize) -> (Gram, Vec<GramTile>) {
        let gram = Gram::from_fn(items, |i, j| (100 * i + j) as f64);
        let ids = (0..items).map(|item| item.to_string()).collect();
        let names = Items { ids, labels: vec![None; items], classes: Vec::new() };
        let digest = Digest::of_sequences(&[]);
        let mut tiles = Vec::new();
        for row in 1..=of {
            for column in row..=of {
                let place = TilePlace::new(row, column, of).expect("a place");
                let part = gram.subset(&place.items(items));
                tiles.push(GramTile::of(place, &part, "any".to_owned(), digest, names.clone()));
            }
        }
        (gram, tiles)
    }

    #[test]
    fn tiles_in_any_order_are_the_matrix() {
        for (items, of) in [(1, 1), (7, 2), (7, 3), (2, 3), (12, 4)] {
            let (gram, mut all) = tiles(items, of);
            all.iter().for_each(|tile| tile.check().expect("whole"));
            all.reverse();
            let joined = GramTile::joined(all).expect("whole").expect("some");
            assert_eq!(joined.gram, gram);
        }
    }

    #[test]
    fn what_is_missing_repeated_or_of_another_matrix_is_named() {
        let (_, all) = tiles(7, 3);
        let without: Vec<GramTile> = all[..4].iter().chain(&all[5..]).cloned().collect();
        let (_, error) = GramTile::joined(without).expect_err("missing");
        assert!(error.to_string().contains("tile 2,3 of 3"), "{error}");
        let twice: Vec<GramTile> = all.iter().chain(&all[1..2]).cloned().collect();
        let (index, error) = GramTile::joined(twice).expect_err("twice");
        assert_eq!(index, 6);
        assert!(error.to_string().contains("tile 1,2"), "{error}");
        let (_, others) = tiles(7, 2);
        let mixed = [&all[..5], &others[..1]].concat();
        let (index, error) = GramTile::joined(mixed).expect_err("mixed");
        assert!(index == 5 && error.to_string().contains("another matrix"), "{error}");
        let mut cut = all[0].clone();
        cut.values[0].pop();
        assert!(cut.check().is_err());
        assert_eq!(
            [TilePlace::new(2, 1, 3), TilePlace::new(1, 4, 3), TilePlace::new(0, 1, 3)],
            [None; 3]
        );
    }
}
