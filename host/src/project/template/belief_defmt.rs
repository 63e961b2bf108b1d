
/// How far it is to be believed.
pub fn belief(believed: &Prediction) {
    defmt::info!("  probability {=f32}{=str}", believed.probability, doubt(believed.rejection));
}
