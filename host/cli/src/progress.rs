//! Progress on standard error; silent where that is no terminal, and by --quiet.

use std::path::PathBuf;

use fishweir::fit::BaumWelch;
use indicatif::ProgressBar;
#[cfg(not(target_family = "wasm"))]
use indicatif::ProgressStyle;

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

/// Spinner shown while large files are read, with their size in bytes; hidden for small files.
pub(super) fn reading(paths: &[PathBuf]) -> ProgressBar {
    const LARGE: u64 = 20_000_000;
    let sizes = paths.iter().filter_map(|path| std::fs::metadata(path).ok());
    let bytes: u64 = sizes.filter(std::fs::Metadata::is_file).map(|one| one.len()).sum();
    if is_quiet() || bytes < LARGE {
        return ProgressBar::hidden();
    }
    spinner(format!("reading {} MB", bytes / 1_000_000), "{spinner} {msg}, {elapsed}")
}

/// Spinner whose message says how far what happens now is.
pub(super) fn live(title: &str) -> ProgressBar {
    if is_quiet() { ProgressBar::hidden() } else { spinner(title.to_owned(), "{spinner} {msg}") }
}

#[cfg(target_family = "wasm")]
use in_page::{bar, spinner};

#[cfg(not(target_family = "wasm"))]
fn spinner(title: String, template: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(title);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar
}

#[cfg(not(target_family = "wasm"))]
fn bar(title: String, length: usize, unit: &str) -> ProgressBar {
    if is_quiet() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length as u64).with_message(title);
    let template = format!("{{msg}} {{bar:30}} {{pos}} {unit}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar
}

/// Progress in a page, which has neither a terminal nor threads: a line each time, `progress`, position,
/// length and title.
#[cfg(target_family = "wasm")]
mod in_page {
    use std::io;

    use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

    #[derive(Debug)]
    struct Lines;

    impl TermLike for Lines {
        fn width(&self) -> u16 {
            u16::MAX
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, line: &str) -> io::Result<()> {
            self.write_str(line)
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            if !text.trim().is_empty() {
                eprintln!("{}", text.trim());
            }
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    pub(super) fn bar(title: String, length: usize, _: &str) -> ProgressBar {
        let target = ProgressDrawTarget::term_like_with_hz(Box::new(Lines), 5);
        let bar = ProgressBar::with_draw_target(Some(length as u64), target).with_message(title);
        match ProgressStyle::with_template("progress {pos} {len} {msg}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }

    pub(super) fn spinner(_: String, _: &str) -> ProgressBar {
        ProgressBar::hidden()
    }
}
