//! Emissions of every family on a device.

use crate::fixtures::{Folder, QUICK};
use crate::shared::data::{FAMILIES, floor, of_family};
use crate::{json, printed};

#[test]
fn every_family_runs_on_a_device_to_the_last_bit() {
    let folder = Folder::new();
    for name in FAMILIES {
        let data = folder.put(format!("{name}.csv"), of_family(name));
        let model = folder.at(format!("{name}.json"));
        let line = format!(
            "fit {data} -o {model} --emission {name} --window 20 --hop 20 {QUICK} --effort quick --scaling diagonal {}",
            floor(name)
        );
        printed(&line);
        let info = json(&format!("info {model} --json"));
        let line = format!("run {data} --model {model} --board mps2-an386 --limit 100 --json");
        let report = json(&line);
        assert_eq!(report["differing_bits"], 0, "{name}");
        assert_eq!(report["numbers"], 100 * 4, "{name}");
        assert_eq!(report["device_model_bytes"], info["model_bytes"], "{name}");
        assert_eq!(report["device_state_bytes"], info["state_bytes"], "{name}");
        let again = json(&format!("evaluate {data} -m {model} --json"));
        assert!(again.to_string().contains("accuracy"), "{name}");
    }
}
