//! A device that loses, doubles, and is reset in the middle.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::time::Duration;

use fishweir_core::wire::{Frame, Receiver, RecordBuffer};
use zerocopy::FromBytes;

use super::*;

/// An update of a model of one state, without practical use.
fn update() -> Vec<u8> {
    use fishweir_core::artefact::{length_of, write};
    use fishweir_core::classify::{Normalisation, StreamClassifier};
    use fishweir_core::emission::Categorical;
    use fishweir_core::hmm::{Chain, Hmm};
    use fishweir_core::update::{Entry, SelfTest, UpdateHeader};
    type Coin = Hmm<Categorical<2>, 2>;
    let chain = Chain::from_parts([0.5; 2], [[0.5; 2]; 2]);
    let coin: Coin = Hmm::new(chain, [Categorical::from_parts([0.25, 0.75]); 2]);
    let coin = StreamClassifier::from_parts([coin], [[1.0]], [0.0], Normalisation::NONE);
    let mut room = [0; length_of::<Coin, 1, 1>(0)];
    let artefact = write(&coin, "", &mut room).expect("room enough");
    let entry = Entry { sample: &[1, 0], class: 0, margin_bits: 0 };
    let test = [&SelfTest::head(1, 2)[..], entry.sample, &entry.verdict()].concat();
    let header = UpdateHeader::encode(1, artefact, &test, false).expect("sound");
    [&header[..], artefact, &test].concat()
}

/// Simulated device, on a line that tampers with the `n`th answer.
struct Device {
    receiver: Receiver,
    room: RecordBuffer<UpdateChunk>,
    taken: Vec<u8>,
    offered: bool,
    answers: VecDeque<Vec<u8>>,
    requests: usize,
    ways: fn(usize) -> Way,
    ends: UpdateStatus,
    length: usize,
}

#[derive(PartialEq)]
enum Way {
    Straight,
    LosesRequest,
    LosesAnswer,
    DoublesAnswer,
    Resets,
}

impl Device {
    fn hear(&mut self, record: &[u8]) {
        self.requests += 1;
        let way = (self.ways)(self.requests);
        if way == Way::LosesRequest {
            return;
        }
        if way == Way::Resets {
            self.offered = false;
        }
        let mut transfer = 0;
        let status = if let Ok(offer) = UpdateOffer::read_from_bytes(record) {
            self.offered = true;
            self.taken.resize(self.taken.len().max(HEADER_LENGTH), 0);
            self.taken[..HEADER_LENGTH].copy_from_slice(&offer.header);
            transfer = u32::from_le_bytes(*offer.header.last_chunk().expect("long enough"));
            UpdateStatus::Receiving
        } else if !self.offered {
            UpdateStatus::Idle
        } else {
            let UpdateChunk { piece, .. } = UpdateChunk::read_from_bytes(record).expect("a piece");
            transfer = piece.transfer.get();
            if piece.offset.get() as usize == self.taken.len() {
                let used = UPDATE_CHUNK.min(self.length - self.taken.len());
                self.taken.extend(&piece.data[..used]);
            }
            if self.taken.len() == self.length { self.ends } else { UpdateStatus::Receiving }
        };
        let answer = Frame::new(&UpdateProgress {
            head: SampleIndex::default().head(UpdateProgress::TAG),
            status: status as u8,
            transfer: transfer.into(),
            wanted: (self.taken.len() as u32).into(),
            running: 0.into(),
        });
        let times = match way {
            Way::LosesAnswer => 0,
            Way::DoublesAnswer => 2,
            _ => 1,
        };
        self.answers.extend(vec![answer.as_bytes().to_vec(); times]);
    }
}

struct End<'d>(&'d RefCell<Device>);

impl Read for End<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let answer = self.0.borrow_mut().answers.pop_front();
        let answer = answer.ok_or(ErrorKind::WouldBlock)?;
        buffer[..answer.len()].copy_from_slice(&answer);
        Ok(answer.len())
    }
}

impl Write for End<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let device = &mut *self.0.borrow_mut();
        for &byte in bytes {
            if let Some(length) = device.receiver.push(byte, device.room.bytes()) {
                let record = device.room.bytes()[..length].to_vec();
                device.hear(&record);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends an update; returns the outcome, the number of requests, and the content of the device.
fn sent(
    ways: fn(usize) -> Way,
    ends: UpdateStatus,
) -> (Result<UpdateStatus, DeviceError>, usize, Vec<u8>) {
    let update = update();
    let device = RefCell::new(Device {
        receiver: Receiver::new(),
        room: RecordBuffer::new(),
        taken: Vec::new(),
        offered: false,
        answers: VecDeque::new(),
        requests: 0,
        ways,
        ends,
        length: update.len(),
    });
    let options = Options { patience: Duration::from_secs(5), ..Options::default() };
    let mut last = 0;
    let outcome = send_update(End(&device), End(&device), &update, &options, |bytes| {
        assert!(bytes >= last);
        last = bytes;
    });
    let device = device.into_inner();
    assert!(device.taken == update || outcome.is_err());
    (outcome, device.requests, device.taken)
}

#[test]
fn an_update_arrives_over_a_line_that_loses_doubles_and_resets() {
    let pieces = update().len().div_ceil(UPDATE_CHUNK);
    let ways: [fn(usize) -> Way; 5] = [
        |_| Way::Straight,
        |n| if n % 2 == 1 { Way::LosesRequest } else { Way::Straight },
        |n| if n % 2 == 1 { Way::LosesAnswer } else { Way::Straight },
        |_| Way::DoublesAnswer,
        |n| if n == 3 { Way::Resets } else { Way::Straight },
    ];
    for (at, ways) in ways.into_iter().enumerate() {
        let (outcome, requests, _) = sent(ways, UpdateStatus::Received);
        assert_eq!(outcome.expect("received"), UpdateStatus::Received, "{at}");
        // Doubled answers double no request.
        let extra = [0, pieces, pieces, 0, 2][at];
        assert!((pieces..=pieces + extra).contains(&requests), "{at}: {requests}");
    }
}

#[test]
fn a_refusal_is_told_in_words() {
    let (outcome, ..) = sent(|_| Way::Straight, UpdateStatus::SelfTest);
    let error = outcome.expect_err("refused");
    assert_eq!(
        error.to_string(),
        "the device refuses the update: it does not decide as its self-test says"
    );
    let nothing = send_update(io::empty(), io::sink(), b"FISHWEIR", &Options::default(), |_| ());
    assert!(matches!(nothing, Err(DeviceError::NotAnUpdate(_))), "{nothing:?}");
}
