//! `fishweir export`.

use std::path::{Path, PathBuf};

use fishweir::classifier::Observations;
use fishweir::deploy::{
    CNames, CSource, Cost, DetectorModel, Deviation, FixedPoint, SpotterModel, UpdateFileError,
};
use fishweir::report::grouped;
use serde::Serialize;

use super::c::ForC;
use super::c_source::{InC, in_c, write_in_c};
use super::fixed::{self, NumberName, measured};
use super::help::brief;
use super::keygen;
use super::micropython::ForMicroPython;
use super::model::{Model, ModelArgument};
use super::options::{named, note_idle};
use super::output::{self, Outputs};
use super::reading::{Gathering, Reading};
use super::values::share;
use super::{Failure, Topic, next, note, recognise};

/// Options that `-h` shows.
const SHOWN: &[&str] = &[
    "model",
    "output",
    "rust",
    "artefact",
    "c",
    "c_source",
    "micropython",
    "number",
    "data",
    "update",
    "update_version",
    "json",
];

const EXAMPLES: &str = "\
Examples:
  fishweir export gait.json --rust gait.rs --artefact gait.fishweir
  fishweir export gait.json --c gait-c --core cortex-m4
  fishweir export gait.json --c-source gait.c --prefix gait
  fishweir export gait.json --c-source gait --prefix gait     # a folder for Arduino, PlatformIO, ESP-IDF, Zephyr
  fishweir export gait.json --micropython gait-mpy --prefix gait --arch armv6m
  fishweir export gait.json --rust gait.rs --number q15 --data gait.csv
  fishweir export gait.json --update gait.update --update-version 2 --key private.pem";

#[derive(Debug, clap::Args)]
#[command(mut_args(|option| brief(option, SHOWN)), after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    model: ModelArgument,
    /// Rust source with a static of the model, for linking into firmware; - for standard output
    #[arg(long, value_name = "FILE.rs")]
    rust: Option<PathBuf>,
    /// Binary artefact, read in place by the core
    #[arg(long, visible_alias = "artifact", value_name = "FILE.fishweir")]
    artefact: Option<PathBuf>,
    /// Output file of any form, by its ending: .rs, .fishweir or .c
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Portable C source for any compiler, C99 and C++11: FILE.c with FILE.h beside it, or a folder
    ///
    /// A folder is a library for CMake, Arduino, PlatformIO, ESP-IDF and Zephyr.
    ///
    /// It needs no library, and has the interface of --c. For kernel machines, front ends, and emissions other
    /// than gaussian and categorical use --rust or --c.
    #[arg(long, value_name = "FILE.c|FOLDER")]
    c_source: Option<PathBuf>,
    #[command(flatten)]
    for_c: ForC,
    #[command(flatten)]
    for_micropython: ForMicroPython,
    /// Update for a device in the field: artefact, version, and a self-test of the first samples
    #[arg(long, value_name = "FILE", requires = "update_version")]
    update: Option<PathBuf>,
    /// Version of the update, greater than the version on the device
    #[arg(long, value_name = "N", requires = "update", value_parser = clap::value_parser!(u32).range(1..))]
    update_version: Option<u32>,
    /// Sign the update with this private key of `fishweir keygen`
    #[arg(long, value_name = "FILE", requires = "update")]
    key: Option<PathBuf>,
    /// Leave room in the update for an Ed25519 signature that you append
    #[arg(long, requires = "update", conflicts_with = "key")]
    to_be_signed: bool,
    /// Decide after every sample, without the windows of the training
    #[arg(long)]
    endless: bool,
    /// Numbers of the model: floating point, or fixed point of 16-bit tables for parts without an FPU
    ///
    /// --rust, --c, --c-source and --micropython take fixed point. Its decisions are compared with those in f64 before it is written.
    #[arg(long, value_enum, default_value_t = NumberName::F32)]
    number: NumberName,
    /// Data to compare fixed point on, or for the self-test of an update [default: the training data]
    ///
    /// The default is the file of the training data, in this folder or beside the model, if its checksum is unchanged.
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    /// Smallest share of windows on which fixed point and f64 must agree [default: 0.995]
    #[arg(long, value_name = "SHARE", value_parser = share, allow_negative_numbers = true)]
    equal: Option<f64>,
    #[command(flatten)]
    reading: Reading,
    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Rust,
    Artefact,
    Update(u32),
    C,
}

#[derive(Debug, Serialize)]
struct Exported {
    model: String,
    number: NumberName,
    files: Vec<ExportedFile>,
    /// Folders among them that are libraries of C source.
    #[serde(skip)]
    libraries: Vec<PathBuf>,
    /// Deviation of fixed point from `f64`; null for floating point.
    deviation: Option<Deviation>,
    /// Cost of fixed point, or of a kernel machine; null for other floating point.
    cost: Option<Cost>,
    /// Binary places of each channel in fixed point; null otherwise.
    places: Option<Vec<(String, i16)>>,
}

#[derive(Debug, Serialize)]
struct ExportedFile {
    file: String,
    form: &'static str,
    bytes: usize,
}

impl ExportedFile {
    fn of_source((file, form, bytes): (String, &'static str, usize)) -> Self {
        Self { file, form, bytes }
    }

    fn of_c((file, bytes): (String, usize)) -> Self {
        Self { file, form: "C library", bytes }
    }

    fn of_micropython((file, bytes): (String, usize)) -> Self {
        Self { file, form: "MicroPython modules", bytes }
    }
}

impl std::fmt::Display for Exported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_in = |folder: &PathBuf, file: &str| Path::new(file).starts_with(folder);
        for ExportedFile { file, form, bytes } in &self.files {
            if f.alternate() || !self.libraries.iter().any(|folder| is_in(folder, file)) {
                writeln!(f, "{form} written to {file}: {} B", grouped(*bytes))?;
            }
        }
        for folder in &self.libraries {
            let (mut files, mut bytes) = (0, 0);
            for one in self.files.iter().filter(|one| is_in(folder, &one.file)) {
                (files, bytes) = (files + 1, bytes + one.bytes);
            }
            let [files, bytes] = [files, bytes].map(grouped);
            writeln!(
                f,
                "library of C source written to {}: {files} files, {bytes} B",
                folder.display()
            )?;
        }
        let Some(deviation) = &self.deviation else { return Ok(()) };
        writeln!(f, "numbers: q15, fixed point of 16-bit tables")?;
        for (name, places) in self.places.iter().flatten() {
            writeln!(
                f,
                "  channel {name}: the device takes round({name} x 2^{places}), a 16-bit integer"
            )?;
        }
        if let Some(cost) = &self.cost {
            let (model, state) = (cost.model_bytes, cost.state_bytes);
            let [model, state] = [model, state].map(grouped);
            writeln!(f, "  flash, model {model} B; RAM, state of one stream {state} B")?;
        }
        writeln!(
            f,
            "  {:.2} % of {} windows decided as in f64; error of decision values: {:.2e} at worst, {:.2e} in the \
             mean (mean margin {:.2e}); samples refused in one of the two only: {}",
            100.0 * deviation.equal_decisions,
            grouped(deviation.windows),
            deviation.worst,
            deviation.mean,
            deviation.mean_margin,
            grouped(deviation.refused_by_one),
        )?;
        if let Some(codewords) = deviation.codewords.filter(|codewords| codewords.all > 0) {
            writeln!(
                f,
                "  {:.2} % of {} codewords equal those in f64",
                100.0 * codewords.equal as f64 / codewords.all.max(1) as f64,
                grouped(codewords.all as usize),
            )?;
        }
        let bound = &deviation.bound;
        let (Some(worst), Some(median)) = (bound.worst, bound.median) else {
            return writeln!(
                f,
                "  no bound: in every window the likelihood under some model is zero, or nearly"
            );
        };
        writeln!(
            f,
            "  bound of the rounding error of decision values: {worst:.2e} at worst, {median:.2e} in the median ({} \
             windows have one); {:.2} % of all windows have a larger margin",
            grouped(bound.windows),
            100.0 * bound.certain,
        )
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut wanted = Vec::new();
    wanted.extend(arguments.rust.iter().map(|file| (Form::Rust, file)));
    wanted.extend(arguments.artefact.iter().map(|file| (Form::Artefact, file)));
    wanted.extend(arguments.c_source.iter().map(|file| (Form::C, file)));
    let update = arguments.update.as_ref().zip(arguments.update_version);
    wanted.extend(update.map(|(file, version)| (Form::Update(version), file)));
    for file in &arguments.output {
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("rs") => wanted.push((Form::Rust, file)),
            Some("fishweir" | "bin") => wanted.push((Form::Artefact, file)),
            Some("c") => wanted.push((Form::C, file)),
            _ => {
                return Err(Failure::input(
                    Topic::UnfitEnding,
                    format!(
                        "{}: the ending is none of .rs (Rust source), .fishweir (artefact), .c (C source); use \
                        --rust FILE, --artefact FILE or --c-source FILE.c",
                        file.display()
                    ),
                ));
            }
        }
    }
    let for_micropython = &arguments.for_micropython;
    let built = arguments.for_c.c.is_some() || for_micropython.micropython.is_some();
    if wanted.is_empty() && !built {
        return Err(Failure::input(
            Topic::NothingToWrite,
            "nothing to write: give --rust FILE.rs, --artefact FILE.fishweir, --c-source FILE.c, --update FILE, -o \
             FILE, --c DIR or --micropython DIR",
        ));
    }
    let c_files: Vec<&Path> = wanted
        .iter()
        .filter(|(form, _)| *form == Form::C)
        .map(|(_, file)| file.as_path())
        .collect();
    arguments.for_c.check(!c_files.is_empty() || for_micropython.micropython.is_some())?;
    for_micropython.check()?;
    if let Some(file) =
        c_files.iter().find(|file| file.extension().is_some_and(|ending| ending != "c"))
    {
        return Err(Failure::input(
            Topic::UnfitEnding,
            format!(
                "{}: C source goes to a file FILE.c, with FILE.h beside it, or to a folder without an ending",
                file.display()
            ),
        ));
    }
    let bytes = recognise::read(arguments.model.path())?;
    if SpotterModel::is_one(&bytes) {
        return whole(arguments, &wanted, "a spotter of events", &|file| {
            let spotter = SpotterModel::parse(file, &bytes)?.deploy()?;
            let source = spotter.to_source();
            Ok((source, Box::new(move |names: CNames<'_>| spotter.to_c_source(names))))
        });
    }
    if DetectorModel::is_one(&bytes) {
        return whole(arguments, &wanted, "a detector of change", &|file| {
            let detector = DetectorModel::parse(file, &bytes)?.deploy()?;
            let source = detector.to_source();
            Ok((source, Box::new(move |names: CNames<'_>| detector.to_c_source(names))))
        });
    }
    let mut model = Model::parse_any(arguments.model.path(), &bytes)?;
    if let Some(target) = model.deployed.target() {
        let other = named([
            ("--c", arguments.for_c.c.is_some()),
            ("--micropython", for_micropython.micropython.is_some()),
            ("--update", update.is_some()),
            ("--number q15", arguments.number == NumberName::Q15),
        ]);
        if let [option, ..] = other.as_slice() {
            let file = arguments.model.path().display();
            let what = format!(
                "{file}: {option}: this model estimates `{}`; use --rust, --artefact or --c-source",
                target.name
            );
            return Err(Failure::input(Topic::Unsupported, what));
        }
    }
    if arguments.endless {
        model.deployed = model.deployed.on_windows(None);
    } else if model.deployed.contract().is_none() {
        return Err(Failure::input(
            Topic::NoContract,
            format!(
                "{}: an earlier fishweir wrote this artefact, without the windows of its training: export from its \
                 model again, or give --endless to decide after every sample",
                arguments.model.path().display()
            ),
        ));
    }
    model.check_windows()?;
    let model = model;
    let trained_on = fixed::trained_on(arguments.model.path(), &model);
    let data = arguments.data.iter().chain(&trained_on).chain(&arguments.key);
    let inputs: Vec<&Path> = data.map(PathBuf::as_path).chain([arguments.model.path()]).collect();
    let files = files_of(&wanted);
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let outputs = Outputs::check(&files, &inputs)?;
    let to_artefact = wanted.iter().find(|(form, _)| !matches!(form, Form::Rust | Form::C));
    if let (Some(why), Some((_, file))) = (model.deployed.no_artefact(), to_artefact) {
        let file = file.display();
        return Err(Failure::input(
            Topic::Unsupported,
            format!("{file}: {why}, not as an artefact: use --rust"),
        ));
    }
    let fixed = match arguments.number {
        NumberName::F32 => {
            let mut idle = named([("--equal", arguments.equal.is_some())]);
            if arguments.update.is_none() {
                idle.extend(arguments.reading.given());
                idle.extend(named([("--data", arguments.data.is_some())]));
            }
            note_idle(&idle, "only --number q15 is measured on data")?;
            None
        }
        NumberName::Q15 => {
            if let Some((_, file)) = to_artefact {
                return Err(Failure::input(
                    Topic::Unsupported,
                    format!(
                        "{}: fixed point is exported as Rust source, not as an artefact: use --rust",
                        file.display()
                    ),
                ));
            }
            let (source, named) = (arguments.model.path(), arguments.data.as_deref());
            let mut measured = measured(
                source,
                &model,
                named,
                (&arguments.reading, &Gathering::default()),
                arguments.equal,
            )?;
            if arguments.endless {
                measured.fixed = measured.fixed.on_windows(None);
            }
            Some(measured)
        }
    };
    let source = || match &fixed {
        Some(measured) => measured.fixed.to_source(),
        None => model.deployed.to_source(),
    };
    let (prefix, mut sources) = (arguments.for_c.prefix(), Vec::new());
    for file in c_files {
        sources.push(in_c(prefix, file, &|names| match &fixed {
            Some(measured) => measured.fixed.to_c_source(names),
            None => model.deployed.to_c_source(names),
        })?);
    }
    let libraries = libraries_of(&wanted);
    let none = CSource::default();
    let (mut sources, mut written) = (sources.iter(), Vec::new());
    for (form, file) in wanted {
        let (form, bytes) = match form {
            Form::Rust => ("Rust source", source().into_bytes()),
            Form::Artefact => ("artefact", model.deployed.to_artefact()?),
            Form::Update(version) => ("update", update_of(arguments, &model, version)?),
            Form::C => {
                let made = sources.next().unwrap_or(&none);
                written.extend(
                    write_in_c(prefix, file, made)?.into_iter().map(ExportedFile::of_source),
                );
                continue;
            }
        };
        output::write(file, &bytes)?;
        let file = file.display().to_string();
        written.push(ExportedFile { file, form, bytes: bytes.len() });
    }
    written.extend(arguments.for_c.write(source)?.map(ExportedFile::of_c));
    let modules = for_micropython.write(prefix, source)?;
    written.extend(modules.map(ExportedFile::of_micropython));
    let believed = model.fitted().is_some_and(|fitted| fitted.confidence.is_some());
    if believed && arguments.for_c.c.is_some() {
        note(
            Topic::NoConfidenceInC,
            format_args!(
                "the library for C has no probabilities and no rejection; the Rust source and --c-source have both"
            ),
        );
    }
    let places = |fixed: &FixedPoint| match fixed.observations() {
        Observations::Channels(names) => {
            names.iter().cloned().zip(fixed.places().iter().copied()).collect()
        }
        Observations::Symbols(_) => Vec::new(),
    };
    let hint = how_to_take(&libraries);
    let report = Exported {
        libraries,
        model: arguments.model.path().display().to_string(),
        number: arguments.number,
        files: written,
        cost: match &fixed {
            Some(measured) => Some(measured.fixed.cost()),
            None => model.deployed.kernel_name().map(|_| model.deployed.cost()),
        },
        places: fixed.as_ref().map(|measured| places(&measured.fixed)),
        deviation: fixed.map(|measured| measured.deviation),
    };
    outputs.print_with(&report, arguments.json, hint.as_deref())
}

/// Returns whether an output is a folder, which is made with all its files.
fn is_folder(form: Form, file: &Path) -> bool {
    form == Form::C && file.extension().is_none()
}

/// The folders among the outputs, which are libraries of C source.
fn libraries_of(wanted: &[(Form, &PathBuf)]) -> Vec<PathBuf> {
    let folders = wanted.iter().filter(|(form, file)| is_folder(*form, file));
    folders.map(|(_, folder)| (*folder).clone()).collect()
}

/// The line after the report: how libraries are taken into a build.
fn how_to_take(libraries: &[PathBuf]) -> Option<String> {
    let folder = libraries.first()?;
    let manual = next::file(folder.join("README.md"));
    let folder = next::file(folder);
    next::hint(Some(format!(
        "for Arduino copy {folder} into the folder libraries of your sketches; {manual} tells how PlatformIO, ESP-IDF, \
         Zephyr, CMake and other compilers take it"
    )))
}

/// The files that are written: those that are wanted, and the headers of C sources.
fn files_of(wanted: &[(Form, &PathBuf)]) -> Vec<PathBuf> {
    let files = wanted.iter().filter(|(form, file)| !is_folder(*form, file));
    let headers = files.clone().filter(|(form, _)| *form == Form::C);
    let headers = headers.map(|(_, file)| file.with_extension("h"));
    files.map(|(_, file)| (*file).clone()).chain(headers).collect()
}

/// The Rust source of a file's name, and what it is in C.
type Sources<'a> = dyn Fn(&str) -> Result<(String, Box<InC<'a>>), Failure> + 'a;

/// A spotter or a detector, which has a Rust source, alone or in a library for C, perhaps a C source, and no other form.
fn whole<'a>(
    arguments: &Arguments,
    wanted: &[(Form, &PathBuf)],
    what: &str,
    source: &Sources<'a>,
) -> Result<(), Failure> {
    let model = arguments.model.path().display().to_string();
    let other = wanted.iter().any(|(form, _)| !matches!(form, Form::Rust | Form::C));
    if other || arguments.number != NumberName::F32 {
        let why = format!(
            "{what} is exported in f32, as Rust source, for C or for MicroPython: use --rust, --c, --c-source or \
             --micropython"
        );
        return Err(Failure::input(Topic::Unsupported, format!("{model}: {why}")));
    }
    let mut idle = arguments.reading.given();
    idle.extend(named([
        ("--data", arguments.data.is_some()),
        ("--equal", arguments.equal.is_some()),
        ("--endless", arguments.endless),
    ]));
    note_idle(&idle, format_args!("the source of {what} needs no data and has no windows"))?;
    let files = files_of(wanted);
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let outputs = Outputs::check(&files, &[arguments.model.path()])?;
    let (source, make) = source(&model)?;
    let (prefix, mut sources) = (arguments.for_c.prefix(), Vec::new());
    for (_, file) in wanted.iter().filter(|(form, _)| *form == Form::C) {
        sources.push(in_c(prefix, file, &make)?);
    }
    let none = CSource::default();
    let (mut sources, mut written) = (sources.iter(), Vec::new());
    for (form, file) in wanted {
        if *form == Form::C {
            let made = sources.next().unwrap_or(&none);
            written
                .extend(write_in_c(prefix, file, made)?.into_iter().map(ExportedFile::of_source));
            continue;
        }
        output::write(file, source.as_bytes())?;
        let file = file.display().to_string();
        written.push(ExportedFile { file, form: "Rust source", bytes: source.len() });
    }
    written.extend(arguments.for_c.write(|| source.clone())?.map(ExportedFile::of_c));
    let modules = arguments.for_micropython.write(prefix, || source)?;
    written.extend(modules.map(ExportedFile::of_micropython));
    let libraries = libraries_of(wanted);
    let hint = how_to_take(&libraries);
    let report = Exported {
        libraries,
        model,
        number: NumberName::F32,
        files: written,
        deviation: None,
        cost: None,
        places: None,
    };
    outputs.print_with(&report, arguments.json, hint.as_deref())
}

/// The update of a version: its self-test is of the first series.
fn update_of(arguments: &Arguments, model: &Model, version: u32) -> Result<Vec<u8>, Failure> {
    let why = "an update carries samples that a device tests it with";
    let (source, named) = (arguments.model.path(), arguments.data.as_deref());
    let data =
        fixed::read_data(source, model, named, (&arguments.reading, &Gathering::default()), why)?;
    let series = data.series().first().ok_or(UpdateFileError::NoSample)?;
    let view = series.samples.view();
    let update = model.deployed.to_update(version, view, arguments.to_be_signed)?;
    match &arguments.key {
        Some(key) => Ok(keygen::read(key)?.sign(&update).map_err(UpdateFileError::Update)?),
        None => Ok(update),
    }
}
