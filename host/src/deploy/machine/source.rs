//! Rust source with the machine as a `static`, for linking into firmware.

use std::fmt::Write as _;

use fishweir_core::classify::ScoreKernel;

use super::cost::symbol_bytes;
use super::{DeployedWhitening, Machine, Scores, Sequences, StoredKernel};
use crate::classifier::{Observations, normalisation_name};
use crate::deploy::common::Common;
use crate::deploy::source::{comments, labels, model_source, reals};

impl Machine {
    /// Rust source of the machine.
    pub(super) fn source_of_machine(&self, of: &Common) -> String {
        let notes = "// A kernel machine: its stored items lie in flash, and its kernel streams.\n";
        let mut text = comments(&of.observations, &of.classes, notes);
        let (letters, family) = match &of.observations {
            Observations::Channels(_) => ("", "Gaussian"),
            Observations::Symbols(_) => ("Alphabet, ", "Categorical"),
        };
        let emission = format!("{family}<{}>", of.size());
        match &self.kernel {
            StoredKernel::FixedLength(kernel) => {
                let (norm, kernels) = match kernel.normalised {
                    true => ("", "{FixedLength, FixedLengthNorm}"),
                    false => (", NoNorm", "FixedLength"),
                };
                let _ = write!(
                    text,
                    "\nuse fishweir_core::classify::{{KernelMachine, StoredSequences{norm}}};\n\
                     use fishweir_core::emission::{{{letters}{family}}};\n\
                     use fishweir_core::hmm::{{Chain, Hmm}};\n\
                     use fishweir_core::kernel::{kernels};\n\n{}",
                    labels(&of.observations, &of.classes)
                );
                self.sequences_source((kernel, of), &emission, &mut text);
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
        let symbol = if symbol_bytes(of.size()) == 1 { "u8" } else { "u16" };
        let (own, own_value) = if kernel.normalised {
            (
                format!("FixedLengthNorm<'static, {emission}, {states}>"),
                format!("FixedLengthNorm::of(&KERNEL_MODEL, {length})"),
            )
        } else {
            ("NoNorm<usize, f32>".to_owned(), "NoNorm::NEW".to_owned())
        };
        let mut model = String::new();
        model_source(&mut model, &self.models[0]);
        let _ = write!(
            text,
            "/// The hidden Markov model over which the kernel sums.\n{ATTRIBUTES}\
             pub static KERNEL_MODEL: Hmm<{emission}, {states}> =\n{};\n\n\
             /// The support sequences, `[item][position]`.\n#[rustfmt::skip]\n\
             pub static STORED: [[{symbol}; {length}]; {items}] = [\n",
            model.trim_end().trim_end_matches(',')
        );
        for item in &kernel.stored {
            let _ = writeln!(text, "    {item:?},");
        }
        let _ = write!(
            text,
            "];\n\n\
             /// {items} support sequences of {length} symbols, {} outputs.\n\
             pub type Model = KernelMachine<\n    StoredSequences<\n        \
             FixedLength<'static, Hmm<{emission}, {states}>, {symbol}, {items}>,\n        {own},\n        \
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
            reals(&kernel.log_norms)
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

fn expansion_source(of: &Common, text: &mut String) {
    let _ = writeln!(text, "    [");
    for row in &of.weights {
        let _ = writeln!(text, "        {},", reals(row));
    }
    let _ = writeln!(text, "    ],\n    {},\n);", reals(&of.biases));
}

const ATTRIBUTES: &str = "#[rustfmt::skip]\n\
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
