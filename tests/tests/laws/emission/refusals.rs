//! Constructors and validation name the culprit: part, entry and flaw.

use fishweir_core::emission::{
    Bernoulli, Categorical, Emission, FullGaussian, Gaussian, Mixture, Poisson,
};
use fishweir_core::hmm::{Chain, Hmm};
use fishweir_core::{ErrorKind, ModelError, ObservationError, Part};

use super::models::{full, gaussian, poisson};

#[track_caller]
fn refused<E: std::fmt::Debug>(
    found: Result<E, ModelError>,
    part: Part,
    kind: ErrorKind,
    entry: usize,
) {
    match found {
        Err(error) => assert_eq!(error, ModelError::new(part, kind, 0, entry)),
        Ok(accepted) => panic!("accepted {accepted:?}"),
    }
}

#[test]
fn constructors_name_the_culprit() {
    const NAN: f64 = f64::NAN;
    use ErrorKind::{AboveOne, Negative, NotFinite, NotPositive, NotPositiveDefinite, SumNotOne};
    type Symbols = Categorical<3, f64>;
    refused(Symbols::new([0.5, -0.5, 1.0]), Part::Probability, Negative, 1);
    refused(Symbols::new([0.5, 0.25, NAN]), Part::Probability, NotFinite, 2);
    refused(Symbols::new([0.5, 0.25, 0.125]), Part::Probability, SumNotOne, 0);
    type Channels = Gaussian<2, f64>;
    refused(Channels::new([0.0, NAN], [1.0, 1.0]), Part::Parameter("mean"), NotFinite, 1);
    refused(Channels::new([0.0, 0.0], [1.0, 0.0]), Part::Parameter("variance"), NotPositive, 1);
    refused(
        Channels::new([0.0, 0.0], [f64::INFINITY, 1.0]),
        Part::Parameter("variance"),
        NotFinite,
        0,
    );
    type Full = FullGaussian<2, f64>;
    let full = |covariance| Full::new([0.0, 1.0], covariance);
    refused(Full::new([NAN, 0.0], [[1.0, 0.0], [0.0, 1.0]]), Part::Parameter("mean"), NotFinite, 0);
    refused(full([[1.0, 0.0], [0.0, NAN]]), Part::Parameter("covariance"), NotFinite, 1);
    refused(full([[1.0, 2.0], [2.0, 1.0]]), Part::Parameter("covariance"), NotPositiveDefinite, 1);
    refused(full([[1.0, 0.5], [0.25, 1.0]]), Part::Parameter("covariance"), NotPositiveDefinite, 0);
    refused(full([[1.0, 1.0], [1.0, 1.0]]), Part::Parameter("covariance"), NotPositiveDefinite, 1);
    refused(full([[-1.0, 0.0], [0.0, 1.0]]), Part::Parameter("covariance"), NotPositiveDefinite, 0);
    refused(Poisson::<2, f64>::new([1.0, -1.0]), Part::Parameter("rate"), Negative, 1);
    refused(Poisson::<2, f64>::new([NAN, 1.0]), Part::Parameter("rate"), NotFinite, 0);
    refused(Bernoulli::<2, f64>::new([0.5, 1.5]), Part::Probability, AboveOne, 1);
    refused(Bernoulli::<2, f64>::new([-0.5, 0.5]), Part::Probability, Negative, 0);
    let pair = [gaussian()[0], gaussian()[1]];
    refused(Mixture::new([0.5, 0.25], pair), Part::MixtureWeight, SumNotOne, 0);
    refused(Mixture::new([1.5, -0.5], pair), Part::MixtureWeight, Negative, 1);
}

#[test]
fn validation_finds_what_an_export_got_wrong() {
    let sound = gaussian()[0];
    let constant = sound.log_likelihood(sound.mean());
    let from = |rate, constant| {
        Gaussian::<2, f64>::from_parts(*sound.mean(), rate, constant, [(); 2], [(); 2])
    };
    assert_eq!(from(*sound.rate(), constant).validate(), Ok(()));
    let off = from(*sound.rate(), constant + 0.01).validate();
    refused(off, Part::Normaliser, ErrorKind::Inconsistent, 0);
    refused(
        from([1.0, -1.0], constant).validate(),
        Part::Parameter("variance"),
        ErrorKind::NotPositive,
        1,
    );

    let sound = full()[0];
    let constant = sound.log_likelihood(sound.mean());
    let from = |factor| {
        FullGaussian::<3, f64>::from_parts(*sound.mean(), factor, constant, [(); 3], [[(); 3]; 3])
    };
    assert_eq!(from(*sound.factor()).validate(), Ok(()));
    let mut factor = *sound.factor();
    factor[0][2] = 0.5;
    refused(from(factor).validate(), Part::Parameter("covariance"), ErrorKind::Inconsistent, 0);

    let sound = poisson()[0];
    let logs = sound.rate().map(f64::ln);
    let from = |logs| Poisson::<2, f64>::from_parts(*sound.rate(), logs);
    assert_eq!(from(logs).validate(), Ok(()));
    refused(from([logs[0], 0.0]).validate(), Part::Parameter("rate"), ErrorKind::Inconsistent, 1);

    let uneven = Bernoulli::<2, f64>::from_parts([0.5, 0.25], [0.5, 0.25]).validate();
    refused(uneven, Part::Probability, ErrorKind::Inconsistent, 1);
}

#[test]
fn a_model_names_state_component_and_entry() {
    let sound = gaussian()[0];
    let broken = Gaussian::<2, f64>::from_parts([0.0, f64::NAN], [1.0; 2], 0.0, [(); 2], [(); 2]);
    let mixture = |m| Mixture::from_parts([0.5, 0.5], m);
    let hmm = Hmm::new(
        Chain::<f64, 2>::new([1.0, 0.0], [[0.5, 0.5], [0.5, 0.5]]).expect("a chain"),
        [mixture([sound, sound]), mixture([sound, broken])],
    );
    // State 1, component 1 of two channels, channel 1: entry 1 * 2 + 1.
    let wanted = ModelError::new(Part::Parameter("mean"), ErrorKind::NotFinite, 1, 3);
    assert_eq!(hmm.validate(), Err(wanted));
    assert_eq!(wanted.to_string(), "mean [1][3] is not finite");
}

#[test]
fn what_is_no_observation_is_told_apart() {
    let full = full()[0];
    assert_eq!(full.check(&[0.0, f64::NAN, 0.0]), Err(ObservationError::NotFinite));
    assert_eq!(full.check(&[0.0, 1.0, 0.0]), Ok(()));
    assert!(full.view().check(&[0.0, 1.0]).is_err(), "a channel too few");
    let mixture = Mixture::new([1.0], [full]).expect("a mixture");
    assert_eq!(mixture.check(&[f64::INFINITY, 0.0, 0.0]), Err(ObservationError::NotFinite));
    let symbols = Mixture::new([1.0], [Categorical::<2, f64>::new([0.5, 0.5]).expect("even")]);
    assert_eq!(symbols.expect("a mixture").check(&2), Err(ObservationError::UnknownSymbol));
}
