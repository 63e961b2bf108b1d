#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fishweir_fuzz::parsers::sensor_logger(bytes));
