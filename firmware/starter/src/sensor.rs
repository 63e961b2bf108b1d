//! A stand-in.
pub const RECORDINGS: [&[[i8; 3]]; 1] = [&[[1, 2, 3]]];
pub fn acceleration(raw: &[i8; 3]) -> [f32; 3] { raw.map(|x| f32::from(x) * 0.02) }
