//! Facts that were inferred from data, and the options that override them.

use fishweir::data::{Dataset, Finding, Found};
use fishweir::report::counted;

use super::{Topic, note, note_once};

/// Notes the inferred facts about a source, and the options that override them.
pub(super) fn tell(source: &str, findings: &[Found]) {
    if findings.is_empty() {
        return;
    }
    let option = |about: Finding| match about {
        // Nothing would come of it.
        Finding::Rows => "",
        Finding::Symbols => "--alphabet, --words",
        Finding::Events => "--event-column",
        Finding::Separator => "--sep",
        Finding::Decimal => "--decimal",
        Finding::Header => "--header, --no-header",
        Finding::Missing => "--na",
        Finding::Label => "--label",
        Finding::Series => "--series",
        Finding::Time => "--time",
        Finding::Columns => "--group",
        Finding::Channels => "--channels",
        Finding::Names => "--name",
        Finding::Segments => "--segments",
        Finding::Files | Finding::Skipped => "",
    };
    for one in findings.iter().filter(|one| one.about == Finding::Skipped) {
        note_once(Topic::SkippedRecords, &one.what);
    }
    let words = findings.iter().filter(|one| one.about != Finding::Skipped);
    let words = words.map(|one| match option(one.about) {
        "" => one.what.clone(),
        option => format!("{} ({option})", one.what),
    });
    let words: Vec<String> = words.collect();
    if words.is_empty() {
        return;
    }
    note_once(Topic::SourceFound, format_args!("{source}: {}", words.join("; ")));
}

/// Notes series of equal samples under several names, of which one may be trained on and another tested.
pub(super) fn repeated(data: &Dataset, group: Option<&str>) {
    if group == Some("sequence") {
        return;
    }
    let Ok((groups, names)) = data.groups("sequence") else { return };
    let copies = groups.len() - names.len();
    let first = (0..groups.len()).find_map(|one| {
        let before = groups[..one].iter().position(|&group| group == groups[one])?;
        Some([before, one].map(|index| &data.series()[index].id))
    });
    if let Some([one, other]) = first {
        note(
            Topic::RepeatedSeries,
            format_args!(
                "{}: {} are copies of others, such as `{other}` of `{one}`, so that a copy may be trained on and its \
                 original judged; --group sequence keeps them together",
                data.source(),
                counted(copies, "series")
            ),
        );
    }
}
