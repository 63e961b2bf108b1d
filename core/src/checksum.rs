//! The checksum of artefacts and of frames.

/// CRC-32 (ISO-HDLC). Without a table: a kilobyte of flash is worth more than the microseconds of one
/// pass.
pub(crate) static CRC: crc::Crc<u32, crc::NoTable> =
    crc::Crc::<u32, crc::NoTable>::new(&crc::CRC_32_ISO_HDLC);
