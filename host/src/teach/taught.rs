//! Taught classes of a deployed classifier.

use fishweir_core::classify::teach::{
    ClassName, TaughtClasses, TaughtDecision, TeachError, TeachingBasis,
};

use crate::deploy::{Deployed, Stream};

/// Most classes that the host keeps taught for one model; a device has a limit of its own.
pub const TAUGHT_MOST: usize = 16;

/// Most numbers of evidence, outputs and models together, of a model that can be taught.
pub const NUMBERS_MOST: usize = 64;

/// Reason why a class was not taught, or a model cannot be.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum TeachFailure {
    /// A kernel machine, or a model whose outputs are no evidence of models.
    #[error("{0} cannot be taught classes: its decisions are not sums over models")]
    #[strum(serialize = "not-teachable")]
    Kind(String),
    /// A model without what classes are taught by.
    #[error("the model has no basis for teaching: fit it again, teachable")]
    #[strum(serialize = "no-basis")]
    NoBasis,
    /// More numbers of evidence than can be taught by.
    #[error("the model has {found} outputs and models, and at most {most} can be taught by", most = NUMBERS_MOST)]
    TooLarge {
        /// Numbers of evidence.
        found: usize,
    },
    /// A class without a window that decides, or no more windows than classes.
    #[error("too few windows of class `{0}` to teach by: record more of it")]
    FewWindows(String),
    /// A name of a class that the model knows.
    #[error("the model knows the class `{0}`: teach another name")]
    KnownClass(String),
    /// The core's reason.
    #[error("class `{name}`: {source}")]
    Class {
        /// The class.
        name: String,
        /// The reason.
        source: TeachError,
    },
    /// A record that was not read.
    #[error("{file}: {source}")]
    Record {
        /// The file.
        file: String,
        /// The reason.
        source: TeachError,
    },
}

crate::kinds!(TeachFailure,
    Self::Class { source: error, .. } => error,
    Self::Record { source: error, .. } => error,
);

/// Numbers of evidence of a window: outputs and models.
pub(super) fn numbers_of(deployed: &Deployed) -> Result<usize, TeachFailure> {
    if !deployed.decides_at_every_sample() {
        let kernel = deployed.kernel_name().unwrap_or_default();
        return Err(TeachFailure::Kind(format!("a machine on the {kernel} kernel")));
    }
    let found = deployed.outputs() + deployed.models();
    if found > NUMBERS_MOST { Err(TeachFailure::TooLarge { found }) } else { Ok(found) }
}

/// Classes taught to a classifier: the core's [`TaughtClasses`], and the basis that they were taught by.
///
/// ```no_run
/// use fishweir::deploy::Deployed;
/// use fishweir::teach::Taught;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let deployed = Deployed::from_artefact("gait.fishweir", &std::fs::read("gait.fishweir")?)?;
/// let mut taught = Taught::new(&deployed)?;
/// let mut stream = deployed.stream();
/// // ... push the samples of a window, then:
/// taught.show("limping", &stream)?;
/// std::fs::write("gait.taught", taught.to_record())?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Taught {
    basis: Vec<u8>,
    known: Vec<String>,
    classes: TaughtClasses<TAUGHT_MOST, NUMBERS_MOST>,
}

impl Taught {
    /// No class taught yet.
    ///
    /// # Errors
    /// [`TeachFailure::NoBasis`], [`TeachFailure::Kind`], [`TeachFailure::TooLarge`].
    pub fn new(deployed: &Deployed) -> Result<Self, TeachFailure> {
        numbers_of(deployed)?;
        let basis = deployed.teaching().ok_or(TeachFailure::NoBasis)?.to_vec();
        let read = TeachingBasis::read(&basis).map_err(|_| TeachFailure::NoBasis)?;
        let classes = TaughtClasses::new(&read).map_err(|_| TeachFailure::NoBasis)?;
        Ok(Self { basis, known: deployed.classes().to_vec(), classes })
    }

    /// Reads the record of a device, or of [`to_record`](Self::to_record); `file` is for messages.
    ///
    /// # Errors
    /// [`TeachFailure::Record`], and as [`new`](Self::new).
    pub fn from_record(
        deployed: &Deployed,
        file: &str,
        bytes: &[u8],
    ) -> Result<Self, TeachFailure> {
        let mut taught = Self::new(deployed)?;
        let wrong = |source| TeachFailure::Record { file: file.to_owned(), source };
        taught.classes = TaughtClasses::read(&taught.read()?, bytes).map_err(wrong)?;
        Ok(taught)
    }

    /// The record that a device keeps: see the core's [`write`](TaughtClasses::write).
    #[must_use]
    pub fn to_record(&self) -> Vec<u8> {
        let mut bytes = vec![0; TaughtClasses::<TAUGHT_MOST, NUMBERS_MOST>::RECORD_LONGEST];
        // There is room for the longest.
        let length = self.classes.write(&mut bytes).unwrap_or(0);
        bytes.truncate(length);
        bytes
    }

    fn read(&self) -> Result<TeachingBasis<'_>, TeachFailure> {
        TeachingBasis::read(&self.basis).map_err(|_| TeachFailure::NoBasis)
    }

    /// Shows the window that a stream has taken in to a class, which begins with its first window.
    ///
    /// # Errors
    /// [`TeachFailure::KnownClass`], and [`TeachFailure::Class`] saying why not. On an error nothing has changed.
    pub fn show(&mut self, name: &str, stream: &Stream) -> Result<(), TeachFailure> {
        if self.known.iter().any(|known| known == name) {
            return Err(TeachFailure::KnownClass(name.to_owned()));
        }
        let wrong = |source| TeachFailure::Class { name: name.to_owned(), source };
        let named = ClassName::new(name).map_err(wrong)?;
        let mut evidence = stream.teaching_evidence().ok_or(wrong(TeachError::Evidence))?;
        let basis = TeachingBasis::read(&self.basis).map_err(wrong)?;
        self.classes.show(&basis, &named, &mut evidence).map_err(wrong)?;
        Ok(())
    }

    /// Forgets a class.
    ///
    /// # Errors
    /// [`TeachFailure::Class`] if no class of this name was taught.
    pub fn forget(&mut self, name: &str) -> Result<(), TeachFailure> {
        let wrong = |source| TeachFailure::Class { name: name.to_owned(), source };
        let named = ClassName::new(name).map_err(wrong)?;
        self.classes.forget(&named).map_err(wrong)
    }

    /// The taught classes and their windows, by their places.
    pub fn classes(&self) -> impl Iterator<Item = (&str, u16)> {
        let taught = (0..TAUGHT_MOST).filter_map(|place| self.classes.get(place));
        taught.map(|class| (class.name().as_str(), class.windows()))
    }

    /// The name of a class of a decision, known or taught.
    #[must_use]
    pub fn name(&self, class: usize) -> Option<&str> {
        match class.checked_sub(self.known.len()) {
            None => self.known.get(class).map(String::as_str),
            Some(place) => self.classes.get(place).map(|class| class.name().as_str()),
        }
    }

    /// Decides on what a stream has taken in, between the known and the taught classes: the device's bits.
    ///
    /// `None` where the stream has no decision.
    #[must_use]
    pub fn decide(&self, deployed: &Deployed, stream: &Stream) -> Option<TaughtDecision> {
        let confidence = deployed.confidence().map(|confidence| confidence.of_core());
        let known: TaughtDecision = match &confidence {
            Some(calibration) => stream.believed(calibration)?.into(),
            None => stream.decision().ok()?.into(),
        };
        let (Some(mut evidence), Ok(basis)) = (stream.teaching_evidence(), self.read()) else {
            return Some(known);
        };
        Some(self.classes.decide(&basis, confidence.as_ref(), known, &mut evidence))
    }
}

/// Bytes of flash of the basis, bytes of RAM of `most` taught classes, bytes of their longest record, and multiply-adds per
/// decision with all of them taught; `None` of a model that cannot be taught.
#[must_use]
pub fn price(deployed: &Deployed, most: usize) -> Option<[usize; 4]> {
    let basis = TeachingBasis::read(deployed.teaching()?).ok()?;
    let numbers = basis.numbers();
    let class = 4 * numbers + 24;
    let work = numbers * (numbers + 1) / 2 + numbers * (most + 1);
    Some([deployed.teaching()?.len(), most * class + 8, 16 + most * class, work])
}
