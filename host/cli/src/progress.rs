//! Progress on standard error; silent where that is no terminal, and by --quiet.

use std::time::Duration;

use fishweir::fit::BaumWelch;
use indicatif::{ProgressBar, ProgressStyle};

use super::failure::is_quiet;

/// Bar over at most `most` passes of Baum-Welch. Fits that converge early make it end before its end.
pub(super) fn passes(title: String, most: usize) -> ProgressBar {
    bar(title, most, "of at most {len} passes, {elapsed}, at most {eta} left")
}

/// Bar over the passes of `models` fits.
pub(super) fn fits(title: String, models: usize, fit: &BaumWelch) -> ProgressBar {
    passes(title, models.saturating_mul(fit.restarts).saturating_mul(fit.iterations))
}

/// A bar over bytes.
pub(super) fn bytes(title: String, count: usize) -> ProgressBar {
    bar(title, count, "of {len} bytes, {elapsed}, {eta} left")
}

/// A bar over samples.
pub(super) fn samples(title: String, count: usize) -> ProgressBar {
    bar(title, count, "of {len} samples, {elapsed}, {eta} left")
}

fn bar(title: String, length: usize, unit: &str) -> ProgressBar {
    if is_quiet() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length as u64).with_message(title);
    let template = format!("{{msg}} {{bar:30}} {{pos}} {unit}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
