//! Several fitted models by name, and their file.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::FittedModel;
use crate::classifier::{self, Observations, Provenance};

/// Models of one kind of observations: one of all data, one per class, or one per series.
///
/// Its file is JSON with a checksum, as a classifier's is.
///
/// ```
/// use fishweir::classifier::{Observations, Provenance};
/// use fishweir::model::{MarkovModel, Model, ModelSet, NamedModel};
///
/// let coin = MarkovModel::new(2, false, vec![vec![]], vec![vec![0.5, 0.5]])?;
/// let set = ModelSet {
///     observations: Observations::Symbols("HT".into()),
///     models: vec![NamedModel { name: "fair".into(), class: None, model: coin.into() }],
///     provenance: Provenance::default(),
/// };
/// let again = ModelSet::parse("coins.json", set.to_json()?.as_bytes())?;
/// assert_eq!(again.models[0].model.any().noun(), "model of Markov strings");
/// # Ok::<(), fishweir::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSet {
    /// Observations of the models.
    pub observations: Observations,
    /// The models, in order; no two of one name.
    pub models: Vec<NamedModel>,
    /// Provenance of the fits.
    pub provenance: Provenance,
}

/// A model and its name: of a class, of a series, of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedModel {
    /// The name.
    pub name: String,
    /// The class that it is of, if it is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The model.
    pub model: FittedModel,
}

classifier::has_a_file!(ModelSet);

impl ModelSet {
    /// Returns whether bytes are the file of a set and of nothing else, by the names of its fields.
    ///
    /// The values may still be invalid.
    pub fn is_one(bytes: &[u8]) -> bool {
        let fields = ["observations", "models", "provenance"];
        let content = classifier::unseal("", bytes).and_then(|content| content.parse());
        content.is_ok_and(|found: BTreeMap<String, IgnoredAny>| {
            found.contains_key("models") && found.keys().all(|name| fields.contains(&name.as_str()))
        })
    }

    fn check(&self) -> Result<(), String> {
        if self.models.is_empty() {
            return Err("no model".into());
        }
        let (size, over_symbols) =
            (self.observations.size(), matches!(self.observations, Observations::Symbols(_)));
        self.observations.kind().map_err(|error| error.to_string())?;
        let mut names = BTreeSet::new();
        for NamedModel { name, model, .. } in &self.models {
            if !names.insert(name) {
                return Err(format!("model {name:?} occurs twice; give each model its own name"));
            }
            model.validate().map_err(|error| format!("model {name:?}: {error}"))?;
            let any = model.any();
            if any.symbols().is_some() != over_symbols || any.size() != size {
                return Err(format!("model {name:?} emits something else than is observed"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Samples, SamplesView};
    use crate::fit::SystemEm;
    use crate::model::{DensityModel, Hmm, MarkovModel, Model, PositionModel, SystemModel};
    use crate::runtime::Emissions;

    fn hmm() -> Hmm {
        Hmm {
            initial: vec![0.75, 0.25],
            transition: vec![vec![0.5, 0.5], vec![0.125, 0.875]],
            emission: Emissions::categorical(vec![vec![0.5, 0.5], vec![0.25, 0.75]]),
        }
    }

    fn of(models: Vec<FittedModel>, observations: Observations) -> ModelSet {
        let named = |(number, model)| NamedModel { name: format!("{number}"), class: None, model };
        let models = models.into_iter().enumerate().map(named).collect();
        ModelSet { observations, models, provenance: Provenance::default() }
    }

    #[test]
    fn every_kind_comes_back_as_it_was() {
        let markov = MarkovModel::new(2, true, vec![vec![]], vec![vec![0.25, 0.25, 0.5]]);
        let positions = PositionModel::new(vec![vec![0.5, 0.5], vec![0.125, 0.875]]);
        let symbols = of(
            vec![hmm().into(), markov.expect("a model").into(), positions.expect("a model").into()],
            Observations::Symbols("ab".into()),
        );
        let density =
            DensityModel::new(vec![0.5, 0.5], vec![vec![0.1], vec![3.0]], vec![vec![1.0]; 2]);
        let channels =
            of(vec![density.expect("a model").into()], Observations::Channels(vec!["x".into()]));
        for set in [symbols, channels] {
            let text = set.to_json().expect("numbers");
            assert_eq!(ModelSet::parse("set", text.as_bytes()).expect("the same"), set);
        }
    }

    #[test]
    fn a_system_around_a_mean_comes_back_and_its_mean_may_be_a_state() {
        let rows: Samples = (0..60)
            .map(|t| {
                let phase = f64::from(t) * 0.7;
                [
                    5.0 + phase.sin() + 0.1 * f64::from(t % 3),
                    -2.0 + phase.cos() - 0.1 * f64::from(t % 5),
                ]
            })
            .collect();
        let views: [SamplesView<'_>; 1] = [rows.view()];
        let (model, _) = SystemModel::fit(&SystemEm::default(), &views, &|| ()).expect("a system");
        let channels = Observations::Channels(vec!["x".into(), "y".into()]);
        let set = of(vec![model.clone().into()], channels);
        let text = set.to_json().expect("numbers");
        assert_eq!(ModelSet::parse("set", text.as_bytes()).expect("the same"), set);
        let own = Model::log_likelihoods(&model, &views)[0].expect("possible");
        let rows = rows.view().rows().expect("channels");
        let whole = model.with_mean().log_likelihood(rows).expect("a system");
        assert!((own - whole).abs() < 1e-9 * own.abs(), "{own} {whole}");
    }

    #[test]
    fn a_damaged_set_names_the_model() {
        let mut wrong = hmm();
        wrong.transition[1][0] = 0.5;
        let set = of(vec![hmm().into(), wrong.into()], Observations::Symbols("ab".into()));
        let error = ModelSet::parse("s.json", set.to_json().expect("numbers").as_bytes());
        let text = error.expect_err("a row that does not sum to one").to_string();
        assert!(text.starts_with("s.json: model \"1\": transition[1]"), "{text}");
        let mut twice = of(vec![hmm().into(), hmm().into()], Observations::Symbols("ab".into()));
        twice.models[1].name = "0".into();
        for (set, words) in [
            (of(vec![hmm().into()], Observations::Symbols("abc".into())), "something else"),
            (of(vec![hmm().into()], Observations::Symbols("aa".into())), "`a` occurs twice"),
            (twice, "model \"0\" occurs twice"),
        ] {
            let error = ModelSet::parse("s.json", set.to_json().expect("numbers").as_bytes());
            let text = error.expect_err("damaged").to_string();
            assert!(text.contains(words), "`{text}` does not say `{words}`");
        }
    }

    #[test]
    fn a_name_a_parameter_and_a_likelihood_a_sequence() {
        let symbols: Samples = [0, 1, 1, 0].into_iter().collect();
        let density = DensityModel::new(vec![1.0], vec![vec![0.5, 1.0]], vec![vec![1.0, 2.0]]);
        let rows: Samples = [[0.5, 0.0], [1.0, 2.0]].into_iter().collect();
        let many: Samples =
            (0..40).map(|t| [(f64::from(t) * 0.5).sin() + 0.1 * f64::from(t % 3)]).collect();
        let system = SystemModel::fit(&SystemEm::default(), &[many.view()], &|| ());
        for (model, samples) in [
            (FittedModel::from(system.expect("a system").0), many.clone()),
            (FittedModel::from(hmm()), symbols),
            (FittedModel::from(density.expect("a model")), rows),
        ] {
            let (any, views): (_, [SamplesView<'_>; 1]) = (model.any(), [samples.view()]);
            let names = any.parameter_names();
            assert_eq!(names.len(), any.parameters());
            let scored = any.scores(&views, fishweir_core::emission::Parametrisation::SOFTMAX);
            let found = any.log_likelihoods(&views)[0].expect("possible");
            let wanted = scored[0].as_ref().expect("possible").log_likelihood;
            assert!((found - wanted).abs() < 1e-12 * wanted.abs());
        }
        assert_eq!(
            hmm().parameter_names()[3..8],
            [
                "transition[0][1]",
                "transition[1][0]",
                "transition[1][1]",
                "logits[0][0]",
                "logits[0][1]"
            ]
        );
    }
}
