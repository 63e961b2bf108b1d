use super::{
    AdditiveClassifier, Calibration, Classifier, ConstStart, Decision, Prediction, RejectionReason,
    StaggeredStates, WindowClassifier, decide_exactly,
};
use crate::contract::{Contract, WindowsError};
use crate::error::ObservationError;
use crate::filter::{Stream, Streaming};
use crate::number::Real;

/// A stream that pushes samples and returns named decisions: a classifier, its windows, the names of its classes, and its
/// calibration where it has one.
///
/// The package `fishweir-build` writes a function `stream()` that returns it for a model file, so that no program spells
/// out its type. A decision is due at the end of each window of the [contract](crate::contract::Contract); without
/// windows, after each sample. The decision is that of [`WindowClassifier`], bit for bit.
///
/// RAM: the state of the [`WindowClassifier`] and a few pointers. Flash: the model, its contract and the names.
///
/// ```
/// use fishweir_core::classify::{DecisionStream, Normalisation, StreamClassifier};
/// use fishweir_core::contract::{Contract, Windows};
/// use fishweir_core::emission::Categorical;
/// use fishweir_core::hmm::{Chain, Hmm};
///
/// type Coins = StreamClassifier<Hmm<Categorical<2>, 1>, 2, 1>;
/// const fn coin(heads: f32) -> Hmm<Categorical<2>, 1> {
///     Hmm::new(Chain::from_parts([1.0], [[1.0]]), [Categorical::from_parts([heads, 1.0 - heads])])
/// }
/// static MODEL: Coins =
///     Coins::from_parts([coin(0.5), coin(0.75)], [[-1.0, 1.0]], [0.0], Normalisation::NONE);
/// // One decision per four tosses.
/// static CONTRACT: Contract = Contract { windows: Some(Windows::of(4, 4)), ..Contract::NONE };
/// static CLASSES: [&str; 2] = ["fair", "biased"];
/// // `from_parts` is a constant: a stream may lie in a `static`.
/// const STREAM: DecisionStream<Coins, 1> =
///     DecisionStream::from_parts(&MODEL, &CONTRACT, &CLASSES, None);
///
/// let mut stream = STREAM;
/// let mut decisions = 0;
/// for toss in [Some(0), Some(0), None, Some(0)] { // the third toss is missing
///     if let Some(decision) = stream.push(toss) {
///         assert_eq!(decision.name(), "biased");
///         assert_eq!(decision.probability(), None); // it was not calibrated
///         decisions += 1;
///     }
/// }
/// assert_eq!(decisions, 1);
/// ```
#[derive(Clone)]
pub struct DecisionStream<'a, C: Classifier, const STATES: usize> {
    stream: Stream<WindowClassifier<'a, &'a C, STATES>>,
    classes: &'a [&'a str],
    calibration: Option<Calibration<'a, C::Real>>,
    refused: Option<ObservationError>,
}

impl<'a, C: AdditiveClassifier, const STATES: usize> DecisionStream<'a, C, STATES> {
    /// Returns a stream before its first sample, for any classifier. `classes` are the names of the classes, by index.
    ///
    /// # Errors
    /// As [`WindowClassifier::new`].
    pub fn new(
        classifier: &'a C,
        contract: &'a Contract<'a>,
        classes: &'a [&'a str],
        calibration: Option<Calibration<'a, C::Real>>,
    ) -> Result<Self, WindowsError> {
        let windows = WindowClassifier::new(classifier, contract)?;
        Ok(Self { stream: Stream::new(windows), classes, calibration, refused: None })
    }

    /// Returns a stream before its first sample, in a constant too. The contract was checked, and its windows take
    /// `STATES` states.
    pub const fn from_parts(
        classifier: &'a C,
        contract: &'a Contract<'a>,
        classes: &'a [&'a str],
        calibration: Option<Calibration<'a, C::Real>>,
    ) -> Self
    where
        C::State: ConstStart,
    {
        let windows = WindowClassifier::from_parts(classifier, contract);
        let state = <StaggeredStates<C::State, STATES> as ConstStart>::START;
        Self { stream: Stream::from_parts(windows, state), classes, calibration, refused: None }
    }

    /// Takes in a sample, `None` for a missing one, and returns the decision where one is due. A refused sample is missing,
    /// and [`refused`](Self::refused) says why.
    #[inline]
    pub fn push(&mut self, x: Option<C::Observation>) -> Option<NamedDecision<'a, C::Real>>
    where
        C::Observation: Sized,
    {
        self.refused = self.stream.push(x.as_ref()).err();
        Some(self.named(self.stream.decided()?))
    }

    /// Returns the decision on the oldest open window, full or not, where its contract lets a partly filled one decide.
    pub fn so_far(&self) -> Option<NamedDecision<'a, C::Real>> {
        Some(self.named(self.stream.so_far()?))
    }

    /// Returns the reason why the last sample was refused; `None` if it was accepted or missing.
    pub const fn refused(&self) -> Option<ObservationError> {
        self.refused
    }

    /// Forgets the past: the next sample begins a new window.
    pub fn reset(&mut self) {
        self.stream.reset();
        self.refused = None;
    }

    /// The names of the classes, by index.
    pub const fn classes(&self) -> &'a [&'a str] {
        self.classes
    }

    /// The stream of the classifier on its windows, for readings of its own.
    pub const fn windows(&self) -> &Stream<WindowClassifier<'a, &'a C, STATES>> {
        &self.stream
    }

    fn named(&self, state: &<C as Streaming>::State) -> NamedDecision<'a, C::Real> {
        let classifier: &C = self.stream.recursion().classifier();
        let (decision, probability, rejection) = match &self.calibration {
            Some(calibration) => {
                let Prediction { decision, probability, rejection } =
                    classifier.predict(state, calibration);
                (decision, Some(probability), rejection)
            }
            None => (decide_exactly(classifier.outputs(state).as_ref()), None, None),
        };
        let name = self.classes.get(decision.class).copied().unwrap_or("");
        NamedDecision {
            class: decision.class,
            name,
            margin: decision.margin,
            probability,
            rejection,
        }
    }
}

/// A decision with the name of its class.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NamedDecision<'a, T = f32> {
    class: usize,
    name: &'a str,
    margin: T,
    probability: Option<T>,
    rejection: Option<RejectionReason>,
}

impl<T: Real> NamedDecision<'_, T> {
    /// The value of a single output, whose sign decides: the estimate of a regression, whose unit and interval the
    /// [contract](crate::contract::Target) has.
    pub fn value(&self) -> T {
        Decision { class: self.class, margin: self.margin }.value()
    }
}

impl<'a, T: Copy> NamedDecision<'a, T> {
    /// The class decided for, by its index.
    pub const fn class(&self) -> usize {
        self.class
    }

    /// The name of the class decided for; empty where the classes have no names.
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// The margin over the runner-up.
    pub const fn margin(&self) -> T {
        self.margin
    }

    /// The probability of the class decided for; `None` of a model without calibration.
    pub const fn probability(&self) -> Option<T> {
        self.probability
    }

    /// The reason to reject the decision; `None` where it may be taken, and of a model without calibration.
    pub const fn rejection(&self) -> Option<RejectionReason> {
        self.rejection
    }
}
