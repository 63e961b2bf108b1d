
/// Why the decision had better not be taken.
fn doubt(doubt: Option<Doubt>) -> &'static str {
    match doubt {
        None => "",
        Some(Doubt::CloseCall) => ", doubted: a close call",
        Some(Doubt::Unlikely) => ", doubted: unlike what it was trained on",
        Some(Doubt::TooLikely) => ", doubted: likelier than what it was trained on, a sensor at rest",
        Some(_) => ", doubted",
    }
}
