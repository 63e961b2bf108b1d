//! Updates sent to devices by `send`: what can be refused without any.

use std::net::TcpListener;

use crate::fixtures::{Folder, fixtures};
use crate::{printed, refuses};

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
