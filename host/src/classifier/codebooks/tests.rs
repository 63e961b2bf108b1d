//! Tests of drawing, counting and refusing.

use super::*;
use crate::data::Rows;

fn wave(length: usize, gain: f64, level: f64) -> Rows {
    let mut rows = Rows::new(2);
    for t in 0..length {
        let x = (0.37 * t as f64).sin();
        rows.push(Some(&[gain * x + level, gain * (x * x) - level]));
    }
    rows
}

/// A codeword is that of the sample's own pattern: level and strength do not matter, and each codebook counts
/// a codeword for every sample that has its eight predecessors.
#[test]
fn codewords_know_no_level_and_no_gain() {
    let (plain, other) = (wave(100, 1.0, 0.0), wave(100, 8.0, 32.0));
    let books = Codebooks::draw(&[plain.view()], &[0.7, 0.4], 3).expect("long enough");
    assert_eq!(books.books().len(), 3 * 4, "dilations 1, 2, 4, 8");
    assert_eq!(books.depth(), 64);
    let counts = books.counts(plain.view());
    for (book, counts) in books.books().iter().zip(counts.chunks(CODEWORDS)) {
        assert_eq!(counts.iter().sum::<f64>(), 100.0 - 8.0 * f64::from(book.dilation));
    }
    // Powers of two round nothing but the level: the few ties and near ties may fall elsewhere.
    let moved: f64 =
        books.counts(other.view()).iter().zip(&counts).map(|(a, b)| (a - b).abs()).sum();
    assert!(moved <= 12.0, "{moved}");
    assert_eq!(books, Codebooks::draw(&[plain.view()], &[0.7, 0.4], 3).expect("the same"));
}

/// Checks the definition, against each code vector, but for what rounding leaves open between near ones; and only
/// once eight taps have come.
#[test]
fn a_codeword_is_the_most_alike() {
    let rows = wave(40, 1.0, 0.5);
    let view = rows.view();
    let books = Codebooks::draw(&[view], &[1.0, 1.0], 2).expect("long enough");
    let (mut ring, mut compared) = (CodeRing::<f64>::of(books.in_numbers()), 0);
    for (t, row) in view.iter().enumerate() {
        let x = row.expect("observed");
        for (book, word) in books.books().iter().zip(ring.codewords(x)) {
            let step = book.dilation as usize;
            assert_eq!(word.is_some(), t >= TAPS * step);
            let Some(word) = word else { continue };
            let sum = |t: usize| -> f64 {
                let row = view.row(t).expect("observed");
                row.iter().zip(&book.scale).map(|(x, scale)| x * scale).sum()
            };
            let alike: Vec<f64> = (0..CODEWORDS)
                .map(|word| {
                    let term = |k: usize| {
                        f64::from(book.vectors[k - 1][word]) * (sum(t) - sum(t - k * step))
                    };
                    (1..=TAPS).map(term).sum()
                })
                .collect();
            let most = alike.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!(alike[word] >= most - 1e-9, "{t}: {word} of {alike:?}");
            compared += 1;
        }
        ring.take(x);
    }
    // Dilations 1, 2 and 4, two codebooks each.
    assert_eq!(compared, 2 * (32 + 24 + 8));
}

/// Counts side by side equal those one after the other, with gaps at the beginning and within, at any length.
#[test]
fn codewords_are_counted_as_a_device_tells_them() {
    let drawn_from = wave(80, 1.0, 0.5);
    let drawn = Codebooks::draw(&[drawn_from.view()], &[1.0, 0.3], 3).expect("long enough");
    let drawn = drawn.with_levels(&[drawn_from.view()], 3);
    drawn.check(2).expect("rising");
    for length in [0, 7, 8, 9, 16, 63, 80] {
        let mut rows = Rows::new(3);
        for (t, row) in wave(length, 2.0, 0.1).view().iter().flatten().enumerate() {
            rows.push((t > 2 && t % 11 != 5).then_some(&[row[0], row[1], 7.0][..]));
        }
        let mut told = vec![0.0; drawn.codewords() * (1 + 3)];
        let mut ring = CodeRing::<f32>::of(drawn.in_numbers());
        for row in rows.view().iter() {
            let Some(row) = row else {
                ring.take_missing();
                continue;
            };
            let x = [row[0] as f32, row[1] as f32];
            for (book, (of, alike)) in ring.likenesses(&x).enumerate() {
                let Some(alike) = alike else { continue };
                let (words, levels) = told.split_at_mut(drawn.codewords());
                words[book * CODEWORDS + alike.codewords()[0]] += 1.0;
                let levels = levels[book * CODEWORDS * 3..].iter_mut().zip(&of.levels);
                for (place, (told, level)) in levels.enumerate() {
                    *told += f64::from(u8::from(alike.alike()[place / 3][0] > *level));
                }
            }
            ring.take(&x);
        }
        assert_eq!(drawn.counts(rows.view()), told, "{length}");
        assert_eq!(told.iter().any(|&count| count > 0.0), length > 11);
    }
}

/// Each level is exceeded by its share of the samples it was taken from, and the shares lie evenly.
#[test]
fn levels_are_quantiles() {
    let rows = wave(400, 1.0, 0.5);
    let drawn = Codebooks::draw(&[rows.view()], &[1.0, 0.3], 2).expect("long enough");
    let levelled = drawn.clone().with_levels(&[rows.view()], 2);
    assert_eq!((levelled.levels(), drawn.clone().with_levels(&[rows.view()], 0)), (2, drawn));
    let counts = levelled.counts(rows.view());
    let mut shares = Vec::new();
    let levels = counts[levelled.codewords()..].chunks(2 * CODEWORDS);
    for (book, levels) in levelled.books().iter().zip(levels) {
        let windows = 400.0 - 8.0 * f64::from(book.dilation);
        shares.extend(levels.iter().map(|count| count / windows));
    }
    shares.sort_by(f64::total_cmp);
    let count = shares.len() as f64;
    // Samples that are as alike as the level do not exceed it.
    let even = (1..).map(|place| f64::from(place) / count);
    let off = shares.iter().zip(even).map(|(share, even)| (share - even).abs());
    assert!(off.fold(0.0, f64::max) < 0.05, "{shares:?}");
}

#[test]
fn short_and_constant_series_are_no_trouble() {
    assert_eq!(Codebooks::draw(&[wave(8, 1.0, 0.0).view()], &[1.0, 1.0], 2), None);
    let mut still = Rows::new(1);
    (0..20).for_each(|t| still.push((t != 7).then_some(&[3.0][..])));
    let books = Codebooks::draw(&[still.view()], &[0.0], 1).expect("long enough");
    assert_eq!(books.counts(still.view()).iter().sum::<f64>(), 12.0 + 4.0, "dilations 1 and 2");
    books.check(1).expect("valid");
    books.check(2).expect_err("of one channel");
    let levelled = books.with_levels(&[still.view()], 1);
    assert_eq!(levelled.counts(still.view()).iter().sum::<f64>(), 12.0 + 4.0, "never exceeded");
    let spoilt = |change: &dyn Fn(&mut Vec<Vec<f64>>)| {
        let mut books = levelled.clone();
        change(&mut books.books[1].levels);
        books.check(1).expect_err("refused")
    };
    assert!(spoilt(&|levels| levels.clear()).contains("codebook 1 has another number of levels"));
    assert!(spoilt(&|levels| levels[3].push(1.0)).contains("another number"));
    assert!(spoilt(&|levels| levels[3][0] = f64::NAN).contains("not finite"));
}
