extern crate std;

use std::vec;
use std::vec::Vec;

use super::*;
use crate::classify::{Calibration, Decision, RejectionReason};
use crate::number::Real;

/// Two outputs' worth of classes: three, and one model, so four numbers.
const NUMBERS: usize = 4;

type Taught = TaughtClasses<3, NUMBERS>;

/// A basis whose whitening is the identity but for a factor of 2 on the last number; means on three axes.
fn basis() -> Vec<u8> {
    let mut bytes = TeachingBasis::head(4, 3).to_vec();
    let centre = [0.5_f32, 0.5, 0.5, -1.0];
    let whitening = [1.0_f32, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0];
    let means = [[4.0_f32, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0]];
    let reals = centre.iter().chain(&whitening).chain(means.as_flattened());
    bytes.extend(reals.flat_map(|real| real.to_le_bytes()));
    bytes
}

fn name(text: &str) -> ClassName {
    ClassName::new(text).expect("sound")
}

fn known(class: usize, margin: f32) -> TaughtDecision {
    Decision { class, margin }.into()
}

/// Evidence near a corner that no known class is at.
const NEW: [f32; 4] = [0.4, 0.6, 0.5, 2.0];
/// Evidence of class 1.
const OLD: [f32; 4] = [0.5, 4.4, 0.6, -1.0];

#[test]
fn a_taught_class_is_decided_by_its_predictive_density_and_leaves_when_forgotten() {
    let bytes = basis();
    let basis = TeachingBasis::read(&bytes).expect("sound");
    let mut taught = Taught::new(&basis).expect("sound");
    assert_eq!(taught.decide(&basis, None, known(1, 1.0), &mut NEW.clone()), known(1, 1.0));
    for shift in [0.0, 0.1, -0.1] {
        let mut shown = NEW;
        shown[0] += shift;
        assert_eq!(taught.show(&basis, &name("new"), &mut shown), Ok(0));
    }
    assert_eq!((taught.len(), taught.get(0).expect("sound").windows()), (1, 3));

    let new = taught.decide(&basis, None, known(1, 1.0), &mut NEW.clone());
    assert_eq!(new.decision.class, 3);
    // By hand: z = (-0.1, 0.1, 0, 6), the mean is there; s = 4/3.
    let own = 0.01 + 3.9 * 3.9 + 36.0;
    let lead = 0.5 * (own - 4.0 * Real::ln(4.0_f32 / 3.0));
    assert!((new.decision.margin - lead).abs() < 1e-4, "{} {lead}", new.decision.margin);
    let old = taught.decide(&basis, None, known(1, 1.0), &mut OLD.clone());
    assert_eq!(old, known(1, 1.0));

    assert_eq!(taught.forget(&name("other")), Err(TeachError::UnknownName));
    assert_eq!(taught.forget(&name("new")), Ok(()));
    assert!(taught.is_empty());
    assert_eq!(taught, Taught::new(&basis).expect("sound"));
}

#[test]
fn taught_classes_have_probabilities_and_are_rejected_as_others_are() {
    let bytes = basis();
    let basis = TeachingBasis::read(&bytes).expect("sound");
    let mut taught = Taught::new(&basis).expect("sound");
    let limits = [[-3.0, 1.0], [-2.0, 2.0], [-2.0, 2.0]];
    let calibration = Calibration { scale: 2.0, least_margin: 1.0, likelihoods: &limits };
    taught.show(&basis, &name("new"), &mut NEW.clone()).expect("sound");
    let decide = |mut evidence: [f32; 4], class| {
        taught.decide(&basis, Some(&calibration), known(class, 5.0), &mut evidence)
    };
    let sure = decide(NEW, 1);
    assert_eq!((sure.decision.class, sure.rejection), (3, None));
    assert!(sure.probability.expect("sound") > 0.999);
    // Half as wide as the known classes' limits, times the root of two, about the likelihood shown: 2 +- 2.83.
    let far = decide([0.4, 0.6, 0.5, 5.0], 1);
    assert_eq!((far.decision.class, far.rejection), (3, Some(RejectionReason::HighLikelihood)));
    // Between the two: a close call, whichever is ahead, and neither is sure.
    let mut seen = 0;
    for step in 0..100 {
        let part = step as f32 / 100.0;
        let between: [f32; 4] = core::array::from_fn(|at| (1.0 - part) * OLD[at] + part * NEW[at]);
        let decided = decide(between, 1);
        if decided.rejection == Some(RejectionReason::LowMargin) {
            assert!(decided.decision.margin < 1.0);
            assert!((0.4..0.9).contains(&decided.probability.expect("sound")));
            seen += 1;
        }
    }
    assert!(seen > 0);
    // A known class keeps its own limits.
    let quiet = decide([0.5, 4.4, 0.6, -3.5], 1);
    assert_eq!((quiet.decision.class, quiet.rejection), (1, Some(RejectionReason::LowLikelihood)));
}

#[test]
fn no_more_classes_than_there_is_room_for_and_an_error_changes_nothing() {
    let bytes = basis();
    let basis = TeachingBasis::read(&bytes).expect("sound");
    let mut taught = Taught::new(&basis).expect("sound");
    for (place, text) in ["a", "b", "c"].into_iter().enumerate() {
        assert_eq!(taught.show(&basis, &name(text), &mut NEW.clone()), Ok(place));
    }
    let before = taught.clone();
    assert_eq!(taught.show(&basis, &name("d"), &mut NEW.clone()), Err(TeachError::NoRoom));
    for wrong in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
        for at in 0..NUMBERS {
            let mut evidence = NEW;
            evidence[at] = wrong;
            let shown = taught.show(&basis, &name("a"), &mut evidence);
            assert_eq!(shown.is_err(), taught == before, "{wrong} at {at}");
            taught = before.clone();
            let mut evidence = NEW;
            evidence[at] = wrong;
            if !wrong.is_finite() {
                let decided = taught.decide(&basis, None, known(2, 0.5), &mut evidence);
                assert_eq!(decided, known(2, 0.5));
            }
        }
    }
    assert_eq!(taught.show(&basis, &name("a"), &mut NEW[..3].to_vec()), Err(TeachError::Evidence));
    // A freed place is taken again, others keep theirs.
    taught.forget(&name("b")).expect("sound");
    assert_eq!(taught.find(&name("c")), Some(2));
    assert_eq!(taught.show(&basis, &name("d"), &mut NEW.clone()), Ok(1));
    assert_eq!(TaughtClasses::<1, 3>::new(&basis), Err(TeachError::NoRoom));
}

#[test]
fn a_record_reads_back_and_every_damaged_byte_is_noticed() {
    let bytes = basis();
    let basis = TeachingBasis::read(&bytes).expect("sound");
    let mut taught = Taught::new(&basis).expect("sound");
    for (text, shift) in [("a", 0.0), ("wave, left", 0.3), ("a", 0.1), ("c", 2.0)] {
        let mut shown = NEW;
        shown[2] += shift;
        taught.show(&basis, &name(text), &mut shown).expect("sound");
    }
    taught.forget(&name("wave, left")).expect("sound");
    let mut buffer = [0; Taught::RECORD_LONGEST];
    let length = taught.write(&mut buffer).expect("sound");
    assert_eq!(length, RECORD_HEAD + 2 * (24 + 16) + 4);
    let record = &buffer[..length];
    assert_eq!(Taught::read(&basis, record), Ok(taught.clone()));
    // More room reads the same classes.
    let wide = TaughtClasses::<8, 9>::read(&basis, record).expect("sound");
    let mut again = [0; TaughtClasses::<8, 9>::RECORD_LONGEST];
    let longer = wide.write(&mut again).expect("sound");
    assert_eq!(&again[..longer], record);
    assert_eq!(TaughtClasses::<1, 4>::read(&basis, record), Err(TeachError::NoRoom));

    for at in 0..length {
        for bit in 0..8 {
            let mut damaged = record.to_vec();
            damaged[at] ^= 1 << bit;
            assert!(Taught::read(&basis, &damaged).is_err(), "byte {at}, bit {bit}");
        }
        assert!(Taught::read(&basis, &record[..at]).is_err(), "{at} bytes");
        assert!(taught.write(&mut vec![0; at]).is_err(), "{at} bytes");
    }
    let mut other = bytes.clone();
    let last = other.len() - 1;
    other[last] ^= 1;
    let other = TeachingBasis::read(&other).expect("sound");
    assert_eq!(Taught::read(&other, record), Err(TeachError::OtherModel));
    let shown = taught.show(&other, &name("a"), &mut NEW.clone());
    assert_eq!(shown, Err(TeachError::OtherModel));
}

#[test]
fn a_damaged_basis_is_refused() {
    let bytes = basis();
    for length in 0..bytes.len() {
        assert_eq!(TeachingBasis::read(&bytes[..length]), Err(TeachError::Malformed), "{length}");
    }
    let with = |at: usize, new: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at..at + new.len()].copy_from_slice(new);
        TeachingBasis::read(&bytes).map(|_| ())
    };
    assert_eq!(with(0, &[2]), Err(TeachError::UnknownVersion(2)));
    assert_eq!(with(4, &[1]), Err(TeachError::Malformed));
    assert_eq!(with(8, &f32::NAN.to_le_bytes()), Err(TeachError::Number(0)));
    // The diagonal of the second row.
    assert_eq!(with(8 + 4 * 6, &(-1.0_f32).to_le_bytes()), Err(TeachError::Number(6)));
    assert_eq!(TeachingBasis::numbers_of(&bytes), 4);
}

#[test]
fn names_are_short_and_visible() {
    for good in ["a", "sixteen bytes ok", "Übung", "wave left"] {
        assert_eq!(name(good).as_str(), good);
        assert_eq!(ClassName::from_bytes(*name(good).as_bytes()), Ok(name(good)));
    }
    for bad in ["", "seventeen bytes 0", "line\n", "nul\0nul", "del\u{7f}"] {
        assert_eq!(ClassName::new(bad), Err(TeachError::Name), "{bad:?}");
    }
    assert_eq!(ClassName::from_bytes([0xFF; 16]), Err(TeachError::Name));
}

#[test]
fn taught_classes_take_the_bytes_that_they_are_priced_at() {
    let class = 4 * 13 + 24;
    assert_eq!(size_of::<TaughtClass<13>>(), class);
    // Eight bytes more where an address has four.
    let fixed = size_of::<usize>() + size_of::<u32>();
    let bytes = (4 * class + fixed).next_multiple_of(align_of::<usize>());
    assert_eq!(size_of::<TaughtClasses<4, 13>>(), bytes);
    assert_eq!(TaughtClasses::<4, 13>::RECORD_LONGEST, 16 + 4 * class);
}
