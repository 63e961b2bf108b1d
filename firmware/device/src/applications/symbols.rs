//! Classifies text: DNA, or a log whose events are letters or words. A line in, a line out.
//!
//! Host to device, a byte each, in frames or as a terminal sends them ([`Form`]):
//!
//! | byte | meaning |
//! |---|---|
//! | a letter of the alphabet | that symbol |
//! | a letter for a missing symbol (`N`, `-`, `?`: the alphabet says which) | a missing symbol |
//! | line feed | the sequence ends: answer, and begin the next |
//! | carriage return | nothing |
//! | end of transmission (4, Ctrl-D on a terminal; in frames the request `X`) | answer what has begun, and stop |
//! | any other | a symbol that cannot be read: counted, and pushed as missing |
//!
//! Over an alphabet of words the bytes between separators (blanks, tabs, commas, semicolons, bars, line ends) are one symbol:
//! a word of the alphabet, one that stands for a missing symbol (`NA`, `?` and the like), or one that cannot be read, as each is
//! that is longer than [`Alphabet::LONGEST_WORD`].
//!
//! Device to host, a line when it begins to listen (what is sent before may be lost), and one for every
//! sequence:
//!
//! ```text
//! ready <symbols> <missing ones> <class> <class> ...      letters; words with commas between them
//! <class> <margin> <symbols> <missing> <unknown> <impossible>
//! ```
//!
//! the decision after the last symbol, or of each window that is filled where the model was trained on windows: the class
//! by its name, the margin as the eight hexadecimal
//! digits of an `f32`, and how many letters were symbols, missing, unknown, and symbols that the
//! models make impossible or that come after the last one that they know (pushed as missing, so that
//! each keeps its place). The class is `-` where a kernel machine's scores went out of range, and of a sequence shorter
//! than a window where the model was trained on none such. A sequence of which the
//! line lost bytes is answered by `!` alone. In frames each lost letter is a missing one in its place, so that windows after it
//! are right, and a sequence of which nothing arrived is answered by `!` too: a line per sequence, whatever the line does. How many
//! words were lost, nobody knows: windows behind them are not answered.

use core::fmt::{self, Write as _};

use embedded_io::{Read, Write};
use fishweir_core::classify::ScoreOutOfRange;
use fishweir_core::contract::{Partial, Windows};
use fishweir_core::emission::{Alphabet, Letter};
use fishweir_core::wire::SampleIndex;

#[cfg(any(feature = "async", test))]
use super::conversation::converse_async;
use super::conversation::{Conversation, converse};
pub use super::lines::END_OF_TRANSMISSION;
use super::lines::{Class, Form, Heard, Receiver, decided};
use super::word::Word;
use crate::classifier::{ClassifierStream, Due};
use crate::log::log;

/// Counts of letters or words, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Letters {
    /// Pushed as symbols.
    pub symbols: u32,
    /// Known to be missing.
    pub missing: u32,
    /// Outside the alphabet.
    pub unknown: u32,
    /// Impossible under all models left.
    pub impossible: u32,
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Report {
    /// Sequences answered with a decision.
    pub sequences: u32,
    /// Sequences of which the line lost bytes.
    pub damaged: u32,
    /// Frames that arrived damaged.
    pub corrupt: u64,
}

/// Answers lines until the host ends the transmission or the stream ends.
///
/// # Errors
/// When the transport fails for good: [`link`](crate::link) has the rule.
pub fn symbols<S, C, const MODELS: usize>(
    serial: &mut S,
    classifier: &mut C,
    alphabet: &Alphabet<'_>,
    classes: &[&str],
    form: Form,
) -> Result<Report, S::Error>
where
    S: Read + Write,
    C: ClassifierStream<MODELS, Sample = usize>,
{
    let mut session = Session::new(classifier, alphabet, classes, form);
    converse(serial, &mut session)?;
    Ok(session.end())
}

/// [`symbols`] over a line that others run beside: the same bytes out.
///
/// # Errors
/// As [`symbols`].
#[cfg(any(feature = "async", test))]
#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
pub async fn symbols_async<S, C, const MODELS: usize>(
    serial: &mut S,
    classifier: &mut C,
    alphabet: &Alphabet<'_>,
    classes: &[&str],
    form: Form,
) -> Result<Report, S::Error>
where
    S: embedded_io_async::Read + embedded_io_async::Write,
    C: ClassifierStream<MODELS, Sample = usize>,
{
    let mut session = Session::new(classifier, alphabet, classes, form);
    converse_async(serial, &mut session).await?;
    Ok(session.end())
}

/// The conversation.
struct Session<'a, C, const MODELS: usize> {
    classifier: &'a mut C,
    alphabet: &'a Alphabet<'a>,
    classes: &'a [&'a str],
    receiver: Receiver,
    sequence: Sequence,
    /// The word in hand; `None` of letters.
    word: Option<Word>,
    has_windows: bool,
    due: Option<Line<'a>>,
    is_over: bool,
    report: Report,
}

impl<'a, C, const MODELS: usize> Session<'a, C, MODELS>
where
    C: ClassifierStream<MODELS, Sample = usize>,
{
    fn new(
        classifier: &'a mut C,
        alphabet: &'a Alphabet<'a>,
        classes: &'a [&'a str],
        form: Form,
    ) -> Self {
        log!(info, "alphabet {=str}, missing {=str}", alphabet.symbols(), alphabet.missing());
        Self {
            has_windows: classifier.contract().windows.is_some(),
            classifier,
            alphabet,
            classes,
            receiver: Receiver::new(form),
            sequence: Sequence::default(),
            word: alphabet.is_of_words().then_some(const { Word::new() }),
            due: Some(Line::Ready { alphabet, classes }),
            is_over: false,
            report: Report::default(),
        }
    }

    fn end(&self) -> Report {
        let Report { sequences, damaged, .. } = self.report;
        log!(info, "{=u32} sequences, {=u32} damaged", sequences, damaged);
        Report { corrupt: self.receiver.corrupt(), ..self.report }
    }

    /// Answers a window, with the letters of the sequence so far.
    fn answer_window(&mut self) {
        let (class, margin) = decided(self.classifier.decision(), self.classes);
        self.due = Some(Line::Decided { class, margin, letters: self.sequence.letters });
    }

    /// Answers the current sequence, unless windows of it were reported: then they were the answer.
    fn answer(&mut self) {
        let Sequence { letters, damaged, decided: answered } = core::mem::take(&mut self.sequence);
        if damaged {
            self.report.damaged = self.report.damaged.wrapping_add(1);
            self.due = Some(Line::Damaged);
        } else if answered {
            self.report.sequences = self.report.sequences.wrapping_add(1);
        } else {
            self.report.sequences = self.report.sequences.wrapping_add(1);
            // A sequence that is shorter than a window decides only where such were trained on.
            let never = |windows: Windows| windows.partial == Partial::Never;
            let decision = match self.classifier.contract().windows.is_some_and(never) {
                true => Err(ScoreOutOfRange),
                false => self.classifier.decision(),
            };
            let (class, margin) = decided(decision, self.classes);
            self.due = Some(Line::Decided { class, margin, letters });
        }
    }
}

impl<C, const MODELS: usize> Session<'_, C, MODELS>
where
    C: ClassifierStream<MODELS, Sample = usize>,
{
    /// Does one step.
    fn serve(&mut self, heard: Heard) {
        match heard {
            Heard::Byte(byte) => match &mut self.word {
                None => self.take(self.alphabet.decode(byte)),
                Some(_) if Alphabet::separates(byte) => self.end_word(),
                Some(word) => word.push(byte),
            },
            Heard::Lost(letters) => {
                self.sequence.damaged = true;
                let letters = letters.filter(|_| self.word.is_none());
                for _ in 0..letters.unwrap_or(0) {
                    self.take(Letter::Missing);
                }
            }
            Heard::LineFeed => {
                self.end_word();
                self.answer();
                self.classifier.reset();
            }
            Heard::Info => {
                self.due = Some(Line::Ready { alphabet: self.alphabet, classes: self.classes });
            }
            Heard::Ended => {
                self.end_word();
                if self.sequence != Sequence::default() {
                    self.answer();
                }
                self.is_over = true;
            }
        }
    }

    /// Takes the word in hand, if there is one.
    fn end_word(&mut self) {
        if let Some(letter) = self.word.as_mut().and_then(|word| word.end(self.alphabet)) {
            self.take(letter);
        }
    }

    fn take(&mut self, letter: Letter) {
        self.sequence.take(self.classifier, letter);
        let in_place = self.word.is_none() || !self.sequence.damaged;
        if self.has_windows && self.classifier.due() == Due::Decided && in_place {
            self.sequence.decided = true;
            self.answer_window();
        }
    }
}

impl<C, const MODELS: usize> Conversation for Session<'_, C, MODELS>
where
    C: ClassifierStream<MODELS, Sample = usize>,
{
    fn due(&mut self) -> Option<impl fmt::Display> {
        loop {
            if let Some(line) = self.due.take() {
                return Some(line);
            }
            let heard = self.receiver.next()?;
            self.serve(heard);
        }
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn place(&self) -> Option<SampleIndex> {
        self.receiver.place()
    }

    fn on_byte<E>(&mut self, heard: Result<Option<u8>, E>) -> Result<(), E> {
        self.receiver.on_byte(heard)
    }
}

/// Answer to the host.
enum Line<'a> {
    Ready { alphabet: &'a Alphabet<'a>, classes: &'a [&'a str] },
    Damaged,
    Decided { class: Class<'a>, margin: u32, letters: Letters },
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready { alphabet, classes } => {
                f.write_str("ready ")?;
                one_line(f, alphabet.symbols())?;
                f.write_char(' ')?;
                one_line(f, alphabet.missing())?;
                classes.iter().try_for_each(|class| write!(f, " {class}"))
            }
            Self::Damaged => f.write_str("!"),
            Self::Decided { class, margin, letters } => {
                let Letters { symbols, missing, unknown, impossible } = letters;
                write!(f, "{class} {margin:08x} {symbols} {missing} {unknown} {impossible}")
            }
        }
    }
}

/// Writes letters as they are, and words with commas between them.
fn one_line(f: &mut fmt::Formatter<'_>, symbols: &str) -> fmt::Result {
    symbols.chars().try_for_each(|one| f.write_char(if one == '\n' { ',' } else { one }))
}

/// The sequence in hand.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Sequence {
    letters: Letters,
    damaged: bool,
    /// `true` if a window of the sequence was reported.
    decided: bool,
}

impl Sequence {
    fn take<C, const MODELS: usize>(&mut self, classifier: &mut C, letter: Letter)
    where
        C: ClassifierStream<MODELS, Sample = usize>,
    {
        let letters = &mut self.letters;
        let count = match letter {
            Letter::Symbol(symbol) => match classifier.push(Some(&symbol)) {
                Ok(()) => &mut letters.symbols,
                Err(_) => &mut letters.impossible,
            },
            Letter::Missing | Letter::Unknown => {
                let _ = classifier.push(None);
                match letter {
                    Letter::Missing => &mut letters.missing,
                    _ => &mut letters.unknown,
                }
            }
        };
        *count = count.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use std::string::String;
    use std::vec::Vec;

    use embassy_futures::block_on;
    use fishweir_core::filter::Stream;
    use fishweir_core::wire::Request;

    use super::super::wire::{Later, Sent, Wire};
    use super::*;
    use crate::link::ReadErrors;

    #[allow(unreachable_pub, dead_code)]
    mod coins {
        include!("../../../models/default.rs");
    }

    /// Asserts that every conversation is the same over a line that lets others run.
    fn serve(wire: &mut Wire) -> Result<Report, embedded_io::ErrorKind> {
        serve_in(wire, Form::Terminal)
    }

    fn serve_in(wire: &mut Wire, form: Form) -> Result<Report, embedded_io::ErrorKind> {
        serve_over(wire, form, &coins::ALPHABET)
    }

    fn serve_over(
        wire: &mut Wire,
        form: Form,
        alphabet: &Alphabet<'_>,
    ) -> Result<Report, embedded_io::ErrorKind> {
        let classes = &coins::CLASSES;
        let mut other = wire.clone();
        let report = symbols(wire, &mut Stream::new(&coins::MODEL), alphabet, classes, form);
        let (mut later, mut running) = (Later(&mut other), Stream::new(&coins::MODEL));
        let waited = symbols_async(&mut later, &mut running, alphabet, classes, form);
        assert_eq!((block_on(waited), &other), (report, &*wire));
        report
    }

    fn answers(text: &str) -> Vec<String> {
        let mut wire = Wire::sending(text.as_bytes());
        serve(&mut wire).expect("the stream ends");
        lines(&wire)
    }

    /// Lines after the greeting.
    fn lines(wire: &Wire) -> Vec<String> {
        let mut lines = wire.lines();
        assert_eq!(lines.remove(0), "ready HT -? fair alternating");
        lines
    }

    /// The line for a margin of `log 5/4`.
    fn alternating(rest: &str) -> String {
        let margin = (1.25_f64.ln() as f32).to_bits();
        std::format!("alternating {margin:08x} {rest}")
    }

    #[test]
    fn a_line_is_answered_by_class_margin_and_counts() {
        assert_eq!(answers("HT\n"), [alternating("2 0 0 0")]);
        assert_eq!(answers("HT\r\nHT\n"), [alternating("2 0 0 0"), alternating("2 0 0 0")]);
        // As the page shows it.
        assert_eq!(answers("HTH?HT\n"), ["alternating 3fab4ced 5 1 0 0"]);
    }

    #[test]
    fn missing_and_unknown_letters_keep_their_place() {
        // Missing and unknown symbols alike let two steps pass, after which the coins stand as before.
        let [missing, unknown] = ["H--T\n", "Hx+T\n"].map(answers);
        let decision =
            |line: &[String]| line[0].split_once(" 2 ").map(|(head, _)| String::from(head));
        assert_eq!(decision(&missing), decision(&unknown));
        assert!(missing[0].ends_with(" 2 2 0 0"), "{missing:?}");
        assert!(unknown[0].ends_with(" 2 0 2 0"), "{unknown:?}");
    }

    #[test]
    fn ctrl_d_answers_what_has_begun_and_stops() {
        let mut wire = Wire::sending(b"HT\x04HT\n");
        assert_eq!(serve(&mut wire), Ok(Report { sequences: 1, ..Report::default() }));
        assert_eq!((lines(&wire), wire.unread()), (std::vec![alternating("2 0 0 0")], 3));
        assert!(answers("\x04").is_empty());
        assert_eq!(answers("HT"), [alternating("2 0 0 0")]);
        assert_eq!(answers("\n").len(), 1, "a line in, a line out");
    }

    #[test]
    fn a_damaged_line_is_said_to_be_and_the_next_is_whole() {
        let mut wire = Wire::sending(b"H").failing().then(b"T\nHT\n");
        assert_eq!(serve(&mut wire), Ok(Report { sequences: 1, damaged: 1, corrupt: 0 }));
        assert_eq!(lines(&wire), ["!", &alternating("2 0 0 0")]);
        let dead = (0..=ReadErrors::LIMIT).fold(Wire::sending(b"H"), |wire, _| wire.failing());
        assert_eq!(serve(&mut dead.clone()), Err(embedded_io::ErrorKind::Other));
    }

    /// Separators split words as in an alphabet of letters, and a word that is longer than any is unknown.
    #[test]
    fn words_are_symbols_as_letters_are() {
        let words = Alphabet::of("heads\ntails");
        let long = "heads".repeat(20);
        let text =
            std::format!("heads tails\r\nheads,tails, heads ; NA\theads|tails\n{long} head\nheads");
        let mut wire = Wire::sending(text.as_bytes());
        serve_over(&mut wire, Form::Terminal, &words).expect("the stream ends");
        let mut lines = wire.lines();
        assert_eq!(
            lines.remove(0),
            "ready heads,tails NA,N/A,n/a,#N/A,<NA>,NaN,nan,NAN,?,null,NULL,None fair alternating"
        );
        assert_eq!(lines[..2], [alternating("2 0 0 0"), "alternating 3fab4ced 5 1 0 0".into()]);
        assert!(lines[2].ends_with(" 0 0 2 0") && lines[3].ends_with(" 1 0 0 0"), "{lines:?}");
        // In frames the same, and what was lost costs its line.
        let sent = Sent::new().text("heads tails\nheads tails\nheads tails\n").ask(Request::Stop);
        let bytes = [&sent.frames[..1], &sent.frames[2..]].concat().concat();
        let mut wire = Wire::sending(&bytes);
        serve_over(&mut wire, Form::Frames, &words).expect("no read fails");
        let decided = alternating("2 0 0 0");
        assert_eq!(wire.framed_lines()[1..], [decided.clone(), "!".into(), decided]);
    }

    #[test]
    fn in_frames_a_line_is_answered_as_on_a_terminal() {
        let text = "HT\r\nHTH?HT\n\nHx+T\nH";
        let sent = Sent::new().text(text).ask(Request::Info).ask(Request::Stop);
        let mut wire = Wire::sending(&sent.bytes());
        serve_in(&mut wire, Form::Frames).expect("no read fails");
        let mut lines = wire.framed_lines();
        let ready = lines.remove(lines.len() - 2);
        assert_eq!((lines.remove(0), &*ready), (ready.clone(), "ready HT -? fair alternating"));
        assert_eq!(lines, answers(text));
    }

    #[test]
    fn in_frames_lost_sequences_are_answered_as_damaged() {
        let sent = Sent::new().text("HT\nHT\nHT\nHT\nHT\n");
        // The third and the fourth are lost.
        let bytes = [&sent.frames[..2], &sent.frames[4..]].concat().concat();
        let mut wire = Wire::sending(&bytes);
        let report = serve_in(&mut wire, Form::Frames);
        assert_eq!(report, Ok(Report { sequences: 3, damaged: 2, corrupt: 0 }));
        let whole = alternating("2 0 0 0");
        assert_eq!(wire.framed_lines()[1..], [&whole, &whole, "!", "!", &whole]);
    }
}
