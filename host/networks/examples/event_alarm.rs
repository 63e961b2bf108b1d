//! False alarms of a calibrated alarm on events, and its delay after one row of the network's tables has changed.
//!
//! ```sh
//! cargo run --release -p fishweir-networks --example event_alarm -- alarm.bif [MEAN_TIME [MEMORY]]
//! ```
//!
//! False alarms are counted in 400 000 events drawn from the network, with another seed than the threshold's.
//! Then, node by node, the probabilities of its likeliest row move on by one state, after a thousand events
//! of the network itself: events from there to the first alarm, the median of eleven streams, and how many
//! of these name the node.

use std::env;
use std::error::Error;
use std::path::Path;

use fishweir::report::Table;
use fishweir_networks::records::Records;
use fishweir_networks::{AlarmPlan, DeployedAlarm, Network, NetworkError};
use fishweir_networks::{NetworkFile, NetworkFisher, Width};

const EVENTS: usize = 400_000;
const BEFORE: usize = 1_000;
const SOON: usize = 500;
const AFTER: usize = 20_000;
const RUNS: u64 = 11;
/// Seeds of streams, far from those of the calibration.
const SEED: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().ok_or("name a network")?;
    let mut setting = |default: f64| arguments.next().map_or(Ok(default), |text| text.parse());
    let plan = AlarmPlan { mean_time: setting(2_000.0)?, memory: setting(200.0)? };
    let file = NetworkFile::read(Path::new(&path))?;
    let network = file.network();
    let fisher = NetworkFisher::new(network.clone(), Width::default(), 1);
    let alarm = plan.calibrate(&fisher, None, 1)?;
    let false_alarms = alarm.alarms(&network.sample(EVENTS, SEED))?.len();
    let wanted = EVENTS as f64 / plan.mean_time;
    println!(
        "{path}: threshold {:.1}, memory {} events; {false_alarms} false alarms in {EVENTS} events, \
         {wanted:.0} wanted: {:.2} times\n",
        alarm.threshold,
        plan.memory,
        false_alarms as f64 / wanted
    );
    let mut table = Table::new(["changed row of", "its probability", "delay", "node named"]);
    for node in 0..network.shape().nodes() {
        let (probability, changed) = changed(&fisher, node)?;
        let found = delays(&alarm, network, &changed, node);
        let (delay, named) = match found {
            Ok((delay, named)) => (delay, format!("{named} of {RUNS}")),
            // Impossible under the network: a device refuses the event, which tells as much.
            Err(NetworkError::Impossible { .. }) => ("refused".into(), "-".into()),
            Err(error) => return Err(error.into()),
        };
        table.row([network.name(node).to_owned(), format!("{probability:.3}"), delay, named]);
    }
    println!("{table}");
    Ok(())
}

/// The network with the likeliest row of a node changed, and that row's probability.
fn changed(fisher: &NetworkFisher, node: usize) -> Result<(f64, Network), NetworkError> {
    let (network, precision) = (fisher.network(), fisher.precision());
    let mut theta = network.theta().to_vec();
    let (mut likeliest, mut cells) = (-1.0, 0..0);
    for (_, _, row) in network.shape().every_row().filter(|(of, ..)| *of == node) {
        let seen = row.clone().find(|&cell| precision[cell] > 0.0);
        let probability = seen.map_or(0.0, |cell| 1.0 / (precision[cell] * theta[cell]));
        if probability > likeliest {
            (likeliest, cells) = (probability, row);
        }
    }
    theta[cells].rotate_right(1);
    let (variables, shape) = (network.variables().to_vec(), network.shape().clone());
    Ok((likeliest, Network::of_cells(variables, shape, theta)?))
}

/// The median delay, in words, and in how many streams the first alarm names the node.
fn delays(
    alarm: &DeployedAlarm,
    network: &Network,
    changed: &Network,
    node: usize,
) -> Result<(String, usize), NetworkError> {
    let (mut delays, mut named) = (Vec::new(), 0);
    for run in 0..RUNS {
        let seed = SEED + 1 + 2 * run;
        let before = network.sample(BEFORE, seed);
        // Most alarms come soon: the rest is drawn only where it is needed, and begins alike.
        let first = |after: usize| {
            let after = changed.sample(after, seed + 1);
            let events = Records::of_rows(before.columns(), before.rows().chain(after.rows()));
            let alarms = alarm.alarms(&events)?;
            Ok::<_, NetworkError>(alarms.into_iter().find(|(event, _)| *event >= BEFORE))
        };
        let first = match first(SOON)? {
            None => first(AFTER)?,
            found => found,
        };
        delays.push(first.map_or(usize::MAX, |(event, _)| event - BEFORE + 1));
        named += usize::from(first.is_some_and(|(_, of)| of == node));
    }
    delays.sort_unstable();
    let median = delays[delays.len() / 2];
    let words = if median <= AFTER { median.to_string() } else { format!("beyond {AFTER}") };
    Ok((words, named))
}
