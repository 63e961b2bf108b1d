//! JSON to make edits to.

use std::borrow::Cow;

use serde_json::Value;

/// JSON that is changed and written some thousand times per second: what is no list stays text.
#[derive(Clone)]
pub(super) enum Json {
    Token(Cow<'static, str>),
    Array(Vec<Json>),
    /// Names in quotes, sorted.
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    pub(super) fn read(text: &str) -> Self {
        Self::of(serde_json::from_str(text).expect("sound"))
    }

    fn of(value: Value) -> Self {
        let text = |value: Value| -> &'static str { value.to_string().leak() };
        match value {
            Value::Array(items) => Self::Array(items.into_iter().map(Self::of).collect()),
            Value::Object(fields) => {
                let field = |(name, field)| (text(Value::String(name)), Self::of(field));
                Self::Object(fields.into_iter().map(field).collect())
            }
            token => Self::Token(text(token).into()),
        }
    }

    pub(super) fn write(&self, text: &mut String) {
        match self {
            Self::Token(token) => text.push_str(token),
            Self::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    text.push(if index == 0 { '[' } else { ',' });
                    item.write(text);
                }
                text.push_str(if items.is_empty() { "[]" } else { "]" });
            }
            Self::Object(fields) => {
                for (index, (name, field)) in fields.iter().enumerate() {
                    text.push(if index == 0 { '{' } else { ',' });
                    text.push_str(name);
                    text.push(':');
                    field.write(text);
                }
                text.push_str(if fields.is_empty() { "{}" } else { "}" });
            }
        }
    }

    /// The value of that number, itself being 0; behind the last, how far behind is left.
    fn nth(&mut self, n: &mut usize) -> Option<&mut Self> {
        if *n == 0 {
            return Some(self);
        }
        *n -= 1;
        match self {
            Self::Token(_) => None,
            Self::Array(items) => items.iter_mut().find_map(|item| item.nth(n)),
            Self::Object(fields) => fields.iter_mut().find_map(|(_, field)| field.nth(n)),
        }
    }

    /// Changes one value: two bytes choose it, one says how, one with what.
    pub(super) fn edit(&mut self, edit: &[u8]) {
        const NUMBERS: &str =
            "0.0 -0.0 1.0 -1.0 0.5 1e-320 1e-45 1e-20 1e20 3.5e38 1e300 -1.79e308";
        const TEXTS: &str = r#""" "\n" "\u202e" "a" "A" "none" "per_sample" "\"//""#;
        let [at, more, how, with] = *edit else { return };
        let at = usize::from(u16::from_le_bytes([at, more]));
        let (mut n, mut left) = (at, at);
        if self.nth(&mut left).is_none() {
            n = at % (at - left);
        }
        let Some(place) = self.nth(&mut n) else { return };
        let with = usize::from(with);
        let text = TEXTS.split(' ').nth(with % 8).unwrap_or_default();
        match (how % 10, &mut *place) {
            (0, Self::Array(items)) => items.extend(items.last().cloned()),
            (1, Self::Array(items)) => drop(items.pop()),
            (2, Self::Array(items)) => items.reverse(),
            (3, Self::Array(items)) => items.clear(),
            (0 | 1, Self::Object(fields)) if !fields.is_empty() => {
                let (_, field) = fields.remove(with % fields.len());
                if how % 10 == 0 {
                    let after = fields.partition_point(|&(name, _)| name < text);
                    fields.insert(after, (text, field));
                }
            }
            (4, _) => *place = Self::Token("null".into()),
            (5, _) => *place = Self::Token(with.to_string().into()),
            (6, _) => *place = Self::Token(text.into()),
            (7, _) => *place = Self::Array(vec![place.clone(); with % 5]),
            _ => {
                let number = NUMBERS.split(' ').nth(with % 12).unwrap_or_default();
                *place = Self::Token(number.into());
            }
        }
    }
}
