//! Records of a stream that a device keeps in fixed memory: a coreset beside a random sample of the same size, and beside
//! algorithm 1 over all records.
//!
//! ```sh
//! cargo run --release -p fishweir-networks --example network_coresets -- nursery.csv class
//! ```
//!
//! Half of the records, shuffled, come one by one, and half test; numbers in four bins; a network climbed to by BIC. A table row
//! has the mean over ten shuffles of the squared discrepancy between kept and all under the network's Fisher kernel, and of the
//! log loss on the other half of the network with tables learnt from the kept records alone, each record as often as its weight
//! in the rows *weighted*. Random samples of one size are equally likely sets, as a reservoir has them.

use std::error::Error;
use std::num::NonZeroUsize;

use fishweir_networks::learn::{HillClimb, Prior, fit_parameters};
use fishweir_networks::records::{Binning, Records, Schema, TextTable};
use fishweir_networks::{NetworkFisher, Width, random_subsets};

const SIZES: [usize; 4] = [16, 64, 200, 1000];
const SHUFFLES: u64 = 10;
/// Coreset, weighted coreset, reservoir, all records at once: discrepancy and loss.
const WAYS: [&str; 4] = ["coreset", "coreset, weighted", "reservoir", "algorithm 1"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, class] = &arguments[..] else {
        return Err("give a table and the class' column".into());
    };
    let table = TextTable::read(data)?;
    let class = table.column(class)?;
    let mut sums = [[[0.0_f64; 2]; WAYS.len()]; SIZES.len()];
    let mut full = 0.0;
    for shuffle in 1..=SHUFFLES {
        let order = random_subsets(table.len(), table.len(), 1, shuffle)?.concat();
        let (arriving, test) = order.split_at(table.len() / 2);
        let schema = Schema::learn(&table, arriving, Some(class), &Binning::default())?;
        let (variables, records) = (schema.variables(), schema.records(&table)?);
        let (stream, test) = (records.subset(arriving), records.subset(test));
        let parents = HillClimb::default().learn(&variables, &stream)?.parents;
        let loss = |records: &Records| -> Result<f64, Box<dyn Error>> {
            let network = fit_parameters(&variables, &parents, records, Prior::PseudoCount(1.0))?;
            Ok(-network.log_likelihoods(&test)?.iter().sum::<f64>() / test.len() as f64)
        };
        full += loss(&stream)?;
        let network = fit_parameters(&variables, &parents, &stream, Prior::PseudoCount(1.0))?;
        let fisher = NetworkFisher::new(network, Width::default(), 1);
        for (at, &size) in SIZES.iter().enumerate() {
            let kept =
                fisher.coreset(&stream, NonZeroUsize::new(size).ok_or("keep one at least")?)?;
            let pairs = kept.indices.iter().zip(&kept.weights);
            let weighted: Vec<usize> = pairs
                .flat_map(|(&index, &weight)| std::iter::repeat_n(index, weight as usize))
                .collect();
            let drawn = random_subsets(stream.len(), size, 1, shuffle)?.concat();
            let chosen = fisher.representatives(&stream, &drawn)?.indices;
            let all = fisher.mean(&stream)?;
            for (way, some) in [kept.indices, weighted, drawn, chosen].into_iter().enumerate() {
                let some = stream.subset(&some);
                sums[at][way][0] += fisher.mmd_squared(&fisher.mean(&some)?, &all);
                sums[at][way][1] += loss(&some)?;
            }
        }
    }
    println!("| kept | by | discrepancy | log loss |\n|--:|---|--:|--:|");
    let n = SHUFFLES as f64;
    for (size, sums) in SIZES.iter().zip(&sums) {
        for (way, [discrepancy, loss]) in WAYS.iter().zip(sums) {
            println!("| {size} | {way} | {:.3} | {:.3} |", discrepancy / n, loss / n);
        }
    }
    println!("| all |  |  | {:.3} |", full / n);
    Ok(())
}
