/// The run before ended by itself.
pub fn fault(fault: &Fault) {
    let count = fault.in_a_row;
    match fault.cause {
        Cause::Panic { line, .. } => {
            println!("the run before panicked at {}:{line} ({count} in a row)", fault.cause.file());
        }
        Cause::Exception { address } => {
            println!("the run before faulted at {address:#010x} ({count} in a row)");
        }
    }
}
