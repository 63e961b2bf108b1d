//! Updates sent to devices by `send`: what can be refused without any.

use std::io::{Read, Write};
use std::net::TcpListener;

use fishweir_core::update::{Update, UpdateHeader};
use fishweir_core::wire::{
    Frame, Receiver, SampleIndex, UpdateChunk, UpdateOffer, UpdateProgress, UpdateStatus,
};
use fishweir_device::update::{Ed25519, Trust};
use zerocopy::FromBytes;

use crate::fixtures::{Folder, fixtures};
use crate::{json, printed, refuses};

#[test]
fn what_cannot_be_sent_is_refused_before_a_port_is_opened() {
    let folder = Folder::new();
    let (model, update) = (fixtures().at("three.json"), folder.at("three.update"));
    printed(&format!(
        "export {model} --update {update} --update-version 2 --data {}",
        fixtures().at("three.csv")
    ));
    let no_update = format!("not-an-update {model}");
    refuses(&format!("send {model} --port /dev/nowhere"), &no_update);
    refuses(&format!("send {update} --port /dev/nowhere"), "no-port /dev/nowhere");
    refuses(&format!("send {update} --port {model}"), format!("no-port {model}"));
    refuses(&format!("send {update}"), "missing-required-argument --port");

    // Someone is there who does not answer, or hangs up.
    let bridge = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = bridge.local_addr().expect("bound").to_string();
    refuses(&format!("send {update} --port {port} --patience 1"), "device-silent 1");
    let hangs_up = std::thread::spawn(move || {
        // The first that came, and gave up.
        drop(bridge.accept());
        drop(bridge.accept());
    });
    refuses(&format!("send {update} --port {port}"), format!("device-stopped {port}"));
    hangs_up.join().expect("both came");
}

/// A device behind a bridge that takes what is signed: whole updates that arrived are told.
fn device(listener: TcpListener, conversations: usize) -> std::thread::JoinHandle<Vec<Vec<u8>>> {
    std::thread::spawn(move || {
        let mut taken = Vec::new();
        for _ in 0..conversations {
            let (mut line, _) = listener.accept().expect("a host");
            let (mut receiver, mut room, mut byte) = (Receiver::new(), [0; 256], [0]);
            let mut update = Vec::new();
            let mut length = 0;
            while line.read(&mut byte).is_ok_and(|read| read > 0) {
                let Some(record) = receiver.push(byte[0], &mut room) else { continue };
                let status = if let Ok(offer) = UpdateOffer::read_from_bytes(&room[..record]) {
                    let header = UpdateHeader::parse(&offer.header).expect("a header");
                    length = header.length().expect("short");
                    update = offer.header.to_vec();
                    if header.is_signed() {
                        UpdateStatus::Receiving
                    } else {
                        UpdateStatus::Signature
                    }
                } else {
                    let chunk = UpdateChunk::read_from_bytes(&room[..record]).expect("a piece");
                    update.extend(&chunk.piece.data[..64.min(length - update.len())]);
                    if update.len() < length {
                        UpdateStatus::Receiving
                    } else {
                        UpdateStatus::Received
                    }
                };
                let transfer = update.get(60..64).and_then(|bytes| bytes.try_into().ok());
                let progress = UpdateProgress {
                    head: SampleIndex::default().head(UpdateProgress::TAG),
                    status: status as u8,
                    transfer: u32::from_le_bytes(transfer.expect("a header")).into(),
                    wanted: (update.len() as u32).into(),
                    running: 0.into(),
                };
                line.write_all(Frame::new(&progress).as_bytes()).expect("the host listens");
                if status == UpdateStatus::Received {
                    taken.push(std::mem::take(&mut update));
                }
            }
        }
        taken
    })
}

#[test]
fn an_update_is_signed_where_it_is_exported_or_sent() {
    let folder = Folder::new();
    let (model, data) = (fixtures().at("three.json"), fixtures().at("three.csv"));
    let (key, public) = (folder.at("door.key"), folder.at("door.pub"));
    printed(&format!("keygen {key}"));
    let trust = Ed25519::from_hex(&folder.text("door.pub"));
    let [plain, signed, awaiting] = ["plain", "signed", "awaiting"].map(|name| folder.at(name));
    let export = format!("export {model} --update-version 2 --data {data}");
    printed(&format!("{export} --update {plain}"));
    printed(&format!("{export} --update {signed} --key {key}"));
    printed(&format!("{export} --update {awaiting} --to-be-signed"));
    refuses(
        &format!("{export} --update OUT --key {key} --to-be-signed"),
        "argument-conflict --key",
    );
    refuses(&format!("{export} --update OUT --key {public}"), "public-key door.pub keygen");
    refuses(&format!("{export} --update OUT --key {data}"), "not-a-private-key three.csv keygen");
    refuses(&format!("{export} --update {key} --key {key}"), "output-is-input door.key");
    let signature = |bytes: &[u8]| trust.trusts(&Update::read(bytes).expect("an update"));
    let bytes = std::fs::read(&signed).expect("written");
    assert!(signature(&bytes) && !signature(&std::fs::read(&plain).expect("written")));

    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").to_string();
    let device = device(listener, 5);
    let send = |update: &str, key: &str| format!("send {update} --port {port}{key}");
    // Refused where there is no signature, with what to do about it.
    refuses(&send(&plain, ""), "update-refused signature --key");
    refuses(&send(&awaiting, ""), "unsigned-update awaiting --key");
    let with = format!(" --key {key}");
    for (update, key) in [(&signed, ""), (&plain, &*with), (&awaiting, &with)] {
        printed(&send(update, key));
    }
    // Signed anew by another.
    let other = folder.at("other.key");
    printed(&format!("keygen {other}"));
    printed(&send(&signed, &format!(" --key {other}")));
    let taken = device.join().expect("all came");
    assert_eq!(taken[..3], [bytes.clone(), bytes.clone(), bytes]);
    assert!(!signature(&taken[3]) && taken[3].len() == taken[0].len());
    let other = Ed25519::from_hex(&folder.text("other.pub"));
    assert!(other.trusts(&Update::read(&taken[3]).expect("an update")));
}

#[test]
fn keys_are_made_once_and_for_their_owner() {
    let folder = Folder::new();
    let key = folder.at("a.key");
    let told = json(&format!("keygen {key} --json"));
    assert_eq!(told["private_key"], key.as_str());
    assert_eq!(told["public_key"], folder.at("a.pub"));
    assert_eq!(told["public"], folder.text("a.pub").trim_end());
    assert!(folder.text("a.key").starts_with("-----BEGIN PRIVATE KEY-----\n"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&key).expect("written").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let before = (folder.text("a.key"), folder.text("a.pub"));
    refuses(&format!("keygen {key}"), "key-exists a.key");
    // Either of them: nothing is written beside a public key that is there.
    folder.put("b.pub", "mine");
    refuses(&format!("keygen {}", folder.at("b.key")), "key-exists b.pub");
    assert!(!folder.path().join("b.key").exists());
    refuses(&format!("keygen {}", folder.at("c.pub")), "same-output c.pub");
    refuses("keygen /no/such/folder/a.key", "unwritable-file /no/such/folder/a.key");
    assert_eq!((folder.text("a.key"), folder.text("a.pub")), before);
    // Another time, another key.
    printed(&format!("keygen {}", folder.at("d.key")));
    assert_ne!(folder.text("d.pub"), before.1);
}
