//! Which topology strings of one length get: a state per position where that makes held-out ones likelier, or tells classes
//! apart. And which series of channels may have.

use std::num::NonZeroUsize;

use fishweir::data::{Alphabet, Dataset, Kind, Samples, SamplesView, ShortSeries, Windowing};
use fishweir::fit::{BaumWelch, Topology};
use fishweir::learn::{ClassifierKind, Effort, Request, Space};
use fishweir_tests::sample::Sampler;

use super::choices::{data, trained};

/// Strings of six symbols of four: each position has its own, most of the time, or all are alike.
fn strings(s: &mut Sampler, count: usize, certain: f64) -> Vec<Samples> {
    let symbol = |s: &mut Sampler, t: usize| {
        if s.uniform(0.0, 1.0) < certain { t % 4 } else { s.uniform(0.0, 4.0) as usize }
    };
    let string = |s: &mut Sampler| (0..6).map(|t| symbol(s, t) as u16).collect();
    (0..count).map(|_| string(s)).collect()
}

fn settled_by(pseudocount: f64, kinds: &[Vec<Samples>]) -> BaumWelch {
    let kinds: Vec<Vec<SamplesView<'_>>> =
        kinds.iter().map(|kind| kind.iter().map(Samples::view).collect()).collect();
    let kinds: Vec<&[SamplesView<'_>]> = kinds.iter().map(Vec::as_slice).collect();
    // Without a pseudocount a symbol that is not among those fitted to is impossible.
    let options = BaumWelch { states: 2, symbol_pseudocount: pseudocount, ..BaumWelch::default() };
    options.settled(&kinds, 4, &[]).expect("settled")
}

fn settled(kinds: &[Vec<Samples>]) -> BaumWelch {
    settled_by(0.5, kinds)
}

#[test]
fn a_state_a_position_is_taken_where_held_out_strings_are_likelier_by_it() {
    let mut s = Sampler::new(1);
    let sites = settled(&[strings(&mut s, 30, 0.95), strings(&mut s, 30, 0.95)]);
    assert_eq!((sites.topology, sites.states), (Topology::Positions, 6));
    let noise = settled(&[strings(&mut s, 30, 0.0), strings(&mut s, 30, 0.0)]);
    assert_eq!((noise.topology, noise.states), (Topology::Ergodic, 2));
}

/// All kinds count together, by how much likelier their strings are.
#[test]
fn kinds_are_settled_together() {
    let mut s = Sampler::new(2);
    let (sites, noise) = (strings(&mut s, 30, 0.95), strings(&mut s, 30, 0.0));
    for kinds in [[sites.clone(), noise.clone()], [noise, sites]] {
        assert_eq!(settled(&kinds).topology, Topology::Positions);
    }
}

#[test]
fn too_few_strings_to_hold_one_out_say_nothing_for_positions() {
    let mut s = Sampler::new(3);
    assert_eq!(
        settled(&[strings(&mut s, 2, 1.0), strings(&mut s, 1, 1.0)]).topology,
        Topology::Ergodic
    );
    // A kind with too few leaves the choice to the other.
    let kinds = [strings(&mut s, 2, 1.0), strings(&mut s, 30, 1.0)];
    assert_eq!(settled(&kinds).topology, Topology::Positions);
}

/// Models are fitted to two thirds of a kind, every third string is held out: sites among noise make sites
/// likelier by positions, sites alone make noise unlikely.
#[test]
fn every_third_string_is_held_out() {
    let mut s = Sampler::new(4);
    let (sites, noise) = (strings(&mut s, 90, 1.0), strings(&mut s, 90, 0.0));
    let settled_with = |is_site: &dyn Fn(usize) -> bool| {
        let numbered = sites.iter().zip(&noise).enumerate();
        let kind = numbered.map(|(n, (site, noise))| if is_site(n) { site } else { noise }.clone());
        settled(&[kind.collect()]).topology
    };
    assert_eq!(settled_with(&|n| n % 3 == 2 || n % 5 == 0), Topology::Positions);
    assert_eq!(settled_with(&|n| n % 3 != 2 || n % 5 == 0), Topology::Ergodic);
}

#[test]
fn what_no_model_can_be_fitted_to_or_make_says_nothing() {
    let mut s = Sampler::new(5);
    let sites = strings(&mut s, 30, 1.0);
    let missing = Samples::Symbols(vec![None; 6]);
    let mut unseen = vec![missing.clone(), missing, sites[0].clone()];
    assert_eq!(settled(&[unseen.clone(), sites.clone()]).topology, Topology::Positions);
    // A third that has symbols which the others have not.
    let of = |symbol: u16| -> Samples { vec![symbol; 6].into_iter().collect() };
    unseen = vec![of(0), of(0), of(3)];
    assert_eq!(settled_by(0.0, &[unseen, sites]).topology, Topology::Positions);
}

fn stages_tried(data: &Dataset, options: &Request) -> Vec<usize> {
    let all: Vec<usize> = (0..data.series().len()).collect();
    let space = Space::of(data, &all, options).expect("forms");
    let told = space.forms().iter().filter(|form| form.topology == Topology::LeftToRight);
    told.map(|form| form.states).collect()
}

/// Whole series may run through stages; windows of them begin anywhere, two stages are one change, and a stage has two
/// samples at least.
#[test]
fn stages_are_tried_of_whole_series_that_are_long_enough() {
    let mut s = Sampler::new(6);
    let data = data("p", |_, _, t| vec![(t / 6) as f64 + s.normal()]);
    let searching = |search| Request::new(ClassifierKind::Bayes).trying(search);
    let mut normal = searching(Effort::Normal);
    let tried = stages_tried(&data, &normal);
    assert!(tried.contains(&4) && tried.contains(&8) && !tried.contains(&2), "{tried:?}");
    assert!(stages_tried(&data, &searching(Effort::Quick)).is_empty());
    (normal.states, normal.topologies) =
        (vec![4, 16], vec![Topology::Automatic, Topology::LeftToRight]);
    assert_eq!(stages_tried(&data, &normal), [4, 4], "24 samples are no 16 stages");
    let length = NonZeroUsize::new(12).expect("a length");
    normal.windowing = Some(Windowing { length, hop: length, short: ShortSeries::Drop });
    assert!(stages_tried(&data, &normal).is_empty());
    let mut told = Request::minimal(ClassifierKind::Bayes);
    told.baum_welch.topology = Topology::Ergodic;
    assert!(stages_tried(&data, &told.trying(Effort::Thorough)).is_empty());
}

/// Series of either class are once at a higher level, as long and from the same to the same: sooner or later tells them
/// apart, which stages have and states without an order do not.
#[test]
fn stages_are_taken_where_the_order_tells_classes_apart() {
    let mut s = Sampler::new(8);
    let levels = [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
    let data = data("p", |class, _, t| vec![levels[class][t / 6] + 0.4 * s.normal()]);
    let mut options = Request::new(ClassifierKind::Top).trying(Effort::Normal);
    options.std_floors = vec![0.3];
    let chosen = trained(&data, &options);
    let form = chosen.form.expect("a form");
    assert_eq!(form.form.topology, Topology::LeftToRight, "{:?}", form.candidates);
    // Each stays or goes to the next.
    let transition = &chosen.classifier.models[0].transition;
    assert!(transition.iter().enumerate().all(|(from, row)| {
        row.iter().enumerate().all(|(to, &p)| p == 0.0 || to == from || to == from + 1)
    }));
}

/// Strings of runs of either of two letters, of two classes that leave them at different rates, or have a letter
/// each at one position.
fn runs(s: &mut Sampler, leaving: [f64; 2], site: bool) -> Dataset {
    let string = |s: &mut Sampler, class: usize| -> Samples {
        let mut letter = usize::from(s.uniform(0.0, 1.0) < 0.5);
        let mut symbols: Vec<u16> = (0..24)
            .map(|_| {
                letter = if s.uniform(0.0, 1.0) < leaving[class] { 1 - letter } else { letter };
                letter as u16
            })
            .collect();
        if site {
            symbols[9] = class as u16;
        }
        symbols.into_iter().collect()
    };
    let series: Vec<_> = (0..60).map(|n| (["a", "b"][n % 2], string(s, n % 2))).collect();
    Dataset::labelled(Kind::Symbols(Alphabet::dna()), series).expect("data")
}

/// Runs are likelier by two states that stay, whatever tells classes apart: folds judge that, a likelihood does not.
#[test]
fn strings_of_one_length_have_the_transitions_that_tell_classes_apart() {
    let mut s = Sampler::new(9);
    let form_of = |data: &Dataset, told: Topology| {
        let mut options = Request::new(ClassifierKind::Fisher);
        (options.baum_welch.states, options.baum_welch.topology) = (2, told);
        trained(data, &options).form.expect("a form")
    };
    let sites = runs(&mut s, [0.1, 0.1], true);
    let of_class: Vec<Vec<SamplesView<'_>>> = (0..2)
        .map(|class| sites.series().iter().skip(class).step_by(2))
        .map(|series| series.map(|one| one.samples.view()).collect())
        .collect();
    let of_class: Vec<&[SamplesView<'_>]> = of_class.iter().map(Vec::as_slice).collect();
    let likelier = BaumWelch { states: 2, ..BaumWelch::default() };
    let likelier = likelier.settled(&of_class, 4, &[]).expect("settled");
    assert_eq!(likelier.topology, Topology::Ergodic);

    let form = form_of(&sites, Topology::Automatic);
    assert_eq!((form.form.topology, form.form.states), (Topology::Positions, 24));
    assert_eq!(form.candidates.len(), 2, "{:?}", form.candidates);
    let form = form_of(&runs(&mut s, [0.1, 0.6], false), Topology::Automatic);
    assert_eq!((form.form.topology, form.form.states), (Topology::Ergodic, 2));
    let form = form_of(&sites, Topology::Ergodic);
    assert_eq!((form.form.topology, form.candidates.len()), (Topology::Ergodic, 0));
}

/// What is tried of strings by default, whatever is told beside: which of them are held against each other.
#[test]
fn a_state_a_position_is_tried_of_whole_strings_that_a_device_has_states_for() {
    let of_lengths = |lengths: &[usize]| {
        let strings = lengths.iter().enumerate();
        let series = strings.map(|(n, &length)| {
            let string: Samples = (0..length).map(|t| ((t + n) % 4) as u16).collect();
            (["a", "b"][n % 2], string)
        });
        Dataset::labelled(Kind::Symbols(Alphabet::dna()), series).expect("data")
    };
    let tried = |lengths: &[usize], change: &dyn Fn(&mut Request)| {
        let mut options = Request::new(ClassifierKind::Bayes);
        change(&mut options);
        let data = of_lengths(lengths);
        let all: Vec<usize> = (0..data.series().len()).collect();
        let form = |form: fishweir::classifier::Form| (form.topology, form.states);
        let space = Space::of(&data, &all, &options).expect("forms");
        space.forms().iter().cloned().map(form).collect::<Vec<_>>()
    };
    let (ergodic, positions) = (Topology::Ergodic, Topology::Positions);
    let told = |topology: Topology, states: usize| {
        move |options: &mut Request| {
            (options.baum_welch.topology, options.baum_welch.states) = (topology, states);
        }
    };
    let nothing = |_: &mut Request| {};
    assert_eq!(tried(&[20, 20, 20], &nothing), [(ergodic, 4), (positions, 20)]);
    assert_eq!(tried(&[20, 7, 21, 1], &nothing), [(ergodic, 4), (positions, 21)]);
    assert_eq!(tried(&[20, 7, 1], &nothing), [(ergodic, 4)]);
    // One that is longer than all others ends in the last state.
    let mut lengths = vec![20; 20];
    lengths[7] = 90;
    assert_eq!(tried(&lengths, &nothing), [(ergodic, 4), (positions, 20)]);
    // Scores of too many are not worth the while; Bayes has none.
    let scored = |options: &mut Request| options.kind = ClassifierKind::Fisher;
    let many = |count: usize| vec![64; count];
    assert_eq!(tried(&many(1 << 15), &scored).len(), 2);
    assert_eq!(tried(&many((1 << 15) + 1), &scored), [(ergodic, 4)]);
    assert_eq!(tried(&many((1 << 15) + 1), &nothing).len(), 2);
    assert_eq!(tried(&[64, 64], &nothing), [(ergodic, 4), (positions, 64)]);
    assert_eq!(tried(&[64, 65], &nothing), [(ergodic, 4)]);
    let too_long = |lengths: &[usize]| {
        let data = of_lengths(lengths);
        let options = Request::new(ClassifierKind::Bayes);
        let space = Space::of(&data, &[0, 1, 2], &options).expect("forms");
        space.too_long_for_positions()
    };
    let lengths = [[64, 64, 60], [60, 60, 65], [20, 30, 90]];
    assert_eq!(lengths.map(|three| too_long(&three)), [None, Some(65), None]);
    let length = NonZeroUsize::new(20).expect("a length");
    let windowing = Windowing { length, hop: length, short: ShortSeries::Drop };
    let cut = |options: &mut Request| options.windowing = Some(windowing);
    assert_eq!(tried(&[20, 20], &cut), [(ergodic, 4)]);
    // Told after the search was, too.
    assert_eq!(tried(&[20, 20], &told(Topology::Automatic, 8)), [(ergodic, 8), (positions, 20)]);
    assert_eq!(tried(&[20, 20], &told(positions, 4)), [(positions, 20)]);
    assert_eq!(tried(&[20, 2, 70], &told(positions, 4)), [(positions, 64)]);
    assert_eq!(tried(&[20, 20], &told(ergodic, 3)), [(ergodic, 3)]);
    assert_eq!(tried(&[20, 20], &told(Topology::LeftToRight, 3)), [(Topology::LeftToRight, 3)]);
    let several = |request: &mut Request| request.states = vec![3, 5];
    assert_eq!(tried(&[20, 20], &several), [(ergodic, 3), (ergodic, 5)]);
}

/// Without inner folds likelihood settles it, also within limits that both keep.
#[test]
fn strings_that_nothing_is_held_back_of_have_the_likelier_transitions() {
    let mut s = Sampler::new(10);
    let mut data = |certain: f64| {
        let series = strings(&mut s, 30, certain).into_iter().enumerate();
        let series = series.map(|(n, string)| (["a", "b"][n % 2], string));
        Dataset::labelled(Kind::Symbols(Alphabet::dna()), series).expect("data")
    };
    let taken = |data: &Dataset, flash: Option<usize>| {
        let mut options = Request::new(ClassifierKind::Bayes);
        options.limits.flash = flash;
        // Four would go through the letters by turns, as positions do.
        options.baum_welch.states = 2;
        options.inner_folds = 1;
        trained(data, &options).form.expect("a form").form.topology
    };
    for flash in [None, Some(100_000)] {
        assert_eq!(taken(&data(0.95), flash), Topology::Positions, "{flash:?}");
        assert_eq!(taken(&data(0.0), flash), Topology::Ergodic, "{flash:?}");
    }
}
