//! The sets: how their files are laid out, how they are split, where they come from.

use std::error::Error;
use std::fs;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::Path;

use fishweir::data::{
    Dataset, Folds, Kind, ReadOptions, Rows, Samples, Series, ShortSeries, Windowing,
};

/// A set.
pub(crate) struct Set {
    pub(crate) name: &'static str,
    pub(crate) folder: &'static str,
    /// Public address of the set.
    pub(crate) source: &'static str,
    layout: Layout,
    /// Column of the groups that must stay in one inner fold.
    pub(crate) group: Option<&'static str>,
}

/// Layout and split of a set.
enum Layout {
    /// `train` and `test`, series tables.
    TrainTest,
    /// Pen tracks: rows of `x, y` pairs, the class last.
    Pen,
    /// One table of recordings in order of time, cut into windows; each class's recordings in four runs.
    Runs { file: &'static str, length: usize, hop: usize },
    /// One table, folds of equal shares of each class.
    Stratified { file: &'static str, folds: usize },
    /// Lines of the class and then the values, the same.
    Lines { file: &'static str, folds: usize },
    /// One table, or windows of it, folds that part no group.
    Grouped { file: &'static str, folds: usize, windows: Option<(usize, usize)> },
    /// Blocks of a speed and a configuration: windows of the first two thirds against those of the last.
    Blocks { file: &'static str, length: usize, window: usize },
}

/// Series to train on and to test.
pub(crate) struct Split {
    pub(crate) data: Dataset,
    pub(crate) train: Vec<usize>,
    pub(crate) test: Vec<usize>,
}

const EMLEARN: &str =
    "https://github.com/emlearn/emlearn-micropython/tree/master/examples/har_trees";

const fn set(
    name: &'static str,
    folder: &'static str,
    source: &'static str,
    layout: Layout,
    group: Option<&'static str>,
) -> Set {
    Set { name, folder, source, layout, group }
}

/// All of them, the quick ones first. Equal strings would be trained on and tested: they are a group.
pub(crate) const SETS: [Set; 16] = [
    set(
        "promoters",
        "dna-promoters-uci",
        "https://doi.org/10.24432/C5S01D",
        Layout::Grouped { file: "all.tsv", folds: 5, windows: None },
        Some("sequence"),
    ),
    set(
        "gunpoint",
        "ts-gunpoint",
        "https://www.timeseriesclassification.com/description.php?Dataset=GunPoint",
        Layout::TrainTest,
        None,
    ),
    set(
        "italy",
        "ts-italy-power",
        "https://www.timeseriesclassification.com/description.php?Dataset=ItalyPowerDemand",
        Layout::TrainTest,
        None,
    ),
    set(
        "pickup",
        "ts-pickup-wiimote",
        "https://www.timeseriesclassification.com/description.php?Dataset=PickupGestureWiimoteZ",
        Layout::TrainTest,
        None,
    ),
    set(
        "basicmotions",
        "ts-basicmotions",
        "https://www.timeseriesclassification.com/description.php?Dataset=BasicMotions",
        Layout::TrainTest,
        None,
    ),
    set("vowels", "ts-japanese-vowels", "https://doi.org/10.24432/C5NS47", Layout::TrainTest, None),
    set(
        "gestures",
        "ts-esp32-gestures",
        EMLEARN,
        Layout::Runs { file: "labelled.csv.gz", length: 100, hop: 50 },
        Some("recording"),
    ),
    set(
        "exercises",
        "ts-esp32-exercises",
        EMLEARN,
        Layout::Runs { file: "labelled.csv.gz", length: 200, hop: 100 },
        Some("recording"),
    ),
    set(
        "splice",
        "dna-splice-uci",
        "https://doi.org/10.24432/C5M888",
        Layout::Grouped { file: "all.tsv", folds: 5, windows: None },
        Some("sequence"),
    ),
    set(
        "ecg",
        "ts-ecg5000-train",
        "https://www.timeseriesclassification.com/description.php?Dataset=ECG5000",
        Layout::Lines { file: "ECG5000_TRAIN.txt.gz", folds: 5 },
        None,
    ),
    set(
        "wand",
        "ts-magicwand-tf",
        "https://github.com/aniket-uncc/dataset",
        Layout::Grouped { file: "all.csv.gz", folds: 3, windows: None },
        Some("person"),
    ),
    set(
        "fan",
        "ts-fan-vibration",
        "https://github.com/OmarNezar226/Accelerometer-Fan-Model",
        Layout::Blocks { file: "accelerometer.csv.gz", length: 3000, window: 100 },
        None,
    ),
    set(
        "spells",
        "ts-magicwand-spells",
        "https://github.com/xmihol00/robust_magic_wand",
        Layout::Stratified { file: "all.csv.gz", folds: 5 },
        None,
    ),
    set(
        "spoken",
        "ts-spoken-digits-mfcc",
        "https://github.com/Jakobovski/free-spoken-digit-dataset",
        Layout::TrainTest,
        None,
    ),
    set("pendigits", "ts-pendigits", "https://doi.org/10.24432/C5MG6K", Layout::Pen, None),
    set(
        "watch",
        "ts-watch-exercises",
        "https://github.com/dmbee/seglearn",
        Layout::Grouped { file: "all.csv.gz", folds: 5, windows: Some((200, 100)) },
        Some("subject"),
    ),
];

impl Set {
    /// Reads the splits of the set.
    pub(crate) fn splits(&self, folder: &Path) -> Result<Vec<Split>, Box<dyn Error>> {
        let read = |file: &str| Dataset::read(folder.join(file), &ReadOptions::default());
        Ok(match self.layout {
            Layout::TrainTest => {
                let part = |name: &str| {
                    let plain = format!("{name}.csv");
                    let gzipped = format!("{name}.csv.gz");
                    read(if folder.join(&plain).is_file() { &plain } else { &gzipped })
                };
                let (train, test) = (part("train")?, part("test")?);
                vec![joined(train, test)?]
            }
            Layout::Pen => {
                let part = |name: &str| pen(&fs::read_to_string(folder.join(name))?);
                vec![joined(part("train.csv")?, part("test.csv")?)?]
            }
            Layout::Runs { file, length, hop } => {
                let recordings = read(file)?;
                let fold = runs(&recordings, 4)?;
                let data = cut(&recordings, length, hop, "recording", |series| series.to_string())?;
                let of_window: Vec<usize> = by_origin(&data, &recordings, length, hop)
                    .into_iter()
                    .map(|recording| fold[recording])
                    .collect();
                (0..4).map(|one| split(&data, |series| of_window[series] == one)).collect()
            }
            Layout::Stratified { file, folds } => stratified(&read(file)?, folds)?,
            Layout::Lines { file, folds } => stratified(&lines(&folder.join(file))?, folds)?,
            Layout::Grouped { file, folds, windows } => {
                let whole = read(file)?;
                let column = self.group.ok_or("a group")?;
                let data = match windows {
                    Some((length, hop)) => {
                        let (groups, names) = whole.groups(column)?;
                        cut(&whole, length, hop, column, |series| names[groups[series]].clone())?
                    }
                    None => whole,
                };
                let folds = data.folds(folds, Some(column), None)?;
                (0..folds.len())
                    .map(|one| split(&data, |series| folds.fold_of(series) == one))
                    .collect()
            }
            Layout::Blocks { file, length, window } => {
                let (data, test) = blocks(&folder.join(file), length, window)?;
                vec![split(&data, |series| test[series])]
            }
        })
    }
}

fn split(data: &Dataset, tested: impl Fn(usize) -> bool) -> Split {
    let (test, train) = (0..data.series().len()).partition(|&series| tested(series));
    Split { data: data.clone(), train, test }
}

/// Two data sets of the same classes as one.
fn joined(train: Dataset, test: Dataset) -> Result<Split, Box<dyn Error>> {
    let test = test.with_classes(train.classes())?;
    let first = train.series().len();
    let series = train.series().iter().chain(test.series()).cloned().collect();
    let (kind, classes) = (train.kind().clone(), train.classes().to_vec());
    let data = Dataset::new(train.source(), kind, classes, train.columns().to_vec(), series)?;
    Ok(split(&data, |series| series >= first))
}

fn stratified(data: &Dataset, count: usize) -> Result<Vec<Split>, Box<dyn Error>> {
    let folds = Folds::stratified(&data.labels()?, data.classes(), count, None)
        .or_else(|_| data.folds(count, None, None))?;
    Ok((0..count).map(|one| split(data, |series| folds.fold_of(series) == one)).collect())
}

/// Windows as series of their own, with a column of the groups that belong together.
fn cut(
    data: &Dataset,
    length: usize,
    hop: usize,
    column: &str,
    group: impl Fn(usize) -> String,
) -> Result<Dataset, Box<dyn Error>> {
    let windows = data.windows(Some(&windowing(length, hop)?));
    let one = |(number, window): (usize, &fishweir::data::Window<'_>)| Series {
        id: number.to_string(),
        label: window.label(),
        columns: vec![group(window.series)],
        times: Vec::new(),
        samples: owned(window.samples),
        line: window.source.line,
    };
    let series = windows.all().iter().enumerate().map(one).collect();
    let (kind, classes) = (data.kind().clone(), data.classes().to_vec());
    Ok(Dataset::new(data.source(), kind, classes, vec![column.to_owned()], series)?)
}

fn windowing(length: usize, hop: usize) -> Result<Windowing, Box<dyn Error>> {
    let size = |n| NonZeroUsize::new(n).ok_or("a window of samples");
    Ok(Windowing { length: size(length)?, hop: size(hop)?, short: ShortSeries::Keep })
}

/// The series that each window of [`cut`] is of.
fn by_origin(cut: &Dataset, data: &Dataset, length: usize, hop: usize) -> Vec<usize> {
    let by = windowing(length, hop).ok();
    let windows = data.windows(by.as_ref());
    let origins: Vec<usize> = windows.all().iter().map(|window| window.series).collect();
    debug_assert_eq!(origins.len(), cut.series().len());
    origins
}

fn owned(samples: fishweir::data::SamplesView<'_>) -> Samples {
    let mut rows = Rows::new(samples.rows().map_or(0, |rows| rows.dimension()));
    samples.rows().into_iter().flat_map(|rows| rows.iter()).for_each(|row| rows.push(row));
    Samples::Channels(rows)
}

/// Assigns each recording to a fold: those of a class, sorted by name and so by time, in consecutive runs.
fn runs(data: &Dataset, folds: usize) -> Result<Vec<usize>, Box<dyn Error>> {
    let labels = data.labels()?;
    let mut fold = vec![0; labels.len()];
    for class in 0..data.classes().len() {
        let mut own: Vec<usize> = (0..labels.len()).filter(|&one| labels[one] == class).collect();
        own.sort_by_key(|&one| &data.series()[one].id);
        let count = own.len();
        own.iter().enumerate().for_each(|(place, &one)| fold[one] = place * folds / count);
    }
    Ok(fold)
}

fn series(label: usize, group: Vec<String>, number: usize, rows: &[Vec<f64>]) -> Series {
    let mut samples = Rows::new(rows.first().map_or(0, Vec::len));
    rows.iter().for_each(|row| samples.push(Some(row)));
    Series {
        id: number.to_string(),
        label: Some(label),
        columns: group,
        times: Vec::new(),
        samples: Samples::Channels(samples),
        line: 0,
    }
}

/// Pen tracks: eight points, the class last.
fn pen(text: &str) -> Result<Dataset, Box<dyn Error>> {
    let classes: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
    let mut all = Vec::new();
    for (number, line) in text.lines().skip(1).enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        let (label, points) = fields.split_last().ok_or("an empty line")?;
        let values = points.iter().map(|x| x.parse()).collect::<Result<Vec<f64>, _>>()?;
        let label = classes.iter().position(|class| class == label).ok_or("a digit")?;
        let rows: Vec<Vec<f64>> = values.chunks_exact(2).map(<[f64]>::to_vec).collect();
        all.push(series(label, Vec::new(), number, &rows));
    }
    let kind = Kind::Channels(vec!["x".into(), "y".into()]);
    Ok(Dataset::new("pendigits", kind, classes, Vec::new(), all)?)
}

fn text_of(path: &Path) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(fs::File::open(path)?).read_to_string(&mut text)?;
    Ok(text)
}

/// A class and values per line.
fn lines(path: &Path) -> Result<Dataset, Box<dyn Error>> {
    let (mut classes, mut parsed) = (Vec::<String>::new(), Vec::new());
    for line in text_of(path)?.lines() {
        let values = line.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        let (class, values) = values.split_first().ok_or("an empty line")?;
        let class = class.to_string();
        if !classes.contains(&class) {
            classes.push(class.clone());
        }
        parsed.push((class, values.iter().map(|&x| vec![x]).collect::<Vec<_>>()));
    }
    classes.sort();
    let one = |(number, (class, rows)): (usize, &(String, Vec<Vec<f64>>))| {
        let label = classes.iter().position(|one| one == class).unwrap_or_default();
        series(label, Vec::new(), number, rows)
    };
    let all = parsed.iter().enumerate().map(one).collect();
    Ok(Dataset::new("lines", Kind::Channels(vec!["x".into()]), classes.clone(), Vec::new(), all)?)
}

/// Cuts windows from blocks of `length` rows `configuration, speed, x, y, z`, and marks those of the last third.
fn blocks(
    path: &Path,
    length: usize,
    window: usize,
) -> Result<(Dataset, Vec<bool>), Box<dyn Error>> {
    let text = text_of(path)?;
    let rows = text.lines().skip(1).map(|line| {
        line.split(',').map(|x| x.trim().parse::<f64>()).collect::<Result<Vec<f64>, _>>()
    });
    let rows: Vec<Vec<f64>> = rows.collect::<Result<_, _>>()?;
    let (mut all, mut test) = (Vec::new(), Vec::new());
    for (block, rows) in rows.chunks(length).enumerate() {
        let label = rows[0][0] as usize - 1;
        for (number, rows) in rows.chunks_exact(window).enumerate() {
            let channels: Vec<Vec<f64>> = rows.iter().map(|row| row[2..].to_vec()).collect();
            all.push(series(label, vec![block.to_string()], all.len(), &channels));
            test.push(3 * number * window >= 2 * length);
        }
    }
    let kind = Kind::Channels(["x", "y", "z"].map(str::to_owned).to_vec());
    let classes = ["1", "2", "3"].map(str::to_owned).to_vec();
    Ok((Dataset::new("fan", kind, classes, vec!["block".into()], all)?, test))
}
