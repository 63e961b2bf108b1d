//! Options that can have no effect beside the others are refused by name.

use fishweir::data::{Dataset, Kind};
use fishweir::kernel::marginal::MarginalModel;

use super::family::FamilyName;
use super::{Arguments, Name, Whose};
use crate::commands::Failure;
use crate::commands::arguments::{named, refuse_idle};

/// Of the kernel, its information and where its models come from.
pub(super) fn options(arguments: &Arguments) -> Result<(), Failure> {
    arguments.choice.check(arguments)?;
    of_kernel(arguments)?;
    let whitened = arguments.whitened();
    let given = named([("--ridge", whitened.is_none() && arguments.ridge.is_some())]);
    refuse_idle(&given, "nothing is whitened without --information")?;
    let length = arguments.length.is_some() && whitened != Some(Whose::Exact);
    refuse_idle(&named([("--length", length)]), "it is that of --information exact alone")?;
    let sampled = whitened == Some(Whose::Sampled);
    let given = named([
        ("--draws", !sampled && arguments.draws.is_some()),
        ("--draw-seed", !sampled && arguments.draw_seed.is_some()),
    ]);
    refuse_idle(&given, "nothing is drawn but for --information sampled")?;

    let mut training = arguments.training.given();
    training.extend(named([("--group", arguments.training.group.is_some())]));
    if MarginalModel::NAMES.contains(&arguments.kernel.name().as_str()) {
        return refuse_idle(&training, "the kernel's numbers are given");
    }
    if arguments.kernel == Name::EmpiricalMap {
        let models = [("--model", arguments.model.is_some()), ("--one-model", arguments.one_model)];
        training.extend(named(models));
        return refuse_idle(&training, "the kernel is of the samples, and takes no model");
    }
    if arguments.model.is_some() {
        training.retain(|name| *name != "--score-model");
        return refuse_idle(&training, "the model is trained already");
    }
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
    training.retain(|name| of_machines.contains(name));
    refuse_idle(&training, "models are fitted, and no machine on them")
}

/// Of the kernel alone.
fn of_kernel(arguments: &Arguments) -> Result<(), Failure> {
    use Name::{Count, EmpiricalMap, Gaussian, Invariant, LatentMap, Polynomial, Practical, Top};
    let kernel = arguments.kernel;
    let own: [(&str, bool, &[Name]); 7] = [
        (
            "--parametrisation",
            arguments.parametrisation.is_some(),
            &[Practical, Invariant, Gaussian, Polynomial, Top],
        ),
        ("--information", arguments.information.is_some(), &[Invariant, Gaussian, Polynomial]),
        ("--sigma", arguments.sigma.is_some(), &[Gaussian]),
        ("--power", arguments.power.is_some(), &[Polynomial]),
        ("--raw", arguments.raw, &[Count]),
        ("--lambda", arguments.lambda.is_some(), &[EmpiricalMap, LatentMap]),
        ("--nu", arguments.nu.is_some(), &[LatentMap]),
    ];
    let refused = own.into_iter().find(|(_, given, by)| *given && !by.contains(&kernel));
    refused.map_or(Ok(()), |(option, _, by)| {
        let by: Vec<String> = by.iter().map(|kernel| kernel.name()).collect();
        Err(Failure::Input(format!(
            "--kernel {} takes no {option}; it is for --kernel {}",
            kernel.name(),
            by.join(", ")
        )))
    })
}

/// Of the models that are fitted to the data, once these are read.
pub(super) fn fitted(arguments: &Arguments, data: &Dataset) -> Result<(), Failure> {
    let training = &arguments.training;
    let given = training.given();
    let of = |names: &[&'static str]| -> Vec<&'static str> {
        given.iter().copied().filter(|name| names.contains(name)).collect()
    };
    let floors = training.std_floor.len();
    let group = named([("--group", training.group.is_some())]);
    if matches!(data.kind(), Kind::Symbols(_)) {
        let idle = [of(&["--std-floor", "--mirror", "--class-weight"]), group].concat();
        return refuse_idle(&idle, "the data are symbols, not channels");
    }
    let one = arguments.one_model || data.classes().is_empty();
    if !one && arguments.choice.family == FamilyName::Hmm {
        // One floor, and there is none to choose.
        let idle = if floors == 1 { [of(&["--class-weight"]), group].concat() } else { Vec::new() };
        return refuse_idle(&idle, "it is for the choice among several --std-floor");
    }
    let why = "one model is fitted to all series, whatever their labels";
    refuse_idle(&[of(&["--mirror", "--class-weight"]), group].concat(), why)?;
    if floors > 1 {
        return Err(Failure::Input(
            "--std-floor takes one number here: several are chosen from by how well classes are told \
             apart, by hidden Markov models of each"
                .into(),
        ));
    }
    Ok(())
}
