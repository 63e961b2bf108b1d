//! The models that watch a stream and report what they find: spotters, detectors, and models of records.

use std::path::Path;

use fishweir::classifier::{Contract, Observations, Provenance};
use fishweir::data::Dataset;
use fishweir::deploy::{Detector, DetectorModel, Spotter, SpotterModel};
use fishweir::project::{ProjectBoard, Watcher};
use fishweir_networks::records::Records;
use fishweir_networks::{DeployedEvents, NetworkFile};

use super::network::{Deployment, events_of};
use super::options::note_idle;
use super::reading::{Gathering, Reading};
use super::{Failure, read, recognise};

/// A watcher as a file has it.
pub(super) enum WatcherModel {
    /// A spotter, and its training.
    Spotter(Box<Spotter>, Box<Provenance>),
    /// A detector, and its training.
    Detector(Box<Detector>, Box<Provenance>),
    /// A classifier of records, or an alarm on them, and the columns of the file.
    Records(Box<DeployedEvents>, Box<NetworkFile>),
}

/// Recordings for a watcher.
pub(super) enum WatchedData {
    Series(Box<Dataset>),
    Records(Records),
}

impl WatcherModel {
    /// The watcher in the bytes of a file; `None` if it has another kind of model.
    pub(super) fn read(
        path: &Path,
        bytes: &[u8],
        deployment: &Deployment,
    ) -> Result<Option<Self>, Failure> {
        let file = path.display().to_string();
        if SpotterModel::is_one(bytes) {
            let model = SpotterModel::parse(&file, bytes)?;
            return Ok(Some(Self::Spotter(Box::new(model.deploy()?), Box::new(model.provenance))));
        }
        if DetectorModel::is_one(bytes) {
            let model = DetectorModel::parse(&file, bytes)?;
            return Ok(Some(Self::Detector(Box::new(model.deploy()?), Box::new(model.provenance))));
        }
        if recognise::is_network(&file, bytes) {
            let model = NetworkFile::parse(&file, bytes)?;
            let (deployed, _) = deployment.of(path, &model)?;
            return Ok(Some(Self::Records(Box::new(deployed), Box::new(model))));
        }
        Ok(None)
    }

    /// Observations of a stream; `None` of records.
    pub(super) fn observations(&self) -> Option<&Observations> {
        match self {
            Self::Spotter(spotter, _) => Some(spotter.observations()),
            Self::Detector(detector, _) => Some(detector.observations()),
            Self::Records(..) => None,
        }
    }

    /// Description of the kind.
    pub(super) fn what(&self) -> &'static str {
        match self {
            Self::Spotter(..) => "a spotter of events",
            Self::Detector(..) => "a detector of change",
            Self::Records(..) => "a model of records",
        }
    }

    /// Contract of the training; `None` of records, which have no rate.
    pub(super) fn contract(&self) -> Option<Contract> {
        match self {
            Self::Spotter(_, trained) | Self::Detector(_, trained) => {
                Some(trained.contract_in_part())
            }
            Self::Records(..) => None,
        }
    }

    /// Reads recordings for it.
    pub(super) fn data(
        &self,
        path: &Path,
        given: (&Reading, &Gathering),
    ) -> Result<WatchedData, Failure> {
        let (observations, values, trained) = match self {
            Self::Spotter(spotter, trained) => (spotter.observations(), spotter.values(), trained),
            Self::Detector(detector, trained) => {
                (detector.observations(), detector.values(), trained)
            }
            Self::Records(_, file) => {
                let idle = [given.0.given(), given.1.given()].concat();
                note_idle(&idle, "the model fixes the columns of records")?;
                return Ok(WatchedData::Records(events_of(path, file)?.1));
            }
        };
        let contract = trained.contract_in_part();
        let of_model = (observations, values, Some(&contract));
        let fit = |reading: &Reading| reading.options_that_fit(of_model, None);
        let recipe = trained.recipe.as_deref();
        let (data, options) = read::by_recipe(recipe, &[path.to_owned()], given, fit)?;
        read::check(&data, &options, Some(&contract), &[])?;
        Ok(WatchedData::Series(Box::new(data)))
    }

    /// The model of a project on a board, with the self-test of recordings, or of noise.
    pub(super) fn on_board(
        &self,
        board: &ProjectBoard,
        data: Option<&WatchedData>,
    ) -> Result<Watcher, Failure> {
        let series = data.iter().filter_map(|data| match data {
            WatchedData::Series(data) => Some(data.series()),
            WatchedData::Records(_) => None,
        });
        let streams = series.flatten().map(|series| series.samples.view());
        match self {
            Self::Spotter(spotter, _) => Ok(Watcher::of_spotter(spotter, board, streams)),
            Self::Detector(detector, _) => Ok(Watcher::of_detector(detector, board, streams)),
            Self::Records(events, _) => {
                let records = data.and_then(|data| match data {
                    WatchedData::Records(records) => Some(records),
                    WatchedData::Series(_) => None,
                });
                let made = events.watcher(board, records);
                made.map_err(|error| Failure::input(error.kind(), error.to_string()))
            }
        }
    }
}
