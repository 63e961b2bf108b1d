//! Domains, and their roles in a task that leaves a family out.

use std::collections::HashMap;
use std::error::Error;
use std::io::Read;
use std::path::Path;

use fishweir::data::{Alphabet, Dataset, FastaLabel, Kind, ReadOptions};
use fishweir::evaluate::Roc;
use fishweir_profiles::AMINO;

use crate::Arguments;

/// A domain's part in a task.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Part {
    Train { positive: bool },
    Test { positive: bool },
}

/// The domains, in all the shapes that methods read.
pub(crate) struct Domains {
    pub(crate) ids: Vec<String>,
    pub(crate) classes: Vec<String>,
    pub(crate) texts: Vec<String>,
    /// Symbols of [`AMINO`], codes among them.
    pub(crate) symbols: Vec<Vec<usize>>,
}

/// A family to leave out.
pub(crate) struct Task {
    pub(crate) family: String,
    /// Numbers of domains, and their parts.
    pub(crate) parts: Vec<(usize, Part)>,
}

impl Domains {
    pub(crate) fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        let alphabet = Alphabet::protein();
        let options = ReadOptions {
            kind: Some(Kind::Symbols(alphabet.clone())),
            fasta_label: FastaLabel::Word(2),
            ..ReadOptions::default()
        };
        let data = Dataset::read(path, &options)?;
        let labels = data.labels()?;
        let mut domains = Self {
            ids: data.series().iter().map(|series| series.id.clone()).collect(),
            classes: labels.iter().map(|&label| data.classes()[label].clone()).collect(),
            texts: Vec::new(),
            symbols: Vec::new(),
        };
        for series in data.series() {
            let view = series.samples.view();
            let symbols = view.symbols().unwrap_or_default();
            let letter =
                |symbol: &Option<u16>| symbol.map_or('X', |s| alphabet.symbols()[usize::from(s)]);
            let text: String = symbols.iter().map(letter).collect();
            domains.symbols.push(AMINO.encode(&series.id, &text)?);
            domains.texts.push(text);
        }
        Ok(domains)
    }

    /// Residues alone: codes for several are missing.
    pub(crate) fn residues(&self) -> Vec<Vec<Option<u16>>> {
        let residue = |&symbol: &usize| u16::try_from(symbol).ok().filter(|_| symbol < AMINO.len());
        self.symbols.iter().map(|symbols| symbols.iter().map(residue).collect()).collect()
    }
}

impl Task {
    fn select(&self, wanted: impl Fn(Part) -> Option<bool>) -> Vec<(usize, bool)> {
        let parts = self.parts.iter().enumerate();
        parts.filter_map(|(item, &(_, part))| Some((item, wanted(part)?))).collect()
    }

    /// Training items, numbers within the task, and whether they are positive.
    pub(crate) fn train(&self) -> Vec<(usize, bool)> {
        self.select(|part| match part {
            Part::Train { positive } => Some(positive),
            Part::Test { .. } => None,
        })
    }

    /// Training domains by their global indices.
    pub(crate) fn global_train(&self) -> Vec<(usize, bool)> {
        self.train().into_iter().map(|(item, positive)| (self.parts[item].0, positive)).collect()
    }

    pub(crate) fn judge(&self, values: &[f32]) -> Result<Judged, Box<dyn Error>> {
        let test = self.select(|part| match part {
            Part::Test { positive } => Some(positive),
            Part::Train { .. } => None,
        });
        let values: Vec<(f32, bool)> =
            test.iter().map(|&(item, own)| (values[item], own)).collect();
        Ok(Judged::of(&values).ok_or("a task without positives or negatives")?)
    }
}

/// The tasks that are asked for.
pub(crate) fn tasks(arguments: &Arguments, domains: &Domains) -> Result<Vec<Task>, Box<dyn Error>> {
    let halves: HashMap<String, String> = table(&arguments.halves)?
        .into_iter()
        .filter_map(|row| Some((row.first()?.clone(), row.get(1)?.clone())))
        .collect();
    let families = table(&arguments.tasks)?;
    let families = families.iter().filter_map(|row| row.first()).filter(|family| {
        arguments.superfamily.as_ref().is_none_or(|prefix| family.starts_with(prefix.as_str()))
    });
    let of = |(_, family): (usize, &String)| {
        let part = |n: usize| {
            let half = halves.get(&domains.ids[n]).map(String::as_str);
            part(family, &domains.classes[n], half, arguments.same_fold).map(|part| (n, part))
        };
        Task { family: family.clone(), parts: (0..domains.ids.len()).filter_map(part).collect() }
    };
    let taken = |&(number, _): &(usize, &String)| {
        number.is_multiple_of(arguments.every.max(1))
            && arguments.but_every.is_none_or(|every| !number.is_multiple_of(every))
    };
    Ok(families.enumerate().filter(taken).map(of).collect())
}

/// Role of a domain of a class in the task that leaves a family out.
fn part(family: &str, class: &str, half: Option<&str>, same_fold: bool) -> Option<Part> {
    let to_level = |name: &str, level: usize| -> String {
        name.split('.').take(level).collect::<Vec<_>>().join(".")
    };
    let in_fold = to_level(class, 2) == to_level(family, 2);
    if class == family {
        Some(Part::Test { positive: true })
    } else if to_level(class, 3) == to_level(family, 3) {
        Some(Part::Train { positive: true })
    } else if same_fold {
        // Trained within the fold, tested outside it.
        Some(if in_fold { Part::Train { positive: false } } else { Part::Test { positive: false } })
    } else if in_fold {
        None
    } else {
        match half? {
            "train" => Some(Part::Train { positive: false }),
            _ => Some(Part::Test { positive: false }),
        }
    }
}

/// A tab-separated table without its header, gzipped or not.
fn table(path: &Path) -> Result<Vec<Vec<String>>, Box<dyn Error>> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text)?;
    } else {
        text = String::from_utf8(bytes)?;
    }
    Ok(text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

/// A method's figures on a task.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Judged {
    /// Area below the curve of detections against false alarms.
    pub(crate) roc: f64,
    /// Area up to the first fifty false alarms, relative to its largest possible value.
    pub(crate) roc_50: f64,
    /// The median over the family of the share of negatives that score as high or higher.
    pub(crate) median_rfp: f64,
}

impl Judged {
    /// Areas from values and whether they are of the family. `None` if all or none are.
    pub(crate) fn of(values: &[(f32, bool)]) -> Option<Self> {
        let roc = Roc::of_leads(values.iter().copied())?;
        let mut negatives: Vec<f32> =
            values.iter().filter(|(_, own)| !own).map(|&(value, _)| value).collect();
        negatives.sort_by(f32::total_cmp);
        let count = negatives.len() as f64;
        let rate = |value: f32| {
            (negatives.len() - negatives.partition_point(|&other| other < value)) as f64 / count
        };
        let mut rates: Vec<f64> =
            values.iter().filter(|(_, own)| *own).map(|&(value, _)| rate(value)).collect();
        rates.sort_by(f64::total_cmp);
        let (low, high) = (rates[(rates.len() - 1) / 2], rates[rates.len() / 2]);
        let (roc_50, median_rfp) = (roc.area_up_to(50.0 / count), 0.5 * (low + high));
        Some(Self { roc: roc.area, roc_50, median_rfp })
    }
}
