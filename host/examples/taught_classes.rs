//! Accuracy of a class that is taught by showing windows, against the number of windows, beside the model trained with it.
//!
//! ```sh
//! cargo run --release -p fishweir --example taught_classes -- taught.svg \
//!     exercises,host/data/ts-watch-exercises/all.csv.gz,200,subject gestures,labelled.csv.gz,100
//! ```
//!
//! A set is a name, a file, samples of a window (0 for whole series), and a column whose equal values stay in one fold. Each class is left
//! out in turn, in three folds: a model of the others is trained, and is taught the class by windows of the training part, in
//! their order, from series in random order, at most half of them from one series; ten draws. Windows of the test part judge. With a
//! group column there is a second curve: windows of the first halves of the series of a group that was not trained on teach, and
//! those of its second halves judge.

use std::fmt::Write as _;
use std::num::NonZeroUsize;

use fishweir::data::{Dataset, ReadOptions, ShortSeries, Window, Windowing};
use fishweir::deploy::{Deployed, Stream};
use fishweir::learn::{ClassifierKind, Request, train};
use fishweir::teach::{Taught, learn};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SHOWN: [usize; 7] = [1, 2, 3, 5, 8, 12, 20];
const DRAWS: u64 = 10;
const FOLDS: usize = 3;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Windows decided rightly, and windows.
#[derive(Clone, Copy, Default)]
struct Share(f64, f64);

impl Share {
    fn add(&mut self, right: bool) {
        self.0 += f64::from(u8::from(right));
        self.1 += 1.0;
    }

    fn share(self) -> f64 {
        self.0 / self.1
    }
}

/// Of the taught class and of the known ones.
type Pair = [Share; 2];

/// One curve: by the number of windows shown; without teaching; and of the model trained with the class.
#[derive(Clone, Copy, Default)]
struct Curve {
    taught: [Pair; SHOWN.len()],
    without: Share,
    trained: Pair,
}

/// A window that a classifier has taken in.
struct Heard {
    series: usize,
    label: usize,
    stream: Stream,
}

fn heard(deployed: &Deployed, windows: &[Window<'_>]) -> Vec<Heard> {
    let labelled = windows.iter().filter_map(|window| Some((window, window.label()?)));
    labelled
        .map(|(window, label)| {
            let mut stream = deployed.stream();
            for sample in window.samples.iter() {
                // A refused sample is missing, as on a device.
                let _ = stream.push(sample);
            }
            Heard { series: window.series, label, stream }
        })
        .collect()
}

/// Windows to show: in their order, of series in random order, at most half of them of one series.
fn drawn<'h>(pool: &'h [Heard], count: usize, rng: &mut impl Rng) -> Vec<&'h Heard> {
    let mut series: Vec<usize> = pool.iter().map(|one| one.series).collect();
    series.dedup();
    series.shuffle(rng);
    let of = |series: usize| pool.iter().filter(move |one| one.series == series);
    let windows = series.into_iter().flat_map(|one| of(one).take(count.div_ceil(2)));
    windows.take(count).collect()
}

/// Teaches a class by windows of the pool, and judges by others.
fn teach(
    curve: &mut Curve,
    deployed: &Deployed,
    (class, names): (usize, &[String]),
    (pool, tests): (&[Heard], &[Heard]),
) -> Result<()> {
    let name: String = names[class].chars().take(4).collect::<String>() + " taught";
    for (index, &count) in SHOWN.iter().enumerate() {
        for seed in 0..DRAWS {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let shown = drawn(pool, count, &mut rng);
            if shown.len() < count {
                break;
            }
            let mut taught = Taught::new(deployed)?;
            for one in shown {
                taught.show(&name, &one.stream)?;
            }
            for test in tests {
                let decided = taught.decide(deployed, &test.stream).ok_or("a kernel machine")?;
                let decided = taught.name(decided.decision.class);
                let [of_taught, of_known] = &mut curve.taught[index];
                match test.label == class {
                    true => of_taught.add(decided == Some(&name)),
                    false => of_known.add(decided == Some(&names[test.label])),
                }
            }
        }
    }
    for test in tests.iter().filter(|test| test.label != class) {
        let decided = deployed.classes().get(test.stream.decision()?.class);
        curve.without.add(decided == names.get(test.label));
    }
    Ok(())
}

/// Judges the model that was trained with the class.
fn judge(curve: &mut Curve, class: usize, tests: &[Heard]) -> Result<()> {
    for test in tests {
        let right = test.stream.decision()?.class == test.label;
        curve.trained[usize::from(test.label != class)].add(right);
    }
    Ok(())
}

/// The curves of a set: by others, and by the group itself where there are groups.
fn curves(data: &Dataset, request: &Request) -> Result<Vec<(&'static str, Curve)>> {
    let group = request.group.as_deref();
    let (names, labels) = (data.classes(), data.labels()?);
    let all = data.windows(request.windowing.as_ref());
    let folds = data.folds(FOLDS, group, None)?;
    let groups = group.map(|column| data.groups(column)).transpose()?;
    let mut by_others = Curve::default();
    let mut by_itself = Curve::default();
    for fold in 0..folds.len() {
        let (training, testing) = (folds.train(fold), folds.test(fold));
        let whole = train(data, &training, request, &|| ())?.classifier.deploy()?;
        let cut = |series: &[usize]| all.of_all(series).copied().collect::<Vec<_>>();
        let half = |later: bool, of: usize, class: Option<usize>| {
            let of_group =
                |&&series: &&usize| groups.as_ref().is_some_and(|all| all.0[series] == of);
            let own: Vec<usize> = testing.iter().filter(of_group).copied().collect();
            let mut windows = cut(&own);
            windows.retain(|window| {
                let middle = window.source.samples.len() / 2;
                let within = match later {
                    true => window.start >= middle,
                    false => window.start + window.samples.len() <= middle,
                };
                within && class.is_none_or(|class| window.label() == Some(class))
            });
            windows
        };
        let tests_of_whole = heard(&whole, &cut(&testing));
        for class in 0..names.len() {
            let others: Vec<String> =
                names.iter().filter(|name| **name != names[class]).cloned().collect();
            let (known, _) = data.clone().of_classes(&others)?;
            // Series keep their order: those of the class are gone.
            let places = (0..labels.len()).filter(|&series| labels[series] != class);
            let kept: Vec<usize> = places
                .enumerate()
                .filter(|(_, old)| training.contains(old))
                .map(|(new, _)| new)
                .collect();
            let trained = train(&known, &kept, request, &|| ())?;
            let mut classifier = trained.classifier;
            let windows: Vec<Window<'_>> =
                known.windows(request.windowing.as_ref()).of_all(&kept).copied().collect();
            classifier.teaching = Some(learn(&classifier.deploy()?, &windows)?);
            let deployed = classifier.deploy()?;
            let mut shown = cut(&training);
            shown.retain(|window| window.label() == Some(class));
            let (pool, tests) = (heard(&deployed, &shown), heard(&deployed, &cut(&testing)));
            teach(&mut by_others, &deployed, (class, names), (&pool, &tests))?;
            judge(&mut by_others, class, &tests_of_whole)?;
            let Some((of_series, _)) = &groups else { continue };
            let mut tested: Vec<usize> = testing.iter().map(|&series| of_series[series]).collect();
            tested.sort_unstable();
            tested.dedup();
            for group in tested {
                let pool = heard(&deployed, &half(false, group, Some(class)));
                let tests = half(true, group, None);
                let judged = heard(&deployed, &tests);
                teach(&mut by_itself, &deployed, (class, names), (&pool, &judged))?;
                judge(&mut by_itself, class, &heard(&whole, &tests))?;
            }
        }
        eprintln!("fold {} of {}", fold + 1, folds.len());
    }
    let mut curves = vec![("taught by others", by_others)];
    curves.extend(groups.map(|_| ("taught by the wearer", by_itself)));
    Ok(curves)
}

/// Draws panels side by side: shares against the number of windows shown.
fn draw(panels: &[(String, Curve)]) -> String {
    let (wide, high, left, top) = (300.0, 220.0, 44.0, 34.0);
    let width = left + panels.len() as f64 * (wide + 34.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        top + high + 84.0
    );
    for (index, (title, curve)) in panels.iter().enumerate() {
        let x0 = left + index as f64 * (wide + 34.0);
        let x = |at: usize| x0 + wide * (at as f64 + 0.5) / SHOWN.len() as f64;
        let y = |share: f64| top + high * (1.0 - share);
        let _ = writeln!(svg, "<text x=\"{x0}\" y=\"20\" font-size=\"13\">{title}</text>");
        for tick in 0..=5 {
            let share = f64::from(tick) / 5.0;
            let (at, right) = (y(share), x0 + wide);
            let _ = writeln!(
                svg,
                "<path d=\"M{x0} {at:.1}H{right:.1}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{share:.1}</text>",
                x0 - 6.0,
                at + 4.0
            );
        }
        for (at, shown) in SHOWN.iter().enumerate() {
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{shown}</text>",
                x(at),
                top + high + 16.0
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">windows shown</text>",
            x0 + wide / 2.0,
            top + high + 32.0
        );
        for (of, colour) in [(0, "#c2410c"), (1, "#1d4ed8")] {
            let shares = curve.taught.iter().map(|pair| pair[of].share()).enumerate();
            let points: Vec<String> = shares
                .filter(|(_, share)| share.is_finite())
                .map(|(at, share)| format!("{:.1},{:.1}", x(at), y(share)))
                .collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                points.join(" ")
            );
            for point in &points {
                let (cx, cy) = point.split_once(',').unwrap_or_default();
                let _ =
                    writeln!(svg, "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"3\" fill=\"{colour}\"/>");
            }
            let _ = writeln!(
                svg,
                "<path d=\"M{x0} {:.1}H{:.1}\" stroke=\"{colour}\" stroke-dasharray=\"5 4\"/>",
                y(curve.trained[of].share()),
                x0 + wide
            );
        }
    }
    for (index, (colour, words)) in [
        ("#c2410c", "the taught class: share of its windows decided for it"),
        ("#1d4ed8", "the other classes: share of their windows decided rightly"),
    ]
    .iter()
    .enumerate()
    {
        let at = top + high + 52.0 + 16.0 * index as f64;
        let _ = writeln!(
            svg,
            "<path d=\"M{left} {at}h24\" stroke=\"{colour}\" stroke-width=\"2\"/><text x=\"{:.1}\" y=\"{:.1}\">{words}; dashed: by the model trained with it</text>",
            left + 32.0,
            at + 4.0
        );
    }
    svg + "</svg>\n"
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let output = arguments.next().ok_or("name an SVG file, then sets: NAME,FILE,WINDOW[,GROUP]")?;
    let mut panels = Vec::new();
    let heads: Vec<String> = SHOWN.iter().map(ToString::to_string).collect();
    println!(
        "| set | share of windows right | not taught | {} | trained with it |",
        heads.join(" | ")
    );
    println!("|---|---|{}", "--:|".repeat(2 + SHOWN.len()));
    for argument in arguments {
        let parts: Vec<&str> = argument.split(',').collect();
        let [name, file, window, group @ ..] = parts.as_slice() else {
            return Err(format!("{argument}: a set is NAME,FILE,WINDOW[,GROUP]").into());
        };
        let data = Dataset::read(file, &ReadOptions::default())?;
        let mut request = Request::new(ClassifierKind::Fisher);
        request.windowing = NonZeroUsize::new(window.parse()?).map(|length| Windowing {
            length,
            hop: length,
            short: ShortSeries::Keep,
        });
        request.group = group.first().map(ToString::to_string);
        for (how, curve) in curves(&data, &request)? {
            for (of, what) in ["taught class", "other classes"].iter().enumerate() {
                let number = |share: f64| match share.is_finite() {
                    true => format!("{share:.3}"),
                    false => String::new(),
                };
                let without = if of == 1 { number(curve.without.share()) } else { String::new() };
                let shares: Vec<String> =
                    curve.taught.iter().map(|pair| number(pair[of].share())).collect();
                let trained = number(curve.trained[of].share());
                println!(
                    "| {name}, {how} | {what} | {without} | {} | {trained} |",
                    shares.join(" | ")
                );
            }
            panels.push((format!("{name}, {how}"), curve));
        }
    }
    std::fs::write(output, draw(&panels))?;
    Ok(())
}
