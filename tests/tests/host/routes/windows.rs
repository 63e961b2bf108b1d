//! A device on the windows of its model, but for its serial line: what it tells the host of them, and updates of others.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::time::Duration;

use fishweir::data::{Sample, ShortSeries, Windowing};
use fishweir::deploy::Deployed;
use fishweir::device::{Input, Options, ask_contract, converse};
use fishweir_core::artefact;
use fishweir_core::classify::{StreamClassifier, WindowClassifier};
use fishweir_core::contract::Windows;
use fishweir_core::emission::Gaussian;
use fishweir_core::filter::Stream;
use fishweir_core::hmm::Hmm;
use fishweir_core::wire::{Status, UpdateStatus};
use fishweir_device::classifier::ClassifierStream;
use fishweir_device::meter::NoMeter;
use fishweir_device::session::{Action, Session};
use fishweir_device::update::{NoSignature, Updates};
use fishweir_tests::quick::{channels, three_channels};
use zerocopy::IntoBytes;

use super::field::{Device, Flash, send};

type Model = StreamClassifier<Hmm<Gaussian<3>, 2>, 2, 1>;

fn every(length: usize, hop: usize) -> Option<Windowing> {
    let [length, hop] = [length, hop].map(|n| NonZeroUsize::new(n).expect("some"));
    Some(Windowing { length, hop, short: ShortSeries::Drop })
}

fn deployed() -> Deployed {
    three_channels().deploy().expect("fits in f32")
}

/// The device at one end of a line: it answers what is written as soon as it is whole.
struct AtDevice<'s, C: ClassifierStream<2>> {
    session: Session<'s, C, NoMeter, 2>,
    answers: VecDeque<u8>,
    stopped: bool,
}

/// The host's end of it.
struct End<'e, 's, C: ClassifierStream<2>>(&'e Mutex<AtDevice<'s, C>>);

impl<C: ClassifierStream<2>> Read for End<'_, '_, C> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut device = self.0.lock().expect("whole");
        if device.answers.is_empty() && !device.stopped {
            drop(device);
            std::thread::sleep(Duration::from_millis(1));
            return Err(ErrorKind::WouldBlock.into());
        }
        device.answers.read(buffer)
    }
}

impl<C: ClassifierStream<2>> Write for End<'_, '_, C> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let AtDevice { session, answers, stopped } = &mut *self.0.lock().expect("whole");
        for &byte in bytes {
            match session.on_byte(Ok::<_, io::Error>(byte))? {
                Action::Read => {}
                Action::Write(frame) => answers.extend(frame),
                Action::Close => *stopped = true,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

type Windowed<'m, const STATES: usize> = Stream<WindowClassifier<'m, &'m Model, STATES>>;

/// Does something with a device that runs the artefact of a classifier.
fn on_device<const STATES: usize>(
    deployed: &Deployed,
    then: impl FnOnce(&mut Windowed<'_, STATES>),
) {
    let artefact = deployed.to_artefact().expect("small enough");
    let words = super::codebooks::aligned(&artefact);
    let bytes = &words.as_bytes()[..artefact.len()];
    let model = artefact::read::<Model>(bytes).expect("an artefact");
    let contract = artefact::contract(bytes).expect("sections").expect("a contract");
    then(&mut Stream::new(WindowClassifier::new(model, &contract).expect("its states")));
}

fn at_device<C: ClassifierStream<2>>(running: &mut C) -> Mutex<AtDevice<'_, C>> {
    let session = Session::new(running, &NoMeter);
    Mutex::new(AtDevice { session, answers: VecDeque::new(), stopped: false })
}

#[test]
fn a_device_tells_what_its_model_was_trained_on() {
    fn tells<const STATES: usize>(windowing: Option<Windowing>) {
        let deployed = deployed().on_windows(windowing);
        let artefact = deployed.to_artefact().expect("small enough");
        let read = Deployed::from_artefact("artefact", &artefact).expect("an artefact");
        assert_eq!(read.contract().expect("a contract").channels.len(), 3);
        on_device::<STATES>(&deployed, |running| {
            let device = at_device(running);
            let told = ask_contract(End(&device), End(&device), &Options::default());
            assert_eq!(told.as_ref().ok(), read.contract(), "{windowing:?}");
        });
    }
    tells::<1>(every(8, 8));
    tells::<3>(every(9, 4));
    tells::<1>(None);
}

/// A decision is due at the end of each window, in the bits of the host's windows, and none is there in a gap that is
/// too long. A refused sample is missing.
#[test]
fn answers_over_a_line_say_where_a_window_ends() {
    let deployed = deployed().on_windows(every(8, 4));
    let data = channels();
    let rows = data.series()[0].samples.view().rows().expect("channels");
    let rows: Vec<Vec<f32>> = (rows.iter())
        .map(|row| row.expect("none is missing").iter().map(|&x| x as f32).collect())
        .collect();
    let refused = [f32::INFINITY, 0.0, 0.0];
    let inputs: Vec<Input<'_>> = (0..60)
        .map(|t| match t {
            13 | 14 | 27..39 => Input::Missing,
            20 => Input::Vector(&refused),
            _ => Input::Vector(&rows[t % rows.len()]),
        })
        .collect();
    on_device::<2>(&deployed, |running| {
        let device = at_device(running);
        let heard = converse(
            End(&device),
            End(&device),
            || (),
            inputs.iter().copied(),
            &Options::default(),
            |_| {},
        )
        .expect("answers");
        let mut host = deployed.window_stream();
        let (mut decided, mut between) = (0, 0);
        for (t, (input, answer)) in inputs.iter().zip(&heard.answers).enumerate() {
            let answer = answer.as_ref().expect("nothing is lost");
            let taken = match input {
                Input::Vector(row) => {
                    let row: Vec<f64> = row.iter().map(|&x| x.into()).collect();
                    host.push(Sample::Row(&row))
                }
                _ => host.push(Sample::Missing),
            };
            assert_eq!(taken.is_err(), t == 20);
            let expected = host.decided().map(|window| window.stream.decision().expect("in range"));
            assert_eq!(answer.decided, expected.is_some(), "{t}");
            if let Some(expected) = expected {
                let found = (answer.class, answer.margin_bits);
                assert_eq!(found, (expected.class, expected.margin.to_bits()), "{t}");
                decided += 1;
            }
            assert_eq!(answer.status == Status::NoWindow, host.open().is_none(), "{t}: {answer:?}");
            between += usize::from(host.open().is_none());
        }
        assert_eq!((heard.answers.len(), decided, between), (60, 12, 3));
    });
}

#[test]
fn an_update_is_of_windows_that_take_as_many_states() {
    let deployed = deployed();
    let data = channels();
    let update = |version, windows: Option<Windowing>| {
        let deployed = deployed.clone().on_windows(windows);
        deployed.to_update(version, data.series()[0].samples.view(), false).expect("an update")
    };
    let image = |windows: Option<Windows>| -> Device<Model> {
        Updates::start(Flash::new(), NoSignature, 0, windows).expect("reads")
    };
    let two = Some(Windows::of(8, 4));
    // Longer windows, of as many states.
    let mut device = image(two);
    assert_eq!(send(&mut device, &update(1, every(12, 6))), UpdateStatus::Received);
    assert_eq!(device.begin_stream(), Ok(true));
    let windows = device.contract().and_then(|contract| contract.windows);
    assert_eq!(windows.map(|windows| (windows.length, windows.hop)), Some((12, 6)));
    device.confirm().expect("writes");
    for other in [every(12, 4), every(8, 8), None] {
        assert_eq!(send(&mut device, &update(2, other)), UpdateStatus::OtherWindows);
    }
    // An image that decides on whole series takes none that ends windows by itself, and the other way.
    let mut whole = image(None);
    assert_eq!(send(&mut whole, &update(1, every(8, 8))), UpdateStatus::OtherWindows);
    assert_eq!(send(&mut whole, &update(1, None)), UpdateStatus::Received);
    let mut one = image(Some(Windows::of(8, 8)));
    assert_eq!(send(&mut one, &update(1, None)), UpdateStatus::OtherWindows);
    assert_eq!(send(&mut one, &update(1, every(30, 30))), UpdateStatus::Received);
}
