//! Profiles: gradients against finite differences, paths against their weights and posteriors, files there
//! and back, what is refused and where, and HMMER's own scores where its files are at hand.

use fishweir::fishweir_core::emission::Probabilities;
use fishweir_profiles::{
    AMINO, Alignment, Build, Dirichlets, Effective, Mode, Path, Profile, SearchProfile, Segment,
    State, position_weights, sequences, stockholm,
};
use fishweir_tests::checks::near;
use fishweir_tests::oracle::{ChainError, Edge, SilentChain, profile_chain};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

const ALIGNMENT: &str = "\
# STOCKHOLM 1.0
#=GF ID   small
#=GF DE   A family of our own
one    MKV.LASGHW-ECDE
two    MKVtLGSGHWYECDE
three  MRI.LASG.WYQC-E
four   -KV.LASPHWYECNE
five   MKLgLA-GHFYEC-D
#=GC SS_cons HHH.HHHHEEEE---
//
";

fn alignment() -> Alignment {
    Alignment::parse("small.sto", ALIGNMENT).expect("an alignment")
}

/// A profile with room for doubt, so that no path stands out.
fn profile() -> Profile {
    let build = Build { effective: Effective::Count(1.5), ..Build::default() };
    build.profile(&alignment()).expect("a profile")
}

const MODES: [Mode; 4] = [
    Mode { local: true, several: true },
    Mode { local: true, several: false },
    Mode { local: false, several: true },
    Mode { local: false, several: false },
];

/// Two domains, with insertions and codes for several residues.
const SEQUENCE: &str = "GHPMKVLXSGHWYEBDEPPAAQMRILASGWYYQCDERS";

fn symbols() -> Vec<usize> {
    AMINO.encode("sequence", SEQUENCE).expect("residues")
}

fn log_odds(profile: &Profile, mode: Mode) -> f64 {
    let search = SearchProfile::new(profile, mode).expect("a search profile");
    search.forward(&symbols(), SEQUENCE.len()).expect("a path")
}

/// Moves the logit of one entry of a row.
fn moved(row: &mut [f64], entry: usize, step: f64) {
    row[entry] *= step.exp();
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|p| *p /= sum);
}

#[test]
fn scores_are_gradients() {
    const STEP: f64 = 1e-5;
    // Rows that sum to one exactly, as those of a file need not.
    let profile = profile();
    for mode in MODES {
        let search = SearchProfile::new(&profile, mode).expect("a search profile");
        let expected = search.expectations(&symbols(), SEQUENCE.len()).expect("a path");
        near(expected.log_odds, log_odds(&profile, mode), 1e-12);
        let score = profile.score(&expected, mode, Probabilities::Softmax);
        let rate = |change: &dyn Fn(&mut Profile, f64)| {
            let at = |step: f64| {
                let mut changed = profile.clone();
                change(&mut changed, step);
                log_odds(&changed, mode)
            };
            (at(STEP) - at(-STEP)) / (2.0 * STEP)
        };
        for k in 0..profile.len() {
            for residue in [0, 5, 9, 13] {
                let rate = rate(&|p, step| moved(&mut p.matched[k], residue, step));
                near(score.matched[k][residue], rate, 1e-6);
            }
        }
        for k in 0..=profile.len() {
            for (row, way) in [(0..3, 0), (0..3, 1), (0..3, 2), (3..5, 3), (5..7, 6)] {
                let change = |p: &mut Profile, step: f64| {
                    moved(&mut p.transition[k][row.clone()], way - row.start, step);
                };
                near(score.transition[k][way], rate(&change), 1e-6);
            }
        }
    }
}

#[test]
fn expected_counts_add_up() {
    for mode in MODES {
        let search = SearchProfile::new(&profile(), mode).expect("a search profile");
        let expected = search.expectations(&symbols(), SEQUENCE.len()).expect("a path");
        let domains: f64 = expected.begins.iter().sum();
        near(expected.ends.iter().sum(), domains, 1e-12);
        near(expected.steps.iter().map(|steps| steps.enter).sum(), domains, 1e-12);
        near(expected.steps.iter().map(|steps| steps.exit).sum(), domains, 1e-12);
        let inserted: f64 =
            expected.steps.iter().map(|steps| steps.match_insert + steps.insert_insert).sum();
        let matched: f64 = expected.matched.iter().sum();
        near(expected.in_domain.iter().sum(), matched + inserted, 1e-12);
    }
}

/// `log` of all weights that a path takes.
fn log_weight(profile: &Profile, mode: Mode, path: &Path) -> f64 {
    let search = SearchProfile::new(profile, mode).expect("a search profile");
    let flanks = search.flanks(SEQUENCE.len());
    let (x, steps) = (symbols(), search.steps());
    let mut log = flanks.finish.ln();
    let mut before = State::Flank;
    let mut domains = 0;
    for &(state, emitted) in &path.states {
        log += match (before, state) {
            (_, State::Flank) => flanks.stay,
            (_, State::Begin) => flanks.begin,
            (State::Begin, State::Match(k)) => steps[k].enter,
            (State::Match(j), State::Match(_)) => steps[j].match_match,
            (State::Insert(j), State::Match(_)) => steps[j].insert_match,
            (State::Delete(j), State::Match(_)) => steps[j].delete_match,
            (State::Match(j), State::Insert(_)) => steps[j].match_insert,
            (State::Insert(j), State::Insert(_)) => steps[j].insert_insert,
            (State::Match(j), State::Delete(_)) => steps[j].match_delete,
            (State::Delete(j), State::Delete(_)) => steps[j].delete_delete,
            (from, to) => panic!("no way from {from:?} to {to:?}"),
        }
        .ln();
        if let State::Match(k) = state {
            log += search.odds(x[emitted - 1])[k].ln();
        }
        domains += usize::from(state == State::Begin);
        before = state;
    }
    assert_eq!(path.states.last().map(|last| last.1), Some(x.len()), "every symbol is emitted");
    log + (domains as f64 - 1.0) * flanks.again.max(1e-300).ln() + flanks.last.ln()
}

#[test]
fn the_best_path_has_the_best_weight_and_draws_have_their_posterior() {
    const DRAWS: usize = 2000;
    for mode in MODES {
        let profile = profile();
        let search = SearchProfile::new(&profile, mode).expect("a search profile");
        let (x, length) = (symbols(), SEQUENCE.len());
        let best = search.best_path(&x, length).expect("a path");
        near(log_weight(&profile, mode, &best), search.viterbi(&x, length).expect("a path"), 1e-12);
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let drawn = search.draw_paths(&x, length, DRAWS, &mut random).expect("paths");
        let expected = search.expectations(&x, length).expect("a path");
        let best = log_weight(&profile, mode, &best);
        let mut inside = vec![0.0; length];
        for path in &drawn {
            assert!(log_weight(&profile, mode, path) <= best + 1e-9);
            for &(state, emitted) in &path.states {
                if state.emits() && state != State::Flank {
                    inside[emitted - 1] += 1.0 / DRAWS as f64;
                }
            }
        }
        for (drawn, p) in inside.iter().zip(&expected.in_domain) {
            let deviation = (p * (1.0 - p) / DRAWS as f64).sqrt();
            assert!((drawn - p).abs() <= 5.0 * deviation + 3.0 / DRAWS as f64, "{drawn}, not {p}");
        }
    }
}

/// Every path of a chain from a state on that has been entered: its weight and its states, silent and not.
fn paths(
    chain: &ChainParts,
    state: usize,
    x: &[usize],
    (weight, path): (f64, Vec<usize>),
    all: &mut Vec<(f64, Vec<usize>)>,
) {
    let (weight, x) = match (&chain.emission[state], x) {
        (Some(row), [symbol, rest @ ..]) => (weight * row[*symbol], rest),
        (Some(_), []) => return,
        (None, x) => (weight, x),
    };
    let path = [path, vec![state]].concat();
    if x.is_empty() && weight * chain.end[state] > 0.0 {
        all.push((weight * chain.end[state], path.clone()));
    }
    for edge in chain.edges.iter().filter(|edge| edge.from == state && weight > 0.0) {
        paths(chain, edge.to, x, (weight * edge.weight, path.clone()), all);
    }
}

struct ChainParts {
    initial: Vec<f64>,
    end: Vec<f64>,
    emission: Vec<Option<Vec<f64>>>,
    edges: Vec<Edge>,
}

/// Three states that emit and three silent ones, the silent ones out of order.
fn chain() -> ChainParts {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut weight = || rand::Rng::random_range(&mut random, 0.1..0.9);
    let mut edges = Vec::new();
    for (from, to) in [
        (0, 0),
        (0, 1),
        (1, 2),
        (2, 0),
        (0, 5),
        (5, 3),
        (5, 4),
        (3, 4),
        (4, 1),
        (4, 2),
        (3, 0),
        (1, 4),
    ] {
        edges.push(Edge { from, to, weight: weight() });
    }
    let emission = (0..6).map(|state| (state < 3).then(|| vec![weight(), weight()])).collect();
    let mut row = || (0..6).map(|_| weight()).collect();
    ChainParts { initial: row(), end: row(), emission, edges }
}

#[test]
fn chains_with_silent_states_sum_over_all_paths() {
    let parts = chain();
    let ChainParts { initial, end, emission, edges } = chain();
    let chain = SilentChain::new(2, initial, end, emission, edges).expect("a chain");
    for x in [&[][..], &[1], &[0, 1], &[1, 1, 0, 1]] {
        let mut all = Vec::new();
        for state in 0..6 {
            paths(&parts, state, x, (parts.initial[state], Vec::new()), &mut all);
        }
        let total: f64 = all.iter().map(|(weight, _)| weight).sum();
        near(chain.log_likelihood(x), total.ln(), 1e-12);
        let best = all.iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("a path");
        let (log, path) = chain.viterbi(x).expect("a path");
        near(log, best.0.ln(), 1e-12);
        assert_eq!(path.iter().map(|(state, _)| *state).collect::<Vec<_>>(), best.1);
        let counts = chain.expectations(x).expect("a path");
        for (index, edge) in parts.edges.iter().enumerate() {
            let taken = |path: &[usize]| {
                path.windows(2).filter(|pair| **pair == [edge.from, edge.to]).count() as f64
            };
            let expected = all.iter().map(|(weight, path)| weight * taken(path)).sum::<f64>();
            near(counts.edges[index], expected / total, 1e-12);
        }
        for state in 0..6 {
            let mean = |count: &dyn Fn(&[usize]) -> f64| {
                all.iter().map(|(weight, path)| weight * count(path)).sum::<f64>() / total
            };
            let is = |at: Option<&usize>| f64::from(u8::from(at == Some(&state)));
            near(counts.initial[state], mean(&|path| is(path.first())), 1e-12);
            near(counts.end[state], mean(&|path| is(path.last())), 1e-12);
            let visits = mean(&|path| path.iter().map(|at| is(Some(at))).sum());
            if state < 3 {
                near(counts.emission[state].iter().sum(), visits, 1e-12);
            }
        }
    }
    // Far below the range of a number.
    let long = vec![1; 5000];
    assert!(chain.log_likelihood(&long) < -1000.0);
    let counts = chain.expectations(&long).expect("a path");
    near(counts.emission.iter().flatten().sum(), 5000.0, 1e-9);
}

#[test]
fn a_profile_is_a_chain_with_silent_states() {
    for mode in MODES {
        let search = SearchProfile::new(&profile(), mode).expect("a search profile");
        let chain = profile_chain(&search, SEQUENCE.len()).expect("a chain");
        let (x, length) = (symbols(), SEQUENCE.len());
        let forward = search.forward(&x, length).expect("a path");
        near(chain.log_likelihood(&x), forward, 1e-12);
        near(
            chain.viterbi(&x).expect("a path").0,
            search.viterbi(&x, length).expect("a path"),
            1e-12,
        );
    }
}

#[test]
fn silent_states_in_a_circle_are_refused() {
    let edge = |from, to| Edge { from, to, weight: 0.5 };
    let new = |edges: Vec<Edge>| {
        SilentChain::new(1, vec![1.0; 3], vec![1.0; 3], vec![Some(vec![1.0]), None, None], edges)
    };
    assert!(new(vec![edge(1, 2), edge(2, 0), edge(0, 1), edge(0, 0)]).is_ok());
    assert_eq!(new(vec![edge(1, 2), edge(2, 1)]), Err(ChainError::Circle { state: 1 }));
    assert_eq!(new(vec![edge(2, 2)]), Err(ChainError::Circle { state: 2 }));
    let unknown = ChainError::State { edge: 0, from: 1, to: 7, states: 3 };
    assert_eq!(new(vec![edge(1, 7)]), Err(unknown));
    assert!(new(vec![Edge { weight: -1.0, ..edge(0, 1) }]).is_err());
}

#[test]
fn weights_are_by_position() {
    // The example of Henikoff and Henikoff 1994.
    let text = ">a\nGYVGS\n>b\nGFDGF\n>c\nGYDGF\n>d\nGYQGG\n";
    let weights = position_weights(&Alignment::parse("a.fa", text).expect("an alignment"));
    for (weight, fifteenths) in weights.iter().zip([4.0, 4.0, 3.0, 4.0]) {
        near(*weight, 4.0 * fifteenths / 15.0, 1e-12);
    }
}

#[test]
fn one_dirichlet_adds_pseudo_counts_and_two_choose() {
    let one = Dirichlets::one(&[1.0, 3.0]).mean(&[4.0, 2.0]);
    assert_eq!(one, [0.5, 0.5]);
    let two = Dirichlets { components: vec![(0.5, vec![90.0, 10.0]), (0.5, vec![10.0, 90.0])] };
    let mean = two.mean(&[9.0, 1.0]);
    assert!((0.89..0.901).contains(&mean[0]), "{mean:?}");
}

#[test]
fn files_come_back_as_they_were() {
    let profile = Build::default().profile(&alignment()).expect("a profile");
    assert_eq!((profile.name.as_str(), profile.len()), ("small", 14));
    let text = profile.to_hmmer();
    let read = Profile::parse("small.hmm", &text).expect("a profile");
    assert_eq!(read.to_hmmer(), text);
    assert_eq!(read.notes, profile.notes);
    let scores = [&profile, &read].map(|profile| log_odds(profile, Mode::SEARCH));
    near(scores[0], scores[1], 1e-3);
    assert_eq!(
        Profile::parse_all("two", &(text.clone() + &text)).map(|read| read.len()).ok(),
        Some(2)
    );
}

#[test]
fn what_is_no_profile_is_refused_by_line_and_column() {
    let text = profile().to_hmmer();
    let refused = |text: &str| match Profile::parse("x.hmm", text) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("read: {text}"),
    };
    assert!(refused("").starts_with("x.hmm: is empty"));
    assert!(refused("HMMER2.0\n").starts_with("x.hmm, line 1, column 1: expected `HMMER3/f`"));
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().position(|line| line.starts_with("      1 ")).expect("position 1");
    let with = |at: usize, line: &str| {
        let mut lines = lines.clone();
        lines[at] = line;
        lines.join("\n")
    };
    let word = lines[first].split_whitespace().nth(3).expect("a number");
    let column = lines[first].find(word).expect("it is there") + 1;
    let odd = lines[first].replacen(word, &"x".repeat(word.len()), 1);
    let place = format!("x.hmm, line {}, column {column}: `xxx", first + 1);
    assert!(refused(&with(first, &odd)).starts_with(&place), "{}", refused(&with(first, &odd)));
    assert!(refused(&with(first, "      2 ")).contains("expected position 1"));
    assert!(refused(&with(first + 1, "  0.1 0.2")).contains("2 numbers where 20 belong"));
    assert!(refused(&lines[..first + 2].join("\n")).contains("truncated"));
    assert!(refused(&text.replace("LENG  14", "LENG  15")).contains("14 positions of 15"));
    assert!(refused(&text.replace("LENG  14", "LENG  no")).contains("column 7: `no`"));
    assert!(refused(&text.replace("ALPH  amino", "ALPH  letters")).contains("`letters`"));
    assert!(refused(&text.replace("NAME ", "NOME ")).contains("no `NAME`"));
}

#[test]
fn what_is_no_alignment_is_refused_by_line_and_column() {
    let refused = |text: &str| match Alignment::parse("a", text) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("read: {text}"),
    };
    assert!(refused("\n\nword\n").starts_with("a, line 3, column 1"));
    assert!(refused(">a\nAC!\n").starts_with("a, line 2, column 3: `!`"));
    assert!(refused(">a\nAC\n>b\nA\n").contains("b has 1 columns where the first sequence has 2"));
    assert!(refused("# STOCKHOLM 1.0\na AC\n").contains("without `//`"));
    assert!(refused("# STOCKHOLM 1.0\nodd\n//\n").starts_with("a, line 2, column 1"));
    assert!(refused("# STOCKHOLM 1.0\na  A?C\n//\n").starts_with("a, line 2, column 5: `?`"));
    assert!(refused("# STOCKHOLM 1.0\n//\n").contains("has no sequence"));
    assert!(sequences("s", "ACGT\n").is_err());
    let residue = AMINO.encode("s", "AC*").expect_err("no residue").to_string();
    assert_eq!(residue, "sequence s, position 3: `*` is not a residue of amino");
    let gaps = Build { match_fraction: 1.5, ..Build::default() }.profile(&alignment());
    assert!(
        gaps.expect_err("no column")
            .to_string()
            .contains("no column has residues in a share of 1.5")
    );
}

#[test]
fn a_search_finds_both_domains_and_prints_them() {
    let profile = Build::default().profile(&alignment()).expect("a profile");
    let search = SearchProfile::new(&profile, Mode::SEARCH).expect("a search profile");
    let hit = search.search(&symbols()).expect("a path");
    let found: Vec<Segment> = hit.domains.iter().map(|domain| domain.best).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0].sequence, [3, 16]);
    let aligned: Vec<_> = hit
        .domains
        .iter()
        .map(|domain| fishweir_profiles::Aligned {
            name: "s",
            sequence: SEQUENCE,
            start: domain.envelope[0],
            states: &domain.path.states,
        })
        .collect();
    let text = stockholm(&profile, &aligned);
    let read = Alignment::parse("s.sto", &text).expect("it reads itself");
    assert_eq!(read.names, ["s/4-17", "s/23-36"]);
    assert!(search.score(&[]).is_err());
}

/// HMMER's tutorial files and its scores: the folder in the environment's `FISHWEIR_HMMER`, with
/// `globins4.hmm`, `globins45.fa`, `fn3.hmm`, `7LESS_DROME` and a table `expected-hmmsearch.tsv`.
#[test]
#[ignore = "wants FISHWEIR_HMMER, a folder of files that are not in the project"]
fn scores_are_those_of_hmmer() {
    let folder = std::env::var("FISHWEIR_HMMER").expect("FISHWEIR_HMMER names a folder");
    let read = |name: &str| std::fs::read_to_string(format!("{folder}/{name}")).expect("a file");
    let table = read("expected-hmmsearch.tsv");
    let plain: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split('\t').collect())
        .filter(|row: &Vec<&str>| row.get(2) == Some(&"plain"))
        .collect();
    let entry = read("7LESS_DROME");
    let sequence = entry.lines().skip_while(|line| !line.starts_with("SQ")).skip(1);
    let sevenless: String = sequence
        .take_while(|line| *line != "//")
        .flat_map(str::chars)
        .filter(char::is_ascii_alphabetic)
        .collect();
    let globins = sequences("globins45.fa", &read("globins45.fa")).expect("FASTA");
    for (name, targets) in
        [("globins4", globins), ("fn3", vec![("7LESS_DROME".to_owned(), sevenless)])]
    {
        let text = read(&format!("{name}.hmm"));
        let profile = Profile::parse(name, &text).expect("a profile");
        let body = |text: &str| {
            text.lines().skip(1).map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(body(&profile.to_hmmer()), body(&text), "written as it was read");
        let search = SearchProfile::new(&profile, Mode::SEARCH).expect("a search profile");
        for (target, sequence) in targets {
            let hit = search
                .search(&AMINO.encode(&target, &sequence).expect("residues"))
                .expect("a path");
            let rows: Vec<&Vec<&str>> =
                plain.iter().filter(|row| row[0] == name && row[1] == target).collect();
            let number =
                |row: &[&str], column: usize| row[column].parse::<f64>().expect("a number");
            assert!((hit.score - number(rows[0], 3)).abs() < 0.02, "{target}: {}", hit.score);
            assert_eq!(hit.domains.len(), rows.len(), "{target}");
            for (domain, row) in hit.domains.iter().zip(rows) {
                for (end, column) in domain.envelope.into_iter().zip([12, 13]) {
                    let off = (end as f64 + 1.0 - number(row, column)).abs();
                    assert!(off <= 2.0, "{target}: {:?}, not {row:?}", domain.envelope);
                }
            }
        }
    }
}
