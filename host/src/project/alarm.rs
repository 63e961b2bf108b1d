//! What raises the alarm of a program.

use super::ProjectError;

/// What raises the alarm, as sources and pages have it.
pub(super) struct Alarms {
    /// Names, for prose.
    pub(super) names: String,
    /// Indices among what the model finds, and names as texts of Rust: without brackets.
    pub(super) indices: String,
    pub(super) texts: String,
}

/// Name for all that a model finds.
const ANY: &str = "any";

/// What raises the alarm: those `wanted` among the `known` names, each of which must be there. `any` is for all of them, if the model
/// is silent until it finds one.
pub(super) fn alarms(
    known: &[String],
    wanted: &[String],
    has_any: bool,
) -> Result<Alarms, ProjectError> {
    let mut found = Vec::new();
    for name in wanted {
        match known.iter().position(|one| one == name) {
            Some(place) => found.push(place),
            None if has_any && name == ANY => found.extend(0..known.len()),
            None => {
                let mut known = known.to_vec();
                known.extend(has_any.then(|| ANY.to_owned()));
                return Err(ProjectError::Alarm { name: name.clone(), known: known.join(", ") });
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    let join = |text: &dyn Fn(usize) -> String| {
        found.iter().map(|&index| text(index)).collect::<Vec<_>>().join(", ")
    };
    Ok(Alarms {
        names: join(&|index| known[index].escape_debug().to_string()),
        indices: join(&|index| index.to_string()),
        texts: join(&|index| format!("{:?}", known[index])),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alarms_are_among_what_the_model_finds() {
        let texts = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let known = texts(&["door", "bell", "any \"x\""]);
        let of = |wanted: &[&str], any| alarms(&known, &texts(wanted), any);
        let found = of(&["bell", "door", "bell"], false).expect("known");
        assert_eq!((&*found.indices, &*found.texts), ("0, 1", "\"door\", \"bell\""));
        assert_eq!(found.names, "door, bell");
        assert_eq!(of(&["any"], true).expect("all").indices, "0, 1, 2");
        assert_eq!(of(&[], true).expect("none").indices, "");
        for (wanted, any) in [("any", false), ("knock", true)] {
            let error = of(&[wanted], any).err().expect("unknown").to_string();
            assert!(error.contains(wanted) && error.contains("door, bell"), "{error}");
        }
    }
}
