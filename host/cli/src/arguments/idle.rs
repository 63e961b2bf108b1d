//! Options of training that have no effect on these models and data.

use std::fmt::Display;

use fishweir::data::{Dataset, Kind, Stage};
use fishweir::learn::{ClassifierKind, Effort, Request, Space, Varied};

use super::TrainingArguments;
use crate::numbers::number;
use crate::options::{named, note_idle};
use crate::reading::Cutting;
use crate::{Failure, Topic};

/// Handler of options without effect, with the reason.
type Idle<'a> = dyn FnMut(&[&'static str], &str) -> Result<(), Failure> + 'a;

impl TrainingArguments {
    /// Drops options that none of these classifiers reads, and notes them.
    ///
    /// In addition there may be machines on `kernels`, some of them `by_name` with settings of their own.
    pub(crate) fn read_by(
        self,
        kinds: &[ClassifierKind],
        kernels: bool,
        by_name: bool,
    ) -> Result<Self, Failure> {
        let readers = |name: &&str| match *name {
            "--learner" | "--c" | "--emission" | "--components" | "--states" | "--topology"
            | "--restarts" | "--seed" | "--iterations" | "--tolerance"
                if kernels =>
            {
                true
            }
            "--sigma" | "--lambda" | "--order" if by_name => true,
            name => match number(name) {
                Some(number) => by_name || kinds.iter().any(|kind| kind.takes(number)),
                None => {
                    let reads = |kind: &ClassifierKind| kind.reads(&field(name));
                    // Kernels read what every kind does.
                    kinds.iter().any(reads) || ClassifierKind::ALL.iter().all(reads)
                }
            },
        };
        let unread: Vec<_> = self.given().into_iter().filter(|name| !readers(name)).collect();
        let kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
        self.less(&unread, format_args!("not used by {}", kinds.join(", ")))
    }

    /// Drops options that have no effect, and notes them.
    pub(crate) fn less(self, names: &[&str], why: impl Display) -> Result<Self, Failure> {
        note_idle(names, why)?;
        Ok(self.without(names))
    }

    /// Drops options that vary nothing in the data, whichever of these trainings they are for.
    pub(crate) fn varying(self, requests: &[Request], kind: &Kind) -> Result<Self, Failure> {
        let mut idle = Vec::new();
        self.check_varies(requests, kind, &mut |names, why| {
            note_idle(names, why)?;
            idle.extend_from_slice(names);
            Ok(())
        })?;
        Ok(self.without(&idle))
    }

    fn check_varies(
        &self,
        requests: &[Request],
        kind: &Kind,
        idle: &mut Idle<'_>,
    ) -> Result<(), Failure> {
        let given = |names: &[&str]| -> Vec<&'static str> {
            self.given().into_iter().filter(|name| names.contains(name)).collect()
        };
        let of_channels =
            ClassifierKind::OF_CHANNELS.map(|name| format!("--{}", name.replace('_', "-")));
        let of_channels = of_channels.each_ref().map(String::as_str);
        if matches!(kind, Kind::Symbols(_)) {
            return idle(&given(&of_channels), "the data are symbols, not channels");
        }
        if self.front.last().is_some_and(Stage::makes_symbols) {
            idle(&given(&["--std-floor", "--lags"]), "--front makes symbols of channels")?;
        }
        let values = self.emitting.values();
        if !values.have_unit() {
            let [floor, front, lags, codebooks, levels, weight, varied @ ..] = of_channels;
            idle(
                &given(&[front]),
                &format!("front ends compute means, and the mean of {values} is of another kind"),
            )?;
            let why = format!(
                "they use differences of samples, and the difference of {values} is of another kind"
            );
            idle(&given(&[lags, codebooks, levels, weight]), &why)?;
            idle(&given(&varied), &format!("{values} are never varied"))?;
            let why = format!("{values} have no standard deviation");
            return idle(&given(&[floor]), &why);
        }
        let varied: Vec<Varied> = requests.iter().map(|one| one.varies(kind)).collect();
        let any = |what: fn(&Varied) -> bool| varied.iter().any(what);
        if !any(|one| one.copies) {
            let why = "no varied copies are made; ask for some with --copies";
            idle(&given(&["--rotation", "--gain"]), why)?;
        } else if !any(|one| one.copies_differ) {
            let what = "copies would equal their series: give --copies 0, or a --gain above 0, or for vectors a \
                        --rotation above 0";
            return Err(Failure::input(Topic::IdleCopies, what));
        } else if !any(|one| one.copies && one.vectors) {
            let why = "no channels form vectors; name some with --vectors";
            idle(&given(&["--rotation"]), why)?;
        } else if !any(|one| one.turned) && self.rotation.is_some_and(|degrees| degrees > 0.0) {
            let why =
                "--front keeps only the magnitude of the vectors, which rotation does not change";
            idle(&given(&["--rotation"]), why)?;
        }
        let none = |names: &[String]| names == ["none"];
        if !(any(|one| one.turned || one.mirror_chosen) || none(&self.vectors) || none(&self.axial))
        {
            let why = "there are no rotated copies and no choice of mirror images";
            idle(&given(&["--vectors", "--axial"]), why)?;
        }
        if !any(|one| one.codebooks) {
            let why = "there are no codebooks; ask for some with --codebooks";
            idle(&given(&["--levels", "--codebook-weight"]), why)?;
        }
        Ok(())
    }

    /// Notes more effort where there is no more to try than without, whichever of these classifiers it is for.
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
                // Errors of the space are reported by training.
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
            "with the other options, {} has the same configurations on these data as with --effort quick",
            kinds.join(", ")
        );
        note_idle(&["--effort"], why)
    }
}

/// The name that the library has for an option.
fn field(option: &str) -> String {
    option.trim_start_matches('-').replace('-', "_")
}

/// A value of an option: empty if the option was not given.
trait OptionValue: Default {
    fn is_given(&self) -> bool;
}

impl<T> OptionValue for Option<T> {
    fn is_given(&self) -> bool {
        self.is_some()
    }
}

impl<T> OptionValue for Vec<T> {
    fn is_given(&self) -> bool {
        !self.is_empty()
    }
}

impl OptionValue for bool {
    fn is_given(&self) -> bool {
        *self
    }
}

/// Options that matter to training alone, each with its field.
macro_rules! training_options {
    ($($name:literal => $($field:ident).+,)*) => {
        impl TrainingArguments {
            /// Names of the options that were given.
            pub(crate) fn given(&self) -> Vec<&'static str> {
                let mut given = named([$(($name, self.$($field).+.is_given())),*]);
                given.extend(self.kernels.numbers.options());
                given
            }

            /// Drops the named options.
            pub(crate) fn without(mut self, names: &[&str]) -> Self {
                $(if names.contains(&$name) {
                    self.$($field).+ = Default::default();
                })*
                self.kernels.numbers = self.kernels.numbers.without(names);
                self
            }
        }
    };
}

training_options! {
    "--emission" => emitting.emission,
    "--components" => emitting.components,
    "--states" => states,
    "--topology" => topology,
    "--restarts" => restarts,
    "--seed" => seed,
    "--iterations" => iterations,
    "--tolerance" => tolerance,
    "--std-floor" => std_floor,
    "--effort" => effort,
    "--front" => front,
    "--lags" => lags,
    "--codebooks" => codebooks,
    "--levels" => levels,
    "--codebook-weight" => codebook_weight,
    "--max-flash" => max_flash,
    "--max-ram" => max_ram,
    "--max-operations" => max_operations,
    "--copies" => copies,
    "--vectors" => vectors,
    "--axial" => axial,
    "--rotation" => rotation,
    "--gain" => gain,
    "--mirror" => mirror,
    "--learner" => learner,
    "--class-weight" => class_weight,
    "--normalisation" => normalisation,
    "--scaling" => scaling,
    "--c" => c,
    "--sigma" => kernels.sigma,
    "--landmarks" => kernels.landmarks,
    "--lambda" => kernels.lambda,
    "--order" => kernels.order,
    "--score-model" => score_model,
    "--no-likelihood" => no_likelihood,
}
