//! Contract of a model as its device reports it.

use std::io::{Read, Write};

use fishweir_core::contract;
use fishweir_core::wire::{ContractHead, ContractRequest, Fault, Head, Request, SampleIndex};
use zerocopy::IntoBytes;

use super::line::{Line, LineEvent, send};
use super::pace::Repeats;
use super::session::{bad, fault, read};
use super::{DeviceError, Options};
use crate::classifier::Contract;

/// Asks a device what its model was trained on: windows, sample period, channels. Each section of the contract is asked
/// for until it is answered.
///
/// # Errors
/// When the link fails or is silent for longer than [`Options::patience`], when the device does not serve the request, or
/// when what it tells is no contract.
pub fn ask_contract(
    reader: impl Read,
    mut writer: impl Write,
    options: &Options,
) -> Result<Contract, DeviceError> {
    let mut line = Line::new(reader, options);
    let (mut bytes, mut section) = (Vec::new(), 0_u16);
    loop {
        let head = SampleIndex::default().head(Request::Contract.tag());
        let request = ContractRequest { head, section: section.into() };
        let mut ask = || {
            Ok::<_, DeviceError>(
                send(&mut writer, request.as_bytes()).and_then(|()| writer.flush())?,
            )
        };
        ask()?;
        let mut repeats = Repeats::default();
        let (head, content) = loop {
            match line.hear(0)? {
                LineEvent::Record(head, rest) if head.tag == ContractHead::TAG => {
                    let (fixed, content) = rest
                        .split_at_checked(size_of::<ContractHead>() - size_of::<Head>())
                        .ok_or_else(|| bad(0, "a section of another length".into()))?;
                    let fixed: ContractHead = read(head, fixed, 0)?;
                    if fixed.section.get() == section {
                        break (fixed, content.to_vec());
                    }
                }
                LineEvent::Record(head, rest) if head.tag == Fault::TAG => {
                    return Err(fault(&read(head, &rest, 0)?, 0));
                }
                LineEvent::Record(..) => {}
                LineEvent::Silence if repeats.due() => ask()?,
                LineEvent::Silence => {}
                LineEvent::End => return Err(DeviceError::Stopped { answers: 0 }),
            }
        };
        bytes.extend(content);
        section += 1;
        if section >= head.sections.get() {
            break;
        }
    }
    let told = contract::Contract::read(&bytes).map_err(|error| bad(0, error.to_string()))?;
    Ok(Contract::from(&told))
}
