//! Profiles of sequences that are not aligned, machines on their scores, and kernels beside them: against the
//! recursions one by one, enumeration, and plain implementations.

use fishweir::data::{Sample, SamplesView};
use fishweir::deploy::Deployed;
use fishweir::fishweir_core::artefact;
use fishweir::fishweir_core::classify::StreamClassifier;
use fishweir::fishweir_core::contract::WindowClock;
use fishweir::fishweir_core::emission::Probabilities;
use fishweir::fishweir_core::filter::Streaming;
use fishweir::fishweir_core::number::Dual;
use fishweir::fishweir_core::profile_hmm::ProfileHmm;
use fishweir::kernel::{Kernel, SmithWaterman, SpectrumKernel};
use fishweir_profiles::{
    AMINO, Build, Dirichlets, Effective, Mode, Profile, ProfileClassifier, ProfileFit,
    ProfileLearner, ProfilePrior, SearchProfile, Trained,
};
use fishweir_tests::checks::near;
use fishweir_tests::oracle::{Edge, SilentChain};
use fishweir_tests::quick::{profiled, strings};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Sequences drawn from a profile with an eye-catching consensus.
fn family(count: usize) -> Vec<(String, String)> {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let row = "MKVLASGHWYECDEFRMKTILNPQGWHD";
    let text = format!(">a\n{row}\n>b\n{row}\n>c\n{row}\n");
    let alignment = fishweir_profiles::Alignment::parse("true", &text).expect("an alignment");
    let build = Build { effective: Effective::Count(2.0), ..Build::default() };
    let profile = build.profile(&alignment).expect("a profile");
    let letter = |x: usize| AMINO.symbols.chars().nth(x).expect("a residue");
    (0..count)
        .map(|n| (format!("s{n}"), profile.sample(&mut random).into_iter().map(letter).collect()))
        .collect()
}

fn symbols(named: &[(String, String)]) -> Vec<Vec<usize>> {
    named.iter().map(|(name, text)| AMINO.encode(name, text).expect("residues")).collect()
}

fn trained() -> Trained {
    ProfileFit::default().fit("family", &AMINO, &family(24)).expect("a profile")
}

/// Residues of a background without a family.
fn others(count: usize) -> Vec<Vec<usize>> {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let one = |n: usize| (0..20 + 7 * n).map(|_| random.random_range(0..26)).collect();
    (0..count).map(one).collect()
}

#[test]
fn lanes_have_the_scores_and_counts_of_one() {
    let profile = trained().profile;
    // Of all lengths, more than lanes, codes among them.
    let sequences = [symbols(&family(6)), others(17)].concat();
    for local in [true, false] {
        let search =
            SearchProfile::new(&profile, Mode { local, several: true }).expect("a search profile");
        let scores = search.scores(&sequences).expect("paths");
        let counts = search
            .match_counts(&sequences, None, |n, log, counts| (n, log, counts.to_vec()))
            .expect("paths");
        for (n, (x, score)) in sequences.iter().zip(scores).enumerate() {
            near(score, search.score(x).expect("a path"), 1e-5);
            let expected = search.expectations(x, x.len()).expect("a path");
            assert_eq!(counts[n].0, n);
            near(counts[n].1, expected.log_odds, 1e-5);
            for (&got, count) in counts[n].2.iter().zip(expected.matched) {
                near(f64::from(got), count, 1e-4);
            }
        }
    }
    let search = SearchProfile::new(&profile, Mode::SEARCH).expect("a search profile");
    // The symbol behind all others is a stop, which no match emits.
    let sequence: Vec<usize> = (0..20).chain([26]).collect();
    let stopped = search.score(&sequence).expect("a stop");
    near(search.scores(&[sequence]).expect("a stop")[0], stopped, 1e-3);
    assert!(search.scores(&[vec![0], vec![]]).is_err() && search.scores(&[vec![27]]).is_err());
}

#[test]
fn a_family_is_found_again_without_an_alignment() {
    let trained = trained();
    assert!((24..33).contains(&trained.profile.len()), "{}", trained.profile.len());
    let search = SearchProfile::new(&trained.profile, Mode::SEARCH).expect("a search profile");
    let own = search.scores(&symbols(&family(40))[24..]).expect("paths");
    let other = search.scores(&others(16)).expect("paths");
    let least = own.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(other.iter().all(|&score| score < least), "{own:?} {other:?}");
}

/// All but without a prior every pass makes the sequences likelier.
#[test]
fn baum_welch_climbs() {
    let faint = |ways: usize| Dirichlets::one(&vec![1e-6; ways]);
    let prior = ProfilePrior {
        matched: faint(20),
        inserted: faint(20),
        transition: [faint(3), faint(2), faint(2)],
    };
    let build = Build { prior: Some(prior), effective: Effective::All, ..Build::default() };
    let training = ProfileFit { build, ..ProfileFit::default() };
    let sequences = symbols(&family(12));
    let views: Vec<&[usize]> = sequences.iter().map(Vec::as_slice).collect();
    let weights: Vec<f64> = (0..12).map(|s| 0.5 + 0.1 * f64::from(s)).collect();
    let (mut profile, mut before) = (trained().profile, f64::NEG_INFINITY);
    for _ in 0..6 {
        let (next, sum) = training.baum_welch(&profile, &views, &weights).expect("paths");
        assert!(sum >= before - 1e-6, "{sum} after {before}");
        (profile, before) = (next, sum);
    }
}

/// The part of the values that is no log-odds is their derivative along the rates.
#[test]
fn a_classifier_is_a_direction() {
    let profile = trained().profile;
    let (own, other) = (symbols(&family(30)), others(12));
    for grouped in [true, false] {
        let learner = ProfileLearner { grouped, ..ProfileLearner::default() };
        let classes = ["other".to_owned(), "family".to_owned()];
        let classifier = learner.fit(&profile, classes, &other, &own).expect("two sides");
        let values = classifier.values(&[own[3].clone(), other[3].clone()]).expect("paths");
        assert!(values[0] > 0.0 && values[1] < 0.0, "{values:?}");
        let rates = classifier.rates.as_ref().expect("rates");
        let text = Profile::parse("", &classifier.profile).expect("a profile");
        for (x, value) in [(&own[3], values[0]), (&other[3], values[1])] {
            let search = SearchProfile::new(&text, Mode::SEARCH).expect("a search profile");
            let counts = search.expectations(x, classifier.length).expect("a path");
            let along: f64 =
                rates.iter().flatten().zip(&counts.matched).map(|(rate, count)| rate * count).sum();
            let expected = classifier.bias + classifier.weight * counts.log_odds + along;
            near(value, expected, 1e-4);
        }
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("family.json");
        classifier.save(&file).expect("written");
        assert_eq!(ProfileClassifier::load(&file).expect("read"), classifier);
    }
}

#[test]
fn a_deployed_profile_is_the_core_s_own_type() {
    let data = strings(30);
    let classifier = profiled(&data);
    let deployed = classifier.deploy().expect("fits in f32");
    let bytes = deployed.to_artefact().expect("small enough");
    assert_eq!(Deployed::from_artefact("bytes", &bytes).expect("read"), deployed);
    let values = {
        let one = |view: SamplesView<'_>| -> Vec<usize> {
            let unknown = fishweir_profiles::DNA.symbol('N').expect("a code");
            let symbols = view.symbols().unwrap_or_default().iter();
            symbols.map(|x| x.map_or(unknown, usize::from)).collect()
        };
        let all: Vec<_> = data.series().iter().map(|s| one(s.samples.view())).collect();
        let values = classifier.values(&all).expect("paths");
        for (x, value) in all.iter().zip(&values) {
            let mut stream = deployed.stream();
            for &symbol in x {
                stream.push(Sample::Symbol(symbol as u16)).expect("taken");
            }
            let values = stream.decision_values().expect("in range");
            near(f64::from(values[0]), *value, 2e-3);
        }
        values
    };
    assert!(values.iter().all(|value| value.is_finite()));
    // At the size that the source of this profile names.
    let source = deployed.to_source();
    assert!(source.contains("StreamClassifier<ProfileHmm<Dual<f32, 1>, "), "{source}");
    let (cost, k) = (deployed.cost(), deployed.states());
    type Small = StreamClassifier<ProfileHmm<Dual<f32, 1>, 3, 17>, 1, 1>;
    type Larger = StreamClassifier<ProfileHmm<Dual<f32, 1>, 4, 17>, 1, 1>;
    let bytes = |small: usize, larger: usize| small + (k - 3) * (larger - small);
    assert_eq!(cost.model_bytes, bytes(size_of::<Small>(), size_of::<Larger>()));
    type State<C> = <C as Streaming>::State;
    let states = bytes(size_of::<State<Small>>(), size_of::<State<Larger>>());
    assert_eq!(cost.state_bytes, states + size_of::<WindowClock>());
    assert_eq!(artefact::shape_of::<ProfileHmm<Dual<f32, 1>, 3, 17>, 1, 1>().directions, 1);
}

/// By the recursion as it is written down.
fn local(x: &[usize], y: &[usize], scoring: &SmithWaterman) -> i32 {
    let (first, next) = (i32::from(scoring.first), i32::from(scoring.next));
    let mut h = vec![vec![0; y.len() + 1]; x.len() + 1];
    let (mut e, mut f) =
        (vec![vec![-99; y.len() + 1]; x.len() + 1], vec![vec![-99; y.len() + 1]; x.len() + 1]);
    let mut best = 0;
    for i in 1..=x.len() {
        for j in 1..=y.len() {
            e[i][j] = (h[i][j - 1] - first).max(e[i][j - 1] - next);
            f[i][j] = (h[i - 1][j] - first).max(f[i - 1][j] - next);
            let row = scoring.matrix.get(x[i - 1]);
            let s = row.and_then(|row| row.get(y[j - 1])).map_or(-4, |&s| i32::from(s));
            h[i][j] = 0.max(h[i - 1][j - 1] + s).max(e[i][j]).max(f[i][j]);
            best = best.max(h[i][j]);
        }
    }
    best.min(251)
}

#[test]
fn lanes_have_smith_and_waterman_s_scores() {
    let scoring = SmithWaterman::blosum62();
    let queries = [symbols(&family(4)), others(4)].concat();
    let targets = [symbols(&family(40)), others(30)].concat();
    let scores = scoring.scores(&queries, &targets);
    for (query, row) in queries.iter().zip(&scores) {
        for (target, &score) in targets.iter().zip(row) {
            assert_eq!(i32::from(score), local(query, target, &scoring));
        }
    }
}

#[test]
fn words_are_counted_with_their_neighbours() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut string = |length: usize| -> Vec<Option<u16>> {
        (0..length).map(|_| Some(random.random_range(0..4)).filter(|&x| x < 3)).collect()
    };
    let strings: Vec<Vec<Option<u16>>> = [9, 14, 30, 2].into_iter().map(&mut string).collect();
    let views: Vec<SamplesView<'_>> = strings.iter().map(|s| SamplesView::Symbols(s)).collect();
    for mismatches in [0, 1] {
        let kernel = SpectrumKernel { length: 3, mismatches };
        let features = |string: &[Option<u16>]| -> Vec<f64> {
            let near = |word: usize, window: &[Option<u16>]| {
                let symbols = [word / 9, word / 3 % 3, word % 3];
                let differ = |(a, b): (&usize, &Option<u16>)| Some(*a) != b.map(usize::from);
                symbols.iter().zip(window).filter(|&pair| differ(pair)).count() <= mismatches
            };
            let whole = |window: &&[Option<u16>]| window.iter().all(Option::is_some);
            let count = |word| string.windows(3).filter(whole).filter(|w| near(word, w)).count();
            (0..27).map(|word| count(word) as f64).collect()
        };
        let all: Vec<Vec<f64>> = strings.iter().map(|string| features(string)).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let gram = kernel.gram(&views).expect("symbols");
        let cosines = gram.normalised();
        for i in 0..all.len() {
            for j in 0..all.len() {
                let norm = (dot(&all[i], &all[i]) * dot(&all[j], &all[j])).sqrt();
                let expected = if norm > 0.0 { dot(&all[i], &all[j]) / norm } else { 0.0 };
                near(cosines.get(i, j), expected, 1e-12);
                assert_eq!(gram.get(i, j), dot(&all[i], &all[j]), "counts are exact");
            }
        }
    }
    assert!(SpectrumKernel { length: 0, mismatches: 0 }.gram(&views).is_err());
}

/// Two states that emit and a silent one between, with probabilities that sum to one.
fn chain() -> SilentChain {
    let edge = |from, to, weight| Edge { from, to, weight };
    let edges =
        vec![edge(0, 0, 0.3), edge(0, 1, 0.6), edge(1, 2, 0.7), edge(1, 0, 0.2), edge(2, 1, 0.5)];
    let emission = vec![Some(vec![0.7, 0.2, 0.1]), None, Some(vec![0.1, 0.3, 0.6])];
    SilentChain::new(3, vec![0.6, 0.4, 0.0], vec![0.1, 0.1, 0.5], emission, edges).expect("a chain")
}

#[test]
fn chains_with_silent_states_learn() {
    let chain = chain();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let drawn: Vec<Vec<usize>> =
        (0..4000).map(|_| chain.sample(100, &mut random).1).filter(|x| !x.is_empty()).collect();
    // The expected score under the model is zero, and frequencies are probabilities.
    let likely = [0_usize, 2, 0];
    let probability = chain.log_likelihood(&likely).exp();
    let share = drawn.iter().filter(|x| **x == likely).count() as f64 / 4000.0;
    assert!((share - probability).abs() < 4.0 * (probability / 4000.0).sqrt(), "{share}");
    let x = [0, 1, 2, 2, 0, 2];
    let counts = chain.expectations(&x).expect("a path");
    for visits in &counts.visits[1..] {
        near(visits[0] + visits[2], 1.0, 1e-12);
    }
    // Against finite differences: one logit of the ways on of the silent state, and one of an emission.
    let score = chain.score(&counts, Probabilities::Softmax);
    let moved = |step: f64, emits: bool| {
        let mut edges = chain.edges().to_vec();
        let (mut end, mut row) = (chain.end().to_vec(), vec![0.1, 0.3, 0.6]);
        if emits {
            row[1] *= f64::exp(step);
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|p| *p /= sum);
        } else {
            edges[2].weight *= f64::exp(step);
            let sum = edges[2].weight + edges[3].weight + end[1];
            [2, 3].into_iter().for_each(|edge| edges[edge].weight /= sum);
            end[1] /= sum;
        }
        let emission = vec![chain.emission(0).map(<[f64]>::to_vec), None, Some(row)];
        let moved = SilentChain::new(3, chain.initial().to_vec(), end, emission, edges);
        moved.expect("a chain").log_likelihood(&x)
    };
    for (emits, expected) in [(false, score.edges[2]), (true, score.emission[2][1])] {
        near((moved(1e-5, emits) - moved(-1e-5, emits)) / 2e-5, expected, 1e-7);
    }
    let views: Vec<&[usize]> = drawn[..60].iter().map(Vec::as_slice).collect();
    let (mut model, mut before) = (chain, f64::NEG_INFINITY);
    for _ in 0..5 {
        let (next, sum) = model.baum_welch(&views, 0.0).expect("paths");
        assert!(sum >= before - 1e-9, "{sum} after {before}");
        (model, before) = (next, sum);
    }
}
