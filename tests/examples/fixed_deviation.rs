//! How far decisions in fixed point are from those in `f64`, for classifiers trained on a data set:
//! `cargo run --release -p fishweir-tests --example fixed_deviation -- DATA [WINDOW HOP]`

use std::num::NonZeroUsize;
use std::path::Path;

use fishweir::data::{Dataset, ReadOptions, ShortSeries, Windowing};
use fishweir::learn::{Augment, ClassifierKind, Request, Scaling, train};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which data?")?;
    let mut number = || arguments.next().map(|text| text.parse::<NonZeroUsize>()).transpose();
    let (length, hop) = (number()?, number()?);
    let states = number()?;
    let windowing = length.map(|length| Windowing {
        length,
        hop: hop.unwrap_or(length),
        short: ShortSeries::default(),
    });
    let data = Dataset::read(Path::new(&path), &ReadOptions::default())?;
    let all: Vec<usize> = (0..data.series().len()).collect();
    for kind in [ClassifierKind::Bayes, ClassifierKind::Fisher] {
        let mut options = Request::minimal(kind);
        options.windowing = windowing;
        options.baum_welch.iterations = 20;
        if let Some(states) = states {
            options.baum_welch.states = states.get();
        }
        options.augment = Augment::NONE;
        options.std_floors = vec![0.3];
        options.c = vec![1.0];
        options.scalings = vec![Scaling::Practical];
        let trained = train(&data, &all, &options, &|| ())?;
        let classifier = &trained.classifier;
        let fixed = classifier.quantise()?;
        let deviation = fixed.deviation(classifier, &data, windowing.as_ref())?;
        println!(
            "{path} {kind} {} states, places {:?}: {deviation:#?}",
            fixed.states(),
            fixed.places()
        );
        println!("{:?}", fixed.cost());
    }
    Ok(())
}
