
/// Reason for rejecting the decision.
fn doubt(doubt: Option<RejectionReason>) -> &'static str {
    match doubt {
        None => "",
        Some(RejectionReason::LowMargin) => ", rejected: a close call",
        Some(RejectionReason::LowLikelihood) => ", rejected: unlike the training data",
        Some(RejectionReason::HighLikelihood) => ", rejected: likelier than the training data, a sensor at rest",
        Some(_) => ", rejected",
    }
}
