//! Life of an update: received, on trial, confirmed, or refused.

use core::marker::PhantomData;

use fishweir_core::Profile;
use fishweir_core::artefact::{
    self, ArtefactError, HEADER_LENGTH as ARTEFACT_HEADER, StoredClassifier,
};
use fishweir_core::classify::Calibration;
use fishweir_core::contract::{Contract, Windows};
use fishweir_core::update::{HEADER_LENGTH, SelfTest, Update, UpdateHeader};
use fishweir_core::wire::{Head, SampleIndex, UPDATE_CHUNK, UpdateProgress, UpdateStatus};
use zerocopy::FromBytes;

use super::layout::{MappedFlash, Mark, UpdateSlots};
use super::trust::Trust;
use crate::classifier::WireSample;
use crate::storage::{StorageError, ValidSlot};
use fishweir_core::classify::Classifier;

/// The updates of a device whose image is built for classifiers of type `C`.
///
/// RAM: the flash's driver and 60 bytes; while a self-test runs, a stream's state on the stack.
#[derive(Debug)]
pub struct Updates<F, T, C, const MODELS: usize> {
    slots: UpdateSlots<F>,
    trust: T,
    /// Version of the model that the image was built with.
    built_in: u32,
    /// Number of states that its windows take; `None` where it decides on whole series.
    states: Option<usize>,
    /// Slot of the running model; `None` for the built-in one.
    running: Option<ValidSlot>,
    /// Slot of the model that begins with the next stream.
    received: Option<ValidSlot>,
    receiving: Option<Receiving>,
    /// Outcome of the previous update, by its checksum: the answer may have been lost.
    last: (u32, UpdateStatus),
    model: PhantomData<fn() -> C>,
}

#[derive(Clone, Copy, Debug)]
struct Receiving {
    slot: u32,
    transfer: u32,
    version: u32,
    length: usize,
    /// The offset wanted next.
    wanted: usize,
}

impl<F, T, C, const MODELS: usize> Updates<F, T, C, MODELS>
where
    F: MappedFlash,
    T: Trust,
    C: StoredClassifier
        + Classifier<Real = f32, Evidence = [f32; MODELS], Observation: WireSample + Sized>,
{
    /// Starts after a reset: takes up the newest model that may run, and counts the reset if that one is on trial.
    ///
    /// `built_in` is the version of the image's own model; what is not newer is ignored. `windows` are its own: an update
    /// has such that take as many states, or none likewise. Work: a few passes over each slot, and the self-test.
    ///
    /// # Errors
    /// When the flash fails. The built-in model can run then.
    pub fn start(
        flash: F,
        trust: T,
        built_in: u32,
        windows: Option<Windows>,
    ) -> Result<Self, F::Error> {
        let mut updates = Self {
            slots: UpdateSlots::new(flash),
            trust,
            built_in,
            states: windows.map(|windows| windows.states()),
            running: None,
            received: None,
            receiving: None,
            last: (0, UpdateStatus::Idle),
            model: PhantomData,
        };
        let (first, second) = (updates.slots.check(0)?, updates.slots.check(1)?);
        let version = |whole: Option<ValidSlot>| whole.map_or(0, |whole| whole.number);
        let newest_first =
            if version(first) >= version(second) { [first, second] } else { [second, first] };
        for whole in newest_first.into_iter().flatten() {
            if updates.may_run(whole)? {
                updates.running = Some(whole);
                break;
            }
        }
        Ok(updates)
    }

    /// Returns whether a complete update is to run after a reset, and marks it so.
    fn may_run(&mut self, whole: ValidSlot) -> Result<bool, F::Error> {
        let ValidSlot { slot, number, length } = whole;
        if number <= self.built_in || self.slots.is_marked(slot, Mark::Refused) {
            return Ok(false);
        }
        let sound = self.judge(slot, number, length).is_ok();
        if self.slots.is_marked(slot, Mark::Confirmed) {
            return Ok(sound);
        }
        if self.slots.is_marked(slot, Mark::SecondTrial) {
            self.last = (self.transfer_of(slot), UpdateStatus::RolledBack);
            self.slots.mark(slot, Mark::Refused)?;
            return Ok(false);
        }
        if sound {
            self.count_trial(slot)?;
        }
        Ok(sound)
    }

    fn count_trial(&mut self, slot: u32) -> Result<(), F::Error> {
        let first = self.slots.is_marked(slot, Mark::FirstTrial);
        self.slots.mark(slot, if first { Mark::SecondTrial } else { Mark::FirstTrial })
    }

    /// Checks whether the content of a slot may run on this image.
    // Out of line: it has several callers.
    #[inline(never)]
    fn judge(&self, slot: u32, version: u32, length: usize) -> Result<(), UpdateStatus> {
        let update =
            Update::read(self.slots.bytes(slot, length)).map_err(|_| UpdateStatus::Damaged)?;
        if update.header.version() != version {
            return Err(UpdateStatus::Damaged);
        }
        Self::fits(&update.header)?;
        if T::SIGNED && !self.trust.trusts(&update) {
            return Err(UpdateStatus::Signature);
        }
        let model = artefact::read::<C>(update.artefact).map_err(|error| match error {
            // Another front end: an update's header says only that there is one.
            ArtefactError::OtherShape { .. } => UpdateStatus::OtherShape,
            _ => UpdateStatus::Damaged,
        })?;
        let windows = contract_of(update.artefact).windows;
        if windows.map(|windows| windows.states()) != self.states {
            return Err(UpdateStatus::OtherWindows);
        }
        if passes(model, update.self_test) { Ok(()) } else { Err(UpdateStatus::SelfTest) }
    }

    /// Checks that a header is that of an update for this image.
    fn fits(header: &UpdateHeader) -> Result<(), UpdateStatus> {
        if !header.is_of(C::SHAPE) {
            return Err(UpdateStatus::OtherShape);
        }
        if header.profile() != Profile::of(C::FORMAT) {
            return Err(UpdateStatus::OtherProfile);
        }
        if T::SIGNED && !header.is_signed() {
            return Err(UpdateStatus::Signature);
        }
        Ok(())
    }

    /// The model that runs, where it lies in flash; `None` where it is the built-in one. Cost: some
    /// comparisons; it was checked before.
    #[inline]
    #[must_use]
    pub fn model(&self) -> Option<&C> {
        let slot = self.running?.slot;
        let before = HEADER_LENGTH + ARTEFACT_HEADER;
        let bytes = self.slots.bytes(slot, before + size_of::<C>()).get(before..)?;
        C::ref_from_bytes(bytes).ok()
    }

    /// Returns the calibration of the running model; `None` for the built-in model, whose image
    /// has it, and if the update has none. Cost: a pass over the update.
    #[must_use]
    pub fn confidence(&self) -> Option<Calibration<'_, C::Real>> {
        let whole = self.running?;
        let update = Update::read(self.slots.bytes(whole.slot, whole.length)).ok()?;
        artefact::confidence::<C>(update.artefact).ok()?
    }

    /// Returns the contract of the running model; `None` for the built-in model, whose contract the image has.
    ///
    /// Cost: two passes over the update.
    #[must_use]
    pub fn contract(&self) -> Option<Contract<'_>> {
        let whole = self.running?;
        let update = Update::read(self.slots.bytes(whole.slot, whole.length)).ok()?;
        Some(contract_of(update.artefact))
    }

    /// Version of the model that runs.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.running.map_or(self.built_in, |whole| whole.number)
    }

    /// Returns whether the running model is on trial.
    #[must_use]
    pub fn is_on_trial(&self) -> bool {
        self.running.is_some_and(|whole| !self.slots.is_marked(whole.slot, Mark::Confirmed))
    }

    /// The model that runs has proved itself: it stays.
    ///
    /// # Errors
    /// When the flash fails.
    pub fn confirm(&mut self) -> Result<(), F::Error> {
        match self.running {
            Some(whole) if self.is_on_trial() => self.slots.mark(whole.slot, Mark::Confirmed),
            _ => Ok(()),
        }
    }

    /// Begins a stream: an update that was received runs from now on. Returns whether one does.
    ///
    /// # Errors
    /// When the flash fails; the model before runs on.
    pub fn begin_stream(&mut self) -> Result<bool, F::Error> {
        let Some(whole) = self.received.take() else { return Ok(false) };
        self.count_trial(whole.slot)?;
        self.running = Some(whole);
        Ok(true)
    }

    /// Takes up an update by its header: from its start or, where the same one was broken off, from there.
    ///
    /// A slot is erased for one that is new, and what it held is gone.
    pub fn offer(&mut self, header: &[u8; HEADER_LENGTH]) -> UpdateStatus {
        match self.take_up(header) {
            Ok(status) | Err(Refusal::Of(status)) => status,
            Err(Refusal::Flash) => self.flash_failed(header),
        }
    }

    fn take_up(&mut self, header: &[u8; HEADER_LENGTH]) -> Result<UpdateStatus, Refusal> {
        let parsed = UpdateHeader::parse(header).map_err(|_| UpdateStatus::NotAnUpdate)?;
        Self::fits(&parsed)?;
        if let Some(status) = self.status_of_held(header)? {
            return Ok(status);
        }
        let (transfer, version) = (parsed.checksum(), parsed.version());
        for slot in [0, 1] {
            if self.check(slot)?.is_some_and(|whole| whole.number >= version) {
                return Err(UpdateStatus::NotNewer.into());
            }
        }
        if version <= self.built_in {
            return Err(UpdateStatus::NotNewer.into());
        }
        let length = parsed.length().filter(|&length| length <= self.slots.longest());
        let length = length.ok_or(UpdateStatus::TooLong)?;
        if self.is_on_trial() {
            return Err(UpdateStatus::Busy.into());
        }
        let slot = self.free(header)?;
        let wanted = if self.slots.receives(slot, header) {
            self.slots.reached(slot, length)
        } else {
            self.received = None;
            self.receiving = None;
            self.slots.begin(slot, header).map_err(|_| Refusal::Flash)?;
            HEADER_LENGTH
        };
        self.receiving = Some(Receiving { slot, transfer, version, length, wanted });
        Ok(UpdateStatus::Receiving)
    }

    /// Returns the status of the update with this header, if a slot holds all of it.
    fn status_of_held(
        &mut self,
        header: &[u8; HEADER_LENGTH],
    ) -> Result<Option<UpdateStatus>, Refusal> {
        for slot in [0, 1] {
            if self.slots.bytes(slot, HEADER_LENGTH) != header || self.check(slot)?.is_none() {
                continue;
            }
            let runs = self.running.is_some_and(|whole| whole.slot == slot);
            let awaited = self.received.is_some_and(|whole| whole.slot == slot);
            return Ok(Some(match () {
                () if self.slots.is_marked(slot, Mark::Refused) => UpdateStatus::RolledBack,
                () if runs && self.is_on_trial() => UpdateStatus::OnTrial,
                () if runs => UpdateStatus::Confirmed,
                () if awaited => UpdateStatus::Received,
                () => UpdateStatus::NotNewer,
            }));
        }
        Ok(None)
    }

    fn check(&mut self, slot: u32) -> Result<Option<ValidSlot>, Refusal> {
        self.slots.check(slot).map_err(|_| Refusal::Flash)
    }

    /// The slot to receive into: never that of the running model.
    fn free(&mut self, header: &[u8; HEADER_LENGTH]) -> Result<u32, Refusal> {
        if let Some(running) = self.running {
            return Ok(1 - running.slot);
        }
        let first_is_better = self.slots.receives(0, header)
            || !self.slots.receives(1, header) && self.check(0)?.is_none();
        Ok(if first_is_better { 0 } else { 1 })
    }

    /// Takes a piece of an update; an unexpected piece changes nothing.
    pub fn chunk(&mut self, transfer: u32, offset: u32, data: &[u8; UPDATE_CHUNK]) -> UpdateStatus {
        let Some(receiving) = self.receiving.filter(|receiving| receiving.transfer == transfer)
        else {
            return if self.last.0 == transfer { self.last.1 } else { UpdateStatus::Idle };
        };
        let Receiving { slot, wanted, length, .. } = receiving;
        if offset as usize != wanted {
            return UpdateStatus::Receiving;
        }
        let used = UPDATE_CHUNK.min(length - wanted);
        let piece = data.get(..used).unwrap_or(data);
        if self.slots.put(slot, wanted, piece).is_err() {
            return self.end(receiving, UpdateStatus::Flash);
        }
        let wanted = wanted + used;
        self.receiving = Some(Receiving { wanted, ..receiving });
        if wanted < length { UpdateStatus::Receiving } else { self.finish(receiving) }
    }

    /// Judges an update that is all there.
    fn finish(&mut self, receiving: Receiving) -> UpdateStatus {
        let Receiving { slot, version, length, .. } = receiving;
        let status = match self.judge(slot, version, length) {
            Err(refused) => refused,
            Ok(()) => match self.slots.seal(slot, version, length) {
                Ok(whole) => {
                    self.received = Some(whole);
                    UpdateStatus::Received
                }
                Err(StorageError::Flash(_) | StorageError::TooLong | StorageError::NotKept) => {
                    UpdateStatus::Flash
                }
            },
        };
        self.end(receiving, status)
    }

    fn end(&mut self, receiving: Receiving, status: UpdateStatus) -> UpdateStatus {
        self.receiving = None;
        self.last = (receiving.transfer, status);
        if status.is_refusal() && self.slots.void(receiving.slot).is_err() {
            return UpdateStatus::Flash;
        }
        status
    }

    fn flash_failed(&mut self, header: &[u8; HEADER_LENGTH]) -> UpdateStatus {
        self.receiving = None;
        self.last = (transfer_of(header), UpdateStatus::Flash);
        UpdateStatus::Flash
    }

    fn transfer_of(&self, slot: u32) -> u32 {
        self.slots.bytes(slot, HEADER_LENGTH).first_chunk().map_or(0, transfer_of)
    }

    /// Returns the progress of the update.
    #[must_use]
    pub fn progress(&self, index: SampleIndex, status: UpdateStatus) -> UpdateProgress {
        let (transfer, wanted) = match self.receiving {
            Some(receiving) => (receiving.transfer, receiving.wanted as u32),
            None => (self.last.0, 0),
        };
        UpdateProgress {
            head: Head { ..index.head(UpdateProgress::TAG) },
            status: status as u8,
            transfer: transfer.into(),
            wanted: wanted.into(),
            running: self.version().into(),
        }
    }

    /// Returns the status of the update being received, or of the last one.
    #[must_use]
    pub fn status(&self) -> UpdateStatus {
        match (self.receiving, self.received, self.last.1) {
            (Some(_), ..) => UpdateStatus::Receiving,
            (None, Some(_), _) => UpdateStatus::Received,
            (None, None, refused) if refused.is_refusal() => refused,
            _ if self.is_on_trial() => UpdateStatus::OnTrial,
            _ if self.running.is_some() => UpdateStatus::Confirmed,
            _ => UpdateStatus::Idle,
        }
    }
}

/// Reason why an update is refused.
enum Refusal {
    Of(UpdateStatus),
    Flash,
}

impl From<UpdateStatus> for Refusal {
    fn from(status: UpdateStatus) -> Self {
        Self::Of(status)
    }
}

fn transfer_of(header: &[u8; HEADER_LENGTH]) -> u32 {
    header.last_chunk().map_or(0, |&word| u32::from_le_bytes(word))
}

/// Returns the contract of an artefact's model; an empty one for versions without contracts.
fn contract_of(artefact: &[u8]) -> Contract<'_> {
    artefact::contract(artefact).ok().flatten().unwrap_or(Contract::NONE)
}

/// Returns whether a model decides as its self-test requires, bit for bit.
fn passes<C, const MODELS: usize>(model: &C, test: SelfTest<'_>) -> bool
where
    C: Classifier<Real = f32, Evidence = [f32; MODELS], Observation: WireSample + Sized>,
{
    let mut state = model.initial_state();
    test.entries().all(|entry| {
        let wire = <C::Observation as WireSample>::Wire::read_from_bytes(entry.sample);
        let sample = wire.ok().and_then(|wire| C::Observation::from_wire(wire).ok());
        let pushed = sample.is_some_and(|sample| model.step(&mut state, &sample).is_ok());
        pushed
            && model.decision(&state).is_ok_and(|decision| {
                decision.class == usize::from(entry.class)
                    && decision.margin.to_bits() == entry.margin_bits
            })
    })
}
