use fishweir::classifier::Contract;
use fishweir::report::counted;

/// Describes channels without a number in samples where other channels have one, and how a model with the contract treats them.
///
/// `samples` counts all samples. Without a contract it describes training. `None` if there are no such channels.
pub(super) fn in_words(
    names: &[String],
    absent: &[usize],
    samples: usize,
    contract: Option<&Contract>,
) -> Option<String> {
    let lacking = names.iter().zip(absent).filter(|(_, count)| **count > 0);
    let lacking: Vec<String> = lacking
        .map(|(name, count)| {
            let share = 100.0 * *count as f64 / samples.max(1) as f64;
            format!(
                "channel `{name}` has no number in {} ({share:.0} %)",
                counted(*count, "sample")
            )
        })
        .collect();
    (!lacking.is_empty()).then(|| {
        format!(
            "{}, where others have one: {}",
            lacking.join(", "),
            match contract {
                None => {
                    "models leave out the missing channels; for front ends, codebooks and kernel machines such a \
                     sample is missing"
                }
                Some(contract) if contract.lacks_some() => "the model leaves out the missing channels",
                Some(_) => {
                    "the model needs all channels, so such a sample counts as missing; fill the channel in, or train \
                     on incomplete samples with --codebooks 0"
                }
            }
        )
    })
}
