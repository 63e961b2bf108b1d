//! A device in the field, but for its serial line: flash in memory, and updates sent into it.

use embedded_storage::nor_flash::{
    ErrorType, MultiwriteNorFlash, NorFlash, NorFlashErrorKind, ReadNorFlash,
};
use fishweir_core::artefact::StoredClassifier;
use fishweir_core::classify::Classifier;
use fishweir_core::wire::{UPDATE_CHUNK, UpdateStatus};
use fishweir_device::classifier::WireSample;
use fishweir_device::update::{MappedFlash, NoSignature, Updates};
use zerocopy::IntoBytes;

/// Flash in memory, aligned.
pub(super) struct Flash(Vec<u64>);

impl Flash {
    /// Two slots of 16 kB each, erased.
    pub(super) fn new() -> Self {
        Self(vec![u64::MAX; 4096])
    }
}

impl ErrorType for Flash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        bytes.copy_from_slice(&self.bytes()[offset as usize..][..bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes().len()
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 64;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        self.0.as_mut_bytes()[from as usize..to as usize].fill(0xFF);
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        let kept = &mut self.0.as_mut_bytes()[offset as usize..][..bytes.len()];
        kept.iter_mut().zip(bytes).for_each(|(kept, byte)| *kept &= byte);
        Ok(())
    }
}

impl MultiwriteNorFlash for Flash {}

impl MappedFlash for Flash {
    fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// An image for classifiers of two models.
pub(super) type Device<C> = Updates<Flash, NoSignature, C, 2>;

/// After its first reset, of a model that decides on whole series.
pub(super) fn start<C>() -> Device<C>
where
    C: StoredClassifier
        + Classifier<Real = f32, Evidence = [f32; 2], Observation: WireSample + Sized>,
{
    Device::start(Flash::new(), NoSignature, 0, None).expect("reads")
}

/// Sends an update, from where the device wants it.
pub(super) fn send<C>(device: &mut Device<C>, update: &[u8]) -> UpdateStatus
where
    C: StoredClassifier
        + Classifier<Real = f32, Evidence = [f32; 2], Observation: WireSample + Sized>,
{
    let header = update.first_chunk().expect("a header");
    let transfer = u32::from_le_bytes(*header.last_chunk().expect("a checksum"));
    let mut status = device.offer(header);
    while status == UpdateStatus::Receiving {
        let wanted = device.progress(Default::default(), status).wanted.get();
        let mut piece = [0xFF; UPDATE_CHUNK];
        piece.iter_mut().zip(&update[wanted as usize..]).for_each(|(to, &from)| *to = from);
        status = device.chunk(transfer, wanted, &piece);
    }
    status
}
