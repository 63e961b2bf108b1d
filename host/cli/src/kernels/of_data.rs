//! A kernel of all pairs of a data set's items, as `gram` and `pca` take it.

use std::path::{Path, PathBuf};

use fishweir::StableKind as _;
use fishweir::data::{Dataset, ReadOptions, SamplesView, Window, Windowing, Windows};
use fishweir::files;
use fishweir::kernel::parameter::{LAMBDA, SIGMA};
use fishweir::kernel::registry::{Compares, Entry, Featured, KERNELS, OfItems};
use fishweir::kernel::{Items, ScoreKernel};
use fishweir::model::{FittedModel, Hmm};
use fishweir::parts::{GramTile, Share, TilePlace};
use fishweir::report::DataSummary;
use fishweir::sums::Digest;

use super::{Asked, KernelOptions, Matrix, Reads, id};
use crate::Topic;
use crate::arguments::{ScoreKernels, TrainingArguments};
use crate::emitting::Emitting;
use crate::numbers::Numbers;
use crate::options::named;
use crate::output::{Outputs, named_after};
use crate::reading::{Cutting, Gathering, Reading};
use crate::values::{positive, rate};
use crate::{Failure, read, tell};

#[derive(Debug, clap::Args)]
pub(crate) struct OfData {
    /// The kernel
    #[arg(long, value_name = "KERNEL", default_value = "practical", value_parser = super::names())]
    pub(super) kernel: &'static Entry,
    /// Fitted model (JSON) whose class models are used
    #[arg(short, long, value_name = "FILE")]
    pub(super) model: Option<PathBuf>,
    /// File with the parameters of a kernel by marginalisation (TOML)
    #[arg(long, value_name = "MODEL.toml", conflicts_with_all = ["model", "one_model"])]
    kernel_model: Option<PathBuf>,
    #[command(flatten)]
    options: KernelOptions,
    /// Take the information of data from this file, as features --products and merge wrote it (empirical, diagonal)
    #[arg(long, value_name = "FILE.json", help_heading = "Kernel", requires = "model")]
    information_from: Option<PathBuf>,
    /// Width of the kernel, relative to scores of mean square norm one (gaussian) [default: 1]
    #[arg(long, value_name = "S", help_heading = "Kernel", value_parser = positive,
          allow_negative_numbers = true)]
    sigma: Option<f64>,
    #[command(flatten, next_help_heading = "Kernel")]
    numbers: Numbers<true>,
    /// Rate of the function exp(-lambda/2 |x - y|^2) of two samples, in their units; of symbols that
    /// differ it is exp(-lambda) (mean maps) [default: 1]
    #[arg(long, value_name = "L", help_heading = "Kernel", value_parser = rate,
          allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// Divide by the norms of the items: the cosine kernel
    #[arg(long, visible_alias = "normalize", help_heading = "Kernel")]
    pub(crate) normalise: bool,
    #[command(flatten)]
    pub(super) cutting: Cutting,
    #[command(flatten)]
    training: TrainingArguments,
    #[command(flatten)]
    emitting: Emitting,
    #[command(flatten)]
    pub(super) reading: Reading,
    #[command(flatten)]
    pub(super) gathering: Gathering,
}

/// A matrix with its items.
pub(crate) struct Compared {
    pub(crate) data: DataSummary,
    pub(crate) items: Items,
    pub(crate) matrix: Matrix,
}

/// The features of items.
pub(crate) struct Described {
    pub(crate) data: DataSummary,
    pub(crate) items: Items,
    pub(crate) featured: Featured,
    pub(crate) words: String,
}

/// Names of windows, and their classes.
pub(super) fn items(data: &Dataset, windows: &Windows<'_>) -> Items {
    Items {
        ids: windows.all().iter().map(id).collect(),
        labels: windows.all().iter().map(Window::label).collect(),
        classes: data.classes().to_vec(),
    }
}

/// Message that a kernel has values, and no features.
fn no_features(kernel: &str) -> Failure {
    let with = |entry: &&Entry| matches!(entry.compares, Compares::Scores(_) | Compares::States(_));
    let names: Vec<&str> = KERNELS.iter().filter(with).map(|entry| entry.name).collect();
    Failure::input(
        Topic::Unsupported,
        format!("--kernel {kernel} has no explicit features; take one of {}", names.join(", ")),
    )
}

fn of_length_one(row: Vec<f64>) -> Vec<f64> {
    ScoreKernel::Cosine.stored(row)
}

/// Items whose matrix is computed: 800 MB, and its text some three times as much.
const ITEMS_AT_MOST: usize = 10_000;

/// Refuses more items than a matrix is computed of, before any model is fitted.
fn check_items(
    data: &Dataset,
    windowing: Option<&Windowing>,
    at_most: usize,
) -> Result<(), Failure> {
    let items = data.windows(windowing).all().len();
    if items <= at_most {
        return Ok(());
    }
    let gigabytes = 8e-9 * (items as f64).powi(2);
    Err(Failure::input(
        Topic::TooManyItems,
        format!(
            "{}: {items} items, whose matrix takes {gigabytes:.1} GB; {at_most} items are the most: cut fewer with a \
             longer --window and --hop, or give a part of the file",
            data.source()
        ),
    ))
}

impl OfData {
    /// Files that are read in addition to the data.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Path> {
        let files = self.model.iter().chain(&self.kernel_model).chain(&self.information_from);
        files.map(PathBuf::as_path)
    }

    /// File of the result: `given`, or one in this folder named after the first of `data`; checked against all inputs.
    pub(crate) fn output(
        &self,
        given: Option<&PathBuf>,
        data: &[PathBuf],
        ending: &str,
    ) -> Result<(PathBuf, Outputs), Failure> {
        // The command line has one at least.
        let first = data.first().map_or(Path::new(""), PathBuf::as_path);
        let output = given.cloned().unwrap_or_else(|| named_after(first, ending));
        let inputs: Vec<&Path> = self.inputs().chain(data.iter().map(PathBuf::as_path)).collect();
        let outputs = Outputs::check(&[&output], &inputs)?;
        Ok((output, outputs))
    }

    /// Options given, for a matrix that is there already.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let mut given = self.options.given();
        given.extend(named([
            ("--kernel", self.kernel.name != "practical"),
            ("--model", self.model.is_some()),
            ("--kernel-model", self.kernel_model.is_some()),
            ("--information-from", self.information_from.is_some()),
            ("--sigma", self.sigma.is_some()),
            ("--lambda", self.lambda.is_some()),
            ("--normalise", self.normalise),
            ("--window", self.cutting.windowing().is_some()),
            ("--group", self.training.group.is_some()),
        ]));
        given.extend(self.numbers.options());
        given.extend(self.training.with(&ScoreKernels::default(), &self.emitting).given());
        given.extend(self.reading.given());
        given.extend(self.gathering.given());
        given
    }

    pub(super) fn asked(&self) -> Asked<'_> {
        let mut shared = self.numbers.given().to_vec();
        shared.extend(self.sigma.map(|sigma| (&SIGMA, sigma)));
        shared.extend(self.lambda.map(|lambda| (&LAMBDA, lambda)));
        Asked {
            entry: self.kernel,
            options: &self.options,
            training: self.training.with(&ScoreKernels::default(), &self.emitting),
            cutting: &self.cutting,
            model: self.model.as_deref(),
            information_from: self.information_from.as_deref(),
            numbers: self.kernel_model.as_deref(),
            shared,
            beside_classifiers: false,
            order_read: false,
            asked: std::slice::from_ref(&self.kernel),
        }
    }

    /// Reads the data and computes the matrix of at most `at_most` items.
    pub(crate) fn compare(
        &self,
        paths: &[PathBuf],
        at_most: Option<usize>,
    ) -> Result<Compared, Failure> {
        let mut asked = self.asked();
        let reads = asked.read()?;
        asked.check_no_machine()?;
        let at_most = at_most.unwrap_or(ITEMS_AT_MOST);
        let (data, windowing) = self.read(paths, &mut asked, &reads, at_most)?;
        tell::windows(&data, windowing.as_ref());
        let windows = data.windows(windowing.as_ref());
        let all: Vec<usize> = (0..data.series().len()).collect();
        let matrix = asked.matrix(&reads, &data, &windows, &all, self.normalise)?;
        matrix.computed.gram.check()?;
        let items = items(&data, &windows);
        Ok(Compared { data: DataSummary::of(&data, None, windowing.as_ref()), items, matrix })
    }

    /// Reads the data and computes a tile of the matrix, with its items and the number of all items.
    ///
    /// Models are fitted to all of the data. The kernel is computed between the items of both blocks.
    pub(crate) fn tile(
        &self,
        paths: &[PathBuf],
        place: TilePlace,
    ) -> Result<(DataSummary, GramTile), Failure> {
        let mut asked = self.asked();
        let reads = asked.read()?;
        asked.check_no_machine()?;
        let (data, windowing) = self.read(paths, &mut asked, &reads, usize::MAX)?;
        tell::windows(&data, windowing.as_ref());
        let windows = data.windows(windowing.as_ref());
        let views: Vec<SamplesView<'_>> = windows.all().iter().map(|one| one.samples).collect();
        let some = place.items(views.len());
        if some.len() > ITEMS_AT_MOST {
            let (found, most) = (some.len(), ITEMS_AT_MOST);
            let what =
                format!("a tile of {found} items; {most} are the most: divide into more tiles");
            return Err(Failure::input(Topic::TooManyItems, format!("{}: {what}", data.source())));
        }
        let settings = asked.in_parts("--tile", &views, &data, &windows)?;
        let described = (settings, self.normalise, &self.options, &self.training, &self.emitting);
        let files: Vec<Vec<u8>> = self.inputs().map(files::read).collect::<Result<_, _>>()?;
        let of = (self.kernel.name, format!("{described:?}"), files, Digest::of_sequences(&views));
        let of = Digest::of_value(&of).map_err(std::io::Error::from)?;
        let all: Vec<usize> = (0..data.series().len()).collect();
        let matrix = asked.matrix(&reads, &data, &windows.subset(&some), &all, self.normalise)?;
        matrix.computed.gram.check()?;
        let items = items(&data, &windows);
        let tile = GramTile::of(place, &matrix.computed.gram, matrix.words, of, items);
        Ok((DataSummary::of(&data, None, windowing.as_ref()), tile))
    }

    /// Reads the data and computes the features of all items, or of a share of them.
    pub(crate) fn describe(
        &self,
        paths: &[PathBuf],
        share: Option<Share>,
    ) -> Result<Described, Failure> {
        let mut asked = self.asked();
        if !matches!(self.kernel.compares, Compares::Scores(_) | Compares::States(_)) {
            return Err(no_features(self.kernel.name));
        }
        let reads = asked.read()?;
        asked.check_no_machine()?;
        // There is a row per item, not one per pair.
        let (data, windowing) = self.read(paths, &mut asked, &reads, usize::MAX)?;
        tell::windows(&data, windowing.as_ref());
        let mut windows = data.windows(windowing.as_ref());
        if let Some(share) = share {
            let views: Vec<SamplesView<'_>> = windows.all().iter().map(|one| one.samples).collect();
            asked.in_parts("--part", &views, &data, &windows)?;
            windows = windows.subset(&share.range(views.len()).collect::<Vec<usize>>());
        }
        let all: Vec<usize> = (0..data.series().len()).collect();
        let (found, words) = asked.described(&reads, &data, &windows, &all)?;
        let OfItems::Features(featured) = found else { return Err(no_features(self.kernel.name)) };
        let mut featured = featured.stored();
        if self.normalise {
            featured.rows = featured.rows.into_iter().map(of_length_one).collect();
        }
        // Models are those of the classes, where there is one for each.
        for (index, class) in data.classes().iter().enumerate() {
            let place = format!("model[{index}].");
            for name in &mut featured.names {
                *name = name.replace(&place, &format!("{class}."));
            }
        }
        let items = items(&data, &windows);
        Ok(Described {
            data: DataSummary::of(&data, None, windowing.as_ref()),
            items,
            featured,
            words,
        })
    }

    /// Reads the data with the observations of the kernel's models, and the windows.
    pub(super) fn read(
        &self,
        paths: &[PathBuf],
        asked: &mut Asked<'_>,
        reads: &Reads,
        at_most: usize,
    ) -> Result<(Dataset, Option<Windowing>), Failure> {
        let reading = &self.reading;
        let (data, windowing) = match reads {
            Reads::Numbers(model) => {
                let kind = model
                    .kind()
                    .map_err(|error| Failure::input(error.kind(), error.to_string()))?;
                let options = self.gathering.add_to(reading.options_for(kind, None)?, None);
                let options = ReadOptions { skips: true, ..options };
                (read::whole(paths, &options)?, self.cutting.windowing())
            }
            Reads::Models(model, _) => {
                let data = read::to_decide(paths, reading, &self.gathering, model)?;
                (data, model.windowing(self.cutting.windowing()))
            }
            Reads::Fitted => {
                let values = self.emitting.values();
                let options = ReadOptions { values, skips: true, ..reading.options() };
                let group = self.training.group.as_deref();
                let data = read::whole(paths, &self.gathering.add_to(options, group))?;
                (data, asked.request()?.windowing)
            }
        };
        check_items(&data, windowing.as_ref(), at_most)?;
        match reads {
            Reads::Numbers(_) => {}
            Reads::Models(_, models) => {
                let states = models.iter().filter_map(FittedModel::hidden_markov).map(Hmm::states);
                tell::room_to_score(&data, windowing.as_ref(), states.max().unwrap_or_default())?;
            }
            Reads::Fitted => asked.check_fitted(&data)?,
        }
        Ok((data, windowing))
    }
}
