//! Marked series made of clips, an event each, and of recordings of the background.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::clock::Period;
use super::dataset::Clock;
use super::dataset::{Dataset, Kind, Series};
use super::error::DataError;
use super::marked::{Mark, Marked};
use super::samples::{Rows, Samples, SamplesView};
use crate::words::rate_words;

/// Number of folds, if there are as many clips, or groups of them.
const FOLDS: usize = 3;

/// Clips joined end to end with stretches of background between them, a part for each fold of a cross-validation.
///
/// Of `F` folds each has its share of every class's clips, in an order by chance, and its share of the background: whole
/// recordings where there are `F` of them, else of each recording one of `F` pieces. Each clip and each sample of
/// background is there once, and before, between and after the clips of a piece lies a stretch of it. The lengths
/// of `m + 1` stretches of a piece of `n` samples are
///
/// ```text
/// 1 + (n - m - 1) u_i / sum_j u_j,    u uniform between 1/2 and 3/2, in whole samples that add up to n
/// ```
///
/// so that nothing is made that was not recorded, but for the joints themselves. Equal seeds give equal series.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    marked: Marked,
    fold_of: Vec<usize>,
    folds: usize,
    recordings: usize,
}

impl Joined {
    /// Joins labelled clips with a background, whose labels are not looked at. Of a `group`, a column of the clips, all
    /// are in one fold; where the background has that column too, so is its background.
    ///
    /// ```
    /// use fishweir_data::{Dataset, Joined, ReadOptions};
    ///
    /// let clips = b"series,label,t,x\n0,up,0,5\n0,up,1,6\n1,up,0,5\n1,up,1,7\n2,up,0,6\n";
    /// let clips = Dataset::parse("clips.csv", clips, &ReadOptions::default())?;
    /// let rest = b"t,x\n0,0\n1,1\n2,0\n3,0\n4,1\n5,0\n6,0\n";
    /// let rest = Dataset::parse("rest.csv", rest, &ReadOptions::default())?;
    /// let joined = Joined::new(&clips, &rest, None, 1)?;
    /// assert_eq!(joined.folds(), 3);
    /// assert_eq!(joined.marked().data().observations(), 5 + 7);
    /// # Ok::<(), fishweir_data::DataError>(())
    /// ```
    ///
    /// # Errors
    /// [`DataError::Mismatch`] where the two are not of the same channels or symbols, or at another rate; as [`Dataset::folds`], where a
    /// class has but one clip, or one group of them; [`DataError::Background`] where a fold has not as many samples
    /// of background as part its clips.
    pub fn new(
        clips: &Dataset,
        background: &Dataset,
        group: Option<&str>,
        seed: u64,
    ) -> Result<Self, DataError> {
        if clips.kind() != background.kind() {
            let [what, other] = [background, clips].map(|data| words(data.kind()));
            return Err(DataError::Mismatch {
                file: background.source().to_owned(),
                other: clips.source().to_owned(),
                what: format!("one has {what}, the other {other}"),
            });
        }
        let seconds = common_period(clips, background)?;
        let labels = clips.labels()?;
        let units = match group {
            Some(column) => clips.groups(column)?.1.len(),
            None => labels.len(),
        };
        let folds = clips.folds(units.clamp(2, FOLDS), group, Some(seed))?;
        let known = match group {
            Some(column) => folds_of_groups(clips, column, |clip| folds.fold_of(clip)),
            None => BTreeMap::new(),
        };
        let pieces = pieces(background, folds.len(), group, &known);
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let (mut series, mut events, mut fold_of) = (Vec::new(), Vec::new(), Vec::new());
        for fold in 0..folds.len() {
            let mut own = folds.test(fold);
            own.shuffle(random);
            let pieces: Vec<&Piece<'_>> = pieces.iter().filter(|one| one.fold == fold).collect();
            let shares = shares(own.len(), &pieces).ok_or_else(|| DataError::Background {
                file: background.source().to_owned(),
                samples: pieces.iter().map(|one| one.samples.len()).sum(),
                clips: own.len(),
            })?;
            let mut own = own.into_iter();
            for (piece, share) in pieces.into_iter().zip(shares) {
                let clips = own.by_ref().take(share).map(|clip| {
                    let one = &clips.series()[clip];
                    (one.samples.view(), labels[clip])
                });
                let (samples, marks) = join(piece.samples, clips.collect(), random);
                let count = if seconds.is_some() { samples.view().len() } else { 0 };
                let times = (0..count).map(|t| t as f64 * seconds.unwrap_or_default()).collect();
                series.push(Series {
                    id: piece.id.clone(),
                    label: None,
                    columns: Vec::new(),
                    times,
                    samples,
                    line: 0,
                });
                events.push(marks);
                fold_of.push(fold);
            }
        }
        let source = format!("{}, {}", clips.source(), background.source());
        let data = Dataset::new(source, clips.kind().clone(), Vec::new(), Vec::new(), series)?;
        let data = data.with_clock(Clock { named: true, resampled: clips.is_resampled() });
        Ok(Self {
            marked: Marked::of(data, events, clips.classes().to_vec()),
            fold_of,
            folds: folds.len(),
            recordings: labels.len() + background.series().len(),
        })
    }

    /// The series: an event is a clip.
    pub fn marked(&self) -> &Marked {
        &self.marked
    }

    /// Number of folds.
    pub fn folds(&self) -> usize {
        self.folds
    }

    /// The fold of each series.
    pub fn fold_of(&self) -> &[usize] {
        &self.fold_of
    }

    /// Number of clips and recordings of background that they are made of.
    pub fn recordings(&self) -> usize {
        self.recordings
    }
}

/// The sample period of clips and background, if both give one.
fn common_period(clips: &Dataset, background: &Dataset) -> Result<Option<f64>, DataError> {
    let period = |data: &Dataset| {
        data.check_one_rate()?;
        Ok::<_, DataError>(Period::of(data, &(0..data.series().len()).collect::<Vec<_>>()))
    };
    let (Some(period), Some(other)) = (period(clips)?, period(background)?) else {
        return Ok(None);
    };
    if !period.admits(other.seconds) {
        return Err(DataError::Mismatch {
            file: background.source().to_owned(),
            other: clips.source().to_owned(),
            what: format!(
                "samples come at {} in one and at {} in the other; resample them to one rate",
                rate_words(other.seconds),
                rate_words(period.seconds)
            ),
        });
    }
    Ok(Some(period.seconds))
}

/// Background in a row, and where it is judged.
struct Piece<'a> {
    id: String,
    samples: SamplesView<'a>,
    fold: usize,
}

/// The fold of each group of clips, by its name.
fn folds_of_groups(
    clips: &Dataset,
    column: &str,
    fold_of: impl Fn(usize) -> usize,
) -> BTreeMap<String, usize> {
    let Ok((groups, names)) = clips.groups(column) else { return BTreeMap::new() };
    let clips = groups.into_iter().enumerate();
    clips.map(|(clip, group)| (names[group].clone(), fold_of(clip))).collect()
}

/// The background by folds: a group's where the group is, other recordings from the longest to the shortest where there is
/// least; fewer than folds are cut.
fn pieces<'a>(
    background: &'a Dataset,
    folds: usize,
    group: Option<&str>,
    known: &BTreeMap<String, usize>,
) -> Vec<Piece<'a>> {
    let whole = |(index, one): (usize, &'a Series)| (index, one.samples.view());
    let mut recordings: Vec<_> = background.series().iter().enumerate().map(whole).collect();
    let id = |index: usize| background.series()[index].id.clone();
    let groups = group.filter(|&column| background.columns().iter().any(|one| one == column));
    let groups = groups.and_then(|column| background.groups(column).ok());
    let fold_of_group = |index: usize| {
        let (groups, names) = groups.as_ref()?;
        known.get(&names[groups[index]]).copied()
    };
    if recordings.len() < folds && (0..recordings.len()).all(|one| fold_of_group(one).is_none()) {
        let cut = recordings.into_iter().flat_map(|(index, samples)| {
            let at = move |fold| samples.len() * fold / folds;
            (0..folds).map(move |fold| (fold, samples.slice(at(fold)..at(fold + 1)), index))
        });
        let cut = cut.filter(|(_, samples, _)| !samples.is_empty());
        return cut.map(|(fold, samples, index)| Piece { id: id(index), samples, fold }).collect();
    }
    // What is dealt freely comes last.
    recordings.sort_by_key(|&(index, samples)| {
        (fold_of_group(index).is_none(), std::cmp::Reverse(samples.len()))
    });
    let mut held = vec![0; folds];
    let dealt = recordings.into_iter().map(|(index, samples)| {
        let least = (0..folds).min_by_key(|&fold| held[fold]).unwrap_or_default();
        let fold = fold_of_group(index).unwrap_or(least);
        held[fold] += samples.len();
        Piece { id: id(index), samples, fold }
    });
    dealt.collect()
}

/// Number of clips for each piece: by its length, and at most as many as it can separate. `None` if some are left.
fn shares(clips: usize, pieces: &[&Piece<'_>]) -> Option<Vec<usize>> {
    let all: usize = pieces.iter().map(|one| one.samples.len()).sum();
    let (mut passed, mut given) = (0, 0);
    let shares = pieces.iter().map(|one| {
        let length = one.samples.len();
        passed += length;
        let due = (clips * passed).div_ceil(all).saturating_sub(given);
        let share = due.min(length - 1);
        given += share;
        share
    });
    let shares: Vec<usize> = shares.collect();
    (given == clips).then_some(shares)
}

/// A piece of background with clips in it.
fn join(
    piece: SamplesView<'_>,
    clips: Vec<(SamplesView<'_>, usize)>,
    random: &mut ChaCha8Rng,
) -> (Samples, Vec<Mark>) {
    let parts: Vec<f64> = (0..=clips.len()).map(|_| random.random_range(0.5..1.5)).collect();
    let (all, free) = (parts.iter().sum::<f64>(), piece.len() - parts.len());
    let mut samples = match piece {
        SamplesView::Channels(rows) => Samples::Channels(Rows::new(rows.dimension())),
        SamplesView::Symbols(_) => Samples::Symbols(Vec::new()),
    };
    let (mut marks, mut passed, mut from) = (Vec::new(), 0.0, 0);
    for (index, part) in parts.iter().enumerate() {
        passed += part;
        let to = match index == clips.len() {
            true => piece.len(),
            // Rounding moves a cut, and never before the one before it.
            false => index + 1 + ((free as f64 * passed / all) as usize).min(free),
        };
        append(&mut samples, piece.slice(from..to));
        from = to;
        if let Some(&(clip, class)) = clips.get(index) {
            let start = samples.view().len();
            append(&mut samples, clip);
            marks.push(Mark { class, samples: start..start + clip.len() });
        }
    }
    (samples, marks)
}

fn append(samples: &mut Samples, more: SamplesView<'_>) {
    match (samples, more) {
        (Samples::Channels(rows), SamplesView::Channels(more)) => {
            more.iter_in_part().for_each(|row| rows.push(row));
        }
        (Samples::Symbols(symbols), SamplesView::Symbols(more)) => symbols.extend_from_slice(more),
        // Both are of one kind.
        _ => {}
    }
}

fn words(kind: &Kind) -> String {
    match kind {
        Kind::Channels(names) => format!("the channels {}", names.join(", ")),
        Kind::Symbols(alphabet) => format!("the symbols {alphabet}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadOptions;

    fn read(name: &str, text: &str) -> Dataset {
        Dataset::parse(name, text.as_bytes(), &ReadOptions::default()).expect("sound")
    }

    /// Clips of values from 100, a class a hundred, each sample a value of its own; of three people.
    fn clips() -> Dataset {
        let mut text = String::from("series,who,label,t,x\n");
        for clip in 0..12 {
            let class = clip % 2;
            for t in 0..3 + clip {
                let x = 100 * (1 + class) + 20 * (clip / 2) + t;
                text += &format!("{clip},{},{},{t},{x}.5\n", clip / 4, ["up", "down"][class]);
            }
        }
        read("clips.csv", &text)
    }

    fn background(recordings: usize, samples: usize) -> Dataset {
        let mut text = String::from("series,who,t,x\n");
        for one in 0..recordings {
            for t in 0..samples {
                text += &format!("{one},{one},{t},{}\n", one * samples + t);
            }
        }
        read("rest.csv", &text)
    }

    fn rows(samples: &SamplesView<'_>) -> Vec<u64> {
        let rows = samples.rows().expect("channels");
        rows.iter().flatten().map(|row| (row[0] * 2.0) as u64).collect()
    }

    /// Every recording is used once, clips whole and under their names, a stretch of background about each.
    #[test]
    fn clips_and_background_are_each_there_once() {
        let clips = clips();
        for (recordings, samples, group) in [
            (1, 200, None),
            (2, 90, None),
            (3, 60, Some("who")),
            (5, 40, None),
            (4, 30, Some("who")),
        ] {
            let rest = background(recordings, samples);
            let joined = Joined::new(&clips, &rest, group, 7).expect("possible");
            assert_eq!(joined, Joined::new(&clips, &rest, group, 7).expect("possible"));
            let marked = joined.marked();
            let all: Vec<usize> = (0..marked.data().series().len()).collect();
            let (mut between, mut within) = (Vec::new(), Vec::new());
            marked.stretches(None, &all).iter().for_each(|one| between.extend(rows(one)));
            between.sort_unstable();
            let wanted: Vec<u64> = (0..(recordings * samples) as u64).map(|x| 2 * x).collect();
            assert_eq!(between, wanted);
            for (class, name) in marked.classes().iter().enumerate() {
                within.extend(
                    marked.stretches(Some(class), &all).iter().map(|one| (name.clone(), rows(one))),
                );
            }
            within.sort_unstable();
            let own = |one: &Series| {
                (clips.classes()[one.label.expect("labelled")].clone(), rows(&one.samples.view()))
            };
            let mut wanted: Vec<_> = clips.series().iter().map(own).collect();
            wanted.sort_unstable();
            assert_eq!(within, wanted);
            for series in all {
                let mut end = 0;
                for event in marked.events(series) {
                    assert!(event.samples.start > end, "a clip without background before it");
                    end = event.samples.end;
                }
                assert!(marked.data().series()[series].samples.view().len() > end);
            }
            let held = |fold| joined.fold_of().contains(&fold);
            assert!((0..joined.folds()).all(held) && joined.folds() == 3);
        }
    }

    #[test]
    fn a_group_is_judged_with_its_background() {
        let joined = Joined::new(&clips(), &background(3, 60), Some("who"), 1).expect("possible");
        let (marked, mut who) = (joined.marked(), Vec::new());
        for (series, one) in marked.data().series().iter().enumerate() {
            let own: Vec<u64> = marked
                .events(series)
                .iter()
                .map(|mark| rows(&one.samples.view().slice(mark.samples.clone()))[0])
                .collect();
            // Clip 4 p is the first of person p: its first value is 100 + 40 p, and a half.
            assert!(own.contains(&(2 * (100 + 40 * one.id.parse::<u64>().expect("a number")) + 1)));
            who.push((joined.fold_of()[series], own.len()));
        }
        who.sort_unstable();
        assert_eq!(who, [(0, 4), (1, 4), (2, 4)]);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let refused = |clips: &Dataset, rest: &Dataset, group| {
            Joined::new(clips, rest, group, 1).expect_err("refused").to_string()
        };
        let other = read("rest.csv", "t,y\n0,1\n1,2\n");
        let told = refused(&clips(), &other, None);
        assert_eq!(
            told,
            "rest.csv: does not match clips.csv: one has the channels y, the other the channels x"
        );
        let told = refused(&clips(), &background(1, 10), None);
        assert!(told.starts_with("rest.csv: ") && told.contains("between 4 clips"), "{told}");
        let one = read("clips.csv", "series,label,t,x\n0,up,0,5\n1,up,0,5\n2,down,0,6\n");
        assert!(refused(&one, &background(1, 10), None).contains("class `down` has only 1 series"));
        let bare = read("clips.csv", "series,label,t,x\n0,up,0,5\n1,,0,5\n");
        assert!(refused(&bare, &background(1, 10), None).contains("series `1` has no label"));
        assert!(refused(&clips(), &background(1, 99), Some("whom")).contains("no column `whom`"));
    }
}
