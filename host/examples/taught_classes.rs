//! Accuracy of a class that is taught by showing windows, against the number of windows, beside the model trained with it.
//!
//! ```sh
//! cargo run --release -p fishweir --example taught_classes -- taught.svg \
//!     exercises,host/data/ts-watch-exercises/all.csv.gz,200,subject gestures,labelled.csv.gz,100
//! ```
//!
//! A set is a name, a file, samples of a window (0 for whole series), of which the next one begins at the half, and a column whose equal values stay in one fold. Each class is left
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
    /// Lessons with as many windows.
    lessons: [u64; SHOWN.len()],
    without: Share,
    trained: Pair,
}

impl Curve {
    /// Shares by the number of windows shown; `None` where fewer than nine in ten lessons have as many.
    fn shares(&self, of: usize) -> [Option<f64>; SHOWN.len()] {
        let enough = |at: usize| 10 * self.lessons[at] >= 9 * self.lessons[0];
        std::array::from_fn(|at| enough(at).then(|| self.taught[at][of].share()))
    }
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
            curve.lessons[index] += 1;
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
                let middle = window.source.samples.view().len() / 2;
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

/// Colours on light pages and on dark ones.
const STYLE: &str = "<style>text{font-family:sans-serif;font-size:12px;fill:#4d555e}.page{fill:#fff}.title{font-size:14px;fill:#24292f}\
.end{text-anchor:end}.middle{text-anchor:middle}.grid{stroke:#d8dee4}.trained{stroke:#57606a;stroke-dasharray:6 4;stroke-width:2}\n\
@media (prefers-color-scheme: dark){text{fill:#a9b3be}.page{fill:#0d1117}.title{fill:#e6edf3}.grid{stroke:#30363d}.trained{stroke:#9da7b3}}\
</style>\n";

/// Colours of the curves: of the taught class, and of the others.
const COLOURS: [&str; 2] = ["#c2560c", "#2f7de1"];

/// Draws panels side by side: shares against the number of windows shown.
fn draw(panels: &[(String, Curve)]) -> String {
    let (wide, high, left, top) = (300.0, 220.0, 44.0, 34.0);
    let width = left + panels.len() as f64 * (wide + 36.0);
    let height = top + high + 106.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"Accuracy of taught classes\">\n\
         {STYLE}<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    for (index, (title, curve)) in panels.iter().enumerate() {
        let x0 = left + index as f64 * (wide + 36.0);
        let (right, bottom) = (x0 + wide, top + high);
        let x = |at: usize| x0 + wide * (at as f64 + 0.5) / SHOWN.len() as f64;
        let y = |share: f64| top + high * (1.0 - share);
        let _ = writeln!(svg, "<text class=\"title\" x=\"{x0}\" y=\"20\">{title}</text>");
        for tick in 0..=5 {
            let share = f64::from(tick) / 5.0;
            let (at, text) = (y(share), y(share) + 4.0);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{x0}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
                 <text class=\"end\" x=\"{}\" y=\"{text:.1}\">{share:.1}</text>",
                x0 - 6.0
            );
        }
        for (at, shown) in SHOWN.iter().enumerate() {
            let (x, y) = (x(at), bottom + 16.0);
            let _ =
                writeln!(svg, "<text class=\"middle\" x=\"{x:.1}\" y=\"{y:.1}\">{shown}</text>");
        }
        let middle = x0 + wide / 2.0;
        let _ = writeln!(
            svg,
            "<text class=\"middle\" x=\"{middle:.1}\" y=\"{:.1}\">windows shown</text>",
            bottom + 34.0
        );
        // Each window is of the taught class once: both shares of the trained model are its accuracy.
        let trained = y(curve.trained[0].share());
        let _ = writeln!(
            svg,
            "<line class=\"trained\" x1=\"{x0}\" x2=\"{right}\" y1=\"{trained:.1}\" y2=\"{trained:.1}\"/>"
        );
        for (of, colour) in COLOURS.iter().enumerate() {
            let points = curve.shares(of).into_iter().enumerate();
            let points: Vec<(f64, f64)> =
                points.filter_map(|(at, share)| Some((x(at), y(share?)))).collect();
            let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let line = line.join(" ");
            let _ = writeln!(
                svg,
                "<polyline points=\"{line}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
            );
            for (x, y) in points {
                let _ = writeln!(
                    svg,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\" fill=\"{colour}\"/>"
                );
            }
        }
    }
    let words = [
        "taught class: share of its windows that are decided for it",
        "other classes: share of their windows that are decided rightly",
        "accuracy of a model trained with all classes",
    ];
    for (index, words) in words.iter().enumerate() {
        let at = top + high + 56.0 + 17.0 * index as f64;
        let stroke = match COLOURS.get(index) {
            Some(colour) => format!("stroke=\"{colour}\" stroke-width=\"2\""),
            None => "class=\"trained\"".to_owned(),
        };
        let _ = writeln!(
            svg,
            "<line x1=\"{left}\" x2=\"{}\" y1=\"{at}\" y2=\"{at}\" {stroke}/><text x=\"{}\" y=\"{}\">{words}</text>",
            left + 24.0,
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
        let half = |length: NonZeroUsize| NonZeroUsize::new(length.get() / 2).unwrap_or(length);
        request.windowing = NonZeroUsize::new(window.parse()?).map(|length| Windowing {
            length,
            hop: half(length),
            short: ShortSeries::Keep,
        });
        request.group = group.first().map(ToString::to_string);
        for (how, curve) in curves(&data, &request)? {
            for (of, what) in ["taught class", "other classes"].iter().enumerate() {
                let number = |share: f64| format!("{share:.3}");
                let without = if of == 1 { number(curve.without.share()) } else { String::new() };
                let shares = curve.shares(of).map(|share| share.map_or_else(String::new, number));
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
