//! Options that have no effect in combination are refused by name.

use fishweir::data::{Dataset, Kind};
use fishweir::kernel::parameter::{KernelParameter, ORDER};
use fishweir::kernel::registry::{Compares, KERNELS};

use super::family::FamilyName;
use super::{Asked, Whose};
use crate::Topic;
use crate::options::{named, note_idle};
use crate::{Failure, note};

impl Asked<'_> {
    /// Checks the kernel, its information and the source of its models.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let options = self.options;
        let counts =
            self.asked.iter().any(|entry| entry.takes.contains(&KernelParameter::Number(&ORDER)));
        options.choice.check(self, options.order.is_some() && !counts && !self.order_read)?;
        self.check_settings()?;
        let family = options.choice.family;
        if !options.choice.is_plain() && matches!(self.entry.compares, Compares::States(_)) {
            return Err(Failure::input(Topic::Unsupported, self.no_states()));
        }
        if family == FamilyName::Switching && matches!(self.entry.compares, Compares::Scores(_)) {
            return Err(Failure::input(
                Topic::Unsupported,
                format!(
                    "--kernel {} compares scores, and switching systems have none; take ppk or mean-map",
                    self.entry.name
                ),
            ));
        }
        self.check_information()?;
        let whitened = self.whitened();
        let given = named([("--ridge", whitened.is_none() && options.ridge.is_some())]);
        note_idle(&given, "nothing is whitened without --information")?;
        let length = options.length.is_some() && whitened != Some(Whose::Exact);
        note_idle(&named([("--length", length)]), "only --information exact uses it")?;
        let sampled = whitened == Some(Whose::Sampled);
        let given = named([
            ("--draws", !sampled && options.draws.is_some()),
            ("--draw-seed", !sampled && options.draw_seed.is_some()),
        ]);
        note_idle(&given, "only --information sampled draws sequences")?;

        let mut training = self.given_to_train();
        training.extend(named([("--group", self.by_group() && !self.beside_classifiers)]));
        if let Compares::Models(_, families) = self.entry.compares {
            let name = family.name();
            if !families.contains(&name.as_str()) {
                let families = families.join(", ");
                return Err(Failure::input(
                    Topic::Unsupported,
                    format!(
                        "--kernel {} compares models of --family {families}, not of {name}",
                        self.entry.name
                    ),
                ));
            }
            training.retain(|name| {
                ["--score-model", "--mirror", "--class-weight", "--group"].contains(name)
            });
            training.extend(named([
                ("--one-model", options.one_model && !self.beside_classifiers),
                ("--model", self.model.is_some()),
            ]));
            return note_idle(&training, "a model of its own is fitted to each item");
        }
        let alone = match self.entry.compares {
            Compares::Marginal => Some("the kernel's numbers are given"),
            Compares::Sequences(_) => Some("the kernel compares sequences without a model"),
            _ => None,
        };
        if let Some(why) = alone {
            training.extend(named([
                ("--one-model", options.one_model && !self.beside_classifiers),
                ("--family", family != FamilyName::Hmm && !self.beside_classifiers),
                ("--model", self.model.is_some()),
            ]));
            return note_idle(&training, why);
        }
        if self.model.is_some() {
            training.retain(|name| *name != "--score-model");
            return note_idle(&training, "the model is trained already");
        }
        Ok(())
    }

    /// The options of training that only the kernel's models would read.
    pub(super) fn given_to_train(&self) -> Vec<&'static str> {
        if self.beside_classifiers { Vec::new() } else { self.training.given() }
    }

    /// Notes settings that no kernel that is asked for takes.
    fn check_settings(&self) -> Result<(), Failure> {
        let options = self.options;
        let mut given = Vec::new();
        if options.parametrisation.is_some() {
            given.push(KernelParameter::Parametrisation);
        }
        if options.information.is_some() {
            given.push(KernelParameter::Information);
        }
        // That of contexts is the family's: --order is checked with it.
        let numbers = options.numbers.given().iter().chain(&self.shared);
        given.extend(numbers.map(|(number, _)| KernelParameter::Number(number)));
        let takes = |setting: &KernelParameter| {
            self.asked.iter().any(|entry| entry.takes.contains(setting))
        };
        for setting in given.into_iter().filter(|one| !takes(one)) {
            let by = KERNELS.iter().filter(|entry| entry.takes.contains(&setting));
            let by: Vec<&str> = by.map(|entry| entry.name).collect();
            let why =
                format!("not used by --kernel {}, only by {}", self.entry.name, by.join(", "));
            note_idle(&[&format!("--{}", setting.name())], why)?;
        }
        Ok(())
    }

    /// Notes options of kernel machines, if there is no machine, and leaves them out.
    pub(crate) fn check_no_machine(&mut self) -> Result<(), Failure> {
        let of_machines = [
            "--copies",
            "--vectors",
            "--axial",
            "--rotation",
            "--gain",
            "--learner",
            "--normalisation",
            "--scaling",
            "--c",
            "--no-likelihood",
        ];
        let mut given = self.training.given();
        given.retain(|name| of_machines.contains(name));
        self.leave_out(&given, "models are fitted without a classifier")
    }

    fn leave_out(&mut self, names: &[&str], why: &str) -> Result<(), Failure> {
        self.training = std::mem::take(&mut self.training).less(names, why)?;
        Ok(())
    }

    /// Checks the models that are fitted to the data, once these are read.
    pub(crate) fn check_fitted(&mut self, data: &Dataset) -> Result<(), Failure> {
        let given = self.training.given();
        let own = matches!(self.entry.compares, Compares::Models(..))
            || self.options.one_model
            || self.options.choice.family != FamilyName::Hmm;
        if self.beside_classifiers {
            if own && self.training.std_floor.len() > 1 {
                note(
                    Topic::FirstFloor,
                    format_args!("--kernel {} uses only the first --std-floor", self.entry.name),
                );
            }
            return Ok(());
        }
        let of = |names: &[&'static str]| -> Vec<&'static str> {
            given.iter().copied().filter(|name| names.contains(name)).collect()
        };
        let floors = self.training.std_floor.len();
        let group = named([("--group", self.by_group())]);
        if matches!(data.kind(), Kind::Symbols(_)) {
            let idle = [of(&["--std-floor", "--mirror", "--class-weight"]), group].concat();
            return self.leave_out(&idle, "the data are symbols, not channels");
        }
        if !own && !data.classes().is_empty() {
            // A single floor leaves nothing to choose.
            let idle =
                if floors == 1 { [of(&["--class-weight"]), group].concat() } else { Vec::new() };
            return self.leave_out(&idle, "it is used only to choose among several --std-floor");
        }
        let why = if self.options.one_model || data.classes().is_empty() {
            "one model is fitted to all series, whatever their labels"
        } else {
            "nothing is chosen by the classes"
        };
        self.leave_out(&[of(&["--mirror", "--class-weight"]), group].concat(), why)?;
        if floors > 1 {
            return Err(Failure::input(
                Topic::OneValue,
                "--std-floor takes one number here: a choice among several compares how well classes are \
                 separated, by hidden Markov models of each",
            ));
        }
        Ok(())
    }
}
