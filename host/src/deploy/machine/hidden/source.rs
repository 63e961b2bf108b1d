//! Rust source of kernels over hidden models.

use std::fmt::Write as _;

use super::{Binomial, Hidden, Law, Pair, Tree};
use crate::deploy::common::Common;
use crate::deploy::machine::source::{ATTRIBUTES, expansion_source, symbol_type};
use crate::deploy::source::{labels, reals};

/// Types and values of a kernel against the stored strings, and of the stream's own norm.
struct Parts {
    /// Names to import from the core's kernels.
    imports: &'static str,
    kernel: String,
    kernel_value: String,
    norm: String,
    norm_value: String,
}

impl Hidden {
    /// Writes everything after the comments.
    pub(in crate::deploy::machine) fn source(&self, of: &Common, text: &mut String) {
        let (items, outputs) = (self.stored.len(), of.outputs());
        let mut model = String::new();
        let parts = match &self.law {
            Law::Binomial(law) => law.source(self, of.size(), &mut model),
            Law::Pair(law) => law.source(self, of.size(), &mut model),
            Law::Tree(law) => law.source(self, of.size(), &mut model),
        };
        let (norm, norm_value, imported) = match self.norms.normalised {
            true => (parts.norm, parts.norm_value, ""),
            false => ("NoNorm<usize, f32>".to_owned(), "NoNorm::NEW".to_owned(), ", NoNorm"),
        };
        let mut sequences = format!(
            "StoredSequences<\n        {},\n        {norm},\n        [f32; {items}],\n    >",
            parts.kernel
        );
        let mut value = format!(
            "StoredSequences::new(\n        {},\n        {norm_value},\n        {},\n    )",
            parts.kernel_value,
            reals(&self.norms.log)
        );
        let mut order = "";
        if let Law::Tree(tree) = &self.law
            && !tree.in_order()
        {
            order = ", LeafOrder";
            sequences = format!("LeafOrder<'static, {sequences}, [u16; {}]>", tree.places.len());
            value = format!("LeafOrder::new({value}, &PLACES, {})", of.size());
        }
        let _ = write!(
            text,
            "\nuse fishweir_core::classify::{{KernelMachine{order}{imported}, StoredSequences}};\n\
             use fishweir_core::emission::Alphabet;\n\
             {}\n\n{}{model}\
             /// {items} support strings, {outputs} outputs.\n\
             pub type Model = KernelMachine<\n    {sequences},\n    [[f32; {items}]; {outputs}],\n>;\n\n\
             /// The machine, in flash.\n{ATTRIBUTES}\
             pub static MODEL: Model = KernelMachine::from_parts(\n    {value},\n",
            parts.imports,
            labels(&of.observations, &of.classes)
        );
        expansion_source(of, text);
    }

    /// The stored strings, each as the source of a kernel around it or by itself.
    fn strings(&self, around: impl Fn(&str) -> String) -> String {
        let string = |item: &Vec<u16>| around(&format!("&{item:?}"));
        let strings: Vec<String> = self.stored.iter().map(string).collect();
        format!("[\n            {},\n        ]", strings.join(",\n            "))
    }
}

impl Binomial {
    fn source(&self, of: &Hidden, symbols: usize, text: &mut String) -> Parts {
        let (items, count) = (of.stored.len(), self.tables.len());
        let length = of.stored.first().map_or(0, Vec::len);
        let _ = write!(
            text,
            "/// Probabilities of two symbols of a position, `[table][symbol][symbol]`.\n{ATTRIBUTES}\
             pub static TABLES: [PairTable<f32, {symbols}>; {count}] = [\n"
        );
        for table in &self.tables {
            let _ = writeln!(text, "    PairTable::from_parts({table:?}),");
        }
        let _ = write!(text, "];\n\n");
        let table = format!("PairTable<f32, {symbols}>");
        let symbol = symbol_type(symbols);
        Parts {
            imports: "use fishweir_core::kernel::{HiddenBinomial, HiddenBinomialNorm, PairTable};",
            kernel: format!("HiddenBinomial<'static, {table}, {symbol}, {items}>"),
            kernel_value: format!(
                "HiddenBinomial::from_parts(&TABLES, {}, {})",
                self.shared,
                of.strings(str::to_owned)
            ),
            norm: format!("HiddenBinomialNorm<'static, {table}>"),
            norm_value: format!("HiddenBinomialNorm::of(&TABLES, {}, {length})", self.shared),
        }
    }
}

impl Pair {
    fn source(&self, of: &Hidden, symbols: usize, text: &mut String) -> Parts {
        let (items, states) = (of.stored.len(), self.initial.len());
        let rows = 1 + of.stored.iter().map(Vec::len).max().unwrap_or(0);
        let model = format!("PairHmm<f32, {states}, {symbols}>");
        let _ = write!(
            text,
            "/// The pair model without pairs that are empty.\n{ATTRIBUTES}\
             pub static KERNEL_MODEL: {model} = PairHmm::from_parts(\n    \
             Chain::from_parts({}, {:?}),\n    {:?},\n    {},\n    {:?},\n    {},\n);\n\n",
            reals(&self.initial),
            self.transition,
            self.emission,
            reals(&self.empty),
            self.initial_end,
            reals(&self.end)
        );
        let cells = |rows: usize| format!("[Scaled<f32, {states}>; {rows}]");
        let own = of.room + 1;
        let symbol = symbol_type(symbols);
        Parts {
            imports: "use fishweir_core::hmm::Chain;\n\
                      use fishweir_core::kernel::{Bank, PairHmm, PairKernel, PairNorm, Scaled};",
            kernel: format!(
                "Bank<PairKernel<'static, {model}, {symbol}, {}>, {items}>",
                cells(rows)
            ),
            kernel_value: format!(
                "Bank::new({})",
                of.strings(|item| format!("PairKernel::from_parts(&KERNEL_MODEL, {item})"))
            ),
            norm: format!("PairNorm<'static, {model}, {}, [u16; {own}]>", cells(own)),
            norm_value: "PairNorm::of(&KERNEL_MODEL)".to_owned(),
        }
    }
}

impl Tree {
    fn source(&self, of: &Hidden, symbols: usize, text: &mut String) -> Parts {
        let (items, states, depth) = (of.stored.len(), self.root.len(), self.depth);
        let (nodes, leaves, matrices) =
            (self.children.len(), self.places.len(), self.transition.len());
        let law = format!("BranchModel<'static, f32, {states}>");
        let tied = match &self.arity {
            Some(arity) => format!(".with_arities({arity:?})"),
            None => String::new(),
        };
        let _ = write!(
            text,
            "/// Transition probabilities, `[matrix][from][to]`.\n{ATTRIBUTES}\
             pub static TRANSITION: [[[f32; {states}]; {states}]; {matrices}] = {:?};\n\n\
             /// The matrix of the branch to each node.\n#[rustfmt::skip]\n\
             pub static OF_NODE: [u16; {nodes}] = {:?};\n\n\
             /// Number of children of each node, parents before their children.\n#[rustfmt::skip]\n\
             pub static CHILDREN: [u16; {nodes}] = {:?};\n\n\
             /// The hidden model.\n{ATTRIBUTES}\
             pub static KERNEL_MODEL: {law} =\n    BranchModel::from_parts({}, &TRANSITION, &OF_NODE){tied};\n\n",
            self.transition,
            self.matrix,
            self.children,
            reals(&self.root)
        );
        if !self.in_order() {
            let _ = write!(
                text,
                "/// The leaf of each position of a string, from left to right.\n#[rustfmt::skip]\n\
                 pub static PLACES: [u16; {leaves}] = {:?};\n\n",
                self.places
            );
        }
        let name = if self.pruned { "PrunedTree" } else { "HiddenTree" };
        let shape = format!("TreeShape::from_parts(&CHILDREN, {leaves})");
        let kernel = format!("{name}<'static, {law}, {}, {depth}>", symbol_type(symbols));
        let string = |item: &str| format!("TreeKernel::from_parts(&KERNEL_MODEL, {shape}, {item})");
        Parts {
            imports: match self.pruned {
                false => {
                    "use fishweir_core::kernel::{\n    Bank, BranchModel, HiddenTree, HiddenTreeNorm, TreeKernel, \
                     TreeNorm, TreeShape,\n};"
                }
                true => {
                    "use fishweir_core::kernel::{\n    Bank, BranchModel, PrunedTree, PrunedTreeNorm, TreeKernel, \
                     TreeNorm, TreeShape,\n};"
                }
            },
            kernel: format!("Bank<{kernel}, {items}>"),
            kernel_value: format!("Bank::new({})", of.strings(string)),
            norm: format!("{name}Norm<'static, {law}, {depth}>"),
            norm_value: format!("TreeNorm::of(&KERNEL_MODEL, {shape})"),
        }
    }
}
