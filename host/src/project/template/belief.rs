
/// Reason for rejecting the decision.
fn doubt(doubt: Option<RejectionReason>) -> &'static str {
    match doubt {
        None => "",
        Some(RejectionReason::LowMargin) => ", doubted: a close call",
        Some(RejectionReason::LowLikelihood) => ", doubted: unlike what it was trained on",
        Some(RejectionReason::HighLikelihood) => ", doubted: likelier than what it was trained on, a sensor at rest",
        Some(_) => ", doubted",
    }
}
