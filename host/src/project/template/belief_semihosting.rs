
/// Reports the calibrated belief in a decision.
pub fn belief(believed: &Prediction) {
    let thousandths = (believed.probability * 1000.0) as u32;
    println!("  probability {}.{:03}{}", thousandths / 1000, thousandths % 1000, doubt(believed.rejection));
}
