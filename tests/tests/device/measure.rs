//! On the device: nothing panics, the stack is bounded, and the recursions cost what they promise.

use fishweir::device::{Board, DeviceError};
use fishweir_tests::device_table::{BY_HAND, firmware, measure, table};

/// The symbol that the image `no_panic` misses where a panic can be reached.
const MISSING: &str = "undefined symbol: a_panic_can_be_reached";

/// Links the image on a board of that name.
fn no_panic_links(name: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let elf = folder.path().join("no_panic.elf");
    let firmware = firmware().expect("the firmware's folder");
    let image = Board::named(name)
        .and_then(|board| firmware.build_binary(board, "no_panic", "no-panic", &elf))
        .unwrap_or_else(|error| panic!("an image without a panic links for {name}: {error}"));
    // All recursions over all families: had they been optimised away, this would prove nothing.
    assert!(image.sections.text > 200_000, "only {} bytes of code", image.sections.text);
}

/// Where arithmetic is a call, compilers inline less and prove less: this core is the hardest to link for.
#[test]
#[ignore = "an image that proves and does not run: for tests/lint"]
fn no_panic_can_be_reached() {
    no_panic_links("microbit");
}

#[test]
#[ignore = "two more architectures, for tests/boards"]
fn no_panic_can_be_reached_on_other_architectures() {
    for name in ["mps2-an386", "riscv-virt"] {
        no_panic_links(name);
    }
}

#[test]
#[ignore = "an image that proves and does not run: for tests/lint"]
fn a_planted_panic_is_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let elf = folder.path().join("no_panic.elf");
    let firmware = firmware().expect("the firmware's folder");
    let board = Board::named("microbit").expect("a board");
    match firmware.build_binary(board, "no_panic", "plant-panic", &elf) {
        Err(DeviceError::Build { message, .. }) => {
            assert!(message.contains(MISSING), "refused for another reason:\n{message}");
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("an image with a panic in it links"),
    }
}

#[test]
fn recursions_cost_what_they_promise() {
    let rows = Board::named(Board::default_name()).and_then(|board| measure(board, "measure"));
    let rows = rows.expect("the device measures");
    println!("{}", table(&rows));
    let compared = rows.iter().filter_map(|row| Some((row, row.by_hand()?)));
    let compared: Vec<_> = compared.collect();
    assert_eq!(compared.len(), BY_HAND.len(), "a row is missing");
    for (row, (assembly, c)) in compared {
        let ratio = assembly.map_or(1.0, |assembly| row.instructions / assembly);
        assert!(ratio <= 1.25, "{}: {ratio:.3} times the assembly", row.name);
        assert!(row.instructions < c, "{}: slower than plain C", row.name);
    }
    for row in &rows {
        // 64 kB are watched: a deeper stack would show as all of them.
        assert!(row.stack_bytes > 0 && row.stack_bytes < 16 * 1024, "{row:?}");
        assert!(row.instructions > 10.0 && row.state_bytes > 0 && row.model_bytes > 0, "{row:?}");
    }
}
