//! `events`: records as text; every decision, and the statistic after every event, is the host's.

use std::fs;

use fishweir::device::Board;
use fishweir_networks::learn::{HillClimb, Prior};
use fishweir_networks::records::{MISSING, Records};
use fishweir_networks::{
    AlarmPlan, ClassifierPlan, DeployedEvents, DeployedSum, Method, Network, NetworkFisher, Width,
    read_bif,
};

use super::{build, framed, lines};

/// One without floating point, one with.
const BOARDS: [(&str, u64); 2] = [("microbit", 16_000_000), ("mps2-an386", 25_000_000)];

fn stored(name: &str) -> Network {
    let path = format!("{}/data/bn-networks/{name}.bif", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).expect("stored");
    read_bif(&path, &text).expect("a network")
}

/// Sends events, and lines that are none, to both boards.
fn answers_are_the_hosts(deployed: &DeployedEvents, events: &Records) {
    let mut wanted = deployed.answers(events).expect("they fit");
    let (columns, sent) = (deployed.columns(), events.len());
    let unknown = vec!["?"; columns.len() - 1].join(",") + ",no such state";
    let text = deployed.lines(events) + &unknown + "\n?\n";
    let (last, name) = (columns.len(), &columns[columns.len() - 1].name);
    wanted.push(format!("refused {} state {last} {name}", sent + 1));
    wanted.push(format!("refused {} fields 1", sent + 2));
    let refused = wanted.iter().filter(|line| line.starts_with("refused")).count();
    let alarms = wanted.iter().filter(|line| line.starts_with("alarm")).count();
    for (name, hertz) in BOARDS {
        let board = Board::named(name).expect("a board");
        let built = build(board, "events", &deployed.to_source());
        let greeting = format!("ready {} {hertz}", columns.len());
        let mut told = lines(built.start(), &greeting, &framed(&text)).expect("answers");
        let done = told.pop().expect("a last line");
        let counts = format!("done {} {refused} {alarms} ", sent + 2);
        assert!(done.starts_with(&counts), "{name}: {done}, not {counts}");
        assert_eq!(told, wanted, "{name}");
        println!("{name}: {done}");
    }
}

#[test]
fn decisions_on_records_with_missing_fields_are_the_hosts() {
    let mut network = stored("survey");
    let mut variables = network.variables().to_vec();
    // A name that needs quotes.
    variables[0].states[0] = "young, \"or\" so".into();
    network = Network::of_cells(variables, network.shape().clone(), network.theta().to_vec())
        .expect("named");
    let class = network.node("T").expect("a node");
    let plan = ClassifierPlan {
        method: Method::TreeAugmented,
        prior: Prior::PseudoCount(1.0),
        climb: HillClimb::default(),
    };
    let trained = plan.train(network.variables(), &network.sample(1500, 1), class);
    let deployed = DeployedSum::of(&trained.expect("trained")).expect("no zero");
    let others: Vec<usize> = (0..6).filter(|&column| column != class).collect();
    let drawn = network.sample(60, 2).select(&others);
    let holes = |(record, row): (usize, &[u16])| {
        let mut row = row.to_vec();
        if record % 3 == 0 {
            row[record % 5] = MISSING;
        }
        row
    };
    let events = Records::of_rows(5, drawn.rows().enumerate().map(holes));
    answers_are_the_hosts(&DeployedEvents::Sum(deployed), &events);
}

#[test]
fn an_alarm_comes_when_the_host_has_it_and_names_the_same_node() {
    let network = stored("alarm");
    let fisher = NetworkFisher::new(network.clone(), Width::default(), 1);
    let plan = AlarmPlan { memory: 20.0, mean_time: 100.0 };
    let deployed = plan.calibrate(&fisher, None, 1).expect("calibrated");
    // From event 40 on the blood pressure is what it never was before, or hardly.
    let node = network.node("BP").expect("a node");
    let turned = |(index, row): (usize, &[u16])| {
        let mut row = row.to_vec();
        if index >= 40 {
            row[node] = (row[node] + 1) % 3;
        }
        if index % 7 == 0 {
            row[index % 37] = MISSING;
        }
        row
    };
    let events = Records::of_rows(37, network.sample(100, 3).rows().enumerate().map(turned));
    let deployed = DeployedEvents::Alarm(deployed);
    let wanted = deployed.answers(&events).expect("they fit");
    let alarms = wanted.iter().filter(|line| line.starts_with("alarm") && line.ends_with(" BP"));
    assert!(alarms.count() >= 1, "{wanted:?}");
    answers_are_the_hosts(&deployed, &events);
}
