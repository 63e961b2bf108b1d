use super::*;

fn names(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// Series of some channels, one sample after the other.
fn data(channels: &str, rows: &[&[f64]]) -> Dataset {
    let names = names(channels);
    let series = rows.chunks(3).enumerate().map(|(number, rows)| {
        let mut samples = Rows::new(names.len());
        rows.iter().for_each(|row| samples.push(Some(row)));
        Series {
            id: number.to_string(),
            label: Some(0),
            columns: Vec::new(),
            times: Vec::new(),
            samples: Samples::Channels(samples),
            line: 0,
        }
    });
    let (kind, classes) = (Kind::Channels(names.clone()), vec!["a".to_owned()]);
    Dataset::new("memory", kind, classes, Vec::new(), series.collect()).expect("data")
}

#[test]
fn nothing_is_varied_unless_channels_form_vectors_or_it_is_asked_for() {
    let rows: [&[f64]; 3] = [&[1.0, 2.0, 3.0]; 3];
    let scalars = data("p q r", &rows);
    let options = Augment::default();
    let variation = Variation::of(&scalars, &[0], &options).expect("nothing");
    let plain = variation.apply(&[0]).expect("nothing");
    assert!(matches!(plain.data, Cow::Borrowed(_)) && plain.all() == [0]);
    let vectors = data("ax ay az", &rows);
    let variation = Variation::of(&vectors, &[0], &options).expect("copies");
    assert_eq!(variation.apply(&[0]).expect("copies").all(), [0, 1, 2]);
}

#[test]
fn a_gain_leaves_the_mean_of_the_training_series_where_it_is() {
    let rows: [&[f64]; 9] = [
        &[1012.0],
        &[1013.0],
        &[1014.0],
        &[1013.0],
        &[1013.5],
        &[1012.5],
        // Held out, and wild.
        &[1e9],
        &[0.0],
        &[0.0],
    ];
    let data = data("p", &rows);
    let options = Augment { copies: Some(20), gain: 0.05, ..Augment::default() };
    let variation = Variation::of(&data, &[0, 1], &options).expect("copies");
    let augmented = variation.apply(&[0, 1]).expect("copies");
    assert_eq!(augmented.data.series().len(), 3 + 40);
    for index in augmented.all().into_iter().skip(1).step_by(2) {
        let view = augmented.data.series()[index].samples.view();
        let row = |t: usize| view.rows().and_then(|rows| rows.row(t)).expect("a row")[0];
        assert!((row(0) - 1013.0).abs() < 1e-9 && (row(1) - 1013.5).abs() < 0.2);
    }
    let wild = Augment { gain: 1e3, ..options.clone() };
    let refused = Variation::of(&data, &[0, 1], &wild)
        .and_then(|variation| variation.apply(&[0, 1]).map(drop))
        .expect_err("an overflow")
        .to_string();
    assert!(refused.contains("off by 100000 %") && refused.contains("gain"), "{refused}");
    let many = Augment { copies: Some(usize::MAX), ..options };
    let refused = Variation::of(&data, &[0, 1], &many).err().expect("too many").to_string();
    assert!(refused.contains("fewer copies"), "{refused}");
}

#[test]
fn a_gain_leaves_the_mirror_image_of_the_mean_where_it_is() {
    let data = data("p", &[&[1012.0], &[1013.0], &[1014.0]]);
    let mirror = Mirror::Channels(vec!["p".to_owned()]);
    let options = Augment { copies: Some(4), mirror, ..Augment::default() };
    let variation = Variation::of(&data, &[0], &options).expect("copies");
    let augmented = variation.apply(&[0]).expect("copies");
    let middle = |series: &Series| {
        let rows = series.samples.view().rows().map(|rows| rows.row(1).map(|row| row[0]));
        rows.flatten().expect("a row")
    };
    let means: Vec<f64> = augmented.data.series().iter().map(|one| middle(one).round()).collect();
    let by_turns = [1013.0, -1013.0].iter().cycle().take(10).copied().collect::<Vec<f64>>();
    assert_eq!(means, by_turns);
}

/// An inner fold's copies are centred on its training series, and drawn with the same seed.
#[test]
fn what_an_inner_fold_holds_back_moves_none_of_its_copies() {
    let of = |wild: f64| {
        let rows = [[1.0], [2.0], [4.0], [3.0], [2.0], [1.0], [wild], [0.5], [-wild / 2.0]];
        data("p", &rows.each_ref().map(|row| &row[..]))
    };
    let (tame, wild) = (of(2.5), of(1e9));
    let options = Augment {
        copies: Some(3),
        mirror: Mirror::Channels(vec!["p".to_owned()]),
        ..Augment::default()
    };
    let copies = |data: &Dataset, training: &[usize]| -> Vec<Samples> {
        let variation = Variation::of(data, &[0, 1, 2], &options).expect("copies");
        let augmented = variation.apply(training).expect("copies");
        let all = augmented.all().into_iter();
        all.map(|index| augmented.data.series()[index].samples.clone()).collect()
    };
    assert_eq!(copies(&tame, &[0, 1]), copies(&wild, &[0, 1]));
    assert_eq!(copies(&tame, &[0, 1]).len(), 2 * 8);
    assert_ne!(copies(&tame, &[0, 1, 2]), copies(&wild, &[0, 1, 2]));
}

/// Spreads are those asked for: of the logarithm of a gain, of the angle about an axis.
#[test]
fn copies_are_varied_as_much_as_is_asked() {
    let rows: [&[f64]; 3] = [&[1.0, 0.0, 0.0], &[-1.0, 0.0, 0.0], &[0.0, 0.0, 0.0]];
    let data = data("ax ay az", &rows);
    let firsts = |options: &Augment| -> Vec<Vec<f64>> {
        let augmented =
            Variation::of(&data, &[0], options).and_then(|one| one.apply(&[0])).expect("copies");
        let copies = augmented.data.series()[augmented.first_copy()..].iter();
        copies
            .map(|copy| copy.samples.view().rows().and_then(|rows| rows.row(0)))
            .map(|row| row.expect("a row").to_vec())
            .collect()
    };
    let spread = |of: Vec<f64>| (of.iter().map(|x| x * x).sum::<f64>() / of.len() as f64).sqrt();
    let gained =
        Augment { copies: Some(4000), rotation_degrees: 0.0, gain: 0.2, ..Augment::default() };
    let gain = spread(firsts(&gained).iter().map(|row| row[0].ln()).collect());
    assert!((gain / 0.2 - 1.0).abs() < 0.05, "{gain}");
    let turned = Augment { rotation_degrees: 5.0, gain: 0.0, ..gained };
    let angle = spread(firsts(&turned).iter().map(|row| row[1].atan2(row[0])).collect());
    assert!((angle.to_degrees() / 5.0 - 1.0).abs() < 0.05, "{angle}");
}

/// Models are fitted to series and mirror images, machines trained on copies of both as well.
#[test]
fn mirror_images_come_before_the_copies() {
    let rows: [&[f64]; 9] =
        [&[1.0], &[2.0], &[3.0], &[4.0], &[5.0], &[6.0], &[7.0], &[8.0], &[9.0]];
    let data = data("p", &rows);
    let mirror = Mirror::Channels(vec!["p".to_owned()]);
    let options = Augment { copies: Some(2), mirror, ..Augment::default() };
    let variation = Variation::of(&data, &[0, 2], &options).expect("copies");
    let augmented = variation.apply(&[0, 2]).expect("copies");
    assert_eq!(augmented.exact(), [0, 2, 3, 4]);
    assert_eq!(augmented.all(), [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    assert_eq!((augmented.first_copy(), augmented.data.series().len()), (5, 13));
    let Samples::Channels(image) = &augmented.data.series()[4].samples else { panic!("channels") };
    assert_eq!(image.view().row(0), Some(&[-7.0][..]));
}

/// Three rows of a number and whether it is there: 27 bytes a variant.
#[test]
fn copies_are_as_many_as_there_is_room_for() {
    let data = data("p", &[&[1.0], &[2.0], &[3.0]]);
    let most = usize::try_from(MOST_BYTES / 27).expect("a count") - 1;
    let checked = |copies| {
        let options = Augment { copies: Some(copies), ..Augment::default() };
        Variation::of(&data, &[0], &options).map(|variation| variation.variants())
    };
    assert_eq!(checked(most).ok(), Some(most + 1));
    let refused = checked(most + 1).expect_err("too many").to_string();
    assert!(refused.contains(" 2.1 GB"), "{refused}");
}

#[test]
fn rotations_keep_lengths_and_handedness() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for _ in 0..20 {
        let r = rotation(1.0, &mut rng);
        let determinant = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1])
            - r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0])
            + r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
        assert!((determinant - 1.0).abs() < 1e-12);
        for row in r {
            assert!((row.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn what_is_varied_is_said() {
    let of = |channels: &str, options: &Augment| options.describe(&Kind::Channels(names(channels)));
    let options = Augment { mirror: Mirror::Channels(names("ax")), ..Augment::default() };
    assert_eq!(
        of("ax ay az", &options),
        "mirrored in ax as well; 2 copies of each with gains off by 5 % about the mean, (ax ay az) turned by \
         10 degrees"
    );
    let still = Augment { rotation_degrees: 0.0, ..options };
    let text = of("ax ay az", &still);
    assert!(text.ends_with("gains off by 5 % about the mean"), "{text}");
    assert_eq!(of("p q", &Augment::default()), AS_THEY_ARE);
    let asked = of("p q", &Augment { copies: Some(1), ..Augment::default() });
    assert_eq!(asked, "1 copy of each with gains off by 5 % about the mean");
}
