//! `fishweir run`: what is refused before anything is built.

use crate::fixtures::fixtures;
use crate::refuses;

#[test]
fn a_folder_without_firmware_is_refused() {
    let (data, model) = (fixtures().at("two.csv"), fixtures().at("two.json"));
    refuses(&format!("run {data} --model {model} --firmware /no/such"), "no-firmware /no/such");
}
