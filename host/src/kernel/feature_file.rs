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
            Ok(parquet_bytes(featured, items).map_err(std::io::Error::other)?)
        }
        #[cfg(not(feature = "parquet"))]
        FeatureFormat::Parquet => Err(FormatError::NoParquet),
    }
}

/// One group of rows, each column by itself.
#[cfg(feature = "parquet")]
fn parquet_bytes(
    Featured { rows, names, .. }: &Featured,
    items: &Items,
) -> Result<Vec<u8>, parquet::errors::ParquetError> {
    use std::sync::Arc;

    use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;

    let text = |name, repetition| {
        let column = Type::primitive_type_builder(name, Physical::BYTE_ARRAY);
        column.with_converted_type(ConvertedType::UTF8).with_repetition(repetition).build()
    };
    let mut columns = vec![
        Arc::new(text("id", Repetition::REQUIRED)?),
        Arc::new(text("label", Repetition::OPTIONAL)?),
    ];
    for name in names {
        let column = Type::primitive_type_builder(name, Physical::DOUBLE);
        columns.push(Arc::new(column.with_repetition(Repetition::REQUIRED).build()?));
    }
    let schema = Type::group_type_builder("features").with_fields(columns).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    let of_text = |text: &str| ByteArray::from(text.as_bytes().to_vec());
    let mut place = 0;
    while let Some(mut column) = group.next_column()? {
        match place {
            0 => {
                let ids: Vec<ByteArray> = items.ids.iter().map(|id| of_text(id)).collect();
                column.typed::<ByteArrayType>().write_batch(&ids, None, None)?;
            }
            1 => {
                let there: Vec<i16> =
                    items.labels.iter().map(|label| i16::from(label.is_some())).collect();
                let known = items.labels.iter().flatten();
                let known: Vec<ByteArray> =
                    known.map(|&label| of_text(&items.classes[label])).collect();
                column.typed::<ByteArrayType>().write_batch(&known, Some(&there), None)?;
            }
            _ => {
                let values: Vec<f64> = rows.iter().map(|row| row[place - 2]).collect();
                column.typed::<DoubleType>().write_batch(&values, None, None)?;
            }
        }
        column.close()?;
        place += 1;
    }
    group.close()?;
    file.close()?;
    Ok(bytes)
}

#[cfg(all(test, feature = "parquet"))]
mod tests {
    use super::*;

    #[test]
    fn parquet_is_read_back_as_the_table() {
        let rows = vec![vec![0.1, -2.5e-7], vec![3.0, 1e300]];
        let names = vec!["a.mean[0][1]".to_owned(), "b,c".to_owned()];
        let featured = Featured { rows, names, kernel: None, information: Vec::new() };
        let items = Items {
            ids: vec!["one".into(), "two".into()],
            labels: vec![Some(1), None],
            classes: vec!["x".into(), "y".into()],
        };
        let bytes = feature_bytes(FeatureFormat::Parquet, &featured, &items).expect("a table");
        let text = crate::data::parquet_text(&bytes).expect("a table");
        assert!(text.starts_with("id,label,a.mean[0][1],\"b,c\"\none,y,"), "{text}");
        let fields = text.lines().skip(1).flat_map(|line| line.split(',').skip(2));
        let numbers: Vec<f64> = fields.map(|field| field.parse().expect("a number")).collect();
        assert_eq!(numbers, featured.rows.concat());
    }
}
