//! Information of scores that is added up elsewhere.

use std::ops::Range;
use std::path::PathBuf;

use fishweir::data::{Dataset, SamplesView, Window, Windows};
use fishweir::files;
use fishweir::kernel::Information;
use fishweir::kernel::parameter::Settings;
use fishweir::kernel::registry::OfItems;
use fishweir::model::FittedModel;
use fishweir::parts::{FeatureSums, PartError, Share};
use fishweir::report::DataSummary;
use fishweir::sums::Digest;

use super::{Asked, OfData, Reads, Whose};
use crate::remedy::words;
use crate::{Failure, Topic, tell};

/// Fingerprint of the scores of models: their numbers, and the coordinates.
fn scores_of(models: &[FittedModel], settings: &Settings) -> Result<Digest, Failure> {
    let of = ("scores", models, format!("{:?}", settings.parametrisation));
    Ok(Digest::of_value(&of).map_err(std::io::Error::from)?)
}

fn parameters(models: &[FittedModel]) -> Vec<usize> {
    models.iter().map(|model| model.any().parameter_names().len()).collect()
}

impl Asked<'_> {
    /// Refuses a file of information where none of the data's is asked for, and where models are fitted anew.
    pub(super) fn check_information(&self) -> Result<(), Failure> {
        if self.information_from.is_none() {
            return Ok(());
        }
        let refused = |what| Err(Failure::input(Topic::ConflictingOptions, what));
        match (self.whitened(), self.model) {
            (Some(Whose::Empirical | Whose::Diagonal), Some(_)) => Ok(()),
            (Some(Whose::Empirical | Whose::Diagonal), None) => {
                refused("--information-from needs the models of the scores: give --model")
            }
            _ => refused("--information-from goes with --information empirical or diagonal"),
        }
    }

    /// The information of a file, one matrix per model; empty without a file.
    pub(super) fn information(
        &self,
        models: &[FittedModel],
        settings: &Settings,
    ) -> Result<Vec<Information>, Failure> {
        let Some(path) = self.information_from else { return Ok(Vec::new()) };
        let file = path.display().to_string();
        let named =
            |error: PartError| Failure::input(error.kind(), format!("{file}: {}", words(&error)));
        let sums = FeatureSums::parse(&file, &files::read(path)?)?;
        sums.information(scores_of(models, settings)?, &parameters(models)).map_err(named)
    }
}

impl OfData {
    /// Reads the data and adds up products of the scores of a share of the items.
    pub(crate) fn products(
        &self,
        paths: &[PathBuf],
        share: Share,
    ) -> Result<(DataSummary, FeatureSums), Failure> {
        let mut asked = self.asked();
        if self.kernel.name != "practical" || self.normalise {
            let what = "--products sums scores without whitening: give --kernel practical, without --normalise";
            return Err(Failure::input(Topic::ConflictingOptions, what));
        }
        let reads = asked.read()?;
        let Reads::Models(_, models) = &reads else {
            let what = "--products needs the models of the scores: give --model";
            return Err(Failure::input(Topic::MissingOption, what));
        };
        asked.check_no_machine()?;
        let (data, windowing) = self.read(paths, &mut asked, &reads, usize::MAX)?;
        tell::windows(&data, windowing.as_ref());
        let windows = data.windows(windowing.as_ref());
        let views: Vec<SamplesView<'_>> = windows.all().iter().map(|one| one.samples).collect();
        let settings = asked.in_parts("--products", &views, &data, &windows)?;
        let features = (scores_of(models, &settings)?, parameters(models).iter().sum());
        let all: Vec<usize> = (0..data.series().len()).collect();
        let rows = |range: Range<usize>| scores(&asked, &reads, (&data, &windows), &all, range);
        let labels = vec![0; views.len()];
        let sums = FeatureSums::of(features, &views, (&labels, 1), share, &rows)?;
        Ok((DataSummary::of(&data, None, windowing.as_ref()), sums))
    }
}

/// The scores of some windows.
fn scores(
    asked: &Asked<'_>,
    reads: &Reads,
    (data, windows): (&Dataset, &Windows<'_>),
    series: &[usize],
    range: Range<usize>,
) -> Result<Vec<Vec<f64>>, Failure> {
    let some = windows.subset(&range.collect::<Vec<usize>>());
    match asked.described(reads, data, &some, series)?.0 {
        OfItems::Features(featured) => Ok(featured.rows),
        OfItems::Values(_) => Ok(some.all().iter().map(|_: &Window<'_>| Vec::new()).collect()),
    }
}
