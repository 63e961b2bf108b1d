//! Bayesian networks against the clock: a graph learnt from rows drawn, queries of a junction tree, the
//! Fisher features of a million records.
//!
//! ```sh
//! cargo run --release -p fishweir-networks --example network_speed -- FOLDER tests/data/bn-networks/alarm.bif ...
//! python3 host/networks/examples/network_peers.py networks FOLDER tests/data/bn-networks/alarm.bif ...
//! ```
//!
//! FOLDER gets, of each network, the rows as CSV, and the graph, the queries, their answers and the seconds
//! as JSON, from which the script lets pgmpy do the same. Figures are of the processors, and in brackets by the
//! clock, the best run. `RAYON_NUM_THREADS=1` is one thread.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fishweir_networks::learn::{HillClimb, Score, graph_score};
use fishweir_networks::records::{MISSING, Records, field};
use fishweir_networks::{Inference, Network, NetworkFile, NetworkFisher, Width};
use serde_json::json;

/// Rows that a graph is learnt from.
const ROWS: usize = 20_000;
/// Number of queries, each of one node given some others, from a row drawn.
const QUERIES: usize = 200;
const GIVEN: usize = 3;
/// Records whose features are computed, and how many of them at once: features are dense.
const RECORDS: usize = 1_000_000;
const AT_ONCE: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args_os().skip(1).map(PathBuf::from);
    let folder = paths.next().ok_or("give a folder and networks in BIF")?;
    fs::create_dir_all(&folder)?;
    let threads = std::thread::available_parallelism()?;
    println!(
        "{threads} processors, RAYON_NUM_THREADS {:?}\n",
        std::env::var("RAYON_NUM_THREADS").ok()
    );
    for path in paths {
        let file = NetworkFile::read(&path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        println!("{name}");
        let found = measure(file.network(), &folder.join(&*name))?;
        fs::write(folder.join(format!("{name}.json")), serde_json::to_string_pretty(&found)?)?;
    }
    Ok(())
}

fn measure(network: &Network, to: &Path) -> Result<serde_json::Value, Box<dyn Error>> {
    let (variables, shape) = (network.variables(), network.shape());
    let rows = network.sample(ROWS, 1);
    fs::write(to.with_extension("csv"), csv(network, &rows))?;
    let name = |node: usize| variables[node].name.as_str();
    let edges = |parents: &[Vec<usize>]| -> Vec<[&str; 2]> {
        let of = |(child, parents): (usize, &Vec<usize>)| {
            parents.iter().map(|&parent| [name(parent), name(child)]).collect::<Vec<_>>()
        };
        parents.iter().enumerate().flat_map(of).collect()
    };

    let climb = HillClimb::default();
    let (climb_took, climbed) = timed(|| climb.learn(variables, &rows));
    let climbed = climbed?;
    let truth = graph_score(Score::Bic, variables, shape.all_parents(), &rows)?;
    println!(
        "  climb       {:9.3} s  ({:.3})   {} changes, BIC {:.1}, of the true graph {truth:.1}",
        climb_took.processors, climb_took.clock, climbed.steps, climbed.score
    );

    let (build, inference) = timed(|| Inference::of(network, Width::default()));
    let inference = inference?;
    // Every fifth node from one that changes from query to query; each row is drawn, hence possible.
    let drawn = network.sample(QUERIES, 2);
    let queries = drawn.rows().enumerate().map(|(query, row)| {
        let mut evidence = vec![MISSING; row.len()];
        (1..=GIVEN)
            .map(|i| (query + 5 * i) % row.len())
            .for_each(|node| evidence[node] = row[node]);
        (query % row.len(), evidence)
    });
    let queries: Vec<(usize, Vec<u16>)> = queries.collect();
    let answer = |(node, evidence): &(usize, Vec<u16>)| {
        inference.marginal(*node, evidence).unwrap_or_default()
    };
    let (took, answers) = timed(|| queries.iter().map(answer).collect::<Vec<_>>());
    let [microseconds, clock] = [took.processors, took.clock].map(|one| one * 1e6 / QUERIES as f64);
    let build = build.processors * 1e3;
    println!("  query       {microseconds:9.1} us ({clock:.1})   the tree in {build:.2} ms");
    let asked = queries.iter().zip(&answers).map(|((node, evidence), answer)| {
        let given = evidence.iter().enumerate().filter(|(_, state)| **state != MISSING);
        let given: serde_json::Map<String, serde_json::Value> = given
            .map(|(node, &state)| {
                (name(node).to_owned(), variables[node].states[usize::from(state)].clone().into())
            })
            .collect();
        json!({ "node": name(*node), "given": given, "states": variables[*node].states, "answer": answer })
    });
    let asked: Vec<_> = asked.collect();

    let fisher = NetworkFisher::new(network.clone(), Width::default(), 1);
    let chunk = network.sample(AT_ONCE, 3);
    let (features, ()) = timed(|| {
        (0..RECORDS / AT_ONCE).for_each(|_| _ = black_box(fisher.features(&chunk)));
    });
    let million = network.sample(RECORDS, 4);
    let (mean, _) = timed(|| black_box(fisher.mean(&million).is_ok()));
    let cells = shape.all_cells();
    for (what, took) in [("features", features), ("mean feature", mean)] {
        let [each, clock] = [took.processors, took.clock].map(|one| one * 1e9 / RECORDS as f64);
        println!(
            "  {what:<12}{each:9.1} ns ({clock:.1})   a record of {} nodes, {cells} cells",
            shape.nodes()
        );
    }
    Ok(json!({
        "climb_seconds": climb_took.processors,
        "edges": edges(&climbed.parents),
        "truth": edges(shape.all_parents()),
        "query_microseconds": microseconds,
        "queries": asked,
    }))
}

/// Time and memory of a piece of work.
struct Usage {
    /// Seconds by the clock, the best run.
    clock: f64,
    /// Time in seconds over all processors, mean over runs; independent of other running programs.
    processors: f64,
}

/// Runs some work until a second of the processors has gone by, once at least.
fn timed<T>(mut work: impl FnMut() -> T) -> (Usage, T) {
    let (before, mut clock, mut runs) = (processors(), f64::INFINITY, 0.0);
    loop {
        let begun = Instant::now();
        let done = work();
        clock = clock.min(begun.elapsed().as_secs_f64());
        runs += 1.0;
        let all = processors().zip(before).map_or(clock * runs, |(now, before)| now - before);
        if all >= 1.0 {
            return (Usage { clock, processors: all / runs }, done);
        }
    }
}

/// Processor time of this process in hundredths of a second; only Linux reports it.
fn processors() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = text.rsplit(')').next()?.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<f64>().ok();
    Some((next()? + next()?) / 100.0)
}

/// Rows of states' names.
fn csv(network: &Network, rows: &Records) -> String {
    let variables = network.variables();
    let names: Vec<String> = variables.iter().map(|one| field(&one.name)).collect();
    let mut text = names.join(",") + "\n";
    for row in rows.rows() {
        let states: Vec<String> = row.iter().zip(variables).map(|(&v, one)| one.field(v)).collect();
        let _ = writeln!(text, "{}", states.join(","));
    }
    text
}
