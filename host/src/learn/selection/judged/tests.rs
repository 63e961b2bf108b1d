//! Tests of when one form beats another.

use super::*;
use crate::learn::selection::choice::{Verdict, accuracy};
use crate::learn::solver::loss::ClassWeight;

/// Result that is wrong in some of its windows, with `group` windows per group.
fn judged(windows: usize, wrong: impl Fn(usize) -> bool, group: usize) -> JudgedForm {
    let verdict = |window| Verdict { right: !wrong(window), lead: 1.0 };
    let verdicts: Vec<Verdict> = (0..windows).map(verdict).collect();
    let labels: Vec<usize> = (0..windows).map(|window| window % 2).collect();
    let units: Vec<usize> = (0..windows).map(|window| window / group).collect();
    let marks = Marks::of(&verdicts, &labels, &units, ClassWeight::Even);
    let accuracy = accuracy(&labels, &marks.right, ClassWeight::Even);
    let judgement = Judgement { accuracy, loss: 0.0 };
    JudgedForm { judgement, form: Form::any(), choice: None, marks }
}

#[test]
fn a_lead_by_few_windows_is_none_and_one_by_many_is() {
    let best = judged(232, |_| false, 1);
    for (wrong, led) in [(1, false), (3, false), (4, true), (60, true)] {
        let one = judged(232, |window| window < wrong, 1);
        assert_eq!(one.loses_to(&best, ERRORS), led, "{wrong} of 232");
        assert_eq!(can_be_led(&one.judgement, 232.0), led, "{wrong} of 232");
        assert!(!best.loses_to(&one, 1.0), "{wrong} of 232");
        // The reported gain is the one that decided.
        let lead = one.lead_over(&best);
        assert!(lead.over_kept && (lead.accuracy > ERRORS * lead.standard_error) == led);
        // What errs nowhere has an error of the difference alone.
        assert_eq!(best.beats(&one, ERRORS), led, "{wrong} of 232");
    }
}

/// Windows of one recording go together; recordings that differ alike have no error of the difference.
#[test]
fn groups_of_windows_widen_an_error_and_few_groups_that_are_alike_have_one() {
    let best = judged(120, |_| false, 20);
    // All that is wrong is in one recording of six, or in each of them as much.
    let clustered = judged(120, |window| window < 10, 20);
    let spread = judged(120, |window| window % 12 == 0, 20);
    assert_eq!(clustered.judgement, spread.judgement);
    assert!(!clustered.loses_to(&best, ERRORS) && spread.loses_to(&best, ERRORS));
    // An accuracy of 0.62 is led by one of 1, however few the recordings.
    let poor = judged(120, |window| window % 20 < 7 + window / 20 % 2, 20);
    assert!(poor.loses_to(&best, ERRORS) && can_be_led(&poor.judgement, 120.0));
    let halves = [judged(40, |window| window % 20 < 3, 20), judged(40, |_| false, 20)];
    assert!(halves[0].marks.standard_error(&halves[1].marks) < 1e-12);
    assert!(halves[0].safe_lead(&halves[1]).standard_error > 0.05);
}
