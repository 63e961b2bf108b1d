//! A classifier of one profile: is a sequence of its family?

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::{Dirichlets, MatchFeatures, Mode, Profile, ProfileError, ProfilePrior, SearchProfile};
use fishweir::classifier::Provenance;
use fishweir::deploy::{DeployError, Deployed, ProfileParts};
use fishweir::internals::{choose_c, inner_folds, unseal};
use fishweir::learn::{ClassWeight, LinearSvm, Matrix, Selection};

/// A linear machine on the Fisher score of a profile and its log-odds.
///
/// ```text
/// value = bias + weight log-odds + sum_k,x n_k(x) rates_k(x)
/// ```
///
/// with `n_k(x)` the expected number of symbols `x` that match state `k` emits. The sum is the derivative of the
/// log-odds along a direction, so that a [device](ProfileClassifier::deploy) needs no score. The length
/// model is that of one length, for a stream does not know its own. A positive value is the second class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileClassifier {
    /// The profile, as HMMER3/f text.
    pub profile: String,
    /// All else, and the family.
    pub classes: [String; 2],
    /// `true` if parts of the profile are searched for.
    pub local: bool,
    /// `true` if a sequence may have several domains.
    pub several: bool,
    /// The length whose flanks sequences are searched with.
    pub length: usize,
    /// Weight of the log-odds, in nats.
    pub weight: f64,
    /// Weights of expected counts, `[symbol][position]`; `None` if the log-odds alone decide.
    pub rates: Option<Vec<Vec<f64>>>,
    /// Bias.
    pub bias: f64,
    /// Provenance of the training.
    pub provenance: Provenance,
}

/// Options for the training of a [`ProfileClassifier`].
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileLearner {
    /// Mode of the search.
    pub mode: Mode,
    /// `true` if residues are grouped by the components of the alphabet's Dirichlet mixture.
    pub grouped: bool,
    /// Values of the machine's C, rising; of several, inner folds choose.
    pub c: Vec<f64>,
}

impl Default for ProfileLearner {
    fn default() -> Self {
        Self { mode: Mode::SEARCH, grouped: true, c: vec![1.0] }
    }
}

impl ProfileLearner {
    /// A machine on the score of match emissions and the log-odds, each over the root of its mean square in
    /// training (the diagonal of the empirical information); the two sides weigh the same. Rates of the score are
    /// folded into one number per symbol and position. C is chosen as the library chooses, in three stratified folds.
    ///
    /// # Errors
    /// A symbol outside the alphabet, an empty sequence, a side without any, or no C.
    pub fn fit(
        &self,
        profile: &Profile,
        classes: [String; 2],
        negatives: &[Vec<usize>],
        positives: &[Vec<usize>],
    ) -> Result<ProfileClassifier, ProfileError> {
        if negatives.is_empty() || positives.is_empty() {
            return Err(ProfileError::Model {
                name: profile.name.clone(),
                what: "cannot be trained on sequences of one class alone".into(),
            });
        }
        if self.c.is_empty() {
            let (name, what) = (profile.name.clone(), "needs a C to learn with".to_owned());
            return Err(ProfileError::Model { name, what });
        }
        let search = SearchProfile::new(profile, self.mode)?;
        let mixture: Option<Dirichlets> =
            self.grouped.then(|| ProfilePrior::of(profile.residues).matched);
        let map = MatchFeatures::new(profile, mixture.as_ref());
        let sequences: Vec<&[usize]> =
            negatives.iter().chain(positives).map(Vec::as_slice).collect();
        let symbols: usize = sequences.iter().map(|sequence| sequence.len()).sum();
        let length = symbols / sequences.len();
        let found = search.match_counts(&sequences, Some(length), |_, log_odds, counts| {
            let features = map.of(counts);
            features.into_iter().map(f64::from).chain([log_odds]).collect::<Vec<f64>>()
        })?;
        // The score weighs as much as one feature, as the log-odds do.
        let share = (map.len() as f64).sqrt();
        let mut scale = MatchFeatures::whitening(&found);
        scale[..map.len()].iter_mut().for_each(|scale| *scale /= share);
        let mut rows = Matrix::new(map.len() + 1);
        for row in &found {
            rows.push(&row.iter().zip(&scale).map(|(x, scale)| x * scale).collect::<Vec<f64>>());
        }
        let labels: Vec<usize> =
            (0..sequences.len()).map(|index| usize::from(index >= negatives.len())).collect();
        let items: Vec<usize> = (0..labels.len()).collect();
        let folds = inner_folds(&labels, &classes, None, INNER_FOLDS);
        let weight = ClassWeight::Balanced;
        let choice = choose_c(
            &self.c,
            (&labels, &items),
            folds.as_ref(),
            weight,
            |train, held_back| -> Result<_, ProfileError> {
                let machines = machines(&rows, &labels, train, &self.c);
                let value = |machine: &LinearSvm, item: usize| {
                    let row = rows.row(item).iter().zip(&machine.weights);
                    vec![f64::from(row.map(|(x, w)| x * w).sum::<f32>() + machine.bias)]
                };
                let values = |machine: &LinearSvm| {
                    held_back.iter().map(|&item| value(machine, item)).collect()
                };
                Ok(machines.iter().map(values).collect())
            },
        )?;
        let machine = machines(&rows, &labels, &items, &[choice.setting.c]).remove(0);
        let mut weights: Vec<f64> =
            machine.weights.iter().zip(&scale).map(|(w, scale)| f64::from(*w) * scale).collect();
        let weight = weights.pop().unwrap_or_default();
        Ok(ProfileClassifier {
            profile: profile.to_hmmer(),
            classes,
            local: self.mode.local,
            several: self.mode.several,
            length,
            weight,
            rates: Some(map.rates(&weights)),
            bias: machine.bias.into(),
            provenance: Provenance {
                selection: Some(Selection {
                    form: None,
                    machine: Some(choice),
                    learner: Some("svm".to_owned()),
                    mirror: Vec::new(),
                    copies: None,
                }),
                ..Provenance::default()
            },
        })
    }
}

/// Folds in which C is chosen.
const INNER_FOLDS: usize = 3;

/// A machine on some of the rows for each C, each from the multipliers of the one before.
fn machines(rows: &Matrix, labels: &[usize], some: &[usize], c: &[f64]) -> Vec<LinearSvm> {
    let of_some = rows.some(some);
    let positive: Vec<bool> = some.iter().map(|&item| labels[item] == 1).collect();
    let mut dual = vec![0.0; some.len()];
    let machine = |&c: &f64| {
        let costs = ClassWeight::Balanced.costs(c, &positive);
        LinearSvm::train(&of_some, &positive, costs, &mut dual)
    };
    c.iter().map(machine).collect()
}

fishweir::has_a_file!(ProfileClassifier);

impl ProfileClassifier {
    /// The profile alone: its log-odds decide, in nats, by the null model of sequences as long as the profile.
    pub fn alone(profile: &Profile) -> Self {
        Self {
            profile: profile.to_hmmer(),
            classes: ["other".to_owned(), profile.name.clone()],
            local: Mode::SEARCH.local,
            several: Mode::SEARCH.several,
            length: profile.len(),
            weight: 1.0,
            rates: None,
            bias: -SearchProfile::null_log(profile.len()),
            provenance: Provenance::default(),
        }
    }

    /// Parses the profile for a search.
    ///
    /// # Errors
    /// Names what is wrong with the profile's text.
    pub fn search(&self) -> Result<SearchProfile, ProfileError> {
        let profile = Profile::parse("the classifier's profile", &self.profile)?;
        SearchProfile::new(&profile, Mode { local: self.local, several: self.several })
    }

    /// The values of sequences, in their order: positive of the family.
    ///
    /// # Errors
    /// As [`search`](Self::search), and of a symbol outside the alphabet, or an empty sequence.
    pub fn values<S: AsRef<[usize]> + Sync>(
        &self,
        sequences: &[S],
    ) -> Result<Vec<f64>, ProfileError> {
        let search = self.search()?;
        let rates = self.rates.iter().flatten().flatten();
        let rates: Vec<f64> = rates.copied().collect();
        search.match_counts(sequences, Some(self.length), |_, log_odds, counts| {
            let counts = counts.iter().map(|&count| f64::from(count));
            let along: f64 = counts.zip(&rates).map(|(count, rate)| count * rate).sum();
            self.bias + self.weight * log_odds + along
        })
    }

    /// Returns whether bytes are the file of a classifier, by the names of its fields. The values may still be invalid.
    pub fn is_one(bytes: &[u8]) -> bool {
        let content = unseal("", bytes).and_then(|content| content.parse());
        content.is_ok_and(|found: BTreeMap<String, IgnoredAny>| found.contains_key("profile"))
    }

    /// Returns the classifier in the numbers of a device, in `f32`: the log-odds, along a direction if it has rates.
    ///
    /// # Errors
    /// [`DeployError::Models`] of an invalid profile, and [`DeployError::Rounded`] where a number rounded to `f32` is
    /// refused by the device.
    pub fn deploy(&self) -> Result<Deployed, DeployError> {
        let search = self.search().map_err(|error| DeployError::Models(error.to_string()))?;
        let residues = search.residues();
        let odds = (0..residues.symbols()).map(|symbol| search.odds(symbol).to_vec()).collect();
        let codes = residues.codes.iter().map(|(code, _)| *code);
        Deployed::from_profile(&ProfileParts {
            symbols: residues.symbols.chars().chain(codes).collect(),
            classes: self.classes.clone(),
            odds,
            rates: self.rates.clone(),
            steps: search.steps().to_vec(),
            flanks: search.flanks(self.length),
            weight: self.weight,
            bias: self.bias,
            contract: self.provenance.contract().clone(),
        })
    }

    fn check(&self) -> Result<(), String> {
        let search = self.search().map_err(|error| error.to_string())?;
        if self.length == 0 {
            return Err("length is zero; it is that of the sequences searched".into());
        }
        if let Some(rates) = &self.rates {
            let wanted = (search.residues().symbols(), search.positions());
            if rates.len() != wanted.0 || rates.iter().any(|row| row.len() != wanted.1) {
                return Err(format!("the rates must be {} rows of {}", wanted.0, wanted.1));
            }
        }
        let rates = self.rates.iter().flatten().flatten();
        if rates.chain([&self.weight, &self.bias]).any(|number| !number.is_finite()) {
            return Err("a number that is not finite".into());
        }
        Ok(())
    }
}
