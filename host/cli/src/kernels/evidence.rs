//! Features of windows: those of a kernel, or those that a device has of them.

use std::path::{Path, PathBuf};

use fishweir::kernel::Items;
use fishweir::report::DataSummary;
use fishweir::teach::{Taught, whitened};

use super::of_data::{Described, OfData, items};
use crate::model::Model;
use crate::options::note_idle;
use crate::output::Outputs;
use crate::{Failure, Topic, read, tell};

/// Features of windows, one after the other; `None` for a window that has none.
pub(crate) struct WindowFeatures {
    pub(crate) data: DataSummary,
    pub(crate) items: Items,
    pub(crate) rows: Vec<Option<Vec<f32>>>,
    /// The features in words.
    pub(crate) words: String,
}

impl OfData {
    /// Features of windows, whose inner products are the values of the kernel.
    pub(crate) fn window_features(&self, paths: &[PathBuf]) -> Result<WindowFeatures, Failure> {
        let Described { data, items, featured, words } = self.describe(paths, None)?;
        if featured.kernel.is_some_and(|kernel| !kernel.is_inner_product()) {
            let what = format!(
                "--kernel {} is no inner product of features; take another, such as practical or invariant",
                self.kernel.name
            );
            return Err(Failure::input(Topic::Unsupported, what));
        }
        let narrow = |row: Vec<f64>| Some(row.into_iter().map(|number| number as f32).collect());
        let rows = featured.rows.into_iter().map(narrow).collect();
        Ok(WindowFeatures { data, items, rows, words })
    }

    /// Checks a file of results, if there is one, against all inputs.
    pub(crate) fn checked(
        &self,
        output: Option<&Path>,
        data: &[PathBuf],
    ) -> Result<Outputs, Failure> {
        let inputs: Vec<&Path> = self.inputs().chain(data.iter().map(PathBuf::as_path)).collect();
        Outputs::check(output.as_slice(), &inputs)
    }

    /// The whitened evidence of windows, in a device's bits.
    pub(crate) fn evidence(&self, paths: &[PathBuf]) -> Result<WindowFeatures, Failure> {
        let Some(path) = &self.model else {
            let what = "evidence is that of a model; name --model";
            return Err(Failure::input(Topic::MissingOption, what));
        };
        let mut idle = self.given();
        let read = self.reading.given();
        idle.retain(|name| !["--model", "--window"].contains(name) && !read.contains(name));
        note_idle(&idle, "--evidence takes what the model has")?;
        let model = Model::read(path)?;
        // Says why a model has no evidence.
        Taught::new(&model.deployed)?;
        let data = read::to_decide(paths, &self.reading, &self.gathering, &model)?;
        let windowing = model.windowing(self.cutting.windowing());
        tell::windows(&data, windowing.as_ref());
        let windows = data.windows(windowing.as_ref());
        let mut rows = Vec::with_capacity(windows.all().len());
        let mut stream = model.deployed.stream();
        for window in windows.all() {
            let observed = stream.take_window(window.samples);
            rows.push(whitened(&model.deployed, &stream).filter(|_| observed));
        }
        Ok(WindowFeatures {
            items: items(&data, &windows),
            data: DataSummary::of(&data, None, windowing.as_ref()),
            rows,
            words: "whitened evidence of a device".into(),
        })
    }
}
