//! Files of features: a row per item, a column per feature.

use super::format::{FormatError, Items, npy_bytes, table_bytes};
use super::registry::Featured;

/// Layout of a file of features. Numbers are written so that they read back to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeatureFormat {
    /// A header `id,label,<name of feature 1>,..`, then a row per item; an unlabelled item has an empty label.
    Csv,
    /// NumPy's format, version 1: little-endian `f64`, shape `(items, features)`, C order, without names.
    Npy,
    /// Apache Parquet: columns `id`, `label` and the features, by their names. In a build with the feature `parquet`.
    Parquet,
}

impl FeatureFormat {
    /// Checks that this build writes the layout.
    ///
    /// # Errors
    /// [`FormatError::NoParquet`].
    pub fn check(self) -> Result<(), FormatError> {
        if self == Self::Parquet && !cfg!(feature = "parquet") {
            return Err(FormatError::NoParquet);
        }
        Ok(())
    }
}

/// Returns the bytes of a file of features.
///
/// # Errors
/// [`FormatError`] if names and items are not as many as columns and rows, or naming an entry that is not finite.
pub fn feature_bytes(
    format: FeatureFormat,
    featured: &Featured,
    items: &Items,
) -> Result<Vec<u8>, FormatError> {
    let Featured { rows, names, .. } = featured;
    let (ids, labels) = (items.ids.len(), items.labels.len());
    let known = |label: &Option<usize>| label.is_none_or(|label| label < items.classes.len());
    if [ids, labels] != [rows.len(); 2] || !items.labels.iter().all(known) {
        let (classes, items) = (items.classes.len(), rows.len());
        return Err(FormatError::Items { ids, labels, classes, items });
    }
    for (item, row) in rows.iter().enumerate() {
        if row.len() != names.len() {
            return Err(FormatError::Names { names: names.len(), features: row.len() });
        }
        if let Some(feature) = row.iter().position(|value| !value.is_finite()) {
            let (item, feature) = (items.ids[item].clone(), names[feature].clone());
            return Err(FormatError::NotFinite { item, feature });
        }
    }
    let values = rows.iter().map(Vec::as_slice);
    match format {
        FeatureFormat::Csv => table_bytes(names, values, items),
        FeatureFormat::Npy => Ok(npy_bytes([rows.len(), names.len()], values)),
        #[cfg(feature = "parquet")]
        FeatureFormat::Parquet => {
            let of = |label: &Option<usize>| label.map(|label| items.classes[label].as_str());
            let labels: Vec<Option<&str>> = items.labels.iter().map(of).collect();
            let bytes = crate::data::internals::parquet_table((&items.ids, &labels), names, rows);
            Ok(bytes.map_err(std::io::Error::other)?)
        }
        #[cfg(not(feature = "parquet"))]
        FeatureFormat::Parquet => Err(FormatError::NoParquet),
    }
}
