//! Arrays of Python as series of samples, whatever their layout and numbers.
//!
//! An array is read through its strides. Each number is copied once, into the library's own rows: another thread of Python may
//! write to an array while the library reads.

use std::fmt::Display;

use fishweir::data::{Rows, Samples};
use numpy::ndarray::{ArrayView2, Axis};
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::error::refused;

/// Series that belong to Python: one array of `[series][time][channel]`, or a list of `[time][channel]` or of strings.
pub(crate) struct Series<'py> {
    holders: Vec<Holder<'py>>,
}

/// One array, or one string, kept from being freed.
enum Holder<'py> {
    All(Box<dyn Panel + 'py>),
    Text(String),
}

/// Arrays of one type of number.
trait Panel {
    /// Borrows the series.
    fn series(&self) -> Vec<View<'_>>;
}

/// One series, borrowed from an array or a string.
#[derive(Clone)]
pub(crate) enum View<'a> {
    F64(ArrayView2<'a, f64>),
    F32(ArrayView2<'a, f32>),
    I64(ArrayView2<'a, i64>),
    I32(ArrayView2<'a, i32>),
    I16(ArrayView2<'a, i16>),
    U8(ArrayView2<'a, u8>),
    Text(&'a str),
}

/// A type of number that arrays are read of without a conversion by NumPy.
trait Number: Element + Copy {
    fn view(array: ArrayView2<'_, Self>) -> View<'_>;
}

macro_rules! numbers {
    ($($t:ty => $variant:ident),*) => {$(
        impl Number for $t {
            fn view(array: ArrayView2<'_, Self>) -> View<'_> {
                View::$variant(array)
            }
        }
    )*

        /// Holds an array of one of the known types.
        fn hold<'py>(array: &Bound<'py, PyAny>) -> PyResult<Box<dyn Panel + 'py>> {
            $(
                if let Ok(array) = array.cast::<PyArrayDyn<$t>>() {
                    let array = array.try_readonly().map_err(|error| refused(error.to_string()))?;
                    return match array.as_array().ndim() {
                        2 => Ok(Box::new(One(array.extract::<PyReadonlyArray2<'py, $t>>()?))),
                        3 => Ok(Box::new(Block(array.extract::<PyReadonlyArray3<'py, $t>>()?))),
                        n => Err(refused(format!("an array of {n} dimensions is not a series"))),
                    };
                }
            )*
            Err(refused(format!("{} is not an array of numbers", array.get_type().name()?)))
        }

        impl View<'_> {
            /// Samples of the series: NaN is a missing channel.
            pub(crate) fn samples(&self) -> Result<Samples, String> {
                match self {
                    $(Self::$variant(array) => rows(array),)*
                    Self::Text(_) => Err("a string is not an array of numbers".to_owned()),
                }
            }

            /// Channels of the series; none of a string.
            pub(crate) fn channels(&self) -> Option<usize> {
                match self {
                    $(Self::$variant(array) => Some(array.ncols()),)*
                    Self::Text(_) => None,
                }
            }
        }
    };
}
numbers!(f64 => F64, f32 => F32, i64 => I64, i32 => I32, i16 => I16, u8 => U8);

struct One<'py, T: Element>(PyReadonlyArray2<'py, T>);
struct Block<'py, T: Element>(PyReadonlyArray3<'py, T>);

impl<T: Number> Panel for One<'_, T> {
    fn series(&self) -> Vec<View<'_>> {
        vec![T::view(self.0.as_array())]
    }
}

impl<T: Number> Panel for Block<'_, T> {
    fn series(&self) -> Vec<View<'_>> {
        let array = self.0.as_array();
        // A slice of a view lives as long as what the view borrows.
        (0..array.shape()[0]).map(|one| T::view(array.index_axis_move(Axis(0), one))).collect()
    }
}

/// A number that converts to `f64`; rounded where it has more than 53 bits.
trait ToReal: Copy + Display {
    fn to_real(self) -> f64;
}
macro_rules! reals {
    ($($t:ty),*) => {$(
        impl ToReal for $t {
            #[inline]
            fn to_real(self) -> f64 {
                self as f64
            }
        }
    )*};
}
reals!(f64, f32, i64, i32, i16, u8);

/// Reads `[time][channel]`.
fn rows<T: ToReal>(array: &ArrayView2<'_, T>) -> Result<Samples, String> {
    let (length, channels) = array.dim();
    let mut rows = Rows::with_capacity(channels, length);
    let mut row = vec![0.0; channels];
    for t in 0..length {
        for c in 0..channels {
            let value = array[[t, c]];
            let real = value.to_real();
            if real.is_infinite() {
                let what = "NaN marks a missing value, but infinite values are refused";
                return Err(format!("sample {t}, channel {c} is {value}: {what}"));
            }
            row[c] = real;
        }
        rows.push(Some(&row));
    }
    Ok(Samples::Channels(rows))
}

impl<'py> Series<'py> {
    /// Holds what Python gave.
    pub(crate) fn of(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        let Ok(list) = given.cast::<PyList>() else {
            return Ok(Self { holders: vec![Holder::All(hold(given)?)] });
        };
        let mut holders = Vec::with_capacity(list.len());
        for one in list.iter() {
            holders.push(match one.cast::<PyString>() {
                Ok(text) => Holder::Text(text.to_str()?.to_owned()),
                Err(_) => Holder::All(hold(&one)?),
            });
        }
        Ok(Self { holders })
    }

    /// Borrows each series.
    pub(crate) fn views(&self) -> Vec<View<'_>> {
        let mut views = Vec::new();
        for holder in &self.holders {
            match holder {
                Holder::All(panel) => views.extend(panel.series()),
                Holder::Text(text) => views.push(View::Text(text)),
            }
        }
        views
    }
}
