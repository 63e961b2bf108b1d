//! What a model knows of its training, on a device.

use crate::fixtures::Folder;
use crate::json;
use crate::shared::data::{STEP, leaping, of_leaping};

#[test]
fn a_device_begins_a_window_where_the_time_leaps() {
    let folder = Folder::new();
    let model = of_leaping(&folder);
    for (steps, leaps) in [(19.0, false), (21.0, true)] {
        let file = folder.put("leaping.csv", leaping(STEP, steps * STEP));
        let report = json(&format!("run {file} --model {model} --board mps2-an386 --json"));
        assert_eq!(report["differing_bits"], 0);
        assert_eq!(report["streams"], if leaps { 16 } else { 8 });
        assert_eq!(report["decisions"], 8 * if leaps { 2 } else { 3 });
        let decided = report["decided"].as_object().expect("decisions by class");
        let of_classes = decided.values().filter_map(serde_json::Value::as_u64).sum::<u64>();
        assert_eq!(report["decisions"].as_u64(), Some(of_classes), "{decided:?}");
    }
}
