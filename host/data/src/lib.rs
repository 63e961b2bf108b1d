//! Data sets: labelled (or unlabelled) series of real samples or of symbols.
//!
//! ```text
//! bytes --read--> Dataset --windows--> Windows (borrowed views)
//!                    |
//!                    +----folds-----> Folds (indices of series)
//!
//! a pipe --LiveReader--> one Sample after another
//! ```
//!
//! Files are of one of [`LAYOUTS`]: tables of series, a sample or a series per line, tables of strings, of events, FASTA, the text
//! and `.ts` files of archives, sound, arrays, body signals, recordings of applications.
//! Each may be gzipped; content decides, never the file's name. The structure of a file is described by a [`Source`]; what it leaves open is found by
//! looking, and reported by [`Dataset::findings`]. A *missing* observation (a field or a word that is one of its [`Marks`]; `-`, `?` or an
//! ambiguity code in a string of letters) keeps its place in time as `None`: a
//! filter then predicts and does not update. Missing observations are counted in [`Missing`], never
//! dropped. All that is wrong with a file is one [`DataError`] that names file, line and column.
//!
//! ```
//! use fishweir_data::{Dataset, ReadOptions, ShortSeries, Windowing};
//!
//! let table = b"series,subject,label,t,x\n\
//!               0,ann,walk,0,0.5\n0,ann,walk,1,NA\n0,ann,walk,2,0.75\n\
//!               1,bob,run,0,2.5\n1,bob,run,1,-1.5\n";
//! let data = Dataset::parse("steps.csv", table, &ReadOptions::default())?;
//! assert_eq!(data.classes(), ["run", "walk"]);
//! assert_eq!(data.missing().observations, 1);
//!
//! let two = 2.try_into()?;
//! let by = Windowing { length: two, hop: two, short: ShortSeries::Keep };
//! let windows = data.windows(Some(&by));
//! assert_eq!(windows.all().len(), 2);
//! assert_eq!(windows.uncovered(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alphabet;
mod annotations;
mod assemble;
mod batches;
mod cbor;
mod chunks;
mod clips;
mod clock;
mod dataset;
mod dialect;
mod dictionary;
mod edf;
mod edge_impulse;
mod encoding;
mod error;
mod events;
mod fasta;
mod features;
mod file_text;
mod fold_error;
mod folds;
mod front;
mod gaps;
mod gather;
mod kinds;
mod lags;
mod layout;
mod live;
mod load;
mod marked;
mod marks;
mod median;
mod missing;
mod name_pattern;
mod numpy;
mod oddities;
mod one_line;
#[cfg(feature = "parquet")]
mod parquet;
mod part;
mod parting;
mod place;
mod preamble;
mod quantity;
mod read;
mod recording;
mod records;
mod resample;
mod reservoir;
mod resting;
mod role_names;
mod roles;
mod rounding;
mod samples;
mod seen;
mod sensor_logger;
mod series_table;
mod sktime;
mod sniff;
mod source;
mod spelling;
mod stamps;
mod steps;
mod strings;
mod table;
mod target;
mod tidy;
mod ucr;
mod unit_match;
mod units;
mod values;
mod wav;
mod wfdb;
mod whole_rows;
mod wide;
mod windows;
mod wisdm;
pub mod words;
mod zip;

/// Items that the packages beside this one share. No part of its interface: they may change at any time.
#[doc(hidden)]
pub mod internals {
    pub use crate::alphabet::{in_one_line, size_of};
    pub use crate::dictionary::is_separator;
    pub use crate::front::{FrontEnd, FrontOutput, FrontStream, PlacedStage};
    pub use crate::lags::Ring;
    /// Shoulder exercises of seven subjects, recorded by a smart watch at 50 Hz: of the program's demonstration. They are in
    /// this package, which is where a package may read them.
    #[cfg(not(target_family = "wasm"))]
    pub static RECORDINGS: &[u8] = include_bytes!("../ts-watch-exercises/all.csv.gz");
    /// None: in a page they would be a third of it.
    #[cfg(target_family = "wasm")]
    pub static RECORDINGS: &[u8] = &[];

    pub use crate::load::{load, unpacked, unpacked_as};
    #[cfg(feature = "parquet")]
    pub use crate::parquet::table as parquet_table;
    pub use crate::quantity::{DEGREE, GRAVITY};
    pub use crate::resting::Rests;
    pub use crate::samples::is_partial;
    pub use crate::table::{Table, check_name};
    pub use crate::tidy::field;
    pub use crate::units::{
        centre_and_scale_of, centre_and_spread, robust_centre_and_spread, usual_deviation,
    };
}

#[cfg(test)]
mod tests;

pub use alphabet::Alphabet;
pub use batches::Batches;
pub use chunks::{LargeTable, TableCounts};
pub use clips::Joined;
pub use clock::{Irregular, PERIOD_TOLERANCE, Period};
pub use dataset::{Dataset, Kind, Series};
pub use dictionary::Decoded;
pub use encoding::Encoding;
pub use error::DataError;
pub use fold_error::FoldError;
pub use folds::Folds;
pub use front::{Front, FrontError, Mel, Stage, VectorQuantiser};
pub use gaps::Gaps;
pub use kinds::StableKind;
pub use lags::{LagError, Lags, Widened};
pub use layout::{FastaLabel, Layout, ReadOptions, ReadRecordings, Recording, Recordings};
pub use live::LiveReader;
pub use marked::{Mark, Marked};
pub use marks::Marks;
pub use missing::Missing;
pub use name_pattern::NamePattern;
pub use oddities::Sentinel;
pub use place::Place;
pub use quantity::{Conversion, split_unit};
pub use read::{checksum, layout_of};
pub use resample::Resample;
pub use samples::{Rows, RowsView, Sample, Samples, SamplesView};
pub use source::{Column, Finding, Found, Separator, Source};
pub use steps::{even_period_of, period_of, rough_period};
pub use target::{RegressionData, TargetValue};
pub use unit_match::{UnitComparison, UnitMatch, conversions_in_words, uncompared_in_words};
pub use units::{centre_and_scale, scale_of};
pub use values::{Support, Values};
pub use windows::{ShortSeries, Window, Windowing, Windows};
pub use words::rate_words;

/// The layouts there are. A file is of the first that knows it.
///
/// To add one: a file here that has a [`Layout`], its module above, and its place in this line.
pub static LAYOUTS: &[&Layout] = &[
    &fasta::LAYOUT,
    &strings::LAYOUT,
    &events::LAYOUT,
    &series_table::LAYOUT,
    &wide::LAYOUT,
    &sktime::LAYOUT,
    &wav::LAYOUT,
    &numpy::LAYOUT,
    &sensor_logger::LAYOUT,
    &edf::LAYOUT,
    &edge_impulse::LAYOUT,
    &wfdb::LAYOUT,
    &wisdm::LAYOUT,
    &ucr::LAYOUT,
];

/// The layout of that name, or with that ending.
pub fn layout(name: &str) -> Option<&'static Layout> {
    LAYOUTS.iter().copied().find(|layout| [layout.name, layout.alias].contains(&name))
}
