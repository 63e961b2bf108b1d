use super::*;
use crate::{Kind, Lags, Rows, Samples};

fn kind(names: &[&str]) -> Kind {
    Kind::Channels(names.iter().map(|&name| name.to_owned()).collect())
}

fn names(kind: &Kind) -> Vec<&str> {
    let Kind::Channels(names) = kind else { panic!("channels") };
    names.iter().map(String::as_str).collect()
}

#[test]
fn stages_read_back_and_others_are_refused() {
    let good = [
        "decimate=4",
        "magnitude=ax+ay+az",
        "magnitude=ax+ay+az,decimate=2",
        "cepstra=256/128/26/13@8000",
        "bands=512/512/20@16000",
        "magnitude=ax+ay+az,symbols=16",
        "slopes=64,decimate=2",
        "symbols=1.0/0.25;0.0/-3.5;1e-5/2.0;7.0/1e20",
    ];
    for text in good {
        let front: Front = text.parse().expect("a front end");
        assert_eq!(front.to_string(), text);
        let file = serde_json::to_string(&front).expect("text");
        assert_eq!(serde_json::from_str::<Front>(&file).expect("a front end"), front);
    }
    let bad = [
        "",
        "decimate",
        "decimate=",
        "decimate=1",
        "decimate=65537",
        "decimate=-2",
        "halve=2",
        "slopes=1",
        "slopes=65",
        "slopes=x",
        "magnitude=ax",
        "magnitude=ax+ax",
        "magnitude=ax+",
        "cepstra=256/128/26/13",
        "cepstra=256/128/26@8000",
        "cepstra=256/128/26/0@8000",
        "cepstra=200/100/26/13@8000",
        "cepstra=256/0/26/13@8000",
        "cepstra=256/257/26/13@8000",
        "cepstra=256/128/26/27@8000",
        "cepstra=256/128/26/13@0",
        "cepstra=256/128/26/13@NaN",
        "bands=256/128/26/13@8000",
        "bands=256/128/129@8000",
        "symbols",
        "symbols=1",
        "symbols=65",
        "symbols=4.5",
        "symbols=1;2",
        "symbols=0;1;2",
        "symbols=1/1;1/2;3",
        "symbols=1;1;NaN",
        "decimate=2,",
        ",decimate=2",
    ];
    for text in bad {
        text.parse::<Front>().expect_err(text);
        serde_json::from_str::<Front>(&format!("[{text:?}]")).expect_err(text);
    }
}

/// A number that is too large is reported as such, whatever type held it.
#[test]
fn numbers_out_of_range_are_told_with_the_range() {
    for every in ["1", "65537", "99999999999"] {
        let told = format!("decimate={every}").parse::<Front>().expect_err("refused").to_string();
        assert!(told.contains(every) && told.contains("2 to 65536 samples"), "{told}");
    }
    for samples in ["1", "65", "99999999999"] {
        let told = format!("slopes={samples}").parse::<Front>().expect_err("refused").to_string();
        assert!(told.contains(samples) && told.contains("2 to 64 samples"), "{told}");
    }
    for words in ["1", "65", "99999999999"] {
        let told = format!("symbols={words}").parse::<Front>().expect_err("refused").to_string();
        assert!(told.contains(words) && told.contains("2 to 64"), "{told}");
    }
}

#[test]
fn a_front_end_is_over_channels_that_there_are() {
    let over = |text: &str, channels: &[&str]| {
        let front: Front = text.parse().expect("a front end");
        front.over(&kind(channels))
    };
    let both = over("decimate=4,magnitude=ax+az", &["t", "ax", "ay", "az"]).expect("channels");
    assert_eq!(names(&both.kind(&kind(&["t", "ax", "ay", "az"]))), ["t", "|ax+az|", "ay"]);
    assert_eq!((both.width(4), both.first(), both.every()), (3, 4, 4));
    assert_eq!([0, 3, 4, 7, 8].map(|samples| both.rows(samples)), [0, 0, 1, 1, 2]);
    let slopes = over("slopes=3,decimate=2", &["ax", "ay"]).expect("channels");
    let named = slopes.kind(&kind(&["ax", "ay"]));
    assert_eq!(names(&named), ["ax", "ay", "slope of ax", "slope of ay"]);
    assert_eq!((slopes.width(2), slopes.first(), slopes.every()), (4, 2, 2));
    let sound =
        over("decimate=2,cepstra=128/64/16/3@4000,decimate=3", &["x"]).expect("one channel");
    assert_eq!(names(&sound.kind(&kind(&["x"]))), ["cepstrum 0", "cepstrum 1", "cepstrum 2"]);
    assert_eq!((sound.first(), sound.every()), (2 * (128 + 2 * 64), 2 * 64 * 3));
    let refused = |text, channels: &[&str]| over(text, channels).expect_err("refused").to_string();
    assert!(refused("magnitude=ax+ay", &["ax", "az"]).contains("no such channel"));
    assert!(refused("bands=128/64/16@8000", &["ax", "az"]).contains("one channel"));
    assert!(refused("bands=128/64/60@8000", &["ax"]).contains("no frequency"));
    assert!(
        refused("symbols=4,decimate=2", &["ax"]).contains("decimate=2: symbols must be the last")
    );
    let again = refused("slopes=2,decimate=2,slopes=4", &["ax"]);
    assert!(again.contains("slopes=4: there are slopes already"), "{again}");
    let told = refused("symbols=1;2;3", &["ax", "az"]);
    assert!(
        told.contains("the centres have 1 numbers, and there are 2 channels (ax, az)"),
        "{told}"
    );
    let symbols = Kind::Symbols(crate::Alphabet::new("ab").expect("letters"));
    let front: Front = "decimate=2".parse().expect("a front end");
    assert!(matches!(front.over(&symbols), Err(FrontError::Symbols)));
    assert!(Front::NONE.over(&symbols).is_ok());
}

/// The definition, with a gap, and differences behind it: a window does not see earlier samples.
#[test]
fn rows_are_those_of_the_definition_and_lags_come_after() {
    let series = [Some([3.0, 4.0]), None, Some([0.0, 1.0]), Some([5.0, 12.0]), None, None];
    let mut rows = Rows::new(2);
    series.iter().for_each(|row| rows.push(row.as_ref().map(|row| &row[..])));
    let samples = Samples::Channels(rows);
    let front: Front = "magnitude=x+y,decimate=2".parse().expect("a front end");
    let front = front.over(&kind(&["x", "y"])).expect("channels");
    let wide = front.widen(samples.view(), &Lags::one(1));
    let wide = wide.view().rows().expect("channels");
    let wanted = [Some([5.0, 0.0]), Some([7.0, 2.0]), None];
    assert!(wide.iter().eq(wanted.iter().map(|row| row.as_ref().map(|row| &row[..]))));
    let later = front.widen(samples.view().slice(1..4), &Lags::one(1));
    let later = later.view().rows().expect("channels");
    assert_eq!(later.iter().collect::<Vec<_>>(), [Some(&[1.0, 0.0][..])]);
}

/// The cost of a stage is the size of the core's types.
#[test]
fn costs_are_the_sizes_of_the_core() {
    use fishweir_core::front::{
        Cepstra, CepstraState, Decimate, DecimateState, Magnitude, Pipe, Slopes, SlopesState,
        VectorQuantiser,
    };
    let cost = |text: &str, channels: &[&str]| {
        let front: Front = text.parse().expect("a front end");
        let (flash, ram, _) = front.over(&kind(channels)).expect("channels").cost();
        (flash, ram)
    };
    let ram = |bytes: usize| bytes.next_multiple_of(8);
    assert_eq!(
        cost("decimate=4,magnitude=a+b", &["a", "b", "c"]),
        (size_of::<Pipe<Decimate<3>, Magnitude<3, 2>>>(), ram(size_of::<DecimateState<f32, 3>>()))
    );
    assert_eq!(
        cost("magnitude=a+b,decimate=4,magnitude=c+d", &["a", "b", "c", "d"]),
        (
            size_of::<Pipe<Pipe<Magnitude<4, 3>, Decimate<3>>, Magnitude<3, 2>>>(),
            ram(size_of::<DecimateState<f32, 3>>())
        )
    );
    assert_eq!(
        cost("decimate=4,slopes=6,magnitude=a+c", &["a", "b", "c"]),
        (
            size_of::<Pipe<Pipe<Decimate<3>, Slopes<3, 5>>, Magnitude<6, 5>>>(),
            ram(size_of::<DecimateState<f32, 3>>() + size_of::<SlopesState<f32, 3, 5>>())
        )
    );
    assert_eq!(
        cost("decimate=4,symbols=5", &["a", "b", "c"]),
        (
            size_of::<Pipe<Decimate<3>, VectorQuantiser<3, 5>>>(),
            ram(size_of::<DecimateState<f32, 3>>())
        )
    );
    assert_eq!(
        cost("cepstra=256/128/26/13@8000", &["x"]),
        (size_of::<Cepstra<128, 26, 13>>(), ram(size_of::<CepstraState<128>>()))
    );
}

/// The nearest words by definition, behind a mean; a missing row is a missing symbol.
#[test]
fn symbols_are_the_nearest_words() {
    let mut rows = Rows::new(2);
    for row in [Some([1.0, 8.0]), None, Some([9.0, 0.0]), Some([11.0, 2.0]), None, None] {
        rows.push(row.as_ref().map(|row| &row[..]));
    }
    let samples = Samples::Channels(rows);
    let front: Front = "decimate=2,symbols=1/0.25;0/0;10/0;0/9".parse().expect("a front end");
    let channels = kind(&["x", "y"]);
    let front = front.over(&channels).expect("channels");
    let Kind::Symbols(letters) = front.kind(&channels) else { panic!("symbols") };
    assert_eq!((letters.symbols(), front.width(2)), (&['A', 'B', 'C'][..], 3));
    let seen = front.widen(samples.view(), &Lags::NONE);
    assert_eq!(seen.view().symbols(), Some(&[Some(2), Some(1), None][..]));
}

/// Words are of the rows that the stages before make, and of no other series than those that are named.
#[test]
fn words_are_learnt_behind_the_other_stages() {
    let mut rows = Rows::new(2);
    (0..40).for_each(|t| rows.push(Some(&[f64::from(t % 2), f64::from(3 * (t / 2 % 4))])));
    let samples = Samples::Channels(rows);
    let channels = kind(&["x", "y"]);
    let front: Front = "decimate=2,symbols=4".parse().expect("a front end");
    let learnt = front.learnt(&channels, &[samples.view()], 1).expect("four rows");
    assert_eq!(learnt, front.learnt(&channels, &[samples.view()], 1).expect("four rows"));
    let Some(Stage::Words(quantiser)) = learnt.stages().last() else {
        panic!("no words: {learnt}")
    };
    let mut words = quantiser.words().to_vec();
    words.sort_by(|a, b| a[1].total_cmp(&b[1]));
    assert_eq!(words, [[0.5, 0.0], [0.5, 3.0], [0.5, 6.0], [0.5, 9.0]]);
    assert_eq!(learnt.to_string().parse::<Front>().expect("reads back"), learnt);
    let five: Front = "decimate=2,symbols=5".parse().expect("a front end");
    let told = five.learnt(&channels, &[samples.view()], 1).expect_err("four rows");
    assert!(told.to_string().contains("only 4 different rows"), "{told}");
    // What has no symbols, or words already, is as it was.
    for text in ["decimate=2", "symbols=1/1;0/0;1/1"] {
        let front: Front = text.parse().expect("a front end");
        assert_eq!(front.learnt(&channels, &[samples.view()], 1), Ok(front));
    }
}
