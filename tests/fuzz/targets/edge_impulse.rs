#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fishweir_fuzz::parsers::edge_impulse(bytes));
