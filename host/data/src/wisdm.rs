//! The text of WISDM: `user,activity,timestamp,x,y,z;`, without a header.

use super::error::DataError;
use super::layout::Recording;
use super::layout::{Layout, ReadOptions};
use super::part::Part;
use super::recording::part;
use super::source::Finding;
use super::values::finite;
use crate::words::{counted, shorten};

pub(super) static LAYOUT: Layout = Layout {
    name: "wisdm",
    alias: "wisdm.txt",
    about: "the text of WISDM (user,activity,timestamp,x,y,z;)",
    of_symbols: false,
    recordings: None,
    is_one: |bytes| {
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).into_owned();
        let mut records = head.split(';').take(4).map(fields);
        let first = records.next().is_some_and(|fields| is_record(&fields));
        first
            && head.contains(';')
            && records.next().is_none_or(|fields| is_record(&fields) || fields == [""])
    },
    read,
};

/// Steps of the time beyond which another recording begins.
const GAP: f64 = 20.0;

fn fields(record: &str) -> Vec<&str> {
    record.trim().split(',').map(str::trim).collect()
}

/// A user, an activity in words, a time and three numbers; nothing may stand behind a last comma.
fn is_record(fields: &[&str]) -> bool {
    let own = match fields {
        [own @ .., ""] if own.len() == 6 => own,
        own => own,
    };
    own.len() == 6
        && finite(own[0]).is_some()
        && finite(own[1]).is_none()
        && !own[1].is_empty()
        && own[2].parse::<i64>().is_ok()
        && own[3..].iter().all(|field| finite(field).is_some())
}

/// Reads recordings of a user's activity, separated where the time jumps or falls back; invalid records are left out and counted.
fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Part, DataError> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        let what = "is not UTF-8 text".to_owned();
        return Err(DataError::Header { line: 1, file: name.to_owned(), what });
    };
    let (mut recordings, mut users): (Vec<Recording>, Vec<String>) = (Vec::new(), Vec::new());
    let (mut before, mut bad, mut first_bad): (Option<i64>, usize, Option<String>) =
        (None, 0, None);
    for record in text.split([';', '\n']).filter(|record| !record.trim().is_empty()) {
        let fields = fields(record);
        if !is_record(&fields) {
            bad += 1;
            first_bad.get_or_insert_with(|| shorten(record.trim()));
            continue;
        }
        let time: i64 = fields[2].parse().unwrap_or_default();
        let row: Vec<f64> = fields[3..6].iter().filter_map(|field| finite(field)).collect();
        // At 20 samples per second.
        let jumps = before.is_some_and(|before| {
            let step = (time.saturating_sub(before)) as f64 / 1e9;
            !(0.0..=GAP / 20.0).contains(&step)
        });
        let same = recordings.last().is_some_and(|one| one.label.as_deref() == Some(fields[1]))
            && users.last().map(String::as_str) == Some(fields[0]);
        if !same || jumps {
            let id = (recordings.len() + 1).to_string();
            let label = Some(fields[1].to_owned());
            recordings.push(Recording { id, label, period: Some(0.05), ..Recording::default() });
            users.push(fields[0].to_owned());
        }
        if let Some(recording) = recordings.last_mut() {
            recording.rows.push(row);
        }
        before = Some(time);
    }
    let channels = ["x", "y", "z"].map(str::to_owned);
    let mut part = part(name, Some(&channels), 3, recordings, options)?;
    part.columns.push("user".to_owned());
    part.drafts.iter_mut().zip(users).for_each(|(draft, user)| draft.columns.push(user));
    let series = counted(part.drafts.len(), "series");
    part.findings.add(
        Finding::Series,
        format!("a new series begins where user or activity changes, or the time jumps by a second ({series})"),
    );
    part.findings.add(Finding::Time, "samples are taken as 20 per second, as WISDM recorded them");
    if let Some(first) = first_bad {
        let bad = counted(bad, "record");
        part.findings
            .add(Finding::Rows, format!("{bad} are invalid and left out, the first is `{first}`"));
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use crate::{Dataset, ReadOptions};

    #[test]
    fn users_and_activities_are_series() {
        let mut text = String::new();
        for (user, activity) in [(33, "Jogging"), (33, "Walking"), (5, "Walking")] {
            for t in 0..4_i64 {
                text += &format!(
                    "{user},{activity},{},{t}.5,1,-2;\n",
                    49_105_962_326_000 + 50_000_000 * t
                );
            }
        }
        text += "5,Walking,49106112326000,1,2,;\n";
        let data =
            Dataset::parse("WISDM.txt", text.as_bytes(), &ReadOptions::default()).expect("sound");
        assert_eq!(
            (data.series().len(), data.classes()),
            (3, &["Jogging".into(), "Walking".into()][..])
        );
        assert_eq!(data.groups("user").expect("there").1, ["5", "33"]);
        let lengths: Vec<usize> =
            data.series().iter().map(|one| one.samples.view().len()).collect();
        assert_eq!((lengths, data.series()[0].times[1]), (vec![4, 4, 4], 0.05));
        assert!(
            data.findings().iter().any(|one| one.what.contains("1 record")),
            "{:?}",
            data.findings()
        );
    }
}
