
/// Why the decision had better not be taken.
fn doubt(doubt: Option<Doubt>) -> &'static str {
    match doubt {
        None => "",
        Some(Doubt::LowMargin) => ", doubted: a close call",
        Some(Doubt::LowLikelihood) => ", doubted: unlike what it was trained on",
        Some(Doubt::HighLikelihood) => ", doubted: likelier than what it was trained on, a sensor at rest",
        Some(_) => ", doubted",
    }
}
