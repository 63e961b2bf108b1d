use serde::{Deserialize, Deserializer};

/// A value of a golden vector, or what the code under test computed in its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    /// `null`: the implementation must report an error or have no answer.
    Undefined,
    /// A number; `"inf"` and `"-inf"` are infinities.
    Number(f64),
    /// A list of values.
    List(Vec<Tree>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Json {
    Number(f64),
    Text(String),
    List(Vec<Option<Json>>),
}

impl TryFrom<Option<Json>> for Tree {
    type Error = String;
    fn try_from(json: Option<Json>) -> Result<Self, String> {
        Ok(match json {
            None => Self::Undefined,
            Some(Json::Number(number)) => Self::Number(number),
            Some(Json::Text(text)) if text == "inf" => Self::Number(f64::INFINITY),
            Some(Json::Text(text)) if text == "-inf" => Self::Number(f64::NEG_INFINITY),
            Some(Json::Text(text)) => {
                return Err(format!("`{text}` is neither number nor \"inf\""));
            }
            Some(Json::List(list)) => {
                Self::List(list.into_iter().map(Self::try_from).collect::<Result<_, _>>()?)
            }
        })
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Option::<Json>::deserialize(deserializer)?;
        Self::try_from(json).map_err(serde::de::Error::custom)
    }
}

impl From<f64> for Tree {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for Tree {
    fn from(number: usize) -> Self {
        Self::Number(number as f64)
    }
}

impl<A: Into<Self>> From<Option<A>> for Tree {
    fn from(value: Option<A>) -> Self {
        value.map_or(Self::Undefined, Into::into)
    }
}

impl<A: Into<Self>> From<Vec<A>> for Tree {
    fn from(list: Vec<A>) -> Self {
        Self::List(list.into_iter().map(Into::into).collect())
    }
}

impl Tree {
    /// How many numbers it holds; an undefined value counts as one.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Undefined | Self::Number(_) => 1,
            Self::List(list) => list.iter().map(Self::size).sum(),
        }
    }
}
