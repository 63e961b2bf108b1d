//! `fishweir profile score`.

use std::fmt::Write as _;
use std::path::PathBuf;

use fishweir_profiles::{
    Aligned, Hit, Profile, ProfileError, Residues, SearchProfile, sequences, stockholm,
};
use rayon::prelude::*;

use super::super::output::{self, Outputs};
use super::super::values::finite;
use super::{Failure, SearchArguments, skip_unreadable, text};

const EXAMPLES: &str = "\
Examples:
  fishweir profile score sequences.fa --model globins4.hmm";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// FASTA
    sequences: PathBuf,
    /// Profiles, in HMMER3/f text
    #[arg(short, long, value_name = "FILE")]
    model: PathBuf,
    #[command(flatten)]
    search: SearchArguments,
    /// Leave out sequences with a smaller Forward score
    #[arg(long, value_name = "BITS", default_value_t = 0.0, value_parser = finite, allow_negative_numbers = true)]
    least: f64,
    /// Write the domains found, aligned to the profiles, as Stockholm
    #[arg(long, value_name = "FILE.sto")]
    alignment: Option<PathBuf>,
    /// Output file of the table, tab-separated; - for standard output
    #[arg(short, long, value_name = "FILE.tsv", default_value = "-")]
    output: PathBuf,
}

const HEADER: &str = "query\ttarget\tlength\tscore_bits\tevalue\tdomain\tdom_score_bits\thmm_from\thmm_to\t\
                      ali_from\tali_to\tenv_from\tenv_to\n";

/// Bits by which the score of the first pass may be off.
const ROUNDING: f64 = 0.01;

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let outputs: Vec<_> = [&arguments.output].into_iter().chain(&arguments.alignment).collect();
    let outputs: Vec<_> = outputs.iter().map(|path| path.as_path()).collect();
    Outputs::check(&outputs, &[&arguments.model, &arguments.sequences])?;
    let (name, read) = text(&arguments.model)?;
    let profiles = Profile::parse_all(&name, &read)?;
    let (file, read) = text(&arguments.sequences)?;
    let mut targets = sequences(&file, &read)?;
    let spelt: Vec<_> = profiles.iter().map(|profile| profile.residues).collect();
    skip_unreadable(&file, &spelt, Residues::encode_searched, &mut targets)?;
    let mode = arguments.search.mode();
    let (mut table, mut alignments) = (HEADER.to_owned(), String::new());
    for profile in &profiles {
        let search = SearchProfile::new(profile, mode)?;
        let refused = |name: &str, error: ProfileError| {
            let text = match error {
                ProfileError::Impossible => format!("{file}: {name}: {error}"),
                _ => format!("{file}: {error}"),
            };
            Failure::input(error.kind(), text)
        };
        let encode = |(name, sequence): &(String, String)| {
            let symbols = profile.residues.encode_searched(name, sequence);
            let symbols = symbols.map_err(|error| refused(name, error))?;
            if symbols.is_empty() {
                return Err(refused(name, ProfileError::Impossible));
            }
            Ok(symbols)
        };
        let symbols = targets.par_iter().map(encode).collect::<Result<Vec<_>, Failure>>()?;
        // Most sequences of a database end here: many at once, in `f32`.
        let scores = search.scores(&symbols)?;
        let near: Vec<usize> =
            (0..targets.len()).filter(|&n| scores[n] >= arguments.least - ROUNDING).collect();
        let found = near.par_iter().map(|&n| {
            let (name, sequence) = &targets[n];
            let hit = search.search(&symbols[n]).map_err(|error| refused(name, error))?;
            Ok((name.as_str(), sequence.as_str(), hit))
        });
        let hits = found.collect::<Result<Vec<(&str, &str, Hit)>, Failure>>();
        let mut hits = hits?;
        hits.retain(|(_, _, hit)| hit.forward >= arguments.least);
        hits.sort_by(|(_, _, a), (_, _, b)| b.score.total_cmp(&a.score));
        for (name, sequence, hit) in &hits {
            table += &lines(profile, name, sequence.chars().count(), hit, targets.len());
        }
        let aligned: Vec<Aligned<'_>> = hits
            .iter()
            .flat_map(|(name, sequence, hit)| {
                hit.domains.iter().map(|domain| Aligned {
                    name,
                    sequence,
                    start: domain.envelope[0],
                    states: &domain.path.states,
                })
            })
            .collect();
        alignments += &stockholm(profile, &aligned);
    }
    if let Some(path) = &arguments.alignment {
        output::write(path, alignments.as_bytes())?;
    }
    output::write(&arguments.output, table.as_bytes())
}

/// Lines of a table: one per domain; a single line for a sequence without domains. Positions count from 1.
fn lines(profile: &Profile, name: &str, length: usize, hit: &Hit, searched: usize) -> String {
    let evalue = profile.forward_tail().map_or("-".to_owned(), |(tau, lambda)| {
        let chance = (-lambda * (hit.score - tau)).exp().min(1.0);
        format!("{:.2e}", chance * searched as f64)
    });
    let head = format!("{}\t{name}\t{length}\t{:.4}\t{evalue}", profile.name, hit.score);
    if hit.domains.is_empty() {
        return format!("{head}{}\n", "\t-".repeat(8));
    }
    let mut text = String::new();
    for (number, domain) in (1..).zip(&hit.domains) {
        let _ = write!(text, "{head}\t{number}\t{:.4}", domain.score);
        for [from, to] in [domain.best.profile, domain.best.sequence, domain.envelope] {
            let _ = write!(text, "\t{}\t{}", from + 1, to + 1);
        }
        text.push('\n');
    }
    text
}
