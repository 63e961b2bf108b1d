//! A fitted classifier on its way to a device: costs, sources, projects, an emulated board.

use std::path::{Path, PathBuf};

use fishweir::classifier::Contract;
use fishweir::deploy::{Deployed, DeviationLimits, Enough, FixedPoint};
use fishweir::device::{Board, C_CORES, C_PREFIX, CCore, ModelFile, check_c_prefix};
use fishweir::files::write_whole;
use fishweir::parity::{Form, Recording, emulate};
use fishweir::project::{CoreSource, Project, ProjectBoard, ProjectModel, Room, SampleSource};
use fishweir::report::{Boards, DeviceComparison, Inspection};
use fishweir_core::number::NumberFormat;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;

use crate::classifier::Classifier;
use crate::dataset::Dataset;
use crate::error::{raised, refused};
use crate::run::released;
use crate::stored::{MODEL, numbers};

/// A report: its numbers as JSON, and a text for people.
pub(crate) type Report = (String, String);

/// Renders a report.
pub(crate) fn report<R: Serialize + ToString>(of: &R) -> PyResult<Report> {
    Ok((numbers(of)?, of.to_string()))
}

/// The model on every board.
#[pyfunction]
#[pyo3(signature = (classifier, rate=None))]
pub(crate) fn inspect(classifier: &Classifier, rate: Option<f64>) -> PyResult<Report> {
    let deployed = classifier.fitted.deployed();
    let fitted = &classifier.fitted.trained().classifier;
    let fixed = fitted.quantise().ok();
    let text = fitted.to_json().map_err(raised)?;
    let inspection =
        Inspection::new(MODEL.to_owned(), text.len(), deployed, Some(fitted), fixed.as_ref());
    let inspection = inspection.map_err(raised)?;
    let mut formats = vec![ProjectModel::F32(deployed)];
    formats.extend(fixed.as_ref().map(ProjectModel::Q15));
    let boards = Some(Boards::new(&formats, rate.or_else(|| rate_of(deployed))));
    let provenance = Some(fitted.provenance.clone());
    report(&Inspection { boards, provenance, ..inspection })
}

/// Samples per second of the training, if they are known.
fn rate_of(deployed: &Deployed) -> Option<f64> {
    Some(deployed.contract()?.period?.rate())
}

/// The classifier in one format of numbers.
enum Numbers {
    F32(Box<Deployed>),
    Q15(Box<FixedPoint>),
}

impl Numbers {
    /// `f32`, or `q15`, which is measured on data first.
    fn of(
        classifier: &Classifier,
        (number, endless): (&str, bool),
        data: Option<&Dataset>,
    ) -> PyResult<Self> {
        let deployed = classifier.fitted.deployed();
        if !endless {
            deployed.check_windows().map_err(|error| {
                refused(format!("{error}; or give endless=True, to decide after every sample"))
            })?;
        }
        match number {
            "f32" => {
                let deployed = deployed.clone();
                let deployed = if endless { deployed.on_windows(None) } else { deployed };
                Ok(Self::F32(Box::new(deployed)))
            }
            "q15" => {
                let fitted = &classifier.fitted.trained().classifier;
                let fixed = fitted.quantise().map_err(raised)?;
                let Some(data) = data else {
                    return Err(refused(
                        "q15 is compared with f64 on data before it is exported: give data",
                    ));
                };
                let windowing = deployed.contract().and_then(|contract| contract.windowing);
                let deviation = fixed.deviation(fitted, &data.data, windowing.as_ref());
                let limits = DeviationLimits::default();
                deviation.and_then(|deviation| deviation.check(limits)).map_err(raised)?;
                let fixed = if endless { fixed.on_windows(None) } else { fixed };
                Ok(Self::Q15(Box::new(fixed)))
            }
            other => Err(refused(format!("number `{other}` is unknown; one of f32, q15"))),
        }
    }

    fn source(&self) -> String {
        match self {
            Self::F32(deployed) => deployed.to_source(),
            Self::Q15(fixed) => fixed.to_source(),
        }
    }

    fn model(&self) -> ProjectModel<'_> {
        match self {
            Self::F32(deployed) => ProjectModel::F32(deployed),
            Self::Q15(fixed) => ProjectModel::Q15(fixed),
        }
    }
}

/// Rust source with a static of the model.
#[pyfunction]
#[pyo3(signature = (classifier, number="f32", endless=false, data=None))]
pub(crate) fn rust_source(
    classifier: &Classifier,
    number: &str,
    endless: bool,
    data: Option<&Dataset>,
) -> PyResult<String> {
    Ok(Numbers::of(classifier, (number, endless), data)?.source())
}

/// The binary artefact, which the core reads in place.
#[pyfunction]
#[pyo3(signature = (classifier, endless=false))]
pub(crate) fn artefact<'py>(
    py: Python<'py>,
    classifier: &Classifier,
    endless: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let Numbers::F32(deployed) = Numbers::of(classifier, ("f32", endless), None)? else {
        return Err(refused("an artefact is in f32"));
    };
    if let Some(why) = deployed.no_artefact() {
        return Err(refused(format!(
            "{why}, not as an artefact: export to a file that ends with .rs"
        )));
    }
    Ok(PyBytes::new(py, &deployed.to_artefact().map_err(raised)?))
}

/// Writes a library for C around a Rust source; needs cargo and the compiler's targets.
#[pyfunction]
#[pyo3(signature = (source, folder, cores=vec![], prefix=None))]
pub(crate) fn c_library(
    py: Python<'_>,
    source: &str,
    folder: PathBuf,
    cores: Vec<String>,
    prefix: Option<&str>,
) -> PyResult<()> {
    let prefix = prefix.unwrap_or(C_PREFIX);
    check_c_prefix(prefix).map_err(raised)?;
    let wanted: Vec<&str> = match cores.is_empty() {
        true => vec!["cortex-m0plus", "cortex-m4"],
        false => cores.iter().map(String::as_str).collect(),
    };
    let core = |name: &&str| {
        C_CORES.iter().find(|core| core.name == *name).ok_or_else(|| {
            let names: Vec<_> = C_CORES.iter().map(|core| core.name).collect();
            refused(format!("core `{name}` is unknown; one of {}", names.join(", ")))
        })
    };
    let cores: Vec<&CCore> = wanted.iter().map(core).collect::<PyResult<_>>()?;
    released(py, None, || -> Result<(), String> {
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        let file = scratch.path().join("model.rs");
        write_whole(&file, source.as_bytes()).map_err(|error| error.to_string())?;
        let firmware = fishweir_sources::firmware().map_err(|error| error.to_string())?;
        let made = firmware.c_library(ModelFile::Source(&file), prefix, &cores, &folder);
        made.map_err(|error| error.to_string())
    })?
    .map_err(refused)
}

/// Writes a firmware project for a board, which builds alone. Returns its numbers as JSON.
#[pyfunction]
#[pyo3(signature = (classifier, folder, board, number="f32", rate=None, tasks=false, endless=false, name=None, data=None))]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn project(
    classifier: &Classifier,
    folder: PathBuf,
    board: &str,
    number: &str,
    rate: Option<f64>,
    tasks: bool,
    endless: bool,
    name: Option<String>,
    data: Option<&Dataset>,
) -> PyResult<String> {
    let board = ProjectBoard::named(board).map_err(|error| refused(error.to_string()))?;
    let deployed = classifier.fitted.deployed();
    let Some(rate) = rate.or_else(|| rate_of(deployed)) else {
        let what =
            "the model does not say at what rate it was trained: give rate, in samples per second";
        return Err(refused(what));
    };
    if folder.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        let folder = folder.display();
        return Err(refused(format!("{folder}: there are files in it; name another folder")));
    }
    let numbers = Numbers::of(classifier, (number, endless), data)?;
    let named = || folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.or_else(named).unwrap_or_default();
    let windowing =
        deployed.contract().and_then(|contract| contract.windowing).filter(|_| !endless);
    let class = |name: &String| deployed.classes().iter().position(|class| class == name);
    let recordings = data.iter().flat_map(|data| {
        data.data.series().iter().flat_map(move |series| {
            let label = series.label.and_then(|label| class(&data.data.classes()[label]));
            let streams = series.streams(windowing.as_ref()).into_iter();
            streams.map(move |samples| (samples, label))
        })
    });
    let said = |error: fishweir_sources::SourcesError| refused(error.to_string());
    let libraries = fishweir_sources::libraries().map_err(said)?;
    let core = if libraries.is_some() { CoreSource::Vendored } else { CoreSource::Registry };
    let model = numbers.model();
    let samples = SampleSource::Sensor;
    let made = Project {
        name: &name,
        board,
        tasks,
        samples,
        model,
        rate,
        core,
        alarms: &[],
        sensor: None,
        updates: None,
        lessons: false,
    }
    .files(recordings);
    let made = made.map_err(|error| refused(error.to_string()))?;
    let room = Room::of(board, model, [made.samples; 2]);
    if room.holds() == Enough::No {
        return Err(refused(format!(
            "it does not fit on {}: it takes at least {} of {} B of RAM, and {} of {} B of flash",
            board.name, room.ram[0], room.ram_there, room.flash[0], room.flash_there,
        )));
    }
    let all = fishweir_sources::project(&made.files, libraries);
    fishweir_sources::write(&folder, &all).map_err(said)?;
    let report = serde_json::json!({
        "folder": folder.display().to_string(), "board": board.name, "number": number, "rate": rate,
        "files": all.len(), "samples": made.samples, "noise": made.noise, "room": room,
    });
    Ok(report.to_string())
}

/// Builds the firmware with the model for an emulated board, streams series to it, and compares every bit.
#[pyfunction]
#[pyo3(signature = (classifier, data, board=None, limit=None, as_artefact=false))]
pub(crate) fn run(
    py: Python<'_>,
    classifier: &Classifier,
    data: &Dataset,
    board: Option<&str>,
    limit: Option<usize>,
    as_artefact: bool,
) -> PyResult<Report> {
    let board = Board::named(board.unwrap_or(Board::default_name())).map_err(raised)?;
    let missing = board.missing();
    if !missing.is_empty() {
        return Err(refused(format!("{} is not emulated yet: {}", board.name, missing.join("; "))));
    }
    let deployed = classifier.fitted.deployed();
    let data = &data.data;
    let form = if as_artefact { Form::Artefact } else { Form::Source };
    let compared = released(py, None, || -> Result<DeviceComparison, String> {
        let firmware = fishweir_sources::firmware().map_err(|error| error.to_string())?;
        let windowing = deployed.contract().and_then(|contract| contract.windowing);
        let streams = data.series().iter().flat_map(|series| series.streams(windowing.as_ref()));
        let in_part = deployed.contract().is_some_and(Contract::lacks_some);
        let recording = Recording::new(streams, limit).in_part(in_part);
        let (image, run, parity) = emulate((&firmware, board), deployed, &recording, form, &|_| ())
            .map_err(|error| error.to_string())?;
        let names = [
            MODEL.to_owned(),
            Path::new(data.source()).display().to_string(),
            format!("{} ({})", board.name, board.core),
            if as_artefact { "artefact" } else { "source" }.to_owned(),
        ];
        let report = DeviceComparison::new(
            names,
            Some(&image),
            &run,
            parity,
            (deployed.cost(), NumberFormat::F32),
        );
        let report = DeviceComparison { evidence: deployed.evidence_name(), ..report };
        Ok(report.with_classes(deployed.classes()))
    })?;
    report(&compared.map_err(refused)?)
}
