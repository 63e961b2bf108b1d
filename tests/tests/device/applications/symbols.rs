//! `symbols`: text in, a decision a line.

use fishweir::data::{Alphabet, Dataset, Decoded, ReadOptions, Sample};
use fishweir::deploy::Deployed;
use fishweir::device::BOARDS;
use fishweir::learn::{ClassifierKind, Request, Scaling, train};

use super::{PATIENCE, build, build_around, build_terminal, framed, lines};
use crate::on_boards;

const GREETING: &str = "ready ACGT RYSWKMBDHVNX-.? plain repeat";

/// Two kinds of DNA: one random, one that favours a repeat; some of it masked.
fn sequences() -> Vec<(&'static str, String)> {
    let mut state = 1_u32;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize
    };
    (0..24)
        .map(|index| {
            let repeats = index % 2 == 1;
            let letters = (0..60 + index).map(|t| match random() % 20 {
                0 => 'N',
                draw if repeats && draw < 12 => ['G', 'A', 'T'][t % 3],
                _ => ['A', 'C', 'G', 'T'][random() % 4],
            });
            (["plain", "repeat"][index % 2], letters.collect())
        })
        .collect()
}

fn trained(kind: ClassifierKind) -> Deployed {
    trained_on(&sequences()[..16], kind)
}

fn trained_on(sequences: &[(&str, String)], kind: ClassifierKind) -> Deployed {
    let mut text = String::from("label\tid\tsequence\n");
    for (index, (label, sequence)) in sequences.iter().enumerate() {
        text += &format!("{label}\ts{index}\t{sequence}\n");
    }
    let data = Dataset::parse("dna.tsv", text.as_bytes(), &ReadOptions::default()).expect("reads");
    let mut options = Request::minimal(kind);
    options.baum_welch.iterations = 5;
    options.c = vec![1.0];
    options.scalings = vec![Scaling::Practical];
    let all: Vec<usize> = (0..data.series().len()).collect();
    let trained = train(&data, &all, &options, &|| ()).expect("trains");
    trained.classifier.deploy().expect("fits in f32")
}

/// The line that the device should answer.
fn answer(deployed: &Deployed, line: &str) -> String {
    answer_to(deployed, &Alphabet::dna(), &line.split("").collect::<Vec<_>>())
}

fn answer_to(deployed: &Deployed, alphabet: &Alphabet, pieces: &[&str]) -> String {
    let mut stream = deployed.stream();
    let [mut symbols, mut missing, mut unknown] = [0; 3];
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        match alphabet.decode_word(piece) {
            Decoded::Symbol(symbol) => {
                stream.push(Sample::Symbol(symbol)).expect("no symbol is impossible");
                symbols += 1;
                continue;
            }
            Decoded::Missing => missing += 1,
            Decoded::Unknown => unknown += 1,
        }
        stream.push(Sample::Missing).expect("always possible");
    }
    let decision = stream.decision().expect("in range");
    let class = &deployed.classes()[decision.class];
    format!("{class} {:08x} {symbols} {missing} {unknown} 0", decision.margin.to_bits())
}

/// The lines sent: all sequences, one in lower case, one with letters of no alphabet, an empty one.
fn sent() -> Vec<String> {
    let mut sent: Vec<String> = sequences().into_iter().map(|(_, sequence)| sequence).collect();
    sent.push(sent[3].to_lowercase());
    sent.push(format!("{}*!{}", sent[4], sent[5]));
    sent.push(String::new());
    sent
}

#[test]
fn every_line_is_answered_as_the_host_does() {
    let deployed = trained(ClassifierKind::Fisher);
    let (sent, source) = (sent(), deployed.to_source());
    let expected: Vec<String> = sent.iter().map(|line| answer(&deployed, line)).collect();
    let classes = |line: &&String| line.starts_with("repeat");
    let repeats = expected[16..24].iter().filter(classes).count();
    assert!((2..=6).contains(&repeats), "the unseen lines are of both classes: {expected:?}");
    on_boards(|board| {
        let built = build(board, "symbols", &source);
        let answers =
            lines(built.start(), GREETING, &framed(&(sent.join("\n") + "\n"))).expect("answers");
        assert_eq!(answers, expected);
    });
}

#[test]
fn an_artefact_brings_its_letters_and_names() {
    let deployed = trained(ClassifierKind::Bayes);
    let artefact = deployed.to_artefact().expect("small enough");
    let built = build_around(&BOARDS[0], "symbols", "model.fishweir", &artefact);
    let line = "ACGTNNgatgatgat";
    // The last line need not be ended.
    let answers =
        lines(built.start(), GREETING, &framed(&format!("{line}\r\n{line}"))).expect("answers");
    assert_eq!(answers, [answer(&deployed, line), answer(&deployed, line)]);
}

#[test]
fn a_terminal_needs_no_frames() {
    let deployed = trained(ClassifierKind::Bayes);
    let built = build_terminal(&BOARDS[0], "symbols", &deployed.to_source());
    let line = "ACGTNNgatgatgat";
    let answers = built.start().exchange(PATIENCE, format!("{line}\n{line}\x04").as_bytes());
    let answer = answer(&deployed, line);
    assert_eq!(answers.expect("answers"), [GREETING.to_owned(), answer.clone(), answer]);
}

/// The dictionary lies in the image; words come parted by whatever parts them.
#[test]
fn named_events_are_answered_as_the_host_does() {
    let events = |repeats: bool, index: usize| {
        let event = |t: usize| match (t * t + index) % 5 {
            0 => "error",
            draw if repeats && draw < 4 => ["open", "close"][t % 2],
            draw => ["idle", "open", "close", "idle", "open"][(draw + t / 3) % 5],
        };
        (0..30 + index).map(event).collect::<Vec<_>>().join(" ")
    };
    let sequences: Vec<(&str, String)> = (0..16)
        .map(|index| (["plain", "repeat"][index % 2], events(index % 2 == 1, index)))
        .collect();
    let deployed = trained_on(&sequences, ClassifierKind::Fisher);
    let alphabet = Alphabet::new("close\nerror\nidle\nopen").expect("four words");
    let long = "open".repeat(20);
    let sent = format!(
        "{}\r\n{}\nopen;close|NA\tstuck {long} open\n",
        sequences[0].1,
        sequences[1].1.replace(' ', ", ")
    );
    let pieces = |line: &str| {
        let words = line.split([' ', ',', ';', '|', '\t', '\r']);
        answer_to(&deployed, &alphabet, &words.collect::<Vec<_>>())
    };
    let expected: Vec<String> = sent.lines().map(pieces).collect();
    assert!(expected[2].ends_with(" 3 1 2 0"), "{expected:?}");
    let greeting = "ready close,error,idle,open NA,N/A,n/a,#N/A,<NA>,NaN,nan,NAN,?,null,NULL,None plain repeat";
    let artefact = deployed.to_artefact().expect("small enough");
    let sources = [("model.rs", deployed.to_source().into_bytes()), ("model.fishweir", artefact)];
    for (name, model) in sources {
        let built = build_around(&BOARDS[0], "symbols", name, &model);
        let answers = lines(built.start(), greeting, &framed(&sent)).expect("answers");
        assert_eq!(answers, expected, "{name}");
    }
}
