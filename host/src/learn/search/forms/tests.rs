//! The search by a judge that knows how often each form is right.

use std::cell::RefCell;

use super::*;
use crate::data::{Dataset, Kind};
use crate::fit::Topology;
use crate::learn::selection::choice::Marks;
use crate::learn::selection::choice::{Verdict, accuracy};
use crate::learn::{ClassWeight, ClassifierKind, Effort, Request};

/// Windows that are judged in each trial.
const WINDOWS: usize = 100;

/// A judge that trains nothing: it is asked how many of the windows a form decides rightly.
struct Table<R> {
    right: R,
    asked: RefCell<Vec<(usize, usize)>>,
}

impl<R: Fn(&Form) -> usize> Judge for Table<R> {
    fn in_folds(&self, trial: &Trial, series: &[usize]) -> Result<Option<JudgedForm>, TrainError> {
        self.asked.borrow_mut().push((series.len(), trial.baum_welch.iterations));
        let right = (self.right)(&trial.form);
        let verdicts: Vec<Verdict> =
            (0..WINDOWS).map(|window| Verdict { right: window < right, lead: 1.0 }).collect();
        let labels: Vec<usize> = (0..WINDOWS).map(|window| window % 2).collect();
        let units: Vec<usize> = (0..WINDOWS).collect();
        let marks = Marks::of(&verdicts, &labels, &units, ClassWeight::Even);
        let accuracy = accuracy(&labels, &marks.right, ClassWeight::Even);
        let judgement = Judgement { accuracy, loss: 0.0 };
        Ok(Some(JudgedForm { judgement, form: trial.form.clone(), choice: None, marks }))
    }

    fn in_closed_form(&self, _: &Trial, _: &[usize]) -> Result<Option<HeldOut>, TrainError> {
        Ok(None)
    }

    fn held_out_in_folds(
        &self,
        _: &Trial,
        _: &HeldOut,
        _: &[usize],
        _: &[usize],
    ) -> Result<Option<JudgedForm>, TrainError> {
        Ok(None)
    }

    fn keep(&self, _: &Trial, _: &[usize], _: &HeldOut) {}

    fn fits(&self) -> usize {
        self.asked.borrow().len()
    }
}

/// Series of two classes, sixty of each.
fn series() -> Dataset {
    let series = (0..120).map(|n| (["a", "b"][n % 2], (0..48).map(|t| [(n * t) as f64]).collect()));
    Dataset::labelled(Kind::Channels(vec!["x".into()]), series).expect("sound")
}

/// Chooses among the forms of Bayes by a table of results, and returns the questions it was asked.
fn chosen(right: impl Fn(&Form) -> usize) -> (FormChoice, Vec<Form>, Vec<(usize, usize)>) {
    let data = series();
    let all: Vec<usize> = (0..120).collect();
    let request = Request::new(ClassifierKind::Bayes).trying(Effort::Normal);
    let space = Space::of(&data, &all, &request).expect("forms");
    let judge = Table { right, asked: RefCell::default() };
    let (choice, machine) = FormSearch { space: &space, judge: &judge }.choose().expect("judged");
    assert!(machine.is_none(), "Bayes has no machine");
    (choice, space.forms().to_vec(), judge.asked.into_inner())
}

#[test]
fn the_form_that_is_right_most_often_is_taken_whatever_its_place() {
    let (_, forms, _) = chosen(|_| 50);
    assert!(forms.len() > LAST, "{forms:?}");
    for best in &forms {
        let (choice, ..) = chosen(|form| if form == best { 90 } else { 50 });
        assert_eq!(choice.form, *best);
        let won: Vec<&Form> =
            choice.candidates.iter().filter(|one| one.won).map(|one| &one.form).collect();
        assert_eq!(won, [best]);
        assert_eq!(choice.lead.map(|lead| lead.accuracy), Some(0.9 - 0.5));
    }
}

#[test]
fn of_equals_the_first_is_taken() {
    let (choice, forms, _) = chosen(|_| 70);
    assert_eq!(choice.form, forms[0]);
}

/// All forms see some series and few passes, a quarter of them all series and all passes.
#[test]
fn few_forms_are_judged_on_all_series() {
    let (choice, forms, asked) = chosen(|form| if form.states == 8 { 80 } else { 40 });
    let (first, last): (Vec<_>, Vec<_>) = asked.iter().partition(|(series, _)| *series < 120);
    assert_eq!(first.len(), forms.len());
    assert!(first.iter().all(|(_, passes)| *passes == FEW_PASSES));
    assert_eq!(last.len(), kept_of(forms.len()));
    assert!(last.iter().all(|(_, passes)| *passes > FEW_PASSES));
    assert_eq!((choice.form.states, choice.form.topology), (8, Topology::Ergodic));
}
