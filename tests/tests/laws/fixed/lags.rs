//! Differences at lags and codebooks in fixed point, against `f64`.

use fishweir::classifier::Codebook;
use fishweir_core::classify::{CODEWORDS, TAPS};
use fishweir_tests::quick::{
    recordings, trained_on_codebooks, trained_on_differences, trained_on_levels,
};

use super::bound::kept;
use super::*;
use fishweir::data::{Rows, Samples};
use fishweir::learn::ScoreModels;

/// Of [`gaussian`] models of two or four columns, channels and their differences at a lag: seen by one model, or at
/// two lags by one model each.
fn at_lags() -> impl Strategy<Value = (Classifier, Samples)> {
    let even = gaussian()
        .prop_filter("of columns in pairs", |(one, _)| one.models[0].size().is_multiple_of(2));
    (even, 1..=6_u32, any::<bool>()).prop_map(|((mut classifier, sequence), lag, apart)| {
        let channels = classifier.models[0].size() / 2;
        let names = (0..channels).map(|d| format!("c{d}")).collect();
        classifier.observations = Observations::Channels(names);
        if apart {
            classifier.lags = Lags::new(vec![lag, 2 * lag]).expect("rising").apart();
            classifier.models.push(classifier.models[0].clone());
            let Rule::Linear(outputs) = &mut classifier.rule else { panic!("linear") };
            let direction = outputs[0].directions[0].clone();
            outputs[0].directions.push(direction);
            outputs[0].weights.push(0.5);
        } else {
            classifier.lags = Lags::one(lag);
        }
        let mut rows = Rows::new(channels);
        sequence.iter().for_each(|row| rows.push(row.as_ref().map(|row| &row[..channels])));
        (classifier, Samples::Channels(rows))
    })
}

/// The classifier with these codebooks, and what their codewords, and after these their levels, weigh for every output.
fn beside(classifier: &mut Classifier, books: &[Codebook], weight: impl Fn(usize, usize) -> f64) {
    let text = serde_json::to_string(books).expect("text");
    classifier.codebooks = Some(serde_json::from_str(&text).expect("codebooks"));
    let Rule::Linear(outputs) = &mut classifier.rule else { panic!("linear") };
    for (o, output) in outputs.iter_mut().enumerate() {
        let (words, levels) = (books.len() * CODEWORDS, books[0].levels.as_slice());
        let levels = books.len() * levels.iter().map(Vec::len).sum::<usize>();
        output.codewords = (0..words).map(|word| weight(o, word)).collect();
        output.levels = (words..words + levels).map(|level| weight(o, level)).collect();
    }
}

/// The same with codebooks beside the models, code vectors near one another among them.
fn with_codebooks() -> impl Strategy<Value = (Classifier, Samples)> {
    let vectors = prop::array::uniform8(prop::array::uniform8(prop_oneof![-3..=3_i8, any::<i8>()]));
    // As they come near to zero differences, and levels near to what is heard.
    let levels = prop::array::uniform8(prop::array::uniform2(-400.0..400.0_f64));
    let book = (1..=3_u32, prop::array::uniform2(0.0..2.0_f64), vectors, levels);
    let books = prop::collection::vec(book, 1..4);
    let drawn = (at_lags(), books, 0..=2_usize, rates(3 * 3 * CODEWORDS));
    drawn.prop_map(|((mut classifier, samples), books, levels, weights)| {
        let channels = classifier.observations.size();
        let rising = |of_word: [f64; 2]| {
            let mut of_word = of_word[..levels].to_vec();
            of_word.sort_by(f64::total_cmp);
            of_word
        };
        let book = |(dilation, scale, vectors, of_words): (u32, [f64; 2], _, [[f64; 2]; 8])| {
            let levels = if levels > 0 { of_words.map(rising).to_vec() } else { Vec::new() };
            Codebook { dilation, scale: scale[..channels].to_vec(), vectors, levels }
        };
        let books: Vec<Codebook> = books.into_iter().map(book).collect();
        beside(&mut classifier, &books, |_, word| weights[word]);
        (classifier, samples)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// As far from `f64` as rounding may take them and no farther, whatever is missing, and where differences are
    /// held at the end of 16 bits too.
    #[test]
    fn differences_are_within_the_bound((classifier, samples) in at_lags()) {
        let all = samples.view().iter().all(|sample| matches!(sample, Sample::Missing));
        let bounds = kept(&classifier, &samples)?;
        prop_assert!(all || !bounds.is_empty() || classifier.lags.is_apart());
    }

    /// And codewords that fall otherwise take it no farther.
    #[test]
    fn codewords_are_within_the_bound((classifier, samples) in with_codebooks()) {
        kept(&classifier, &samples)?;
    }
}

/// A difference of the widest samples that a channel holds is no error, and what is read is a number.
#[test]
fn nothing_overflows_at_the_ends() {
    let data = recordings();
    let fixed = trained_on_levels(&data, &[1, 4], 2, 3).quantise().expect("fits").over_integers();
    let mut stream = fixed.stream();
    let ends = [f64::from(i16::MIN), f64::from(i16::MAX)];
    for t in 0..2000_usize {
        let row: Vec<f64> =
            (0..fixed.size()).map(|c| ends[(t * (c + 1) + t / 7 + t / 64) % 2]).collect();
        let sample = if t % 61 == 60 { Sample::Missing } else { Sample::Row(&row) };
        // Some models may find it impossible: that is an answer.
        let _ = stream.push(sample);
        let decided = stream.decision().expect("no kernel machine");
        assert!(decided.margin >= 0.0 && decided.class < 7, "sample {t}: {decided:?}");
    }
    assert_eq!(stream.samples(), 2000);
}

/// The default form, and lags alone, in seven classes of real recordings.
#[test]
fn recordings_are_decided_as_in_f64() {
    let data = recordings();
    for (classifier, codebooks) in [
        (trained_on_differences(&data, &[1, 4], ScoreModels::Universal), 0),
        (trained_on_levels(&data, &[1, 4, 16], 2, 2), 2 * 6),
    ] {
        let fixed = classifier.quantise().expect("fits");
        let windowing = Windowing {
            length: NonZeroUsize::new(250).expect("positive"),
            hop: NonZeroUsize::new(4000).expect("positive"),
            short: ShortSeries::default(),
        };
        let found = fixed.deviation(&classifier, &data, Some(&windowing)).expect("measures");
        println!("{found:?}");
        assert!(found.windows >= 90 && found.refused_by_one == 0, "{found:?}");
        found.check(DeviationLimits::default()).expect("decides as f64 does");
        assert!(found.mean < 0.01 * found.mean_margin, "{found:?}");
        let bound = &found.bound;
        assert!(bound.exceeded == 0 && 20 * bound.windows >= 19 * found.windows, "{found:?}");
        assert!(bound.certain > 0.8 && bound.certain <= found.equal_decisions, "{found:?}");
        if codebooks == 0 {
            assert_eq!(found.codewords, None);
            continue;
        }
        let heard = found.codewords.expect("codebooks");
        assert!(heard.equal as f64 >= 0.99 * heard.all as f64 && heard.all > 0, "{found:?}");
    }
}

/// Codebooks weigh as they do in `f64`, each output in units of its own, and channels in theirs.
#[test]
fn codewords_weigh_what_they_weigh() {
    let mut classifier = trained_on_codebooks(&recordings(), &[1], 1);
    let channels = classifier.observations.size();
    // One codebook, whose first codeword is any rise of the last channel and whose second is any fall.
    let mut scale = vec![0.0; channels];
    scale[channels - 1] = 1e-3;
    let mut vectors = [[0; CODEWORDS]; TAPS];
    vectors.iter_mut().for_each(|row| (row[0], row[1]) = (1, -1));
    // The first rises by more than a level now and then.
    let mut levels = vec![vec![0.0; 2]; CODEWORDS];
    levels[0] = vec![-0.25, 0.125];
    let book = Codebook { dilation: 1, scale, vectors, levels };
    let mut of_first = [0.0; 3 * CODEWORDS];
    (of_first[0], of_first[1], of_first[8], of_first[9]) = (1.0, -0.375, 0.5, -0.75);
    beside(&mut classifier, &[book], |o, word| 1000.0 / f64::from(1 << (3 * o)) * of_first[word]);
    let fixed = classifier.quantise().expect("fits");
    let exact = classifier.compile_in::<f64>().expect("compiles");
    let (mut fixed, mut exact) = (fixed.stream(), exact.stream());
    let least: Vec<f64> = classifier.centre[..channels].to_vec();
    for t in 0..300_usize {
        let mut row = least.clone();
        row[channels - 1] += classifier.scale[channels - 1] * ((t as f64) * 0.05).sin();
        let sample = if t % 29 == 28 { Sample::Missing } else { Sample::Row(&row) };
        fixed.push(sample).expect("possible");
        exact.push(sample).expect("possible");
    }
    let found = fixed.decision_values().expect("in range");
    let wanted = exact.decision_values().expect("in range");
    for (found, wanted) in found.iter().zip(&wanted) {
        let off = (f64::from(*found) - wanted).abs();
        assert!(off < 1e-3 * wanted.abs().max(1.0), "{found} for {wanted}");
    }
}
