//! A family of emissions of another crate: Laplace densities, which no family of the library is.

use fishweir::batch::log_likelihoods;
use fishweir::classifier::Classifier;
use fishweir::data::{Samples, Values};
use fishweir::learn::{ClassifierKind, Request};
use fishweir::model::scores;
use fishweir::runtime::family::{
    AllBanks, Content, DeployedEmission, DoesNotFit, Field, FieldKind, OverRows, Precision, Rates,
    register,
};
use fishweir::runtime::{
    Block, Drawn, Emissions, Family, Hmm, HmmError, HostWeight, Observed, Parts, Regularisation,
    Shape, Weighed, Width, family,
};
use fishweir_core::emission::{Emission, Parametrisation};
use fishweir_core::number::{Number, Real, RealParameter, Tangent};
use fishweir_core::{ModelError, ObservationError};
use fishweir_tests::checks::views;
use fishweir_tests::sample::Sampler;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::choices::{data, trained};

/// `log b(x) = sum_d -log(2 s_d) - |x_d - m_d| / s_d`. Baum-Welch moves the widths `s`; the centres `m` stay where the
/// clusters have their medians, for no sum of statistics has a median. A copy is another family under the same name.
#[derive(Debug)]
struct Laplace<const COPY: u8>;

const CENTRE: Block = Block::new("centre", Width::Size);
const WIDTH: Block = Block::new("width", Width::Size);

/// Sign and length of the distance from a sample to the centre, in widths.
fn away(x: f64, centre: f64, width: f64) -> (f64, f64) {
    let z = (x - centre) / width;
    (z.signum(), z.abs())
}

impl<const COPY: u8> Family for Laplace<COPY> {
    fn name(&self) -> &'static str {
        "laplace"
    }
    fn about(&self) -> &'static str {
        "channels with heavy tails"
    }
    fn observes(&self) -> Observed {
        Observed::Channels(Values::Reals)
    }
    fn parts(&self) -> &'static [Block] {
        &[CENTRE, WIDTH]
    }
    fn statistics(&self) -> &'static [Block] {
        const {
            &[
                Block::new("occupancy", Width::One),
                Block::new("sign", Width::Size),
                Block::new("excess", Width::Size),
            ]
        }
    }
    fn score(&self) -> &'static [Block] {
        const { &[CENTRE, Block::new("log_width", Width::Size)] }
    }
    fn in_units(&self, block: &Block) -> bool {
        *block == CENTRE
    }

    fn validate(&self, parts: &Parts, states: usize, shape: Shape) -> Result<(), HmmError> {
        let [centre, width] = parts.rows();
        for (part, rows) in [("centre", centre), ("width", width)] {
            if rows.len() != states || rows.iter().any(|row| row.len() != shape.size) {
                let (part, found) = (part.to_owned(), rows.len());
                return Err(HmmError::Shape { part, found, wanted: states });
            }
        }
        let good = centre.iter().flatten().all(|m| m.is_finite())
            && width.iter().flatten().all(|s| s.is_finite() && *s > 0.0);
        let part = "width".to_owned();
        good.then_some(()).ok_or(HmmError::Range { part, wanted: "a finite number above zero" })
    }

    fn of_cluster(
        &self,
        rows: &[&[f64]],
        centre: &[f64],
        scale: &[f64],
        _: &Regularisation<'_>,
    ) -> Vec<Vec<f64>> {
        let median = |d: usize| {
            let mut all: Vec<f64> = rows.iter().map(|row| row[d]).filter(|x| !x.is_nan()).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied().unwrap_or(centre[d])
        };
        vec![(0..scale.len()).map(median).collect(), scale.to_vec()]
    }

    fn collect(&self, parts: &Parts, samples: &[Weighed<'_>], into: &mut Parts) {
        let [centre, width] = parts.rows();
        let [occupancy, sign, excess] = into.rows_mut();
        for (x, posterior) in samples {
            for (state, &weight) in posterior.iter().enumerate() {
                occupancy[state][0] += weight;
                for d in (0..x.len()).filter(|&d| !x[d].is_nan()) {
                    let (side, far) = away(x[d], centre[state][d], width[state][d]);
                    sign[state][d] += weight * side;
                    excess[state][d] += weight * (far - 1.0);
                }
            }
        }
    }

    fn maximise(&self, parts: &mut Parts, statistics: &Parts, held: &Regularisation<'_>) {
        let ([_, width], [occupancy, _, excess]) = (parts.rows_mut(), statistics.rows());
        for (state, row) in width.iter_mut().enumerate() {
            for (d, width) in row.iter_mut().enumerate() {
                if occupancy[state][0] > 1e-8 {
                    let mean = 1.0 + excess[state][d] / occupancy[state][0];
                    *width = (*width * mean).max(held.floor.get(d).copied().unwrap_or(1e-9));
                }
            }
        }
    }

    fn draw(&self, parts: &Parts, state: usize, rng: &mut ChaCha8Rng) -> Drawn {
        let [centre, width] = parts.rows();
        let mut one = |(&m, &s): (&f64, &f64)| {
            let u = rng.random::<f64>() - 0.5;
            m - s * u.signum() * (1.0 - 2.0 * u.abs()).ln()
        };
        Drawn::Row(centre[state].iter().zip(&width[state]).map(&mut one).collect())
    }

    fn push_score(
        &self,
        parts: &Parts,
        statistics: &Parts,
        _: Parametrisation,
        score: &mut Vec<f64>,
    ) {
        let ([_, width], [_, sign, excess]) = (parts.rows(), statistics.rows());
        for state in 0..width.len() {
            score.extend(sign[state].iter().zip(&width[state]).map(|(sign, s)| sign / s));
            score.extend(&excess[state]);
        }
    }

    fn towards(&self, from: &Parts, to: &Parts) -> Option<Parts> {
        let ([m, s], [to_m, to_s]) = (from.rows(), to.rows());
        let table = |from: &[Vec<f64>], to: &[Vec<f64>], of: fn(f64, f64) -> f64| {
            let row = |(from, to): (&Vec<f64>, &Vec<f64>)| {
                from.iter().zip(to).map(|(&from, &to)| of(from, to)).collect()
            };
            from.iter().zip(to).map(row).collect::<Vec<Vec<f64>>>()
        };
        let rates = [table(m, to_m, |a, b| b - a), table(s, to_s, |a, b| (b / a).ln())];
        (m.len() == to_m.len()).then(|| Parts::new(self.score(), rates))
    }

    fn core_types(&self) -> &'static [&'static str] {
        &["heavy::Laplace"]
    }
    fn fields(&self) -> &'static [FieldKind] {
        const FIELDS: [FieldKind; 4] = [
            FieldKind::new(Content::Reals, Width::Size),
            FieldKind::new(Content::Reals, Width::Size),
            FieldKind::new(Content::Rates, Width::Size),
            FieldKind::new(Content::Rates, Width::Size),
        ];
        &FIELDS
    }
    fn deploy(
        &self,
        parts: &Parts,
        state: usize,
        along: &[Rates<'_>],
        precision: &Precision,
    ) -> Result<Vec<Field<f64>>, DoesNotFit> {
        let [centre, width] = parts.rows();
        let channels = 0..centre[state].len();
        let rate = |d| precision.narrow("width", d, 1.0 / width[state][d]);
        let rates = |block: usize| -> Vec<Vec<f64>> {
            let of = |d: usize| {
                let along = along.iter().map(|along| {
                    let blocks: [&[Vec<f64>]; 2] = along.parts().rows();
                    blocks[block][state][d]
                });
                along.collect()
            };
            channels.clone().map(of).collect()
        };
        Ok(vec![
            Field::Reals(centre[state].clone()),
            Field::Reals(channels.clone().map(rate).collect::<Result<_, _>>()?),
            Field::Rates(rates(0)),
            Field::Rates(rates(1)),
        ])
    }
    fn work(&self, shape: Shape, directions: usize) -> (usize, usize) {
        (shape.size * (3 + 2 * directions), 1)
    }
    fn rows(&self, _: Shape) -> Option<&'static dyn AllBanks> {
        Some(&Self)
    }
}

/// A state's density over rows of reals, with its tangents.
struct Density<W: RealParameter> {
    centre: Vec<W::Real>,
    /// `1 / s`.
    rate: Vec<W::Real>,
    /// `sum_d log(2 s_d)`.
    norm: W::Real,
    along_centre: Vec<W::Tangent>,
    along_log_width: Vec<W::Tangent>,
}

impl<W: RealParameter> Emission for Density<W> {
    type Weight = W;
    type Observation = [W::Real];

    fn log_likelihood(&self, x: &[W::Real]) -> W {
        let one = W::Real::from_f64(1.0);
        let (mut log, mut tangent) = (-self.norm, W::Tangent::ZERO);
        for d in 0..self.centre.len() {
            let z = (x[d] - self.centre[d]) * self.rate[d];
            if z.partial_cmp(&z).is_none() {
                // A missing channel says nothing, and its part of the norm is not its density's.
                log = log - (self.rate[d].ln() - W::Real::from_f64(2.0).ln());
                continue;
            }
            let side = if z < W::Real::ZERO { -self.rate[d] } else { self.rate[d] };
            log = log - z.abs();
            tangent = tangent.plus(self.along_centre[d].scale(side));
            tangent = tangent.plus(self.along_log_width[d].scale(z.abs() - one));
        }
        W::new(log, tangent)
    }

    fn check(&self, x: &[W::Real]) -> Result<(), ObservationError> {
        let is_missing = |x: &W::Real| x.partial_cmp(x).is_none();
        match x.iter().all(|x| is_missing(x) || x.is_finite()) {
            _ if x.len() != self.centre.len() => Err(ObservationError::WrongLength),
            true => Ok(()),
            false => Err(ObservationError::NotFinite),
        }
    }

    fn width(&self) -> usize {
        self.centre.len()
    }

    fn validate(&self) -> Result<(), ModelError> {
        Ok(())
    }
}

impl<const COPY: u8> OverRows for Laplace<COPY> {
    type State<W: HostWeight> = Density<W>;

    fn state<W: HostWeight>(
        emission: Option<&DeployedEmission<W::Real>>,
        first: usize,
        shape: Shape,
    ) -> Density<W> {
        let reals = |field: usize, none: f64| match emission {
            Some(emission) => emission.reals(field).to_vec(),
            None => vec![W::Real::from_f64(none); shape.size],
        };
        let tangents = |field: usize| -> Vec<W::Tangent> {
            let rates = |d: usize| emission.and_then(|emission| emission.rates(field).get(d));
            let of = |d: usize| {
                W::Tangent::from_fn(|c| {
                    let rate = rates(d).and_then(|rates| rates.get(first + c));
                    rate.copied().unwrap_or(W::Real::ZERO)
                })
            };
            (0..shape.size).map(of).collect()
        };
        // Out of reach: a centre that nothing is near.
        let (centre, rate) = (reals(0, 1e30), reals(1, 1.0));
        let two = W::Real::from_f64(2.0);
        let norm = rate.iter().map(|&rate| two.ln() - rate.ln());
        let norm = norm.fold(W::Real::ZERO, |sum, log| sum + log);
        let (along_centre, along_log_width) = (tangents(2), tangents(3));
        Density { centre, rate, norm, along_centre, along_log_width }
    }
}

/// The family, known by its name.
fn laplace() -> &'static dyn Family {
    register(&Laplace::<0>).expect("a free name");
    family("laplace").expect("registered")
}

fn planted() -> Hmm {
    let parts = [vec![vec![0.0, 2.0], vec![3.0, -1.0]], vec![vec![0.5, 1.0], vec![1.5, 0.25]]];
    Hmm {
        initial: vec![0.6, 0.4],
        transition: vec![vec![0.8, 0.2], vec![0.3, 0.7]],
        emission: Emissions::new(laplace(), parts),
    }
}

const ROWS: [[f64; 2]; 4] = [[0.3, 1.0], [2.5, -1.2], [3.5, -0.9], [0.1, 2.4]];

fn log_likelihood(model: &Hmm) -> f64 {
    let samples: Samples = ROWS.into_iter().collect();
    log_likelihoods(model, &views(&[samples])).expect("sound")[0].expect("possible")
}

#[test]
fn a_name_is_registered_once() {
    let known = laplace();
    assert_eq!(register(&Laplace::<0>), Ok(()));
    assert_eq!(register(&Laplace::<1>), Err(known));
    let text = serde_json::to_string(&planted()).expect("JSON");
    let read: Hmm = serde_json::from_str(&text).expect("a model");
    assert_eq!(read, planted());
}

#[test]
fn the_likelihood_is_the_sum_over_paths() {
    let model = planted();
    let part = |name| model.emission.part(name).expect("a block");
    let (centre, width) = (part("centre"), part("width"));
    let density = |state: usize, x: &[f64; 2]| -> f64 {
        let of = |d: usize| {
            let s = width[state][d];
            (-(x[d] - centre[state][d]).abs() / s).exp() / (2.0 * s)
        };
        of(0) * of(1)
    };
    let paths = (0..1_usize << ROWS.len()).map(|path| {
        let state = |t: usize| path >> t & 1;
        let steps = (1..ROWS.len()).map(|t| model.transition[state(t - 1)][state(t)]);
        let emitted = (0..ROWS.len()).map(|t| density(state(t), &ROWS[t]));
        model.initial[state(0)] * steps.product::<f64>() * emitted.product::<f64>()
    });
    assert!((log_likelihood(&model) - paths.sum::<f64>().ln()).abs() < 1e-12);
}

#[test]
fn the_score_is_the_derivative() {
    let model = planted();
    let samples: Samples = ROWS.into_iter().collect();
    let found = scores(&model, &views(&[samples]), Parametrisation::SOFTMAX).expect("possible");
    let mut place = 2 + 4;
    for state in 0..2 {
        for (block, d) in [("centre", 0), ("centre", 1), ("width", 0), ("width", 1)] {
            let log = |step: f64| {
                let mut moved = model.clone();
                let entry = &mut moved.emission.part_mut(block).expect("a block")[state][d];
                *entry = if block == "width" { *entry * step.exp() } else { *entry + step };
                log_likelihood(&moved)
            };
            let slope = (log(1e-6) - log(-1e-6)) / 2e-6;
            assert!((found[0].score[place] - slope).abs() < 1e-6, "{block} {state} {d}");
            place += 1;
        }
    }
}

#[test]
fn classifiers_are_trained_kept_and_streamed() {
    // Classes have the same variance, in different shapes.
    let mut s = Sampler::new(5);
    let data = data("p", move |class, _, _| {
        let x = s.normal();
        vec![if class == 0 { x } else { 0.35 * x * x * x }]
    });
    for kind in [ClassifierKind::Bayes, ClassifierKind::Fisher] {
        let mut request = Request::minimal(kind);
        request.baum_welch.emission = Some(laplace());
        request.baum_welch.states = 2;
        request.std_floors = vec![0.05];
        let classifier = trained(&data, &request).classifier;
        let text = classifier.to_json().expect("JSON");
        let read = Classifier::parse("model.json", text.as_bytes()).expect("a classifier");
        assert_eq!(read, classifier);

        let deployed = classifier.deploy().expect("a device's numbers");
        let mut right = 0;
        for series in data.series() {
            let mut stream = deployed.stream();
            for sample in series.samples.view().iter() {
                stream.push(sample).expect("taken");
            }
            let class = stream.decision().expect("a decision").class;
            right += usize::from(Some(class) == series.label);
        }
        assert!(right >= 16, "{kind}: {right} of 18");
        // A device needs the type of the other crate: as source, and not as bytes that no device knows.
        assert!(deployed.to_source().contains("heavy::Laplace<"));
        assert!(deployed.no_artefact().is_some_and(|why| why.contains("laplace")));
    }
}
