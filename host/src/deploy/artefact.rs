//! The binary artefact, written and read back at run-time sizes.

use std::path::Path;

use fishweir_core::artefact::{ArtefactError, Header, Shape, Topology};
use fishweir_core::classify::Normalisation;
use fishweir_core::classify::teach::TeachingBasis;
use fishweir_core::contract::{ContractError, LABELS, Section, WindowsError};
use fishweir_core::{ErrorKind, ModelError, Part};

use super::bank::Bank;
use super::codebooks::{self, DeployedCodebooks};
use super::common::Common;
use super::deployed::Deployed;
use super::engine::Engine;
use super::evaluator::Description;
use super::front;
use super::model::{DeployedModel, States};
use super::profiles::DeployedProfile;
use crate::classifier::{Codebooks, Contract, DeployedConfidence, Observations};
use crate::data::Lags;
use crate::data::internals::FrontEnd;
use crate::files::{self, FileError};
use crate::runtime::family::{DeployedEmission, OF_CHANNELS, Weight, reals};
use crate::runtime::{FAMILIES, Family, Observed, Shape as Sized};

/// Reason why an artefact's file was refused.
#[derive(Debug, thiserror::Error, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum ArtefactFileError {
    /// The file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not an artefact.
    #[error("{file}: {source}")]
    Artefact {
        /// The file.
        file: String,
        /// Fault of the file.
        source: ArtefactError,
    },
    /// A name that does not fit on a line.
    #[error(
        "the name {name:?} has a control character, which an artefact cannot store: rename the class, channel or \
         symbol"
    )]
    #[strum(serialize = "bad-name")]
    Name {
        /// The name.
        name: String,
    },
    /// A property that artefacts cannot store, see [`Deployed::no_artefact`].
    #[error("{0}, not as an artefact")]
    #[strum(serialize = "no-artefact")]
    Without(String),
    /// Windows that no device holds.
    #[error("{0}")]
    Windows(WindowsError),
    /// A size that does not fit two bytes, or four.
    #[error("the classifier is too large for an artefact")]
    TooLarge,
}

crate::kinds!(ArtefactFileError,
    Self::File(error) => error,
    Self::Artefact { source: error, .. } => error,
    Self::Windows(error) => error,
);

impl Deployed {
    /// The shape that the artefact's header states.
    pub fn shape(&self) -> Option<Shape> {
        let size = |n: usize| u16::try_from(n).ok();
        let Common { front, lags, codebooks, .. } = &self.common;
        let Description { models, states, directions, topology, emission, .. } = self.description();
        Some(Shape {
            real_bytes: 4,
            family: emission?.0.artefact()?,
            topology: if lags.is_apart() { Topology::PER_LAG } else { topology },
            states: size(states)?,
            size: size(lags.width(self.common.channels()))?,
            lags: u8::try_from(lags.as_slice().len()).ok()?,
            models: size(models)?,
            outputs: size(self.outputs())?,
            directions: size(directions)?,
            codebooks: size(self.codebooks().map_or(0, |books| books.books().len()))?,
            levels: u8::try_from(self.codebooks().map_or(0, Codebooks::levels)).ok()?,
            front: front::stages(front),
            in_part: self.common.in_part(),
            dilation: u8::try_from(codebooks.as_ref().map_or(0, DeployedCodebooks::largest))
                .ok()?,
        })
    }

    /// The artefact: header, classifier, labels, contract. After the labels of the classes, one per line, come
    /// the names of the channels, one per line, or one line with the alphabet, or its words, one per line; and a line with the settings of the front
    /// end, where there is one.
    ///
    /// # Errors
    /// [`ArtefactFileError::TooLarge`], and [`ArtefactFileError::Name`] where a name would not read back.
    pub fn to_artefact(&self) -> Result<Vec<u8>, ArtefactFileError> {
        if let Some(why) = self.no_artefact() {
            return Err(ArtefactFileError::Without(why));
        }
        let shape = self.shape().ok_or(ArtefactFileError::TooLarge)?;
        self.check_windows().map_err(ArtefactFileError::Windows)?;
        let Common { observations, classes, front, confidence, contract, .. } = &self.common;
        let mut payload = front::bytes(front);
        payload.extend(self.payload());
        let confidence = confidence.iter().flat_map(DeployedConfidence::reals);
        confidence.for_each(|x| payload.extend_from_slice(&x.to_le_bytes()));
        let mut observed = match observations {
            Observations::Channels(names) => names.clone(),
            Observations::Symbols(symbols) => symbols.split('\n').map(str::to_owned).collect(),
        };
        if !front.is_empty() {
            payload.extend(shape.front.code().to_le_bytes());
            observed.extend(front::line(self.front()));
        }
        let lines: Vec<&str> = classes.iter().chain(&observed).map(|line| line.as_str()).collect();
        if let Some(name) = lines.iter().find(|line| breaks(line)) {
            return Err(ArtefactFileError::Name { name: (*name).to_owned() });
        }
        let labels = lines.join("\n") + "\n";
        let section = Section { tag: LABELS, content: labels.as_bytes() };
        let mut sections = [&section.head()[..], section.content].concat();
        contract.clone().unwrap_or_default().with_core(|contract| {
            for index in 0..contract.sections() {
                contract.write_section(index, &mut |part| sections.extend_from_slice(part));
            }
        });
        if let Some(content) = &self.common.teaching {
            let section = Section { tag: TeachingBasis::SECTION, content };
            sections.extend_from_slice(&section.head());
            sections.extend_from_slice(content);
        }
        let header =
            Header::encode(shape, &payload, &sections).ok_or(ArtefactFileError::TooLarge)?;
        Ok([header.as_slice(), &payload, &sections].concat())
    }

    /// Describes why it has no binary artefact; `None` if it has one.
    pub fn no_artefact(&self) -> Option<String> {
        let what = match !self.front().is_empty() && front::line(self.front()).is_none() {
            true => "magnitudes of channels with a comma in their names".to_owned(),
            false => self.engine.evaluator().no_artefact(&self.common)?,
        };
        Some(format!("{what} are exported as Rust source"))
    }

    /// Writes the artefact, whole or not at all.
    ///
    /// # Errors
    /// [`ArtefactFileError`].
    pub fn save_artefact(&self, path: &Path) -> Result<(), ArtefactFileError> {
        Ok(files::write_whole(path, &self.to_artefact()?)?)
    }

    /// Returns whether bytes begin as an artefact does.
    pub fn is_artefact(bytes: &[u8]) -> bool {
        bytes.starts_with(b"FISHWEIR")
    }

    /// Reads an artefact; `file` is for messages.
    ///
    /// # Errors
    /// [`ArtefactFileError::Artefact`] saying what is wrong.
    pub fn from_artefact(file: &str, bytes: &[u8]) -> Result<Self, ArtefactFileError> {
        parse(bytes).map_err(|source| ArtefactFileError::Artefact { file: file.to_owned(), source })
    }
}

/// Returns whether a name would break its line or be invisible: such names are neither written nor read.
fn breaks(name: &str) -> bool {
    name.contains(char::is_control)
}

fn parse(bytes: &[u8]) -> Result<Deployed, ArtefactError> {
    let header = Header::parse(bytes)?;
    let shape = header.shape();
    if shape.real_bytes != 4 {
        return Err(ArtefactError::OtherShape {
            found: shape,
            wanted: Shape { real_bytes: 4, ..shape },
        });
    }
    let each_lag = shape.topology == Topology::PER_LAG;
    let a_model_a_lag = shape.lags > 0 && u16::from(shape.lags) == shape.models;
    if each_lag && (shape.family.has_past() || !a_model_a_lag) {
        return Err(ArtefactError::BadHeader);
    }
    let known = FAMILIES.iter().copied().find(|family| family.artefact() == Some(shape.family));
    let sizes = Sizes {
        states: shape.states.into(),
        emission: Sized {
            // The channels, and their differences at a lag.
            size: match usize::from(shape.size) {
                row if each_lag => 2 * row / (1 + usize::from(shape.lags)),
                row => row,
            },
            components: if shape.family.has_past() { 1 + usize::from(shape.lags) } else { 1 },
        },
        directions: shape.directions.into(),
        family: known.ok_or(ArtefactError::BadHeader)?,
        topology: shape.topology,
    };
    let of_profile = shape.topology == Topology::PROFILE;
    // Codebooks hear channels that are real, and no past of them; a front end makes such, or symbols.
    let coded = usize::from(shape.codebooks);
    let heard = sizes.family.observes() == OF_CHANNELS.observes();
    if coded > 0 && (!heard || of_profile || shape.family.has_past()) {
        return Err(ArtefactError::BadHeader);
    }
    if header.labels(bytes)?.any(breaks) {
        return Err(ArtefactError::Labels);
    }
    let mut lines = header.labels(bytes)?.map(str::to_owned);
    let classes: Vec<String> = lines.by_ref().take(shape.classes()).collect();
    let mut observed: Vec<String> = lines.collect();
    let payload = header.payload(bytes).ok_or(ArtefactError::Truncated)?;
    let (front, payload) = match shape.front.is_none() {
        true => (FrontEnd::default(), payload),
        false => {
            let line = observed.pop().ok_or(ArtefactError::Labels)?;
            front::read(&line, &observed, shape.front, payload)?
        }
    };
    let symbols = sizes.family.observes() == Observed::Symbol;
    if !front.is_empty() && (of_profile || symbols != front.makes_symbols() || !(symbols || heard))
    {
        return Err(ArtefactError::BadHeader);
    }
    let has_place = if of_profile {
        sizes.directions <= 1 && (shape.models, shape.outputs) == (1, 1)
    } else {
        crate::runtime::padded_states(sizes.states).is_some()
    };
    if !has_place {
        return Err(ArtefactError::BadHeader);
    }
    let (models, outputs) = (usize::from(shape.models), usize::from(shape.outputs));
    let lags = usize::from(shape.lags);
    let channels = usize::from(shape.size) / (1 + lags);
    let bank = sizes
        .model_reals()
        .checked_mul(models)
        .and_then(|reals| reals.checked_add(outputs * (models + 1)))
        .and_then(|reals| reals.checked_mul(4)?.checked_add(8))
        .ok_or(ArtefactError::BadHeader)?;
    let wanted = codebooks::words(coded, channels, outputs, shape.levels.into())
        .and_then(|words| words.checked_add(lags)?.checked_mul(4)?.checked_add(bank))
        .ok_or(ArtefactError::BadHeader)?;
    let (payload, rest) = payload.split_at_checked(wanted).ok_or(ArtefactError::OtherSize)?;
    let mut pairs = Numbers(rest);
    let mut pair = || [pairs.real(), pairs.real()];
    let confidence = match rest.len() / 8 {
        _ if !rest.len().is_multiple_of(8) => return Err(ArtefactError::OtherSize),
        0 => None,
        count if count == 1 || count == 1 + shape.classes() => {
            let [scale, least_margin] = pair();
            let likelihoods = (1..count).map(|_| pair()).collect();
            Some(DeployedConfidence { scale, least_margin, likelihoods })
        }
        _ => return Err(ArtefactError::OtherSize),
    };
    let (payload, beside) = payload.split_at(bank);
    let mut beside = Numbers(beside);
    let lags = Lags::new((0..lags).map(|_| beside.word()).collect());
    let lags = lags.map_err(|_| {
        ArtefactError::Model(ModelError::new(Part::Lag, ErrorKind::NotInRange, 0, 0))
    })?;
    let lags = match shape.topology {
        Topology::PER_LAG => lags.apart(),
        _ if shape.family.has_past() => lags.of_past(),
        _ => lags,
    };
    let books = [coded, channels, outputs, shape.levels.into()];
    let codebooks = (coded > 0).then(|| DeployedCodebooks::read(books, &mut || beside.word()));
    if let Some(books) = &codebooks {
        books.validate(shape.dilation.into()).map_err(ArtefactError::Model)?;
    }
    let (numbers, tail) = payload.split_at(payload.len() - 8);
    let mut numbers = Numbers(numbers);
    let engine: Engine = match of_profile {
        true => DeployedProfile::read(sizes.of_profile(), || numbers.real()).into(),
        false => sizes.bank(models, (&lags, channels), &mut numbers)?.into(),
    };
    let weights = (0..outputs).map(|_| numbers.reals(usize::from(shape.models))).collect();
    let biases = numbers.reals(outputs);
    let code = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
    let normalisation = Normalisation::from_code(code).ok_or(ArtefactError::BadHeader)?;
    let observations = match symbols && front.is_empty() {
        true => Observations::Symbols(observed.join("\n")),
        false => Observations::Channels(observed),
    };
    let contract = contract_of(&header, bytes)?;
    let observed = match &observations {
        Observations::Channels(names) => names.len(),
        Observations::Symbols(_) => 0,
    };
    if contract.as_ref().is_some_and(|own| ![0, observed].contains(&own.channels.len())) {
        return Err(ArtefactError::BadHeader);
    }
    // The one value of a regression is its estimate.
    if outputs != 1 && contract.as_ref().is_some_and(|own| own.target.is_some()) {
        return Err(ArtefactError::BadHeader);
    }
    // Shape and contract say the same of missing channels, and models alone hear such samples.
    let lacks_some = contract.as_ref().is_some_and(Contract::lacks_some);
    let in_whole = coded > 0 || !front.is_empty() || of_profile;
    if shape.in_part != lacks_some || shape.in_part && in_whole {
        return Err(ArtefactError::BadHeader);
    }
    let teaching = header.teaching_bytes(bytes);
    if let Some(own) = teaching {
        let basis = TeachingBasis::read(own).ok();
        let sizes = basis.map(|basis| (basis.numbers(), basis.classes()));
        if sizes != Some((outputs + models, shape.classes())) {
            let wrong = ContractError::Invalid(TeachingBasis::SECTION);
            return Err(ArtefactError::Contract(wrong));
        }
    }
    let teaching = teaching.map(<[u8]>::to_vec);
    let common = Common {
        observations,
        classes,
        front,
        lags,
        codebooks,
        weights,
        biases,
        normalisation,
        confidence,
        teaching,
        contract,
    };
    let row = common.lags.width(common.channels());
    if common.classes.len() != shape.classes() || row != usize::from(shape.size) {
        return Err(ArtefactError::Labels);
    }
    let deployed = Deployed { common, engine };
    // What its memory alone decides is judged by the core's checks, as on a device; lags, columns, codebooks and the
    // front end were above.
    deployed.validate().map_err(ArtefactError::Model)?;
    Ok(deployed)
}

/// Reads the contract. Unlike a device, the host bears gaps as long as a window, and others have not been written.
fn contract_of(header: &Header, bytes: &[u8]) -> Result<Option<Contract>, ArtefactError> {
    let contract = header.contract(bytes)?;
    let windows = contract.as_ref().and_then(|contract| contract.windows);
    if windows.is_some_and(|windows| windows.longest_gap != windows.length) {
        return Err(ArtefactError::BadHeader);
    }
    Ok(contract.as_ref().map(Contract::from))
}

struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    /// Reads the next word, after the last one an invalid one that is NaN as a real.
    fn word(&mut self) -> u32 {
        let Some((head, rest)) = self.0.split_first_chunk() else { return u32::MAX };
        self.0 = rest;
        u32::from_le_bytes(*head)
    }

    fn real(&mut self) -> f32 {
        f32::from_bits(self.word())
    }

    fn reals(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.real()).collect()
    }
}

struct Sizes {
    states: usize,
    emission: Sized,
    directions: usize,
    family: &'static dyn Family,
    topology: Topology,
}

impl Sizes {
    /// Positions, symbols, directions.
    fn of_profile(&self) -> [usize; 3] {
        [self.states, self.emission.size, self.directions]
    }

    fn model_reals(&self) -> usize {
        if self.topology == Topology::PROFILE {
            return DeployedProfile::reals(self.of_profile());
        }
        let weight = 1 + self.directions;
        let emission = reals(self.family, self.emission, self.directions);
        let chain = if self.topology == Topology::STEPS { 0 } else { 1 + self.states };
        let columns = if self.topology == Topology::PER_LAG { self.emission.size } else { 0 };
        self.states * (chain * weight + emission) + columns
    }

    fn weights(&self, count: usize, numbers: &mut Numbers<'_>) -> Vec<Weight> {
        (0..count)
            .map(|_| Weight { value: numbers.real(), tangent: numbers.reals(self.directions) })
            .collect()
    }

    fn model(&self, numbers: &mut Numbers<'_>) -> DeployedModel {
        let chain = if self.topology == Topology::STEPS { 0 } else { self.states };
        let row = |numbers: &mut Numbers<'_>| self.weights(chain, numbers);
        let (initial, transition) = (row(numbers), (0..chain).map(|_| row(numbers)).collect());
        let emission = (0..self.states).map(|_| self.emission(numbers)).collect();
        DeployedModel { initial, transition, emission }
    }

    /// Reads `models` models, whose columns are those that lags of `channels` channels imply.
    fn bank(
        &self,
        models: usize,
        (lags, channels): (&Lags, usize),
        numbers: &mut Numbers<'_>,
    ) -> Result<Bank, ArtefactError> {
        let model = |index| {
            let model = self.model(numbers);
            for column in lags.columns(index, channels).into_iter().flatten() {
                if numbers.word() as usize != column {
                    return Err(ArtefactError::Model(ModelError::new(
                        Part::Column,
                        ErrorKind::Inconsistent,
                        index,
                        column,
                    )));
                }
            }
            Ok(model)
        };
        let models = (0..models).map(model).collect::<Result<_, _>>()?;
        Ok(match self.topology {
            Topology::STEPS => Bank { models, states: States::Steps, directions: self.directions },
            _ => Bank::new(models),
        })
    }

    fn emission(&self, numbers: &mut Numbers<'_>) -> DeployedEmission {
        let mut next = || numbers.real();
        DeployedEmission::read(self.family, self.emission, self.directions, &mut next)
    }
}
