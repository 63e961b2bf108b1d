//! The table of decisions on the windows of data, written a data set at a time.

use fishweir::data::{Dataset, Window, Windowing};
use fishweir::deploy::Stream;
use fishweir::evaluate::UnknownClass;
use fishweir::report::OutOfCoreSummary;
use fishweir::teach::Taught;
use rayon::prelude::*;

use super::{Decided, heads};
use crate::model::Model;
use crate::{Failure, output, refusals};

/// A table of decisions that is being written to standard output.
pub(super) struct Decisions<'m> {
    model: &'m Model,
    taught: Option<&'m Taught>,
    json: bool,
    /// Rows written.
    rows: usize,
    begun: bool,
    unknown: Vec<UnknownClass>,
    skipped: usize,
    refused: usize,
    /// Place of the first refused sample.
    first: Option<String>,
}

impl<'m> Decisions<'m> {
    /// Creates a table of which nothing is written.
    pub(super) fn new((model, taught): (&'m Model, Option<&'m Taught>), json: bool) -> Self {
        Self {
            model,
            taught,
            json,
            rows: 0,
            begun: false,
            unknown: Vec::new(),
            skipped: 0,
            refused: 0,
            first: None,
        }
    }

    /// Decides on the windows of a data set.
    pub(super) fn decide<'d>(
        &self,
        data: &'d Dataset,
        windowing: Option<&Windowing>,
    ) -> Result<Vec<Decided<'d>>, Failure>
    where
        'm: 'd,
    {
        let windows = data.windows(windowing);
        let (deployed, taught) = (&self.model.deployed, self.taught);
        let judge = |stream: &mut Stream, window: &Window<'_>| {
            stream.reset();
            let refused =
                window.samples.iter().filter(|&sample| stream.push(sample).is_err()).count();
            let start = window.start as u64;
            let end = start + window.samples.len() as u64;
            let decided = Decided::read((deployed, taught), stream, start, end)?;
            Ok((window.series, Decided { refused, ..decided }))
        };
        let decided: Vec<Result<(usize, Decided<'_>), Failure>> = windows
            .all()
            .par_chunks(16)
            .map_init(
                || deployed.stream(),
                |stream, windows| windows.iter().map(|one| judge(stream, one)).collect::<Vec<_>>(),
            )
            .flatten_iter()
            .collect();
        let mut decisions = Vec::with_capacity(decided.len());
        for one in decided {
            let (series, one) = one?;
            decisions.push(Decided { series: Some(&data.series()[series].id), ..one });
        }
        Ok(decisions)
    }

    /// Decides on the windows of the next data set, and writes the decisions.
    pub(super) fn write(
        &mut self,
        data: &Dataset,
        windowing: Option<&Windowing>,
    ) -> Result<(), Failure> {
        let decisions = self.decide(data, windowing)?;
        self.write_decided(data, windowing, &decisions)
    }

    /// Names of all classes that are decided for: the model's, then those that were taught.
    fn names(&self) -> Vec<String> {
        let taught = self.taught.iter().flat_map(|taught| taught.classes());
        let known = self.model.deployed.classes().iter().cloned();
        known.chain(taught.map(|(name, _)| name.to_owned())).collect()
    }

    /// What windows of other classes were decided as.
    fn strangers(
        &self,
        data: &Dataset,
        windowing: Option<&Windowing>,
        decisions: &[Decided<'_>],
    ) -> Vec<UnknownClass> {
        if self.model.deployed.target().is_some() {
            return Vec::new();
        }
        let (names, windows) = (self.names(), data.windows(windowing));
        let confidence = self.model.deployed.confidence();
        let rejects = confidence.is_some_and(|confidence| confidence.of_core().rejects());
        let mut found = Vec::new();
        for (class, name) in data.classes().iter().enumerate() {
            let series = data.series().iter().filter(|one| one.label == Some(class)).count();
            if series == 0 || names.contains(name) {
                continue;
            }
            let mut decided: Vec<(String, usize)> =
                names.iter().map(|name| (name.clone(), 0)).collect();
            let (mut all, mut undecided, mut rejected) = (0, 0, 0);
            for (window, one) in windows.all().iter().zip(decisions) {
                if window.label() != Some(class) {
                    continue;
                }
                all += 1;
                match decided.iter_mut().find(|(name, _)| Some(name.as_str()) == one.class) {
                    Some((_, count)) => *count += 1,
                    None => undecided += 1,
                }
                let doubt = one.belief.as_ref().and_then(|belief| belief.doubt);
                rejected += usize::from(one.class.is_some() && doubt.is_some());
            }
            found.push(UnknownClass {
                class: name.clone(),
                series,
                windows: all,
                decided,
                undecided,
                rejected: rejects.then_some(rejected),
            });
        }
        found
    }

    /// Writes the decisions on the next data set.
    pub(super) fn write_decided(
        &mut self,
        data: &Dataset,
        windowing: Option<&Windowing>,
        decisions: &[Decided<'_>],
    ) -> Result<(), Failure> {
        let deployed = &self.model.deployed;
        let first = decisions.iter().position(|one| one.refused > 0);
        if let (None, Some(first)) = (&self.first, first) {
            let windows = data.windows(windowing);
            let window = windows.all().get(first);
            self.first = window.map(|window| refusals::first_refused(deployed, data, window));
        }
        self.refused += decisions.iter().map(|one| one.refused).sum::<usize>();
        self.skipped += data.skipped();
        let begins = !std::mem::replace(&mut self.begun, true);
        let mut text = Vec::new();
        if self.json {
            if begins {
                text.extend_from_slice(b"{\"data\":");
                serde_json::to_writer(&mut text, data.source())?;
                match deployed.target() {
                    Some(target) => {
                        text.extend_from_slice(b",\"target\":");
                        serde_json::to_writer(&mut text, target)?;
                    }
                    None => {
                        text.extend_from_slice(b",\"classes\":");
                        serde_json::to_writer(&mut text, &self.names())?;
                    }
                }
                text.extend_from_slice(b",\"decisions\":[");
            }
            for (row, one) in (self.rows..).zip(decisions) {
                text.extend_from_slice(if row > 0 { b"," } else { b"" });
                text.extend_from_slice(one.json(deployed)?.as_bytes());
            }
            for one in self.strangers(data, windowing, decisions) {
                match self.unknown.iter_mut().find(|known| known.class == one.class) {
                    Some(known) => known.add(&one),
                    None => self.unknown.push(one),
                }
            }
        } else {
            let mut table = csv::Writer::from_writer(text);
            if begins {
                table.write_record(heads(deployed, true))?;
            }
            for one in decisions {
                table.write_record(one.record(deployed))?;
            }
            text = table.into_inner().map_err(|error| error.into_error())?;
        }
        self.rows += decisions.len();
        output::print(&text)
    }

    /// Ends the table; a report of the samples that were refused, if any.
    pub(super) fn end(
        mut self,
        out_of_core: Option<&OutOfCoreSummary>,
    ) -> Result<Option<String>, Failure> {
        if self.json {
            self.unknown.sort_by(|one, other| one.class.cmp(&other.class));
            let mut text = b"],\"unknown\":".to_vec();
            serde_json::to_writer(&mut text, &self.unknown)?;
            text.extend_from_slice(b",\"skipped\":");
            serde_json::to_writer(&mut text, &self.skipped)?;
            if let Some(summary) = out_of_core {
                text.extend_from_slice(b",\"out_of_core\":");
                serde_json::to_writer(&mut text, summary)?;
            }
            text.extend_from_slice(b"}\n");
            output::print(&text)?;
        }
        Ok(self.first.map(|first| refusals::refused_from(self.refused, &first)))
    }
}
