/// The run before ended by itself.
pub fn fault(fault: &Fault) {
    let count = fault.in_a_row;
    match fault.cause {
        Cause::Panic { line, .. } => defmt::error!(
            "the run before panicked at {=str}:{=u32} ({=u32} in a row)",
            fault.cause.file(),
            line,
            count
        ),
        Cause::Exception { address } => {
            defmt::error!("the run before faulted at {=u32:#010x} ({=u32} in a row)", address, count);
        }
    }
}
