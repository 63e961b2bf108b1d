//! Limit on the number of features.

use super::error::TrainError;

/// Numbers that the features of all windows may be.
const MOST_NUMBERS: u128 = 1 << 28;

/// Refuses more features than there is room for.
pub(crate) fn check_features(windows: usize, features: usize) -> Result<(), TrainError> {
    if windows as u128 * features as u128 <= MOST_NUMBERS {
        return Ok(());
    }
    let gigabytes = windows as f64 * features as f64 * 8e-9;
    Err(TrainError::TooManyFeatures { windows, features, gigabytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_features_as_there_is_room_for_are_taken() {
        let windows = 1_000;
        let most = usize::try_from(MOST_NUMBERS).expect("a number of numbers") / windows;
        check_features(windows, most).expect("room");
        let refused = check_features(windows, most + 1).expect_err("too many");
        assert!(refused.to_string().contains(" 2.1 GB"), "{refused}");
    }
}
