//! Small data, written by the tests themselves, and models fitted to them once.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use tempfile::TempDir;

use super::printed;

/// A temporary folder.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The path of a file there, as command lines have it.
    pub(crate) fn at(&self, name: impl AsRef<Path>) -> String {
        self.path().join(name).display().to_string()
    }

    /// Writes a file; its path.
    pub(crate) fn put(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> String {
        let path = self.at(name);
        fs::write(&path, content).expect("a temporary file");
        path
    }

    /// What was written to a file.
    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).expect("written")
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        self.path()
    }
}

/// Options that make a fit quick.
pub(crate) const QUICK: &str = "--states 2 --restarts 1 --iterations 8";

/// A folder with data and models that all tests read and none changes, made when it is first asked for.
pub(crate) fn fixtures() -> &'static Folder {
    static FIXTURES: OnceLock<Folder> = OnceLock::new();
    FIXTURES.get_or_init(|| {
        let fixtures = Folder::new();
        let put = |name: &str, text: &str| fixtures.put(name, text);
        put("two.csv", &table(&["still", "moving"]));
        put("three.csv", &table(&["still", "moving", "turning"]));
        put("unlabelled.csv", &table(&["still", "moving"]).replace(",label", ",name"));
        put("counts.csv", &counts());
        put("strings.tsv", &strings());
        put("strings.fasta", &fasta());
        for (data, model, options) in [
            ("two.csv", "two.json", "--classifier fisher --score-model all --window 20 --hop 10"),
            (
                "three.csv",
                "three.json",
                "--classifier fisher --score-model all --window 20 --hop 10",
            ),
            ("three.csv", "bayes.json", "--classifier bayes"),
            ("strings.tsv", "strings.json", "--classifier fisher"),
        ] {
            fit(&fixtures.at(data), &fixtures.at(model), options);
        }
        for model in ["two", "three", "bayes", "strings"] {
            let from = fixtures.at(format!("{model}.json"));
            let to = fixtures.at(format!("{model}.fishweir"));
            printed(&format!("export {from} --artefact {to}"));
        }
        fixtures
    })
}

pub(crate) fn fit(data: &str, model: &str, options: &str) {
    printed(&format!("fit {data} -o {model} {options} {QUICK} --effort quick"));
}

/// Numbers between -1 and 1 without a library: a linear congruential generator.
pub(crate) struct Noise(pub(crate) u32);

impl Iterator for Noise {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Some(f64::from(self.0) / f64::from(u32::MAX) * 2.0 - 1.0)
    }
}

/// Three subjects, each with two series of forty samples of every class, in two channels.
pub(crate) fn table(classes: &[&str]) -> String {
    let mut text = "series,subject,label,t,x,y\n".to_owned();
    let mut noise = Noise(1);
    let mut series = 0;
    for subject in ["ann", "bob", "cat"] {
        for take in 0..2 {
            for (number, class) in classes.iter().enumerate() {
                for t in 0..40 {
                    let phase = f64::from(t + 3 * take) * 0.7;
                    let (x, y) = match number {
                        0 => (0.0, 0.5),
                        1 => (phase.sin(), 0.5 - phase.cos()),
                        _ => (2.0 * (0.5 * phase).cos(), 1.5),
                    };
                    let mut near = |value: f64| value + 0.3 * noise.next().unwrap_or(0.0);
                    let (x, y) = (near(x), near(y));
                    let _ = writeln!(text, "{series},{subject},{class},{t},{x:.3},{y:.3}");
                }
                series += 1;
            }
        }
    }
    text
}

/// Four series of counts, of two classes.
fn counts() -> String {
    let sample =
        |n: usize| format!("{},{},{},{}\n", n / 9, ["few", "many"][n / 9 % 2], n % 9, n % 5);
    "series,label,t,n\n".to_owned() + &(0..36).map(sample).collect::<String>()
}

/// Strings of two classes: one repeats its symbols, the other alternates.
pub(crate) fn labelled_strings() -> Vec<(&'static str, String)> {
    let mut noise = Noise(7);
    (0..12)
        .map(|number| {
            let repeats = number % 2 == 0;
            let mut last = 0;
            let text = (0..25)
                .map(|_| {
                    let chance = noise.next().unwrap_or(0.0);
                    let stays = if repeats { chance < 0.7 } else { chance < -0.7 };
                    last = if stays { last } else { (last + 1 + usize::from(chance > 0.9)) % 4 };
                    ['A', 'C', 'G', 'T'][last]
                })
                .collect();
            (if repeats { "runs" } else { "turns" }, text)
        })
        .collect()
}

fn strings() -> String {
    let rows = labelled_strings().into_iter().enumerate();
    let rows = rows.map(|(id, (label, text))| format!("{label}\tstring{id}\t{text}\n"));
    "label\tid\tsequence\n".to_owned() + &rows.collect::<String>()
}

fn fasta() -> String {
    let rows = labelled_strings().into_iter().enumerate();
    rows.map(|(id, (label, text))| {
        let (first, second) = text.split_at(10);
        format!(">string{id} class={label} made up\n{first}\n{second}\n")
    })
    .collect()
}
