//! A few records that stand for all: chosen by the maximum mean discrepancy of a network's Fisher kernel,
//! by chi-squared tests of the columns, or at random, and judged by a network fitted to them alone.
//!
//! ```sh
//! cargo run --release -p fishweir-networks --example network_representatives -- nursery.csv class nursery.svg
//! ```
//!
//! The protocol of Leppä-aho, Silander and Roos, "Bayesian network Fisher kernel for categorical feature
//! spaces", 2020, figures 1 to 3: half of the records, shuffled, train and half test; numbers in four bins;
//! a network climbed to by BIC, a TAN and a KDB classifier of three parents, fitted with a pseudo-count of
//! one; of 1 000 random subsets of each size the best by a criterion is where its exchange begins; the
//! network's tables are then learnt from the subset. The mean and the deviation of random subsets are those
//! of the first 100. The figure has a panel a loss.

use std::error::Error;
use std::fmt::Write as _;
use std::time::Instant;

use fishweir::internals::svg::{colour, draw_heading, open};
use fishweir_networks::learn::{HillClimb, Prior, fit_parameters, k_dependence, tree_augmented};
use fishweir_networks::records::{Binning, Records, Schema, TextTable, Variable};
use fishweir_networks::{Network, NetworkError, NetworkFisher, Width, random_subsets};
use statrs::distribution::{ChiSquared, ContinuousCDF};

const SIZES: [usize; 4] = [200, 400, 700, 1000];
const DRAWS: usize = 1000;
const JUDGED: usize = 100;

/// A network's graph, its losses, and of each size the losses of a choice.
struct Panel {
    title: String,
    full: f64,
    random: [(f64, f64); SIZES.len()],
    chi_squared: [f64; SIZES.len()],
    discrepancy: [f64; SIZES.len()],
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, class, figure] = &arguments[..] else {
        return Err("give a table, the class' column, a file for the figure".into());
    };
    let table = TextTable::read(data)?;
    let class = table.column(class)?;
    let order = random_subsets(table.len(), table.len(), 1, 1)?.concat();
    let (train, test) = order.split_at(table.len() / 2);
    let schema = Schema::learn(&table, train, Some(class), &Binning::default())?;
    let (variables, records) = (schema.variables(), schema.records(&table)?);
    let (train, test) = (records.subset(train), records.subset(test));
    println!("{data}: {} records to choose from, {} to judge by\n", train.len(), test.len());

    let mut panels = Vec::new();
    for name in ["climbed", "TAN", "KDB"] {
        let parents = match name {
            "TAN" => tree_augmented(&variables, &train, class)?,
            "KDB" => k_dependence(&variables, &train, class, 3)?,
            _ => HillClimb::default().learn(&variables, &train)?.parents,
        };
        let judge = |records: &Records| {
            let network = fit_parameters(&variables, &parents, records, Prior::PseudoCount(1.0))?;
            losses(&network, &test, (name != "climbed").then_some(class))
        };
        let titles: &[&str] =
            if name == "climbed" { &["log loss"] } else { &["error", "log loss"] };
        let first = panels.len();
        for (title, full) in titles.iter().zip(judge(&train)?) {
            panels.push(Panel {
                title: format!("{name}: {title}"),
                full,
                random: Default::default(),
                chi_squared: Default::default(),
                discrepancy: Default::default(),
            });
        }
        let begun = Instant::now();
        let network = fit_parameters(&variables, &parents, &train, Prior::PseudoCount(1.0))?;
        let fisher = NetworkFisher::new(network, Width::default(), 1);
        let exact = if fisher.is_exact() { "exactly" } else { "from 1 000 000 records drawn" };
        println!("{name}: probabilities of rows {exact} in {:.2} s", begun.elapsed().as_secs_f64());
        println!(
            "    k  loss      full    random (sd)         chi^2      MMD   seconds: draws, MMD, chi^2"
        );
        for (size, &k) in SIZES.iter().enumerate() {
            let begun = Instant::now();
            let subsets = random_subsets(train.len(), k, DRAWS, k as u64)?;
            let costs = fisher.discrepancies(&train, &subsets)?;
            let chi = ChiSquaredTests::of(&variables, &train);
            let values: Vec<f64> =
                subsets.iter().map(|subset| -chi.value(&chi.counts(&train, subset))).collect();
            let least = |costs: &[f64]| {
                (0..DRAWS).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or_default()
            };
            let drawn = begun.elapsed().as_secs_f64();
            let begun = Instant::now();
            let chosen = fisher.representatives(&train, &subsets[least(&costs)])?.indices;
            let by_discrepancy = begun.elapsed().as_secs_f64();
            let begun = Instant::now();
            let by_tests = chi.exchange(&train, subsets[least(&values)].clone());
            let seconds = [drawn, by_discrepancy, begun.elapsed().as_secs_f64()];

            let (chosen, by_tests) =
                (judge(&train.subset(&chosen))?, judge(&train.subset(&by_tests))?);
            let random = subsets[..JUDGED].iter().map(|subset| judge(&train.subset(subset)));
            let random: Vec<Vec<f64>> = random.collect::<Result<_, _>>()?;
            for (loss, panel) in panels[first..].iter_mut().enumerate() {
                let n = JUDGED as f64;
                let mean = random.iter().map(|one| one[loss]).sum::<f64>() / n;
                let variance = random.iter().map(|one| (one[loss] - mean).powi(2)).sum::<f64>() / n;
                panel.random[size] = (mean, variance.sqrt());
                (panel.chi_squared[size], panel.discrepancy[size]) = (by_tests[loss], chosen[loss]);
                let [draws, by_discrepancy, by_tests] = seconds;
                println!(
                    "{k:>5}  {:<8} {:>7.4}  {mean:>7.4} ({:.4})    {:>7.4}  {:>7.4}   {draws:.2}, \
                     {by_discrepancy:.2}, {by_tests:.2}",
                    titles[loss],
                    panel.full,
                    variance.sqrt(),
                    panel.chi_squared[size],
                    panel.discrepancy[size],
                );
            }
        }
    }
    let title = std::path::Path::new(figure).file_stem().unwrap_or_default().to_string_lossy();
    std::fs::write(figure, draw(&title, &panels))?;
    Ok(())
}

/// The mean negative log-likelihood of records; or of a class the error and mean log loss.
fn losses(
    network: &Network,
    test: &Records,
    class: Option<usize>,
) -> Result<Vec<f64>, NetworkError> {
    let n = test.len() as f64;
    let Some(class) = class else {
        return Ok(vec![-network.log_likelihoods(test)?.iter().sum::<f64>() / n]);
    };
    let shape = network.shape();
    let logs: Vec<f64> = network.theta().iter().map(|theta| theta.ln()).collect();
    let (mut wrong, mut loss) = (0.0, 0.0);
    for row in test.rows() {
        let mut row = row.to_vec();
        let label = usize::from(row[class]);
        let joint = |state: usize| {
            row[class] = state as u16;
            (0..shape.nodes())
                .filter_map(|node| shape.cell(node, &row))
                .map(|cell| logs[cell])
                .sum()
        };
        let joint: Vec<f64> = (0..shape.cards()[class]).map(joint).collect();
        let largest = joint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        wrong += f64::from(u8::from(joint[label] < largest));
        loss += largest + joint.iter().map(|log| (log - largest).exp()).sum::<f64>().ln()
            - joint[label];
    }
    Ok(vec![wrong / n, loss / n])
}

/// Chi-squared tests of each column's counts against those of all records.
struct ChiSquaredTests {
    /// `[column][state]`.
    shares: Vec<Vec<f64>>,
    /// Distributions by degrees of freedom, from one.
    limits: Vec<ChiSquared>,
}

impl ChiSquaredTests {
    fn of(variables: &[Variable], records: &Records) -> Self {
        let mut shares: Vec<Vec<f64>> =
            variables.iter().map(|variable| vec![0.0; variable.card()]).collect();
        for row in records.rows() {
            for (&state, shares) in row.iter().zip(&mut shares) {
                shares[usize::from(state)] += 1.0 / records.len() as f64;
            }
        }
        let most = shares.iter().map(Vec::len).max().unwrap_or(1);
        let limits =
            (1..=most).filter_map(|degrees| ChiSquared::new(degrees as f64).ok()).collect();
        Self { shares, limits }
    }

    fn counts(&self, records: &Records, subset: &[usize]) -> Vec<Vec<f64>> {
        let mut counts: Vec<Vec<f64>> =
            self.shares.iter().map(|one| vec![0.0; one.len()]).collect();
        for &record in subset {
            for (&state, counts) in records.row(record).iter().zip(&mut counts) {
                counts[usize::from(state)] += 1.0;
            }
        }
        counts
    }

    /// `log p` of a column's test; degrees of freedom are the states observed less one.
    fn log_p(&self, column: usize, counts: &[f64]) -> f64 {
        let all: f64 = counts.iter().sum();
        let terms = counts.iter().zip(&self.shares[column]).filter(|(_, share)| **share > 0.0);
        let statistic: f64 =
            terms.map(|(count, share)| (count - all * share).powi(2) / (all * share)).sum();
        let observed = counts.iter().filter(|&&count| count > 0.0).count();
        let limit = observed.checked_sub(2).and_then(|index| self.limits.get(index));
        limit.map_or(0.0, |limit| limit.sf(statistic).max(f64::MIN_POSITIVE).ln())
    }

    fn value(&self, counts: &[Vec<f64>]) -> f64 {
        counts.iter().enumerate().map(|(column, counts)| self.log_p(column, counts)).sum()
    }

    /// The exchange that the discrepancy has: a place takes the record that raises the value most.
    fn exchange(&self, records: &Records, mut chosen: Vec<usize>) -> Vec<usize> {
        let mut counts = self.counts(records, &chosen);
        let mut taken = vec![false; records.len()];
        chosen.iter().for_each(|&record| taken[record] = true);
        loop {
            let mut changed = false;
            for place in &mut chosen {
                let mut with = |record: usize, by: f64| {
                    let columns = records.row(record).iter().zip(&mut counts);
                    columns.for_each(|(&state, counts)| counts[usize::from(state)] += by);
                };
                with(*place, -1.0);
                let tables = self.with_one_more(&counts);
                let value = |record: usize| -> f64 {
                    let columns = records.row(record).iter().zip(&tables);
                    columns.map(|(&state, table)| table[usize::from(state)]).sum()
                };
                let mut best = (value(*place) + 1e-9, *place);
                for record in (0..records.len()).filter(|&record| !taken[record]) {
                    let value = value(record);
                    if value > best.0 {
                        best = (value, record);
                    }
                }
                changed |= best.1 != *place;
                (taken[*place], taken[best.1]) = (false, true);
                *place = best.1;
                let columns = records.row(*place).iter().zip(&mut counts);
                columns.for_each(|(&state, counts)| counts[usize::from(state)] += 1.0);
            }
            if !changed {
                return chosen;
            }
        }
    }

    /// `log p` of each column with one record more, by its state.
    fn with_one_more(&self, counts: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let of_column = |(column, counts): (usize, &Vec<f64>)| {
            let of_state = |state| {
                let mut counts = counts.clone();
                counts[state] += 1.0;
                self.log_p(column, &counts)
            };
            (0..counts.len()).map(of_state).collect()
        };
        counts.iter().enumerate().map(of_column).collect()
    }
}

/// A panel a loss, a line a choice.
fn draw(title: &str, panels: &[Panel]) -> String {
    const SIDE: f64 = 210.0;
    const STEP: f64 = 290.0;
    let width = 60.0 + STEP * panels.len() as f64;
    let heading = format!("{title}: losses on the other half, by the number of records chosen");
    let mut svg = open(&heading, (width, 345.0));
    draw_heading(&heading, "", 20.0, &mut svg);
    for (index, panel) in panels.iter().enumerate() {
        let x = |k: usize| 70.0 + STEP * index as f64 + SIDE * k as f64 / 1050.0;
        let ends =
            panel.random.iter().flat_map(|&(mean, deviation)| [mean - deviation, mean + deviation]);
        let all = ends.chain(panel.chi_squared).chain(panel.discrepancy).chain([panel.full]);
        let (low, high) = all.fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(v), b.max(v)));
        let y = |value: f64| 280.0 - (SIDE - 10.0) * (value - low) / (high - low).max(1e-9);
        let _ =
            writeln!(svg, "<text class=\"name\" x=\"{}\" y=\"58\">{}</text>", x(0), panel.title);
        for value in [low, 0.5 * (low + high), high] {
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1}\" y2=\"{2:.1}\"/>\
                 <text class=\"end\" x=\"{3}\" y=\"{4:.1}\">{value:.3}</text>",
                x(0),
                x(1050),
                y(value),
                x(0) - 6.0,
                y(value) + 4.0
            );
        }
        for k in SIZES {
            let _ = writeln!(svg, "<text class=\"middle\" x=\"{:.1}\" y=\"302\">{k}</text>", x(k));
        }
        let means = panel.random.map(|(mean, _)| mean);
        let lines = [
            ("random", "#7f8a99", means),
            ("chi-squared", colour(1), panel.chi_squared),
            ("discrepancy", colour(0), panel.discrepancy),
            ("all records", colour(2), [panel.full; SIZES.len()]),
        ];
        for (number, (name, colour, values)) in lines.into_iter().enumerate() {
            let points = SIZES.iter().zip(values).map(|(&k, v)| format!("{:.1},{:.1}", x(k), y(v)));
            let points = points.collect::<Vec<_>>().join(" ");
            let _ = writeln!(
                svg,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
            );
            if index == 0 {
                let left = 70.0 + 150.0 * number as f64;
                let _ = writeln!(
                    svg,
                    "<line x1=\"{left}\" x2=\"{}\" y1=\"326\" y2=\"326\" stroke=\"{colour}\" \
                     stroke-width=\"3\"/><text x=\"{}\" y=\"330\">{name}</text>",
                    left + 22.0,
                    left + 28.0
                );
            }
        }
        for (&k, (mean, deviation)) in SIZES.iter().zip(panel.random) {
            let _ = writeln!(
                svg,
                "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"{1:.1}\" y2=\"{2:.1}\" stroke=\"#7f8a99\"/>",
                x(k),
                y(mean - deviation),
                y(mean + deviation)
            );
        }
    }
    svg + "</svg>\n"
}
