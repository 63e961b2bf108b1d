use std::fmt;

use fishweir_core::artefact::Topology;
use serde::Serialize;

#[cfg(feature = "device")]
use super::Boards;
use super::route::RouteTable;
use super::selection::{self, write_selection};
use super::table::{of_missing, on_a_device};
use super::{ContractSummary, EmissionSummary, Paces, TeachingCost, counted, grouped};
use crate::classifier::{
    Classifier, Codebooks, Confidence, Observations, Provenance, normalisation_name,
};
use crate::data::internals::{in_one_line, size_of};
use crate::data::{Front, Lags};
use crate::deploy::{
    ArtefactFileError, Cost, Deployed, Description, EngineKind, FixedPoint, Route, StoredItems,
};

/// Summary of a model and of its cost, before anything is flashed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// The file.
    pub file: String,
    /// `model`, `models` (linear dynamical systems, one per class), `profile` or `artefact`.
    pub form: &'static str,
    /// Bytes of the file.
    pub file_bytes: usize,
    /// `bayes`, `fisher`, `top`, `count`, `latent-mean-map`, `empirical-mean-map`, `gaussian`, `polynomial`, `cosine`, `root-cosine` or `fixed-length`; an
    /// artefact does not tell the second, third and fourth apart, and says `fisher`.
    pub classifier: String,
    /// Classes.
    pub classes: Vec<String>,
    /// Names of the channels; null for symbols.
    pub channels: Option<Vec<String>>,
    /// Front end that samples go through first.
    #[serde(skip_serializing_if = "Front::is_empty")]
    pub front: Front,
    /// Lags at which differences of the channels are further channels of the models.
    pub lags: Lags,
    /// Codebooks beside the models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codebooks: Option<String>,
    /// The symbols in order, words with a line break between them; null for channels.
    pub symbols: Option<String>,
    /// Models in the bank, or of the kernel.
    pub models: usize,
    /// States of each model, or contexts.
    pub states: usize,
    /// Noun for one of them.
    #[serde(skip)]
    pub state: &'static str,
    /// Description of the recursion for log-likelihoods; empty for a kernel machine.
    #[serde(skip)]
    pub recursion: &'static str,
    /// Numbers in a state, if the models are linear dynamical systems.
    pub systems: bool,
    /// Number of positions, if the model is a profile.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub profile: bool,
    /// Number of symbols of context, for a model of words; null for all others.
    pub order: Option<usize>,
    /// Emissions of the states; null for systems, which have a state's noise instead.
    #[serde(flatten)]
    pub emission: EmissionSummary,
    /// `true` if states are successive positions: known, and not summed over.
    pub known_states: bool,
    /// Outputs: one for two classes, else one per class.
    pub outputs: usize,
    /// Directions that each model carries: the tangent filter's width.
    pub directions: usize,
    /// Normalisation of evidence by length; null for a kernel by marginalisation.
    pub normalisation: Option<&'static str>,
    /// Calibration of the decisions; null if none was learnt, and for an artefact, which has it
    /// rounded.
    pub confidence: Option<Confidence>,
    /// Cost of teaching classes on a device, if the model can be taught.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub teaching: Option<TeachingCost>,
    /// Stored items of a kernel machine; null for other classifiers.
    pub stored: Option<Stored>,
    /// Contract of the training; null for an artefact of a version without contracts.
    pub contract: Option<ContractSummary>,
    /// Provenance of the training; null for an artefact, which does not have it.
    pub provenance: Option<Provenance>,
    /// Cost on a device.
    #[serde(flatten)]
    pub cost: Cost,
    /// Cost in fixed point, in integers; null for classifiers without fixed point, and for an artefact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed_point: Option<Cost>,
    /// Boards that suit the model.
    #[cfg(feature = "device")]
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub boards: Option<Boards>,
    /// Pace of cores at a clock, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<Paces>,
    /// Bytes of its binary artefact, the model, a header and the labels; null where it has none.
    pub artefact_bytes: Option<usize>,
    /// Reason why it has no artefact; null if it has one.
    pub no_artefact: Option<String>,
    /// The ways to evaluate it, the one taken first.
    pub routes: Vec<Route>,
}

/// The stored items of a kernel machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stored {
    /// The kernel, in words.
    pub kernel: String,
    /// Items that the machine could weigh: those trained on, or the landmarks among them.
    pub trained_items: usize,
    /// Number of items stored on the device: the support vectors.
    pub items: usize,
    /// Entries of an item: symbols, or score entries.
    pub entries: usize,
}

impl Stored {
    /// Stored items of a fitted classifier in its deployed form; `None` if it stores nothing.
    pub fn of(deployed: &Deployed, fitted: Option<&Classifier>) -> Option<Self> {
        let trained_on = fitted.and_then(Classifier::expansion);
        let StoredItems { kernel, count, entries, .. } = deployed.description().items?;
        let trained_items = trained_on.map_or(0, |expansion| expansion.items());
        Some(Self { kernel, trained_items, items: count, entries })
    }
}

impl fmt::Display for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} entries, of {} to choose from",
            counted(self.items, "item"),
            grouped(self.entries),
            grouped(self.trained_items)
        )
    }
}

impl Inspection {
    /// Summary of a file of `file_bytes` bytes, from its deployed, fitted and fixed-point forms; an artefact has only the first.
    ///
    /// # Errors
    /// [`ArtefactFileError::TooLarge`].
    pub fn new(
        file: String,
        file_bytes: usize,
        deployed: &Deployed,
        fitted: Option<&Classifier>,
        fixed: Option<&FixedPoint>,
    ) -> Result<Self, ArtefactFileError> {
        let (channels, symbols) = match deployed.observations() {
            Observations::Channels(names) => (Some(names.clone()), None),
            Observations::Symbols(symbols) => (None, Some(symbols.clone())),
        };
        let kind = deployed.kind();
        let Description { models, states, state, directions, recursion, topology, order, .. } =
            deployed.description();
        let no_artefact = deployed.no_artefact();
        let artefact = if no_artefact.is_none() { Some(deployed.to_artefact()?) } else { None };
        Ok(Self {
            file,
            form: match (fitted, kind) {
                (Some(_), _) => "model",
                (None, EngineKind::Systems | EngineKind::Strings) => "models",
                (None, EngineKind::Profile) => "profile",
                (None, _) => "artefact",
            },
            file_bytes,
            classifier: deployed.method(fitted).to_owned(),
            classes: deployed.classes().to_vec(),
            channels,
            front: deployed.front().clone(),
            lags: deployed.lags().clone(),
            codebooks: deployed.codebooks().map(Codebooks::words),
            symbols,
            models,
            states,
            state,
            recursion,
            systems: kind == EngineKind::Systems,
            profile: kind == EngineKind::Profile,
            order,
            emission: EmissionSummary::of_deployed(deployed),
            known_states: topology == Topology::STEPS,
            outputs: deployed.outputs(),
            directions,
            normalisation: deployed.normalisation().map(normalisation_name),
            confidence: fitted.and_then(|fitted| fitted.confidence.clone()),
            teaching: TeachingCost::of(deployed),
            stored: Stored::of(deployed, fitted),
            contract: deployed
                .contract()
                .map(|contract| ContractSummary::new(contract, deployed.observations())),
            provenance: fitted.map(|fitted| fitted.provenance.clone()),
            cost: deployed.cost(),
            fixed_point: fixed.map(FixedPoint::cost),
            #[cfg(feature = "device")]
            boards: None,
            pace: None,
            artefact_bytes: artefact.map(|bytes| bytes.len()),
            no_artefact,
            routes: deployed.routes(),
        })
    }

    /// Describes the evidence that decides.
    fn evidence(&self) -> String {
        let what = match self.classifier.as_str() {
            "top" => "log-odds of class models and their derivatives",
            "count" => "expected statistics",
            "latent-mean-map" => "mixed expected counts",
            "empirical-mean-map" => "mixed counts of words",
            _ => "Fisher scores",
        };
        match (&self.stored, self.directions) {
            (Some(stored), _) => stored.kernel.clone(),
            (None, 0) => format!("log-likelihoods, {}", self.recursion),
            (None, count) => {
                let directions = counted(count, "direction");
                format!("{what} along {directions}, {}", self.recursion)
            }
        }
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}, {} B", self.file, self.form, grouped(self.file_bytes))?;
        let observed = match (&self.channels, &self.symbols) {
            (Some(names), _) => {
                let names = format!("{} ({})", counted(names.len(), "channel"), names.join(", "));
                match &self.lags {
                    none if none.is_empty() => names,
                    lags => format!("{names}, and {}", lags.words()),
                }
            }
            (None, Some(symbols)) => {
                format!("{} ({})", counted(size_of(symbols), "symbol"), in_one_line(symbols))
            }
            (None, None) => "nothing".to_owned(),
        };
        let mut lines = vec![
            ("classifier", format!("{}: {}", self.classifier, self.evidence())),
            match self.contract.as_ref().and_then(|contract| contract.target.as_ref()) {
                Some(target) => ("estimates", target.words()),
                None => {
                    ("classes", format!("{} ({})", self.classes.len(), self.classes.join(", ")))
                }
            },
            ("observes", observed),
            ("front end", self.front.words()),
            ("beside models", self.codebooks.clone().unwrap_or_default()),
            (
                "models",
                format!(
                    "{} of {}, {}",
                    self.models,
                    counted(self.states, self.state),
                    counted(self.outputs, "output")
                ),
            ),
        ];
        lines.retain(|(_, what)| !what.is_empty());
        if !self.systems {
            lines.push(("emissions", self.emission.to_string().replace(" emissions", "")));
        }
        lines.extend(self.stored.iter().map(|stored| ("stored", stored.to_string())));
        lines.extend(self.normalisation.map(|name| ("normalisation", name.replace('_', " "))));
        lines.extend(self.confidence.iter().map(|one| ("confidence", one.to_string())));
        lines.extend(self.teaching.iter().map(|one| ("teaching", one.to_string())));
        lines.extend(self.contract.iter().flat_map(ContractSummary::lines));
        if let Some(trained) = &self.provenance {
            let windows = match &trained.windowing {
                Some(by) => format!(
                    "{} of {} every {}",
                    counted(trained.windows, "window"),
                    grouped(by.length.get()),
                    grouped(by.hop.get())
                ),
                None => "in whole".into(),
            };
            let series = counted(trained.series, "series");
            let resampled = if trained.resampled { ", resampled" } else { "" };
            let named = trained.named();
            lines.push(("trained on", format!("{named}: {series}, {windows}{resampled}")));
            lines.extend(trained.notes.iter().map(|note| ("", note.clone())));
            lines.push(("", format!("by fishweir {}", trained.version)));
            let chosen = trained.selection.iter().flat_map(selection::chosen).enumerate();
            lines.extend(chosen.map(|(n, line)| (if n == 0 { "chosen" } else { "" }, line)));
        }
        for (name, value) in lines {
            writeln!(f, "  {name:<14} {value}")?;
        }
        let cost = &self.cost;
        let rows = [
            ("flash, model", cost.model_bytes, "B"),
            ("RAM, state of one stream", cost.state_bytes, "B"),
            ("multiply-adds per sample", cost.multiply_adds_per_sample, ""),
            ("exponentials per sample", cost.exponentials_per_sample, ""),
            ("multiply-adds per decision", cost.multiply_adds_per_decision, ""),
            ("exponentials per decision", cost.exponentials_per_decision, ""),
            ("logarithms per decision", cost.logarithms_per_decision, ""),
        ];
        let roots = ("square roots per decision", cost.roots_per_decision, "");
        let roots = (cost.roots_per_decision > 0).then_some(roots);
        let artefact = self.artefact_bytes.map(|bytes| ("binary artefact", bytes, "B"));
        let missing =
            of_missing(cost.multiply_adds_per_partial_sample, cost.logarithms_per_partial_sample);
        let rows = rows.into_iter().chain(roots).chain(missing).chain(artefact);
        write!(f, "\n{}", on_a_device(rows))?;
        if let Some(cost) = &self.fixed_point {
            writeln!(
                f,
                "  in fixed point: flash {} B, RAM {} B, {} multiply-adds and {} exponentials per sample, in \
                 integers (number format q15)",
                grouped(cost.model_bytes),
                grouped(cost.state_bytes),
                grouped(cost.multiply_adds_per_sample),
                grouped(cost.exponentials_per_sample),
            )?;
        }
        if let Some(why) = &self.no_artefact {
            writeln!(f, "  binary artefact: none, {why}")?;
        }
        #[cfg(feature = "device")]
        if let Some(boards) = &self.boards {
            match f.alternate() {
                true => write!(f, "{boards:#}")?,
                false => write!(f, "{boards}")?,
            }
        }
        if let Some(pace) = &self.pace {
            write!(f, "\n{pace}")?;
        }
        write!(f, "\n{}", RouteTable(&self.routes))?;
        let selection = self.provenance.iter().filter_map(|trained| trained.selection.as_ref());
        selection.take(1).try_for_each(|selection| write_selection(f, selection))
    }
}
