//! The search profile, with which the core's recursion scores a sequence at run-time size.

use fishweir::internals::Elementary;
use fishweir_core::filter::{Stream, Streaming};
use fishweir_core::number::{Number, Scalar};
use fishweir_core::profile_hmm::{
    Cell, Flanks, ProfileBelief, ProfileHmmView, ProfileSearch, Steps,
};

use super::model::to;
use super::{Profile, ProfileError, Residues};
use fishweir::kernel::marginal::Heap;

/// Mode of a search: which parts of sequence and profile may match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// A domain may begin and end at any position; else it is the whole profile.
    pub local: bool,
    /// A sequence may have several domains.
    pub several: bool,
}

impl Mode {
    /// Parts of the profile, several of them: how databases are searched.
    pub const SEARCH: Self = Self { local: true, several: true };
}

/// A profile made ready to score sequences: odds against the null model.
///
/// ```text
/// odds_k(x)  = p(x | M_k) / f(x);  of a code for several residues exp( sum_a f(a) log odds_k(a) / sum_a f(a) )
/// local:       enter_k = occ_k / sum_i occ_i (K - i + 1),   exit_k = 1
/// glocal:      enter_k = P(B -> D_1 .. D_k-1 -> M_k),       exit_K = 1
/// length:      another symbol L / (L + 2 + j), j = 1 where there may be several domains; null L / (L + 1)
/// ```
///
/// Insertions emit as the null model does. The conventions are those of HMMER 3 (Eddy 2011), so that scores
/// are its scores.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchProfile {
    pub(super) residues: &'static Residues,
    pub(super) mode: Mode,
    /// `[symbol][position]`; those of a stop are zero.
    odds: Vec<f64>,
    pub(super) steps: Vec<Steps<f64>>,
}

/// A column of the recursion over `f64`, as it was after a symbol.
pub(super) type Column<X> = ProfileBelief<X, Heap<Cell<X>>>;

impl SearchProfile {
    /// A profile made ready.
    ///
    /// # Errors
    /// As [`Profile::validate`].
    pub fn new(profile: &Profile, mode: Mode) -> Result<Self, ProfileError> {
        profile.validate()?;
        let (residues, positions) = (profile.residues, profile.len());
        let mut odds = Vec::with_capacity(residues.symbols() * positions);
        for symbol in 0..residues.symbols() {
            let shares = residues.shares(symbol);
            odds.extend(profile.matched.iter().map(|matched| {
                let ratio = |residue: usize| matched[residue] / residues.background[residue];
                match shares.as_slice() {
                    [(only, _)] => ratio(*only),
                    several => several
                        .iter()
                        .map(|&(residue, share)| share * ratio(residue).portable_ln())
                        .sum::<f64>()
                        .portable_exp(),
                }
            }));
        }
        odds.resize(odds.len() + positions, 0.0);
        let steps = (profile.transition.iter().skip(1).zip(entries(profile, mode)).enumerate())
            .map(|(k, (row, enter))| {
                let is_last = k + 1 == positions;
                let exit = if mode.local || is_last { 1.0 } else { 0.0 };
                let on = |way: usize| if is_last { 0.0 } else { row[way] };
                Steps {
                    enter,
                    match_match: on(to::MATCH_MATCH),
                    match_insert: on(to::MATCH_INSERT),
                    match_delete: on(to::MATCH_DELETE),
                    insert_match: on(to::INSERT_MATCH),
                    insert_insert: on(to::INSERT_INSERT),
                    delete_match: on(to::DELETE_MATCH),
                    delete_delete: on(to::DELETE_DELETE),
                    exit,
                }
            })
            .collect();
        Ok(Self { residues, mode, odds, steps })
    }

    /// The alphabet.
    pub fn residues(&self) -> &'static Residues {
        self.residues
    }

    /// Number of positions.
    pub fn positions(&self) -> usize {
        self.steps.len()
    }

    /// Sets whether several domains are counted.
    #[must_use]
    pub fn with_several(&self, several: bool) -> Self {
        Self { mode: Mode { several, ..self.mode }, ..self.clone() }
    }

    /// Transitions into and out of a position, `[position]`.
    pub fn steps(&self) -> &[Steps<f64>] {
        &self.steps
    }

    /// Odds of a symbol, `[position]`; empty outside the alphabet.
    pub fn odds(&self, symbol: usize) -> &[f64] {
        self.odds.chunks(self.positions()).nth(symbol).unwrap_or_default()
    }

    /// The flanks that a sequence of a length has.
    pub fn flanks(&self, length: usize) -> Flanks<f64> {
        let (length, flanks) = (length as f64, if self.mode.several { 3.0 } else { 2.0 });
        let begin = flanks / (length + flanks);
        let again = if self.mode.several { 0.5 } else { 0.0 };
        let stay = length / (length + flanks);
        Flanks { stay, begin, again, last: 1.0 - again, finish: begin, missing: 1.0 }
    }

    /// `log p(length)` of the null model; emissions are in the odds.
    pub fn null_log(length: usize) -> f64 {
        let rest = 1.0 / (length as f64 + 1.0);
        length as f64 * (-rest).portable_ln_1p() + rest.portable_ln()
    }

    /// View for the core's recursion, with given flanks.
    ///
    /// # Errors
    /// An invalid weight: odds of `2^24` and more, that is residues with a background of zero.
    pub(super) fn view<'m>(
        &'m self,
        flanks: &'m Flanks<f64>,
    ) -> Result<ProfileHmmView<'m, f64>, ProfileError> {
        ProfileHmmView::new(&self.odds, &self.steps, flanks).map_err(|error| ProfileError::Model {
            name: "search profile".into(),
            what: error.to_string(),
        })
    }

    /// The log-odds of a sequence's symbols against the null model's emissions, in nats, with the flanks of
    /// a length of its own: without the null model's length.
    ///
    /// # Errors
    /// A symbol outside the alphabet, or an empty sequence.
    pub fn forward(&self, symbols: &[usize], length: usize) -> Result<f64, ProfileError> {
        self.log::<f64>(symbols, length)
    }

    /// Log-odds of the best path alone.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn viterbi(&self, symbols: &[usize], length: usize) -> Result<f64, ProfileError> {
        self.log::<fishweir_core::number::Max<f64>>(symbols, length)
    }

    fn log<X>(&self, symbols: &[usize], length: usize) -> Result<f64, ProfileError>
    where
        X: Scalar<Weight = f64, Real = f64, Reading: Scalar<Real = f64, Weight = f64>>,
    {
        if symbols.is_empty() {
            return Err(ProfileError::Impossible);
        }
        let flanks = self.flanks(length);
        let search = ProfileSearch::<f64, X, Heap<Cell<X>>>::over(self.view(&flanks)?);
        let mut stream = Stream::new(search);
        stream.push_block(symbols).map_err(|_| ProfileError::Impossible)?;
        let log = stream.read().value();
        if log.is_finite() { Ok(log) } else { Err(ProfileError::Impossible) }
    }

    /// The score of a sequence in bits: `log2 p(sequence | profile) / p(sequence | null)`, summed over all
    /// paths.
    ///
    /// Time: `10 K` multiplications per symbol; RAM: `3 K` numbers.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn score(&self, symbols: &[usize]) -> Result<f64, ProfileError> {
        let log = self.forward(symbols, symbols.len())?;
        Ok((log - Self::null_log(symbols.len())) / std::f64::consts::LN_2)
    }

    /// Every column of the recursion, that before the first symbol first.
    ///
    /// RAM: `24 K` bytes per symbol.
    pub(super) fn columns<X>(
        &self,
        symbols: &[usize],
        flanks: &Flanks<f64>,
    ) -> Result<Vec<Column<X>>, ProfileError>
    where
        X: Scalar<Weight = f64, Real = f64, Reading: Scalar<Real = f64, Weight = f64>>,
    {
        if symbols.is_empty() {
            return Err(ProfileError::Impossible);
        }
        let search = ProfileSearch::<f64, X, Heap<Cell<X>>>::over(self.view(flanks)?);
        let mut state = search.initial_state();
        let mut columns = Vec::with_capacity(symbols.len() + 1);
        columns.push(state.clone());
        for symbol in symbols {
            search.step(&mut state, symbol).map_err(|_| ProfileError::Impossible)?;
            columns.push(state.clone());
        }
        Ok(columns)
    }
}

/// The logarithm of the scale of a column.
pub(super) fn scale<X>(column: &Column<X>) -> f64
where
    X: Number<Reading: Scalar<Real = f64>>,
{
    X::log(X::ONE, column.ledger()).value()
}

/// `B -> M_k`, `[position]`.
fn entries(profile: &Profile, mode: Mode) -> Vec<f64> {
    let positions = profile.len();
    if mode.local {
        let occupancy = profile.occupancy();
        let total = local_total(&occupancy);
        return occupancy.iter().map(|occupied| occupied / total).collect();
    }
    let begin = &profile.transition[0];
    let mut entries = vec![begin[to::MATCH_MATCH] + begin[to::MATCH_INSERT]];
    let mut deleted = begin[to::MATCH_DELETE];
    for row in profile.transition.iter().take(positions).skip(1) {
        entries.push(deleted * row[to::DELETE_MATCH]);
        deleted *= row[to::DELETE_DELETE];
    }
    entries
}

/// `sum_k occ_k (K - k + 1)`: over the parts of the profile that a domain may be.
pub(super) fn local_total(occupancy: &[f64]) -> f64 {
    let ends = (1..=occupancy.len()).rev();
    occupancy.iter().zip(ends).map(|(occupied, ends)| occupied * ends as f64).sum()
}
