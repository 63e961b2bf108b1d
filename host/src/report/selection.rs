//! Candidates of a search, the choice, and its gain: as `fit` prints it, and `info` for a model's file.

use std::fmt;

use super::{Table, counted, grouped, short};
use crate::classifier::{
    Choice, CopiesChoice, Form, FormCandidate, FormChoice, Lead, Price, ScoreModels, Selection,
    normalisation_name,
};
use crate::fit::Topology;

/// A column of the table of forms, and what a trial has there.
type Column = (&'static str, fn(&FormCandidate) -> String);

/// Columns in which forms differ: those with equal cells are left out.
const DIFFERENCES: [Column; 10] = [
    ("model of", |one| match &one.form.models {
        ScoreModels::Universal if one.closed_form => "all classes, in closed form".to_owned(),
        ScoreModels::Universal => "all classes".to_owned(),
        ScoreModels::All => "a class".to_owned(),
        ScoreModels::Class(class) => format!("class {class}"),
    }),
    ("states", |one| one.form.states.to_string()),
    ("transitions", |one| transitions(one.form.topology).to_owned()),
    ("floor", |one| one.form.std_floor.map_or_else(String::new, short)),
    ("lags", |one| lags_of(&one.form)),
    ("codebooks", |one| one.form.codebooks.to_string()),
    ("levels", |one| one.form.levels.to_string()),
    ("length", |one| length(&one.form)),
    ("settings", |one| one.settings.to_string()),
    ("passes", |one| one.passes.to_string()),
];

/// Columns with the results and the cost of each form.
const FIGURES: [Column; 7] = [
    ("series", |one| grouped(one.series)),
    ("accuracy", |one| format!("{:.3}", one.accuracy)),
    ("s.e.", |one| format!("{:.3}", one.standard_error)),
    ("loss", |one| format!("{:.3}", one.loss)),
    ("flash B", |one| priced(one, |price| price.flash)),
    ("RAM B", |one| priced(one, |price| price.ram)),
    ("operations", |one| priced(one, |price| price.operations)),
];

/// Largest number of trials of a stage that are listed.
const MOST_TOLD: usize = 24;

fn priced(one: &FormCandidate, what: fn(&Price) -> usize) -> String {
    one.price.as_ref().map_or_else(String::new, |price| grouped(what(price)))
}

fn length(form: &Form) -> String {
    normalisation_name(form.normalisation).replace('_', " ")
}

fn transitions(topology: Topology) -> &'static str {
    match topology {
        Topology::Automatic => "automatic",
        Topology::Ergodic => "ergodic",
        Topology::LeftToRight => "left to right",
        Topology::Positions => "one state per position",
    }
}

/// A form's lags: those of differences, seen by one model or each by its own, or of the past that states predict from.
fn lags_of(form: &Form) -> String {
    let how = match &form.lags {
        lags if lags.is_past() => "past ",
        lags if lags.is_apart() => "each of ",
        _ => "",
    };
    format!("{how}{}", form.lags)
}

/// Describes the forms of a cross-validation's folds by their main differences.
pub(super) fn brief(form: &Form) -> String {
    let mut states = counted(form.states, "state");
    if form.topology.is_ordered() {
        states += &format!(", {}", transitions(form.topology));
    }
    // Symbols have none.
    if form.std_floor.is_none() && form.lags.is_empty() {
        return states;
    }
    format!("{states}, lags {}", lags_of(form))
}

/// A form in words.
fn words(form: &Form) -> String {
    let mut words = vec![match &form.models {
        ScoreModels::Universal if form.lags.is_apart() => "a model of all classes a lag".to_owned(),
        ScoreModels::Universal => "one model of all classes".to_owned(),
        ScoreModels::All => "one model per class".to_owned(),
        ScoreModels::Class(class) => format!("the model of class {class}"),
    }];
    words.push(format!("{}, {}", counted(form.states, "state"), transitions(form.topology)));
    words.extend(form.std_floor.map(|floor| format!("floor {}", short(floor))));
    if !form.lags.is_empty() {
        words.push(format!("lags {}", lags_of(form)));
    }
    if form.codebooks > 0 {
        let levels = match form.levels {
            0 => String::new(),
            levels => format!(" with {} per pattern", counted(levels, "level")),
        };
        words.push(format!("{} a dilation{levels}", counted(form.codebooks, "codebook")));
    }
    words.join("; ")
}

/// Trials of one stage that are listed, the best first: the chosen one, and the most accurate.
fn best_of(trials: &[FormCandidate]) -> Vec<&FormCandidate> {
    let mut ranked: Vec<usize> = (0..trials.len()).collect();
    // Stable: of equals the first.
    ranked.sort_by(|&a, &b| {
        let (a, b) = (&trials[a], &trials[b]);
        b.won.cmp(&a.won).then(b.accuracy.total_cmp(&a.accuracy)).then(a.loss.total_cmp(&b.loss))
    });
    ranked.truncate(MOST_TOLD);
    ranked.into_iter().map(|place| &trials[place]).collect()
}

/// Writes how many forms limits left out, if any.
pub(super) fn write_limits(f: &mut fmt::Formatter<'_>, choice: &FormChoice) -> fmt::Result {
    match choice.left_out {
        0 => Ok(()),
        forms => writeln!(f, "limits left out {}", counted(forms, "form")),
    }
}

/// Writes the chosen setting, with its accuracy within the training data.
pub(super) fn write_chosen(f: &mut fmt::Formatter<'_>, choice: &Choice) -> fmt::Result {
    let chosen = choice.candidates.iter().find(|one| one.setting == choice.setting);
    match chosen {
        Some(one) => writeln!(
            f,
            "{}: inner accuracy {:.3}, of {} ({})",
            choice.setting,
            one.accuracy,
            counted(choice.candidates.len(), "setting"),
            choice.by
        ),
        None => writeln!(f, "{} ({})", choice.setting, choice.by),
    }
}

/// Stage by stage what was tried of forms of class models, the chosen one marked; floors alone, if others tell them, left
/// out.
pub(super) fn write_forms(
    f: &mut fmt::Formatter<'_>,
    choice: &FormChoice,
    floors_told: bool,
) -> fmt::Result {
    let all = &choice.candidates;
    write_limits(f, choice)?;
    if choice.could_not_lead > 0 {
        let forms = counted(choice.could_not_lead, "form");
        writeln!(f, "skipped {forms} that could not be better by two standard errors")?;
    }
    if all.is_empty() {
        return Ok(());
    }
    if !(floors_told && choice.floors_alone()) {
        let differ =
            |cell: fn(&FormCandidate) -> String| all.iter().any(|one| cell(one) != cell(&all[0]));
        let told = |cell: fn(&FormCandidate) -> String| all.iter().any(|one| !cell(one).is_empty());
        let differences = DIFFERENCES.into_iter().filter(|(_, cell)| differ(*cell));
        let figures = FIGURES.into_iter().filter(|(_, cell)| told(*cell));
        let columns: Vec<Column> = differences.chain(figures).collect();
        let heads = columns.iter().map(|(head, _)| *head);
        let mut table = Table::new(["models tried"].into_iter().chain(heads));
        for of_stage in all.chunk_by(|one, other| one.stage == other.stage) {
            let told = best_of(of_stage);
            for one in &told {
                let stage = format!("stage {}{}", one.stage + 1, if one.won { " *" } else { "" });
                table.row([stage].into_iter().chain(columns.iter().map(|(_, cell)| cell(one))));
            }
            if told.len() < of_stage.len() {
                table.row([format!("{} more, in JSON", of_stage.len() - told.len())]);
            }
        }
        write!(f, "\n{table}")?;
        writeln!(
            f,
            "  * chosen; each stage compares on this number of series, and keeps the best for the next"
        )?;
    }
    write!(f, "  {}", counted(choice.fits, "fit"))?;
    choice.lead.iter().try_for_each(|lead| write!(f, "; {lead}"))?;
    writeln!(f)
}

/// The inner cross-validation as a grid: a row a scaling (and width), a column a C.
pub(super) fn write_choice(f: &mut fmt::Formatter<'_>, choice: &Choice) -> fmt::Result {
    let chosen = choice.setting;
    if choice.candidates.is_empty() {
        return writeln!(f, "{chosen} ({})", choice.by);
    }
    let (mut forms, mut values) = (Vec::new(), Vec::new());
    for one in &choice.candidates {
        if !forms.contains(&one.setting.form()) {
            forms.push(one.setting.form());
        }
        if !values.contains(&one.setting.c) {
            values.push(one.setting.c);
        }
    }
    let heads = ["inner accuracy".to_owned()].into_iter();
    let mut table = Table::new(heads.chain(values.iter().map(|&c| format!("C={}", short(c)))));
    for form in forms {
        let cells = values.iter().map(|&c| {
            let mut all = choice.candidates.iter();
            let found = all.find(|one| one.setting.form() == form && one.setting.c == c);
            let mark = if chosen.form() == form && chosen.c == c { "*" } else { "" };
            found.map_or(String::new(), |one| format!("{mark}{:.3}", one.accuracy))
        });
        table.row([form.clone()].into_iter().chain(cells));
    }
    write!(f, "{table}  * {}", choice.by)?;
    choice.lead.iter().try_for_each(|lead| write!(f, "; {lead}"))?;
    writeln!(f)
}

/// The numbers of jittered copies that were tried, and how each did.
pub(super) fn write_copies(f: &mut fmt::Formatter<'_>, choice: &CopiesChoice) -> fmt::Result {
    if choice.candidates.is_empty() {
        let copies = choice.copies;
        return writeln!(
            f,
            "copies of each series: {copies}, as there are too few series or groups for a comparison"
        );
    }
    let mut table = Table::new(["copies of each series", "accuracy", "lead", "s.e."]);
    for one in &choice.candidates {
        let mark = if one.copies == choice.copies { " *" } else { "" };
        let lead = |of: fn(&Lead) -> f64| {
            one.lead.as_ref().map_or_else(String::new, |lead| format!("{:.3}", of(lead)))
        };
        table.row([
            format!("{}{mark}", one.copies),
            format!("{:.3}", one.accuracy),
            lead(|lead| lead.accuracy),
            lead(|lead| lead.standard_error),
        ]);
    }
    write!(f, "\n{table}")?;
    writeln!(
        f,
        "  * chosen: the first, unless another is better by more than two standard errors (of the difference, or of \
         an accuracy over this number of series or groups, whichever is larger)"
    )
}

/// Describes the choices, one per line.
pub(super) fn chosen(selection: &Selection) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(form) = &selection.form {
        // Without a machine on its scores evidence is what it is.
        let evidence = selection.machine.as_ref().map(|_| length(&form.form));
        let evidence = evidence.map_or_else(String::new, |how| format!("; evidence {how}"));
        lines.push(format!("{}{evidence}", words(&form.form)));
    }
    if let Some(machine) = &selection.machine {
        let learner = selection.learner.iter().map(|name| format!("{name}, "));
        lines.push(format!("{}{}", learner.collect::<String>(), machine.setting));
    }
    if !selection.mirror.is_empty() {
        lines.push(format!("mirrored in {}", selection.mirror.join(", ")));
    }
    if let Some(copies) = &selection.copies {
        lines.push(format!("copies of each series: {}", copies.copies));
    }
    lines
}

/// Writes the candidates of a choice.
pub(super) fn write_selection(f: &mut fmt::Formatter<'_>, selection: &Selection) -> fmt::Result {
    selection.form.iter().try_for_each(|form| write_forms(f, form, false))?;
    selection.copies.iter().try_for_each(|copies| write_copies(f, copies))?;
    let judged = selection.machine.iter().filter(|machine| !machine.candidates.is_empty());
    judged.take(1).try_for_each(|machine| {
        writeln!(f)?;
        write_choice(f, machine)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(stage: usize, accuracy: f64, won: bool) -> FormCandidate {
        FormCandidate {
            form: Form::any(),
            won,
            stage,
            closed_form: false,
            series: 9,
            settings: 1,
            passes: 5,
            accuracy,
            standard_error: 0.0,
            loss: 0.0,
            price: None,
        }
    }

    #[test]
    fn of_many_trials_the_best_are_told_and_the_chosen() {
        // The chosen is behind all others of its stage.
        let rising = |n: usize| trial(1, n as f64 / 100.0, n == 0);
        let candidates: Vec<_> =
            [trial(0, 0.5, false)].into_iter().chain((0..30).map(rising)).collect();
        let told = best_of(&candidates[1..]);
        assert_eq!(told.len(), MOST_TOLD);
        assert!(told[0].won && told[1].accuracy == 0.29 && told[23].accuracy == 0.07);
        let form = candidates[1].form.clone();
        let (left_out, could_not_lead, fits, lead) = (0, 2, 1, None);
        let choice = FormChoice { form, candidates, left_out, could_not_lead, fits, lead };
        struct FormName(FormChoice);
        impl fmt::Display for FormName {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_forms(f, &self.0, false)
            }
        }
        let text = FormName(choice).to_string();
        assert_eq!(text.matches("\n  stage 2").count(), MOST_TOLD, "{text}");
        for part in ["skipped 2 forms", "\n  stage 1 ", "stage 2 *", "\n  6 more, in JSON"] {
            assert!(text.contains(part), "no {part} in:\n{text}");
        }
    }
}
