
/// Reports the calibrated belief in a decision.
pub fn belief(believed: &Prediction) {
    defmt::info!("  probability {=f32}{=str}", believed.probability, doubt(believed.rejection));
}
