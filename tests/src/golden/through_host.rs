//! The kernels' files once more by the host: at run-time sizes, from a model that has been through its
//! file's text.

use fishweir::data::{Alphabet, Rows, Samples, SamplesView};
use fishweir::kernel::marginal::{
    FiniteSetModel, FixedLengthModel, HiddenBinomialModel, HiddenState, MarginalModel, Newick,
    PairEnd, PairHmmModel, TreeKernelModel,
};
use fishweir::runtime::Hmm;

use super::schema::{Matrix, Row};
use crate::build::host::{host_model, host_samples};
use crate::oracle::{self, Model, PairModel, Sequence, Tree};

fn alphabet(symbols: usize) -> Result<Alphabet, String> {
    let symbol = |k| char::from_u32(0x4e00 + k as u32).ok_or("too many symbols");
    let symbols: String = (0..symbols).map(symbol).collect::<Result<_, _>>()?;
    Alphabet::new(&symbols).map_err(|error| error.to_string())
}

/// `log k` of all pairs.
pub(super) fn log_gram(
    model: &MarginalModel,
    items: &[SamplesView<'_>],
) -> Result<Vec<Row>, String> {
    let text = model.to_toml().map_err(|error| error.to_string())?;
    let read = MarginalModel::parse("golden.toml", &text).map_err(|error| error.to_string())?;
    if read != *model {
        return Err(format!("a file that does not read back:\n{text}"));
    }
    let gram = read.log_gram(items).map_err(|error| error.to_string())?;
    Ok((0..items.len()).map(|i| gram.row(i).to_vec()).collect())
}

/// [`log_gram`] of strings of symbols.
pub(super) fn log_gram_of(model: &MarginalModel, items: &[&[usize]]) -> Result<Vec<Row>, String> {
    let strings: Vec<Vec<Option<u16>>> =
        items.iter().map(|item| item.iter().map(|&x| Some(x as u16)).collect()).collect();
    let views: Vec<SamplesView<'_>> = strings.iter().map(|s| SamplesView::Symbols(s)).collect();
    log_gram(model, &views)
}

/// `log k` of two strings.
pub(super) fn log_kernel(model: &MarginalModel, s: &[usize], t: &[usize]) -> Result<f64, String> {
    Ok(log_gram_of(model, &[s, t])?[0][1])
}

/// `None` of a family that the host does not know.
pub(super) fn fixed_length(model: &Model) -> Result<Option<MarginalModel>, String> {
    let Some(hmm) = host_model(model) else { return Ok(None) };
    let alphabet = Some(alphabet(hmm.size())?);
    Ok(Some(MarginalModel::FixedLength(FixedLengthModel { alphabet, channels: None, hmm })))
}

/// Shared by all positions, or one each; `None` of none.
pub(super) fn hidden_binomial(
    shared: Option<(&Row, &Matrix)>,
    position: Vec<(&Row, &Matrix)>,
) -> Result<Option<MarginalModel>, String> {
    let Some((_, emission)) = shared.or(position.first().copied()) else { return Ok(None) };
    let alphabet = alphabet(emission.first().map_or(0, Vec::len))?;
    let state = |(prior, emission): (&Row, &Matrix)| HiddenState {
        prior: prior.clone(),
        emission: emission.clone(),
    };
    let (shared, position) = (shared.map(state), position.into_iter().map(state).collect());
    Ok(Some(MarginalModel::HiddenBinomial(HiddenBinomialModel { alphabet, shared, position })))
}

pub(super) fn pair_hmm(model: &PairModel) -> Result<MarginalModel, String> {
    let end = match &model.end {
        oracle::PairEnd::Anywhere => PairEnd::Anywhere,
        oracle::PairEnd::Silent(p) => PairEnd::Silent { initial: p[0], state: p[1..].to_vec() },
        oracle::PairEnd::Emitting(state) => PairEnd::Emitting(*state),
    };
    Ok(MarginalModel::PairHmm(PairHmmModel {
        alphabet: alphabet(model.emission.first().map_or(0, Vec::len))?,
        initial: model.initial.clone(),
        transition: model.transition.clone(),
        emission: model.emission.clone(),
        empty: model.empty.clone(),
        end,
    }))
}

/// Leaves are called by their nodes, and a string's positions name theirs.
pub(super) fn tree(plain: &Tree, positions: &[usize]) -> Result<TreeKernelModel, String> {
    let newick: Newick = newick(plain).parse().map_err(|error| format!("{error}"))?;
    let (transition, transition_of_child) = match &plain.transition[..] {
        [one] => (Some(one.clone()), None),
        several => (None, Some(several.to_vec())),
    };
    Ok(TreeKernelModel {
        alphabet: alphabet(plain.root.len())?,
        newick: Some(newick),
        newick_file: None,
        leaves: positions.iter().map(|leaf| format!("n{leaf}")).collect(),
        root: Some(plain.root.clone()),
        transition,
        transition_of_child,
        substitution: None,
        arity: plain.arity.clone(),
    })
}

/// A tree's text, without recursion: some are deep.
fn newick(plain: &Tree) -> String {
    enum Piece {
        Node(usize),
        Text(&'static str),
    }
    let mut text = String::new();
    let mut rest = vec![Piece::Text(";"), Piece::Node(0)];
    while let Some(piece) = rest.pop() {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Node(v) if plain.children[v].is_empty() => text.push_str(&format!("n{v}")),
            Piece::Node(v) => {
                text.push('(');
                rest.push(Piece::Text(")"));
                for (j, &c) in plain.children[v].iter().enumerate().rev() {
                    rest.push(Piece::Node(c));
                    if j > 0 {
                        rest.push(Piece::Text(","));
                    }
                }
            }
        }
    }
    text
}

/// A set of models; `None` of families that the host does not know.
pub(super) fn set_of(prior: &Row, models: &[Model]) -> Result<Option<MarginalModel>, String> {
    let Some(model) = models.iter().map(host_model).collect::<Option<Vec<Hmm>>>() else {
        return Ok(None);
    };
    let Some(first) = model.first() else { return Ok(None) };
    let (alphabet, channels) = if first.emission.is_over_symbols() {
        (Some(alphabet(first.size())?), None)
    } else {
        (None, Some((0..first.size()).map(|channel| format!("x{channel}")).collect()))
    };
    let prior = prior.clone();
    Ok(Some(MarginalModel::Marginalisation(FiniteSetModel { alphabet, channels, prior, model })))
}

/// `log k` of all pairs under a set of models; `None` of families that the host does not know.
pub(super) fn finite_set(
    prior: &Row,
    models: &[Model],
    items: &[Sequence],
) -> Result<Option<Vec<Row>>, String> {
    let Some(set) = set_of(prior, models)? else { return Ok(None) };
    let Some(items) = items.iter().map(host_samples).collect::<Option<Vec<Samples>>>() else {
        return Ok(None);
    };
    let channels = match &set {
        MarginalModel::Marginalisation(set) => set.channels.clone(),
        _ => None,
    };
    // A sequence of which nothing was observed is one of channels, too.
    let items = items.into_iter().map(|item| match (&channels, item) {
        (Some(channels), Samples::Symbols(missing)) if missing.iter().all(Option::is_none) => {
            let mut rows = Rows::new(channels.len());
            missing.iter().for_each(|_| rows.push(None));
            Samples::Channels(rows)
        }
        (_, item) => item,
    });
    let items: Vec<Samples> = items.collect();
    let views: Vec<SamplesView<'_>> = items.iter().map(Samples::view).collect();
    log_gram(&set, &views).map(Some)
}
