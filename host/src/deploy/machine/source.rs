//! Rust source with the machine as a `static`, for linking into firmware.

use std::fmt::{Debug, Write as _};

use fishweir_core::classify::ScoreKernel;

use super::compared::{self, Compared};
use super::cost::symbol_bytes;
use super::set::ModelSet;
use super::{DeployedWhitening, Machine, Scores, Sequences, Stored, StoredKernel};
use crate::classifier::{Observations, normalisation_name};
use crate::deploy::common::Common;
use crate::deploy::source::{comments, labels, model_source, real, reals};

impl Machine {
    /// Rust source of the machine.
    pub(super) fn source_of_machine(&self, of: &Common) -> String {
        let notes = "// A kernel machine: its stored items lie in flash, and its kernel streams.\n";
        let mut text = comments(&of.observations, &of.classes, notes);
        let family = match &of.observations {
            Observations::Channels(_) => "Gaussian",
            Observations::Symbols(_) => "Categorical",
        };
        let emission = format!("{family}<{}>", of.size());
        match &self.kernel {
            StoredKernel::FixedLength(kernel) => {
                let (norm, kernels) = match kernel.norms.normalised {
                    true => ("", "{FixedLength, FixedLengthNorm}"),
                    false => (", NoNorm", "FixedLength"),
                };
                let machine = format!("{{KernelMachine, StoredSequences{norm}}}");
                models_header((&machine, family, kernels), of, &mut text);
                self.sequences_source((kernel, of), &emission, &mut text);
            }
            StoredKernel::ModelSet(kernel) => {
                let machine = "{KernelMachine, StoredLikelihoods}";
                models_header((machine, family, "Marginalisation"), of, &mut text);
                self.set_source((kernel, of), &emission, &mut text);
            }
            StoredKernel::Hidden(kernel) => kernel.source(of, &mut text),
            StoredKernel::Models(kernel) => {
                let family = format!("{family}, Regularisation");
                let machine = "{Compared, KernelMachine, StoredModels}";
                models_header((machine, &family, "Affinity"), of, &mut text);
                text += "use fishweir_core::filter::{OnlineEm, StepSize};\n\n";
                self.bank_source((kernel, of), &emission, &mut text);
            }
            StoredKernel::Scores(kernel) => {
                let whitening = whitening_name(&kernel.whitening);
                let emissions = match &of.observations {
                    Observations::Channels(_) => "Gaussian, Parametrisation".to_owned(),
                    Observations::Symbols(_) => "Alphabet, Categorical, Parametrisation".to_owned(),
                };
                let _ = write!(
                    text,
                    "\nuse fishweir_core::classify::{{\n    {whitening}, KernelMachine, Normalisation, \
                     ScoreKernel, StoredScores,\n}};\n\
                     use fishweir_core::emission::{{{emissions}}};\n\
                     use fishweir_core::hmm::{{Chain, Hmm}};\n\n{}",
                    labels(&of.observations, &of.classes)
                );
                self.scores_source((kernel, of), &emission, &mut text);
            }
        }
        text
    }

    fn sequences_source(
        &self,
        (kernel, of): (&Sequences, &Common),
        emission: &str,
        text: &mut String,
    ) {
        let (states, [items, length]) = (self.states(), self.kernel.sizes());
        let sample = match &kernel.stored {
            Stored::Symbols(_) => symbol_type(of.size()).to_owned(),
            Stored::Channels(_) => format!("[f32; {}]", of.size()),
        };
        let (own, own_value) = if kernel.norms.normalised {
            (
                format!("FixedLengthNorm<'static, {emission}, {states}>"),
                format!("FixedLengthNorm::of(&KERNEL_MODEL, {length})"),
            )
        } else {
            let observation = match &kernel.stored {
                Stored::Symbols(_) => "usize",
                Stored::Channels(_) => &sample,
            };
            (format!("NoNorm<{observation}, f32>"), "NoNorm::NEW".to_owned())
        };
        let mut model = String::new();
        model_source(&mut model, &self.models[0]);
        let _ = write!(
            text,
            "/// The hidden Markov model over which the kernel sums.\n{ATTRIBUTES}\
             pub static KERNEL_MODEL: Hmm<{emission}, {states}> =\n{};\n\n\
             /// The support sequences, `[item][position]`.\n{ATTRIBUTES}\
             pub static STORED: [[{sample}; {length}]; {items}] = [\n",
            model.trim_end().trim_end_matches(',')
        );
        let mut item = |item: &dyn Debug| {
            let _ = writeln!(text, "    {item:?},");
        };
        match &kernel.stored {
            Stored::Symbols(stored) => stored.iter().for_each(|one| item(one)),
            Stored::Channels(stored) => stored.iter().for_each(|one| item(one)),
        }
        let _ = write!(
            text,
            "];\n\n\
             /// {items} support sequences of {length} samples, {} outputs.\n\
             pub type Model = KernelMachine<\n    StoredSequences<\n        \
             FixedLength<'static, Hmm<{emission}, {states}>, {sample}, {items}>,\n        {own},\n        \
             [f32; {items}],\n    >,\n    [[f32; {items}]; {}],\n>;\n\n\
             /// The machine, in flash.\n{ATTRIBUTES}\
             pub static MODEL: Model = KernelMachine::from_parts(\n    StoredSequences::new(\n        \
             FixedLength::from_parts(&KERNEL_MODEL, [",
            of.outputs(),
            of.outputs()
        );
        for item in 0..items {
            let _ = write!(text, "&STORED[{item}], ");
        }
        let _ = writeln!(
            text,
            "]),\n        {own_value},\n        {},\n    ),",
            reals(&kernel.norms.log)
        );
        expansion_source(of, text);
    }

    fn set_source(&self, (kernel, of): (&ModelSet, &Common), emission: &str, text: &mut String) {
        let (states, [items, models]) = (self.states(), self.kernel.sizes());
        let hmm = format!("Hmm<{emission}, {states}>");
        let _ = write!(
            text,
            "/// The models over which the kernel sums.\n{ATTRIBUTES}\
             pub static KERNEL_MODELS: [{hmm}; {models}] = [\n"
        );
        for model in &self.models {
            model_source(text, model);
        }
        let _ = write!(
            text,
            "];\n\n/// Their prior.\n{ATTRIBUTES}pub static PRIOR: [f32; {models}] = {};\n\n\
             /// Log-likelihoods of the support sequences divided by their norms, `[item][model]`.\n{ATTRIBUTES}\
             pub static STORED: [[f32; {models}]; {items}] = [\n",
            reals(&kernel.prior)
        );
        for item in &kernel.stored {
            let logs: Vec<String> = item.iter().map(|&log| real(log)).collect();
            let _ = writeln!(text, "    [{}],", logs.join(", "));
        }
        let _ = write!(
            text,
            "];\n\n\
             /// {items} support sequences, {} outputs.\n\
             pub type Model = KernelMachine<\n    StoredLikelihoods<\n        \
             Marginalisation<'static, [{hmm}; {models}], [[f32; {models}]; {items}]>,\n        \
             [f32; {items}],\n    >,\n    [[f32; {items}]; {}],\n>;\n\n\
             /// The machine, in flash.\n{ATTRIBUTES}\
             pub static MODEL: Model = KernelMachine::from_parts(\n    StoredLikelihoods::new(\n        \
             Marginalisation::from_parts(&KERNEL_MODELS, &PRIOR, &STORED),\n        {},\n        {},\n    ),\n",
            of.outputs(),
            of.outputs(),
            reals(&kernel.norms.log),
            kernel.norms.normalised
        );
        expansion_source(of, text);
    }

    fn bank_source(&self, (kernel, of): (&Compared, &Common), emission: &str, text: &mut String) {
        let (states, items) = (self.states(), kernel.norms.log.len());
        let hmm = format!("Hmm<{emission}, {states}>");
        let mut start = String::new();
        model_source(&mut start, &self.models[0]);
        let _ = write!(
            text,
            "/// The model that a stream starts from.\n{ATTRIBUTES}pub static START: {hmm} =\n{};\n\n\
             /// The models that it is compared with.\n{ATTRIBUTES}pub static BANK: [{hmm}; {items}] = [\n",
            start.trim_end().trim_end_matches(',')
        );
        for model in &self.models[1..] {
            model_source(text, model);
        }
        let compared::Start { step_size, warm_up, regularisation } = kernel.start;
        let _ = write!(
            text,
            "];\n\n\
             /// {items} models, {outputs} outputs.\n\
             pub type Model = KernelMachine<\n    \
             StoredModels<'static, OnlineEm<'static, {emission}, {states}>, [Hmm<{emission}, {states}>; {items}], \
             Compared<f32, {items}, {pairs}>>,\n    [[f32; {items}]; {outputs}],\n>;\n\n\
             /// The machine, in flash.\n{ATTRIBUTES}\
             pub static MODEL: Model = KernelMachine::from_parts(\n    StoredModels::new(\n        \
             OnlineEm::from_parts(&START, StepSize::{step_size:?}, {warm_up}, {regularisation:?}),\n        \
             &BANK,\n        (Affinity::{measure:?}, {steps}),\n        {norms},\n        {normalised},\n    ),\n",
            outputs = of.outputs(),
            pairs = states * states,
            measure = kernel.measure,
            steps = kernel.steps,
            norms = reals(&kernel.norms.log),
            normalised = kernel.norms.normalised
        );
        expansion_source(of, text);
    }

    fn scores_source(&self, (kernel, of): (&Scores, &Common), emission: &str, text: &mut String) {
        let (states, [items, entries]) = (self.states(), self.kernel.sizes());
        let whitening = whitening_name(&kernel.whitening);
        let _ = write!(
            text,
            "/// {items} support vectors of {entries} score entries of {models} models, {outputs} \
             outputs.\n\
             pub type Model = KernelMachine<\n    StoredScores<[Hmm<{emission}, {states}>; {models}], \
             {whitening}<f32, {entries}>, [[f32; {entries}]; {items}]>,\n    \
             [[f32; {items}]; {outputs}],\n>;\n\n\
             /// The machine, in flash.\n{ATTRIBUTES}\
             pub static MODEL: Model = KernelMachine::from_parts(\n    StoredScores::from_parts(\n    [\n",
            models = self.models.len(),
            outputs = of.outputs()
        );
        for model in &self.models {
            model_source(text, model);
        }
        let normalisation = normalisation_name(of.normalisation).to_uppercase();
        let factors = match &kernel.whitening {
            DeployedWhitening::Diagonal(rate) => format!("rate: {}", reals(rate)),
            DeployedWhitening::Full(rows) => format!("rows: {rows:?}"),
        };
        let _ = write!(
            text,
            "    ],\n        Parametrisation::SOFTMAX,\n        \
             Normalisation::{normalisation},\n        {whitening} {{ centre: {}, {factors} }},\n        \
             {},\n        [\n",
            reals(&kernel.centre),
            kernel_source(kernel.kernel)
        );
        for item in &kernel.stored {
            let _ = writeln!(text, "            {},", reals(item));
        }
        let _ = writeln!(text, "        ],\n    ),");
        expansion_source(of, text);
    }
}

/// Imports of a machine over hidden Markov models, and the names of symbols and classes.
fn models_header((machine, family, kernels): (&str, &str, &str), of: &Common, text: &mut String) {
    let letters = match &of.observations {
        Observations::Channels(_) => "",
        Observations::Symbols(_) => "Alphabet, ",
    };
    let _ = write!(
        text,
        "\nuse fishweir_core::classify::{machine};\n\
         use fishweir_core::emission::{{{letters}{family}}};\n\
         use fishweir_core::hmm::{{Chain, Hmm}};\n\
         use fishweir_core::kernel::{kernels};\n\n{}",
        labels(&of.observations, &of.classes)
    );
}

/// Type of a stored symbol of an alphabet of `symbols` symbols.
pub(super) fn symbol_type(symbols: usize) -> &'static str {
    if symbol_bytes(symbols) == 1 { "u8" } else { "u16" }
}

/// Outputs, and the end of the machine.
pub(super) fn expansion_source(of: &Common, text: &mut String) {
    let _ = writeln!(text, "    [");
    for row in &of.weights {
        let _ = writeln!(text, "        {},", reals(row));
    }
    let _ = writeln!(text, "    ],\n    {},\n);", reals(&of.biases));
}

pub(super) const ATTRIBUTES: &str = "#[rustfmt::skip]\n\
     #[allow(clippy::all, clippy::approx_constant, clippy::excessive_precision)]\n";

fn whitening_name(whitening: &DeployedWhitening) -> &'static str {
    match whitening {
        DeployedWhitening::Diagonal(_) => "DiagonalWhitening",
        DeployedWhitening::Full(_) => "FullWhitening",
    }
}

fn kernel_source(kernel: ScoreKernel<f32>) -> String {
    // Its name, and its parameter so that it reads back to the same bits.
    format!("ScoreKernel::{kernel:?}")
}
