//! No parser panics, whatever the bytes: arbitrary ones, and sound files with damage.

use fishweir_tests::parsers::PARSERS;
use proptest::prelude::*;

/// Files that parsers accept or nearly do, from which damage starts.
const SEEDS: [&[u8]; 10] = [
    b"series,subject,label,t,x\n0,ann,walk,0,0.5\n0,ann,walk,1,NA\n1,bob,run,0,2.5\n",
    b"label\tid\tsequence\nEI\ta\tACGTN\nIE\tb\tTTGC-A\n",
    b">first donor\nACGT\nAC\n>second acceptor\nTTNA\n",
    b"x,y\n1.5,-2\n,3\nNA,1e400\n",
    b"ACGTNacgt",
    b"(('a b':0.1,c:1e-3)d:2,[x]e);",
    b"[hidden-tree]\nalphabet=\"01\"\nnewick=\"(a:1,b:2);\"\nsubstitution.gain-loss={gain=1.0,loss=2.0}",
    b"[pair-hmm]\nalphabet=\"ab\"\ninitial=[1.0]\ntransition=[[1.0]]\nemission=[[0.25,0.25]]\nempty=[0.5]\nend=\"anywhere\"",
    b"{\"fishweir_model\":1,\"crc32\":0,\"classifier\":{}}",
    // A sound frame, and one too short for a checksum.
    b"\0\x10S\x01\x02\x03abcdefgJ\xfb&i\0\0\x02x\0",
];

/// Overwrites, drops and inserts.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let blow = (any::<prop::sample::Index>(), any::<u8>(), 0..3_u8);
    (prop::sample::select(&SEEDS[..]), prop::collection::vec(blow, 0..12)).prop_map(
        |(seed, blows)| {
            let mut bytes = seed.to_vec();
            for (at, byte, kind) in blows {
                let at = at.index(bytes.len().max(1));
                match kind {
                    0 if at < bytes.len() => bytes[at] = byte,
                    1 if at < bytes.len() => drop(bytes.remove(at)),
                    _ => bytes.insert(at.min(bytes.len()), byte),
                }
            }
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        PARSERS.iter().for_each(|(_, parser)| parser(&bytes));
    }

    #[test]
    fn damaged_files(bytes in damaged()) {
        PARSERS.iter().for_each(|(_, parser)| parser(&bytes));
    }
}

#[test]
fn every_parser_has_a_fuzz_target() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/targets");
    let mut targets: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder of targets")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    targets.sort();
    let mut parsers: Vec<&str> = PARSERS.iter().map(|(name, _)| *name).collect();
    parsers.sort_unstable();
    assert_eq!(targets, parsers);
}
