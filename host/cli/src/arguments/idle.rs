//! Options of training that can have no effect, by what is trained and on what.

use fishweir::data::{Dataset, Kind, Stage};
use fishweir::learn::{ClassifierKind, Effort, Request, Space, Varied};

use super::TrainingArguments;
use crate::options::{named, refuse_idle};
use crate::reading::Cutting;
use crate::{Failure, Topic};

impl TrainingArguments {
    /// Refuses options that none of these classifiers reads; beside them there may be machines on
    /// `kernels`, some of them `by_name` with settings of their own.
    pub(crate) fn check_read_by(
        &self,
        kinds: &[ClassifierKind],
        kernels: bool,
        by_name: bool,
    ) -> Result<(), Failure> {
        use ClassifierKind::{Bayes, EmpiricalMap, Fisher, Gaussian, LatentMap, Polynomial, Top};
        let models = kernels || kinds.iter().any(|kind| *kind != EmpiricalMap);
        let machines = kinds.iter().any(|kind| *kind != Bayes);
        let readers = |name| match name {
            "--learner" | "--c" => machines || kernels,
            "--normalisation" | "--scaling" => machines,
            // Bayes classifiers are trained on no copies, and choose no mirror image.
            "--copies" | "--vectors" | "--axial" | "--rotation" | "--gain" => machines,
            "--lags" | "--front" => {
                kinds.iter().any(|kind| kind.compiles() && *kind != EmpiricalMap)
            }
            "--emission" | "--components" | "--states" | "--topology" | "--restarts" | "--seed"
            | "--iterations" | "--tolerance" => models,
            "--score-model" => kinds.iter().any(|kind| ![Bayes, Top, EmpiricalMap].contains(kind)),
            "--no-likelihood" => kinds.iter().any(|kind| *kind == Fisher || !kind.compiles()),
            "--sigma" => kinds.contains(&Gaussian) || by_name,
            "--power" => kinds.contains(&Polynomial) || by_name,
            "--landmarks" => kinds.iter().any(|kind| !kind.compiles()),
            "--lambda" => {
                kinds.iter().any(|kind| [LatentMap, EmpiricalMap].contains(kind)) || by_name
            }
            "--order" => kinds.contains(&EmpiricalMap) || by_name,
            _ => true,
        };
        let unread: Vec<_> = self.given().into_iter().filter(|&name| !readers(name)).collect();
        let kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
        refuse_idle(&unread, format_args!("not used by {}", kinds.join(", ")))
    }

    /// Refuses options that vary nothing of what was read, whichever of these trainings it is for.
    pub(crate) fn check_varies(&self, requests: &[Request], kind: &Kind) -> Result<(), Failure> {
        let given = |names: &[&str]| -> Vec<&'static str> {
            self.given().into_iter().filter(|name| names.contains(name)).collect()
        };
        let of_channels = [
            "--std-floor",
            "--front",
            "--lags",
            "--codebooks",
            "--levels",
            "--codebook-weight",
            "--copies",
            "--vectors",
            "--axial",
            "--rotation",
            "--gain",
            "--mirror",
        ];
        if matches!(kind, Kind::Symbols(_)) {
            return refuse_idle(&given(&of_channels), "the data are symbols, not channels");
        }
        if self.front.last().is_some_and(Stage::makes_symbols) {
            refuse_idle(&given(&["--std-floor", "--lags"]), "--front makes symbols of channels")?;
        }
        let values = self.emitting.values();
        if !values.have_unit() {
            let [floor, front, lags, codebooks, levels, weight, varied @ ..] = of_channels;
            refuse_idle(&given(&[front]), format!("{values} have no means of their kind"))?;
            let why = format!("{values} have no differences of their kind");
            refuse_idle(&given(&[lags, codebooks, levels, weight]), why)?;
            refuse_idle(&given(&varied), format!("{values} are never varied"))?;
            let why = format!("{values} have no standard deviation to hold");
            refuse_idle(&given(&[floor]), why)?;
        }
        let varied: Vec<Varied> = requests.iter().map(|one| one.varies(kind)).collect();
        let any = |what: fn(&Varied) -> bool| varied.iter().any(what);
        if !any(|one| one.copies) {
            let why = "no varied copies are made; ask for some with --copies";
            refuse_idle(&given(&["--rotation", "--gain"]), why)?;
        }
        if any(|one| one.copies) && !any(|one| one.copies_differ) {
            let what = "copies would be their series again: take --copies 0, or a --gain or, of vectors, a \
                        --rotation above 0";
            return Err(Failure::input(Topic::IdleCopies, what));
        }
        if !any(|one| one.copies && one.vectors) {
            let why = "no channels form vectors; name some with --vectors";
            refuse_idle(&given(&["--rotation"]), why)?;
        } else if !any(|one| one.turned) && self.rotation.is_some_and(|degrees| degrees > 0.0) {
            let why = "of the vectors --front leaves the magnitude, which no rotation changes";
            refuse_idle(&given(&["--rotation"]), why)?;
        }
        let none = |names: &[String]| names == ["none"];
        if !(any(|one| one.turned || one.mirror_chosen) || none(&self.vectors) || none(&self.axial))
        {
            let why = "no copies are turned, and no mirror image is chosen";
            refuse_idle(&given(&["--vectors", "--axial"]), why)?;
        }
        if !any(|one| one.codebooks) {
            let why = "there are no codebooks; ask for some with --codebooks";
            refuse_idle(&given(&["--levels", "--codebook-weight"]), why)?;
        }
        Ok(())
    }

    /// Refuses more effort where there is no more to try than without, whichever of these classifiers it is for.
    pub(crate) fn check_effort(
        &self,
        kinds: &[ClassifierKind],
        cutting: &Cutting,
        data: &Dataset,
    ) -> Result<(), Failure> {
        if matches!(self.effort, None | Some(Effort::Quick)) {
            return Ok(());
        }
        let quick = Self { effort: None, ..self.clone() };
        let all: Vec<usize> = (0..data.series().len()).collect();
        for &kind in kinds {
            let tried = |training: &Self| -> Result<_, Failure> {
                let request = training.request(kind, cutting)?;
                // What it refuses is told where it is trained.
                let space = Space::of(data, &all, &request).ok();
                let forms = space.map(|space| (space.forms().to_vec(), space.left_out()));
                Ok((forms, request.varied(data.kind())))
            };
            let (own, quick) = (tried(self)?, tried(&quick)?);
            if own != quick || own.0.is_none() {
                return Ok(());
            }
        }
        let kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
        let why = format!(
            "beside the other options it tries no more of {} on these data than quick",
            kinds.join(", ")
        );
        refuse_idle(&["--effort"], why)
    }

    /// Options given that matter to training alone, for a command that does not train.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        named([
            ("--emission", self.emitting.emission().is_some()),
            ("--components", self.emitting.components().is_some()),
            ("--states", self.states.is_some()),
            ("--topology", self.topology.is_some()),
            ("--restarts", self.restarts.is_some()),
            ("--seed", self.seed.is_some()),
            ("--iterations", self.iterations.is_some()),
            ("--tolerance", self.tolerance.is_some()),
            ("--std-floor", !self.std_floor.is_empty()),
            ("--effort", self.effort.is_some()),
            ("--front", !self.front.is_empty()),
            ("--lags", self.lags.is_some()),
            ("--codebooks", self.codebooks.is_some()),
            ("--levels", self.levels.is_some()),
            ("--codebook-weight", !self.codebook_weight.is_empty()),
            ("--max-flash", self.max_flash.is_some()),
            ("--max-ram", self.max_ram.is_some()),
            ("--max-operations", self.max_operations.is_some()),
            ("--copies", !self.copies.is_empty()),
            ("--vectors", !self.vectors.is_empty()),
            ("--axial", !self.axial.is_empty()),
            ("--rotation", self.rotation.is_some()),
            ("--gain", self.gain.is_some()),
            ("--mirror", !self.mirror.is_empty()),
            ("--learner", self.learner.is_some()),
            ("--class-weight", self.class_weight.is_some()),
            ("--normalisation", self.normalisation.is_some()),
            ("--scaling", !self.scaling.is_empty()),
            ("--c", !self.c.is_empty()),
            ("--sigma", !self.kernels.sigma.is_empty()),
            ("--power", self.kernels.power.is_some()),
            ("--landmarks", self.kernels.landmarks.is_some()),
            ("--lambda", self.kernels.lambda.is_some()),
            ("--order", self.kernels.order.is_some()),
            ("--score-model", self.score_model.is_some()),
            ("--no-likelihood", self.no_likelihood),
        ])
    }
}
