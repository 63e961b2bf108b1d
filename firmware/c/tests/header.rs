//! The header in `include/` equals the output of cbindgen.

use std::fs;
use std::path::Path;

/// Writes the header anew when it is set, instead of comparing.
const UPDATE: &str = "FISHWEIR_UPDATE_HEADER";

#[test]
fn the_header_is_what_the_sources_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("a configuration");
    // The header is written for the usual names, whatever prefix this build has: cbindgen reads literals.
    let sources = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let builder = ["lib.rs", "answer.rs", "status.rs"].into_iter().fold(
        cbindgen::Builder::new().with_config(config),
        |builder, file| {
            let text = fs::read_to_string(root.join("src").join(file)).expect("a source");
            let named = text
                .replace("concat!(env!(\"FISHWEIR_PREFIX\"), \"", "\"fishweir")
                .replace("\"))]\npub", "\")]\npub");
            fs::write(sources.join(file), named).expect("writes");
            builder.with_src(sources.join(file))
        },
    );
    let mut made = Vec::new();
    builder.generate().expect("sources that cbindgen reads").write(&mut made);
    let made = String::from_utf8(made).expect("UTF-8");

    let path = root.join("include/fishweir.h");
    if std::env::var_os(UPDATE).is_some() {
        fs::write(&path, &made).expect("writes");
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == made,
        "include/fishweir.h is not what the sources say: run this test with {UPDATE}=1.\n{made}"
    );
}
