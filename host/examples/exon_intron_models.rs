//! Exons told from introns by kernels between models of each: the row HS3D of Table 1 of N. A. Mehta and
//! A. G. Gray, "Generative and Latent Mean Map Kernels", 2010, and the experiment of section 8.2 of T.
//! Jebara, R. Kondor and A. Howard, "Probability Product Kernels", 2004.
//!
//! ```sh
//! cargo run --release -p fishweir --example exon_intron_models -- exon-intron-fragments.tsv.gz
//! cargo run --release -p fishweir --example exon_intron_models -- exons1.fa.gz introns1.fa.gz
//! ```
//!
//! Both documents take 500 exons and 500 introns of HS3D at random, whole, of 10^2 to 10^4 bases. Those are
//! not to be had where we looked. The first command takes pieces of 70 bases, exon and intron on either side
//! of HS3D's 5 676 splice sites (P. Pollastro and S. Rampone, International Journal of Modern Physics C 13,
//! 2002), as a table `label`, `id`, `sequence`; the second whole exons and introns of Caenorhabditis elegans
//! (The Korf Lab's datacore, WormBase WS282) of 34 to 1 004 bases, without the two at either end, which tell
//! an intron by themselves. Items of one gene or transcript stay in one fold, which they need not there.
//!
//! A model of each item has as many states as the documents' formula gives its length (three for 70
//! bases), and no pseudocounts. In the second experiment half of the items train and half test, ten times
//! (there once); intervals are over genes, all splits together, at the best C.
use std::borrow::Cow;
use std::error::Error;

use common::chosen::{C, LossTable, Setting, in_words, loss_of};
use common::sequences::{Strings, between};
use common::{Task, spectra};
use fishweir::data::{Alphabet, Dataset, Folds, Kind, ReadOptions, SamplesView};
use fishweir::kernel::Gram;
use fishweir::kernel::between::Affinity;
use fishweir::report::Table;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

mod common;

/// Items of a class.
const ITEMS: usize = 500;
const FOLDS: usize = 10;
const SPLITS: u64 = 10;
const LENGTHS: std::ops::RangeInclusive<usize> = 30..=1_000;
/// Bases cut off either end of whole exons and introns.
const CUT: usize = 2;
/// Rates of the mean map.
const LAMBDA: [f64; 3] = [0.1, 1.0, 3.0];
/// Transitions, of the first experiment and of the second.
const STEPS: [usize; 2] = [9, 29];
const STEPS_OF_SPLITS: [usize; 5] = [7, 8, 9, 10, 11];
/// Words of the second.
const WORDS: [usize; 5] = [1, 2, 3, 4, 5];

/// States of a model of a string of four symbols: `1/2 sqrt(k^2 + 4 (T/10 + k + 1)) - k/2`, rounded down, and
/// one.
fn states(item: &SamplesView<'_>) -> usize {
    let k = 4.0_f64;
    (0.5 * (k * k + 4.0 * (0.1 * item.len() as f64 + k + 1.0)).sqrt() - 0.5 * k) as usize + 1
}

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    if !(1..=2).contains(&paths.len()) {
        return Err("which files? give the path of a table, or those of exons and introns".into());
    }
    let kind = Some(Kind::Symbols(Alphabet::dna()));
    let options = ReadOptions { kind, ..ReadOptions::default() };
    let files: Vec<Dataset> =
        paths.iter().map(|path| Dataset::read(path, &options)).collect::<Result<_, _>>()?;
    let classes = ["exon", "intron"].map(String::from);
    let (mut items, mut labels, mut genes) = (Vec::new(), Vec::new(), Vec::new());
    for (label, class) in classes.iter().enumerate() {
        let mut found = of_class(&files, label, class);
        if found.len() < ITEMS {
            return Err(
                format!("{} items of class {class}: {ITEMS} are wanted", found.len()).into()
            );
        }
        found.shuffle(&mut ChaCha8Rng::seed_from_u64(label as u64));
        for (gene, view) in found.into_iter().take(ITEMS) {
            items.push(view);
            labels.push(label);
            genes.push(gene);
        }
    }
    let mut distinct = genes.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let groups: Vec<usize> =
        genes.iter().map(|gene| distinct.binary_search(gene).unwrap_or_default()).collect();
    println!("{} items of {} genes, {FOLDS} folds", items.len(), distinct.len());

    let strings =
        Strings { items: &items, size: 4, states: [4, 8], steps: &STEPS, lambda: &LAMBDA };
    let models = strings.models(states)?;
    let folds = Folds::grouped(&labels, &classes, &groups, FOLDS, Some(1))?;
    let task = Task { labels: &labels, classes: &classes, groups: &groups, folds: &folds };
    let mut table = LossTable::new();
    let published = ["0.144", "0.149", "0.165", "0.215", "0.279", "0.170", "0.192"];
    strings.rows(&task, &models, published, &mut table)?;
    table.print();

    println!("\nhalf of the items train, half test; {SPLITS} splits; share decided wrongly");
    let mut table = Table::new(
        ["kernel".to_owned(), "published, best C".into()]
            .into_iter()
            .chain(C.map(|c| format!("C {c}")))
            .chain(["at the best C (95 %)".into()]),
    );
    let halves = |seed| Folds::grouped(&labels, &classes, &groups, 2, Some(seed));
    let splits = (0..SPLITS).map(|seed| halves(seed).map(|two| (two.train(0), two.test(0))));
    let splits: Vec<_> = splits.collect::<Result<_, _>>()?;
    let models = between(&models, &[Affinity::Product { rho: 1.0 }], &STEPS_OF_SPLITS)?;
    let of_models = STEPS_OF_SPLITS.iter().zip(models).map(|(steps, setting)| {
        let published = if *steps == 9 { "0.10 to 0.11" } else { "" };
        (format!("product kernel, rho 1, T {steps}"), published, setting)
    });
    let of_words = WORDS.iter().zip(["0.34", "0.18", "0.07 to 0.08", "", ""]);
    let of_words = of_words.map(|(&length, published)| {
        let gram = Gram::of_features(&spectra(&items, 4, length));
        (format!("words of {length}"), published, Setting::new("", gram))
    });
    for (name, published, setting) in of_models.chain(of_words) {
        let curve = task.curve(&setting, &splits)?;
        let best = curve.iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let best = best.and_then(|(_, units)| loss_of(units));
        table.row(
            [name, published.to_owned()]
                .into_iter()
                .chain(curve.iter().map(|(loss, _)| format!("{loss:.3}")))
                .chain([in_words(best)]),
        );
    }
    print!("{table}");
    Ok(())
}

/// Items of a class, of a file a class or of one with labels, with the gene that each is of.
fn of_class<'d>(
    files: &'d [Dataset],
    label: usize,
    class: &str,
) -> Vec<(Cow<'d, str>, SamplesView<'d>)> {
    let (data, cut) = match files {
        [one] => (one, 0),
        files => (&files[label], CUT),
    };
    let own = data.series().iter().filter(|series| {
        cut > 0 || series.label.is_some_and(|label| data.classes()[label] == class)
    });
    own.filter(|series| series.samples.view().len() > 2 * cut)
        .map(|series| {
            let view = series.samples.view();
            // `EI:AB000381(1,2,2)`, or the name of a transcript.
            let gene = series.id.rsplit(':').next().unwrap_or_default();
            let gene = gene.split('(').next().unwrap_or_default();
            (Cow::Borrowed(gene), view.slice(cut..view.len() - cut))
        })
        .filter(|(_, view)| LENGTHS.contains(&view.len()))
        .collect()
}
