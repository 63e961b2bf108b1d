//! Systems fitted to series that were drawn from systems.

use fishweir::data::{Rows, Samples};
use fishweir::dynamics::{LinearSystem, SwitchingSystem};
use fishweir::fit::{FitError, SwitchingEm, SystemEm};
use fishweir_tests::oracle::System;
use fishweir_tests::sample::Sampler;

use super::{host, near};

/// Drawn series, some samples of them missing.
fn drawn(system: &LinearSystem, count: u64, length: usize) -> Vec<Samples> {
    let one = |seed| {
        let samples = system.simulate(length, seed).expect("a series");
        let mut rows = Rows::new(system.channels());
        for (t, x) in samples.view().rows().expect("channels").iter().enumerate() {
            rows.push(if (t + seed as usize) % 11 == 4 { None } else { x });
        }
        Samples::Channels(rows)
    };
    (0..count).map(one).collect()
}

/// The same, of which channels are missing, a second one of two never beside the first.
fn lacking(series: &[Samples]) -> Vec<Samples> {
    let one = |samples: &Samples| {
        let view = samples.view().rows().expect("channels");
        let mut rows = Rows::new(view.dimension());
        for (t, x) in view.iter().enumerate() {
            let hidden = |(d, &x): (usize, &f64)| if (t + d) % 2 == 0 { x } else { f64::NAN };
            let row = x.map(|x| x.iter().enumerate().map(hidden).collect::<Vec<f64>>());
            rows.push(row.as_deref());
        }
        Samples::Channels(rows)
    };
    series.iter().map(one).collect()
}

fn log_likelihood(system: &LinearSystem, series: &[Samples]) -> f64 {
    let of = |samples: &Samples| {
        system.log_likelihood(samples.view().rows().expect("channels")).expect("a likelihood")
    };
    series.iter().map(of).sum()
}

/// A slow rotation, seen by three channels with noise.
fn rotation() -> LinearSystem {
    let row = |a: f64, b: f64| vec![a, b];
    host(&System {
        mean: vec![1.0, 0.0],
        covariance: vec![row(0.5, 0.0), row(0.0, 0.5)],
        transition: vec![row(0.95, 0.25), row(-0.25, 0.95)],
        noise: vec![row(0.05, 0.01), row(0.01, 0.1)],
        observation: vec![row(1.0, 0.0), row(0.5, 1.0), row(-1.0, 2.0)],
        observation_noise: vec![vec![0.3, 0.1, 0.0], vec![0.1, 0.5, 0.0], vec![0.0, 0.0, 0.2]],
    })
}

#[test]
fn no_pass_makes_series_less_likely() {
    let mut sampler = Sampler::new(71);
    for (n, d) in [(1, 1), (2, 3), (3, 1), (4, 2)] {
        let system = host(&sampler.system(n, d));
        let whole = drawn(&system, 4, 40);
        for series in [&lacking(&whole), &whole] {
            let views: Vec<_> = series.iter().map(Samples::view).collect();
            let em = SystemEm { states: n, iterations: 30, tolerance: 0.0, ..SystemEm::default() };
            let fit = em.fit(&views, &|| ()).expect("a fit");
            assert_eq!(fit.log_likelihood.len(), 31);
            for pair in fit.log_likelihood.windows(2) {
                assert!(pair[1] >= pair[0] - 1e-8 * pair[0].abs(), "{n}, {d}: {pair:?}");
            }
            let last = *fit.log_likelihood.last().expect("passes");
            near(log_likelihood(&fit.system, series), last, 1e-9);
            assert_eq!(em.fit(&views, &|| ()), Ok(fit), "the same data, another fit");
        }
    }
}

#[test]
fn a_fit_is_likelier_than_what_series_were_drawn_from() {
    let truth = rotation();
    let series = drawn(&truth, 12, 120);
    let views: Vec<_> = series.iter().map(Samples::view).collect();
    let fit = SystemEm { states: 2, ..SystemEm::default() }.fit(&views, &|| ()).expect("a fit");
    let (own, of_truth) = (log_likelihood(&fit.system, &series), log_likelihood(&truth, &series));
    assert!(own > of_truth, "{own} after fitting, {of_truth} of the truth");
    // On series that it never saw it is hardly less likely than the truth, far likelier than white noise.
    let fresh: Vec<Samples> =
        (100..112).map(|seed| truth.simulate(120, seed).expect("a series")).collect();
    let per_sample = |system: &LinearSystem| log_likelihood(system, &fresh) / (12.0 * 120.0);
    let gap = per_sample(&truth) - per_sample(&fit.system);
    assert!(gap < 0.05, "{gap} nats per sample behind the truth");
    let mut white = truth.clone();
    let marginal = truth.marginals(60).expect("moments").pop().expect("a last one");
    white.observation.iter_mut().for_each(|row| row.fill(0.0));
    white.observation_noise = marginal.covariance;
    assert!(per_sample(&fit.system) - per_sample(&white) > 0.5);
    // What moves it is found again, whatever the coordinates: the transition's trace and determinant.
    let invariants = |a: &[Vec<f64>]| [a[0][0] + a[1][1], a[0][0] * a[1][1] - a[0][1] * a[1][0]];
    let (own, of_truth) = (invariants(&fit.system.transition), invariants(&truth.transition));
    for (own, truth) in own.into_iter().zip(of_truth) {
        assert!((own - truth).abs() < 0.05, "{own}, not {truth}");
    }
}

/// What one unit is, another is: a fit in millimetres is that in metres.
#[test]
fn units_do_not_matter() {
    let truth = rotation();
    let series = drawn(&truth, 3, 60);
    let scaled: Vec<Samples> = series
        .iter()
        .map(|samples| {
            let mut rows = Rows::new(3);
            for x in samples.view().rows().expect("channels").iter() {
                let x: Option<Vec<f64>> =
                    x.map(|x| x.iter().zip([1024.0, 1.0, 0.03125]).map(|(x, by)| x * by).collect());
                rows.push(x.as_deref());
            }
            Samples::Channels(rows)
        })
        .collect();
    let em = SystemEm { states: 2, iterations: 20, ..SystemEm::default() };
    let fit = |series: &[Samples]| {
        let views: Vec<_> = series.iter().map(Samples::view).collect();
        em.fit(&views, &|| ()).expect("a fit")
    };
    let (own, scaled) = (fit(&series), fit(&scaled));
    let observed: usize = series.iter().map(|samples| samples.view().observed()).sum();
    let units = observed as f64 * 32.0_f64.ln();
    for (a, b) in own.log_likelihood.iter().zip(&scaled.log_likelihood) {
        near(*b + units, *a, 1e-8);
    }
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let em = SystemEm::default();
    assert!(matches!(em.fit(&[], &|| ()), Err(FitError::NoData)));
    let mut rows = Rows::new(2);
    rows.push(None);
    let missing = Samples::Channels(rows);
    assert!(matches!(em.fit(&[missing.view()], &|| ()), Err(FitError::NoData)));
    let symbols: Samples = [0_u16, 1].into_iter().collect();
    assert!(matches!(em.fit(&[symbols.view()], &|| ()), Err(FitError::System(_))));
    let (two, three) = (Samples::from_iter([[1.0, 2.0]]), Samples::from_iter([[1.0, 2.0, 3.0]]));
    assert!(matches!(em.fit(&[two.view(), three.view()], &|| ()), Err(FitError::System(_))));
    for em in [
        SystemEm { states: 0, ..em.clone() },
        SystemEm { iterations: 0, ..em.clone() },
        SystemEm { tolerance: f64::NAN, ..em.clone() },
        SystemEm { std_floor: 0.0, ..em.clone() },
    ] {
        assert!(matches!(em.fit(&[two.view()], &|| ()), Err(FitError::Option { .. })));
    }
    // Series of a sample each have no dynamics; two samples, and a channel that never moves, are enough.
    for states in [1, 3] {
        let em = SystemEm { states, iterations: 10, ..em.clone() };
        let alone = em.fit(&[two.view(), two.view()], &|| ());
        assert!(matches!(alone, Err(FitError::FewPoints { found: 1 })), "{alone:?}");
        let short = Samples::from_iter([[1.0, 2.0], [2.0, 2.5]]);
        em.fit(&[short.view()], &|| ()).expect("a fit of two samples");
        let still = Samples::from_iter([[1.0, 2.0], [1.0, 3.0], [1.0, 1.0]]);
        em.fit(&[still.view()], &|| ()).expect("a fit of a channel that rests");
    }
}

/// Two modes: a fast rotation, and a slow one the other way.
fn switching() -> SwitchingSystem {
    let turn = |angle: f64| {
        let (sine, cosine) = (0.98 * angle.sin(), 0.98 * angle.cos());
        vec![vec![cosine, -sine], vec![sine, cosine]]
    };
    let square = |x: f64| vec![vec![x, 0.0], vec![0.0, x]];
    SwitchingSystem {
        initial: vec![0.5, 0.5],
        chain: vec![vec![0.97, 0.03], vec![0.03, 0.97]],
        initial_mean: vec![vec![1.0, 0.0]; 2],
        initial_covariance: vec![square(0.5); 2],
        transition: vec![turn(1.0), turn(-0.3)],
        state_noise: vec![square(0.05), square(0.02)],
        observation: vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0]],
        observation_noise: vec![vec![0.02, 0.0, 0.0], vec![0.0, 0.02, 0.0], vec![0.0, 0.0, 0.02]],
    }
}

#[test]
fn modes_are_found_again() {
    let truth = switching();
    let (paths, series): (Vec<_>, Vec<_>) =
        (0..5).map(|seed| truth.simulate(120, seed).expect("a series")).unzip();
    let views: Vec<_> = series.iter().map(Samples::view).collect();
    let joint: f64 = paths
        .iter()
        .zip(&series)
        .map(|(path, samples)| {
            let rows = samples.view().rows().expect("channels");
            let log = truth.log_likelihood_along(path, rows).expect("a likelihood");
            log + truth.log_probability(path)
        })
        .sum();
    for pseudo_steps in [SwitchingEm::default().pseudo_steps, 0.0] {
        let em = SwitchingEm { modes: 2, pseudo_steps, ..SwitchingEm::default() };
        let fit = em.fit(&views, &|| ()).expect("a fit");
        let modes = paths.iter().zip(&fit.paths).flat_map(|(truth, found)| truth.iter().zip(found));
        let same = modes.filter(|(truth, found)| truth == found).count();
        let share = same as f64 / (5.0 * 120.0);
        let share = share.max(1.0 - share);
        assert!(share > 0.9, "{share} of the modes are found");
        // A prior costs some of the density of series and paths.
        if pseudo_steps == 0.0 {
            assert!(*fit.log_joint.last().expect("passes") > joint - 5.0);
        }
    }
}

#[test]
fn no_pass_makes_series_and_paths_less_likely() {
    let series: Vec<Samples> =
        (0..3).map(|seed| switching().simulate(60, seed).expect("a series").1).collect();
    let views: Vec<_> = series.iter().map(Samples::view).collect();
    for modes in [1, 3] {
        let em = SwitchingEm {
            modes,
            system: SystemEm { tolerance: 0.0, iterations: 15, ..SystemEm::default() },
            transition_pseudocount: 0.0,
            pseudo_steps: 0.0,
            ..SwitchingEm::default()
        };
        let fit = em.fit(&views, &|| ()).expect("a fit");
        for pair in fit.log_joint.windows(2) {
            assert!(pair[1] >= pair[0] - 1e-7 * pair[0].abs(), "{modes} modes: {pair:?}");
        }
        let again: f64 = fit
            .paths
            .iter()
            .zip(&series)
            .map(|(path, samples)| {
                let rows = samples.view().rows().expect("channels");
                let log = fit.system.log_likelihood_along(path, rows).expect("a likelihood");
                log + fit.system.log_probability(path)
            })
            .sum();
        near(again, *fit.log_joint.last().expect("passes"), 1e-9);
        assert_eq!(em.fit(&views, &|| ()), Ok(fit), "the same data, another fit");
    }
}

/// Two modes fitted to a short series say what comes next much better where each counts steps of the one system.
#[test]
fn modes_of_a_short_series_are_near_one_system() {
    let (mut near, mut loose) = (0.0, 0.0);
    for seed in 0..20 {
        let whole = switching().simulate(50, seed).expect("a series").1;
        let Samples::Channels(rows) = &whole else { panic!("channels") };
        let mut begun = Rows::new(rows.view().dimension());
        rows.view().iter().take(25).for_each(|row| begun.push(row));
        let begun = Samples::Channels(begun);
        for (pseudo_steps, sum) in
            [(SwitchingEm::default().pseudo_steps, &mut near), (0.0, &mut loose)]
        {
            let em = SwitchingEm { pseudo_steps, ..SwitchingEm::default() };
            let system = em.fit(&[begun.view()], &|| ()).expect("a fit").system;
            let log = |samples: &Samples| {
                let rows = samples.view().rows().expect("channels");
                system.log_likelihood(rows).expect("a likelihood")
            };
            *sum += (log(&whole) - log(&begun)) / (20.0 * 25.0);
        }
    }
    assert!(near > loose + 0.5, "{near} nats per sample to come, {loose} without a prior");
}
