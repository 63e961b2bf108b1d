//! Kernel density estimates in a plane: figure 2c of N. A. Mehta and A. G. Gray, "Generative and Latent
//! Mean Map Kernels", 2010, which draws species by five features of where they live; that data set is not to
//! be had. Here the 51 recordings of a fan's vibration, by their samples of three axes: three
//! configurations of weights on the blades at 17 speeds.
//!
//! ```sh
//! cargo run --release -p fishweir --example density_components -- accelerometer.csv.gz fan.svg
//! ```
//!
//! The data are UCI's "Accelerometer" (G. Scalabrini Sampaio et al., Sensors 19, 2019; DOI
//! 10.24432/C58S46): columns of configuration, speed, x, y, z, 3 000 samples of each of the 51 in a block.
//! Axes are divided by their standard deviation over all; every fifteenth sample of a block is a point of its
//! estimate, whose bandwidth is by Scott's rule (D. W. Scott, Multivariate Density Estimation, 1992; there it
//! is the one of least mean integrated square error). The mean map has lambda 1 as there, and is
//! normalised.
//!
//! The figure has the first two components, and there the first and the fourth. What is printed is how often
//! the nearest other recording is of another configuration, where only the first components are looked at:
//! there the document says that some groups part, and gives no figure.
use std::error::Error;
use std::fs::File;
use std::io::Read;

use common::chosen::{in_words, loss_of};
use fishweir::evaluate::Units;
use fishweir::kernel::KernelPca;
use fishweir::kernel::between::{DistributionKernel, ModelKernel};
use fishweir::plot::ScatterPlot;
use fishweir::report::Table;
use fishweir::runtime::Distribution;
use flate2::read::GzDecoder;

mod common;

const AXES: usize = 3;
const STEP: usize = 15;
const LAMBDA: f64 = 1.0;
/// A rate by which points must be ten times closer to be alike.
const NARROW: f64 = 100.0;
const COMPONENTS: usize = 4;

/// A recording: its configuration, its speed, its samples.
struct Block {
    configuration: String,
    speed: String,
    rows: Vec<Vec<f64>>,
}

fn read(path: &str) -> Result<Vec<Block>, Box<dyn Error>> {
    let file = File::open(path).map_err(|error| format!("{path}: {error}"))?;
    let plain: Box<dyn Read> =
        if path.ends_with(".gz") { Box::new(GzDecoder::new(file)) } else { Box::new(file) };
    let mut blocks: Vec<Block> = Vec::new();
    for (line, record) in csv::Reader::from_reader(plain).records().enumerate() {
        let record = record?;
        let wrong =
            || format!("{path}: line {}: two names and {AXES} numbers are wanted", line + 2);
        let fields: Vec<&str> = record.iter().collect();
        let [configuration, speed, axes @ ..] = &fields[..] else { return Err(wrong().into()) };
        let row: Vec<f64> =
            axes.iter().map(|x| x.parse()).collect::<Result<_, _>>().map_err(|_| wrong())?;
        if row.len() != AXES {
            return Err(wrong().into());
        }
        match blocks.last_mut() {
            Some(last) if last.configuration == *configuration && last.speed == *speed => {
                last.rows.push(row);
            }
            _ => blocks.push(Block {
                configuration: (*configuration).to_owned(),
                speed: (*speed).to_owned(),
                rows: vec![row],
            }),
        }
    }
    Ok(blocks)
}

/// The standard deviation of each axis over rows.
fn spread<'a>(rows: impl Iterator<Item = &'a Vec<f64>> + Clone) -> Vec<f64> {
    let count = rows.clone().count() as f64;
    let of = |axis: usize| {
        let mean = rows.clone().map(|row| row[axis]).sum::<f64>() / count;
        (rows.clone().map(|row| (row[axis] - mean).powi(2)).sum::<f64>() / count).sqrt()
    };
    (0..AXES).map(of).collect()
}

/// Scott's bandwidth, squared, by the mean variance of the axes: `n^(-2 / (d + 4))` of it.
fn density(points: &[Vec<f64>]) -> Distribution {
    let variance = spread(points.iter()).iter().map(|std| std * std).sum::<f64>() / AXES as f64;
    let scott = (points.len() as f64).powf(-2.0 / (AXES as f64 + 4.0));
    Distribution::kernel_density(points, scott * variance.max(1e-6))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args().skip(1);
    let (Some(data), Some(figure)) = (paths.next(), paths.next()) else {
        return Err("which files? give the paths of the recordings and of the figure".into());
    };
    let mut blocks = read(&data)?;
    let scale = spread(blocks.iter().flat_map(|block| &block.rows));
    for row in blocks.iter_mut().flat_map(|block| &mut block.rows) {
        row.iter_mut().zip(&scale).for_each(|(x, scale)| *x /= scale);
    }
    let densities = blocks.iter().map(|block| {
        let points: Vec<Vec<f64>> = block.rows.iter().step_by(STEP).cloned().collect();
        density(&points)
    });
    let densities: Vec<Distribution> = densities.collect();
    let components = |lambda: f64| -> Result<KernelPca, Box<dyn Error>> {
        let gram = DistributionKernel::mean_map(lambda)?.log_gram(&densities)?.normalised();
        Ok(KernelPca::of(&gram, COMPONENTS)?)
    };
    let pca = components(LAMBDA)?;

    let mut classes: Vec<String> = blocks.iter().map(|block| block.configuration.clone()).collect();
    classes.sort();
    classes.dedup();
    let labels: Vec<Option<usize>> = blocks
        .iter()
        .map(|block| classes.iter().position(|class| *class == block.configuration))
        .collect();
    let mut table =
        Table::new(["lambda", "components", "of the variance", "nearest is another's (95 %)"]);
    for (lambda, pca) in [(LAMBDA, &pca), (NARROW, &components(NARROW)?)] {
        let mut share = 0.0;
        for (component, own) in pca.shares().enumerate() {
            share += own;
            let wrong = in_words(loss_of(&nearest(pca, component + 1, &labels)));
            let variance = format!("{:.1} %", 100.0 * share);
            table.row([format!("{lambda}"), format!("{}", component + 1), variance, wrong]);
        }
    }
    println!("{} recordings of {} configurations", blocks.len(), classes.len());
    // Of all ordered pairs of two recordings, those of two configurations.
    let pairs = labels.iter().flat_map(|one| labels.iter().map(move |other| one == other));
    let apart = pairs.filter(|alike| !alike).count();
    let chance = apart as f64 / (labels.len() * (labels.len() - 1)) as f64;
    println!("by chance another recording is another's: {chance:.3}\n");
    print!("{table}");

    let shares: Vec<f64> = pca.shares().collect();
    let axis = |component: usize| {
        format!("component {}: {:.1} % of the variance", component + 1, 100.0 * shares[component])
    };
    let points: Vec<[f64; 2]> = pca.coordinates.iter().map(|row| [row[0], row[1]]).collect();
    let names: Vec<String> = blocks
        .iter()
        .map(|block| format!("configuration {}, speed {} %", block.configuration, block.speed))
        .collect();
    let classes: Vec<String> =
        classes.iter().map(|class| format!("configuration {class}")).collect();
    let svg = ScatterPlot {
        title: "Fan vibration: kernel principal components of density estimates",
        subtitle: &format!("51 recordings of a minute\nmean map, lambda {LAMBDA}, normalised"),
        axes: [&axis(0), &axis(1)],
        points: &points,
        names: &names,
        labels: &labels,
        classes: &classes,
    };
    std::fs::write(figure, svg.to_svg())?;
    Ok(())
}

/// Returns whether the nearest other recording has the same configuration.
fn nearest(pca: &KernelPca, components: usize, labels: &[Option<usize>]) -> Units {
    let all = &pca.coordinates;
    let right = |item: usize| {
        let distance = |other: usize| -> f64 {
            let both = all[item].iter().zip(&all[other]).take(components);
            both.map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let others = (0..all.len()).filter(|&other| other != item);
        let nearest = others.min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        nearest.is_some_and(|nearest| labels[nearest] == labels[item])
    };
    Units::of_counts((0..all.len()).map(|item| (usize::from(right(item)), 1)))
}
