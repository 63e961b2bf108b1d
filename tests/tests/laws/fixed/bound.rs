//! The bound on what rounding does to decision values: never exceeded, and not much larger than what it
//! bounds.

use fishweir::data::{Kind, Rows, Samples, Windowing};
use fishweir::deploy::Deviation;
use fishweir_tests::quick::{strings, trained, trained_by_position, trained_on_words};

use super::*;

/// What is measured and bounded of every prefix whose length is a power of two, and of the whole.
fn measured(classifier: &Classifier, whole: &Samples) -> Vec<Deviation> {
    let fixed = classifier.quantise().expect("fits");
    let length = whole.view().len();
    let lengths = (0..).map(|power| 1 << power).take_while(|&part| part < length);
    let kind = match &classifier.observations {
        Observations::Channels(names) => Kind::Channels(names.clone()),
        Observations::Symbols(_) => {
            let text = "label\tid\tsequence\nx\ty\tABCDEFGHI\n";
            let data = Dataset::parse("nine.tsv", text.as_bytes(), &ReadOptions::default());
            data.expect("reads").kind().clone()
        }
    };
    let of_length = |part: usize| {
        let samples = match whole {
            Samples::Symbols(symbols) => Samples::Symbols(symbols[..part].to_vec()),
            Samples::Channels(rows) => {
                let mut some = Rows::new(rows.view().dimension());
                rows.view().iter().take(part).for_each(|row| some.push(row));
                Samples::Channels(some)
            }
        };
        let data = Dataset::labelled(kind.clone(), [("no", samples)]).expect("one series");
        fixed.deviation(classifier, &data, None).expect("measures")
    };
    lengths.chain([length]).map(of_length).collect()
}

fn rows_of(classifier: &Classifier, sequence: &[Option<Vec<f64>>]) -> Samples {
    // Not from the rows: all of them may be missing.
    let Observations::Channels(names) = &classifier.observations else {
        panic!("a model of channels")
    };
    let mut rows = Rows::new(names.len());
    sequence.iter().for_each(|row| rows.push(row.as_deref()));
    Samples::Channels(rows)
}

/// Nothing is beyond its bound; what the bound is of the difference.
pub(super) fn kept(classifier: &Classifier, samples: &Samples) -> Result<Vec<f64>, TestCaseError> {
    let mut ratios = Vec::new();
    for one in measured(classifier, samples) {
        prop_assert_eq!(one.bound.exceeded, 0, "{:?}", one);
        prop_assert_eq!(one.refused_by_one, 0);
        if let Some(bound) = one.bound.worst {
            prop_assert!(bound.is_finite() && one.worst <= bound, "{:?}", one);
            ratios.push(bound / one.worst.max(1e-12));
        }
    }
    Ok(ratios)
}

/// Channels far from every state, and transitions that are rare: a rounding may be most of what is there of a
/// state that what comes later asks for.
fn far() -> impl Strategy<Value = (Classifier, Samples)> {
    gaussian().prop_map(|(mut classifier, mut sequence)| {
        for row in &mut classifier.models[0].transition {
            let rare: Vec<f64> = row.iter().map(|p| p.powi(6)).collect();
            *row = rare.iter().map(|p| p / rare.iter().sum::<f64>()).collect();
        }
        sequence.iter_mut().flatten().flatten().for_each(|x| *x *= 4.0);
        // So that 16 bits hold them.
        let channels = classifier.models[0].size();
        (classifier.centre, classifier.scale) = (vec![0.0; channels], vec![1.0; channels]);
        let rows = rows_of(&classifier, &sequence);
        (classifier, rows)
    })
}

/// Strings whose states follow one another, along a direction.
fn positions() -> impl Strategy<Value = (Classifier, Samples)> {
    (2..=6_usize, 2..=9_usize).prop_flat_map(|(states, symbols)| {
        let law = prop::collection::vec(dense(symbols), states);
        let moved = prop::collection::vec(rates(symbols), states);
        let sequence =
            prop::collection::vec(prop::option::weighted(0.95, 0..symbols as u16), 1..100);
        (law, moved, sequence).prop_map(move |(law, moved, sequence)| {
            let certain = |to: usize| (0..states).map(|j| f64::from(u8::from(j == to))).collect();
            let hmm = Hmm {
                initial: certain(0),
                transition: (0..states).map(|from| certain((from + 1).min(states - 1))).collect(),
                emission: Emissions::categorical(law.iter().map(|row| distribution(row)).collect()),
            };
            let direction = Direction {
                initial: vec![0.0; states],
                transition: vec![vec![0.0; states]; states],
                emission: EmissionDirection::categorical(moved),
            };
            (derivative_of(hmm, direction), Samples::Symbols(sequence))
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn symbols_are_within_it((classifier, sequence) in categorical()) {
        kept(&classifier, &Samples::Symbols(sequence))?;
    }

    #[test]
    fn channels_are_within_it((classifier, sequence) in gaussian()) {
        kept(&classifier, &rows_of(&classifier, &sequence))?;
    }

    #[test]
    fn far_channels_are_within_it((classifier, samples) in far()) {
        kept(&classifier, &samples)?;
    }

    #[test]
    fn states_that_are_known_are_within_it((classifier, samples) in positions()) {
        let ratios = kept(&classifier, &samples)?;
        prop_assert!(!ratios.is_empty());
        // Half a unit of a table's rate per sample, of a unit of at most four.
        let last = measured(&classifier, &samples).pop().expect("a whole");
        let samples = samples.view().len() as f64;
        prop_assert!(last.bound.worst.expect("a bound") < samples * 4.0 / 32_768.0 + 1e-5);
    }
}

/// A state that rounding left nothing of is all that explains a sample: the derivative is another state's, and the bound
/// says so, however small a part of the likelihood that is.
#[test]
fn a_state_that_is_lost_is_within_it() {
    let hmm = Hmm {
        initial: vec![0.5, 0.5],
        transition: vec![vec![1e-6, 1.0 - 1e-6], vec![1.77e-8, 1.0 - 1.77e-8]],
        emission: Emissions::gaussian(vec![vec![0.0]; 2], vec![vec![0.6855], vec![0.3]]),
    };
    let direction = Direction {
        initial: vec![0.0; 2],
        transition: vec![vec![0.0; 2]; 2],
        emission: EmissionDirection::gaussian(vec![vec![0.0]; 2], vec![vec![0.0], vec![0.0517]]),
    };
    let mut classifier = derivative_of(hmm, direction);
    (classifier.centre, classifier.scale) = (vec![0.0], vec![1.0]);
    let sequence = [None, None, None, Some(vec![-7.856])];
    let samples = rows_of(&classifier, &sequence);
    kept(&classifier, &samples).expect("nothing is beyond its bound");
    let last = measured(&classifier, &samples).pop().expect("a whole");
    // d log p of the second state, where the first has all.
    assert!(last.worst > 30.0 && last.bound.worst >= Some(last.worst), "{last:?}");
}

/// Of drawn models: how much larger than the difference the bound is, rising; and how many had none.
fn ratios<C: Strategy>(
    drawn: C,
    of: impl Fn(&C::Value) -> (Classifier, Samples),
) -> (Vec<f64>, usize) {
    let seeded = ProptestConfig {
        rng_seed: RngSeed::Fixed(2),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let mut runner = TestRunner::new(seeded);
    let (mut all, mut without) = (Vec::new(), 0);
    for _ in 0..200 {
        let (classifier, samples) = of(&drawn.new_tree(&mut runner).expect("a model").current());
        let last = measured(&classifier, &samples).pop().expect("a whole");
        match last.bound.worst {
            Some(bound) => all.push(bound / last.worst.max(1e-12)),
            None => without += 1,
        }
    }
    all.sort_by(f64::total_cmp);
    let [median, worst] = [all.len() / 2, all.len() * 19 / 20].map(|at| all[at]);
    println!("bound over difference: median {median}, of 95 % at most {worst}; none of {without}");
    (all, without)
}

#[test]
fn it_is_not_vacuous() {
    let (of_symbols, without) =
        ratios(categorical(), |(one, sequence)| (one.clone(), Samples::Symbols(sequence.clone())));
    assert!(without == 0 && of_symbols[of_symbols.len() / 2] < 40.0, "{of_symbols:?}");
    let (of_channels, without) =
        ratios(gaussian(), |(one, sequence)| (one.clone(), rows_of(one, sequence)));
    assert!(without == 0 && of_channels[of_channels.len() / 2] < 40.0, "{of_channels:?}");
    let (far, without) = ratios(far(), Clone::clone);
    assert!(without <= 30 && far[far.len() / 2] < 10.0, "{far:?}, none of {without}");
}

/// Each classifier of strings: weights on log-likelihoods, on derivatives of several models, on words.
#[test]
fn decisions_beyond_it_are_certain() {
    let data = strings(60);
    let kinds = [ClassifierKind::Bayes, ClassifierKind::Fisher, ClassifierKind::Top];
    let hidden = kinds.into_iter().chain([ClassifierKind::Count]).map(|kind| trained(&data, kind));
    let known = [
        trained_by_position(&data, ClassifierKind::Bayes, 20),
        trained_by_position(&data, ClassifierKind::Fisher, 20),
        trained_on_words(&data, 1),
    ];
    let windowing = Windowing {
        length: NonZeroUsize::new(30).expect("positive"),
        hop: NonZeroUsize::new(7).expect("positive"),
        short: ShortSeries::default(),
    };
    for classifier in hidden.chain(known) {
        let fixed = classifier.quantise().expect("fits");
        let found = fixed.deviation(&classifier, &data, Some(&windowing)).expect("measures");
        let bound = &found.bound;
        assert!(found.windows > 40 && bound.windows == found.windows, "{found:?}");
        assert_eq!(bound.exceeded, 0, "{found:?}");
        assert!(bound.worst.expect("a bound") >= found.worst, "{found:?}");
        assert!(bound.certain > 0.8 && bound.certain <= found.equal_decisions, "{found:?}");
    }
}
