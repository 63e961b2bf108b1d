//! C source of a spotter of events.

use std::fmt::Write as _;

use fishweir_core::spot::BACKGROUND;

use super::literals::{define, string_list, table};
use super::models::{Models, number};
use super::recursion::Recursion;
use super::{CNames, CSource, CSourceError, END};
use crate::deploy::model::States;
use crate::deploy::spotter::{BACKGROUND_STATES, PENDING, Spotter};

impl Spotter {
    /// Portable C source of the spotter, with its header, in the interface of the C library.
    ///
    /// # Errors
    /// [`CSourceError`] naming the part that is not written in C.
    pub fn to_c_source(&self, names: CNames<'_>) -> Result<CSource, CSourceError> {
        names.check()?;
        let models = Models {
            observations: self.observations(),
            models: std::slice::from_ref(self.network()),
            states: States::Hidden,
            directions: 0,
            seen: self.observations().size(),
            in_part: self.lacks_some(),
            background: Some(BACKGROUND_STATES),
        };
        models.check()?;
        let classes = self.classes();
        let mut sizes = define("Classes of events.", &[("CLASSES", classes.len().to_string())]);
        sizes += &define(
            "Names by index: static const char *const names[] = FISHWEIR_CLASS_NAMES;",
            &[("CLASS_NAMES", string_list(classes))],
        );
        sizes +=
            &define("Room for the events of one call.", &[("EVENTS", (PENDING + 1).to_string())]);
        sizes += &define(
            "Private: events that a path carries undecided.",
            &[("PENDING", PENDING.to_string())],
        );
        let push = models.push();
        let header = [
            include_str!("text/begin.h")
                .replace("@SIZES@\n", &(models.sizes().macros() + &sizes))
                .into(),
            models.belief(),
            include_str!("text/spotter.h").into(),
            include_str!("text/calls.h").into(),
            push[0].clone(),
            include_str!("text/push_missing.h").into(),
            include_str!("text/spot.h").into(),
            END,
        ];
        let mut source = models.recursion();
        source.extend([
            self.tables().into(),
            include_str!("text/ratio.c").into(),
            include_str!("text/spotter.c").into(),
            include_str!("text/interface.c").into(),
            push[1].clone(),
            include_str!("text/spot.c").into(),
        ]);
        let notes = classes.iter().enumerate();
        let notes: Vec<String> =
            notes.map(|(index, class)| format!("Class {index}: {class}.")).collect();
        let comment = models.sizes().comment("A spotter of events", &notes);
        Ok(names.join(&comment, &header, &source))
    }

    /// The chain of the background alone, the class of each state, the lag.
    fn tables(&self) -> String {
        let mut text = String::from("\n");
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "/* Class of a state of the background; samples after its end within which an event is decided. */\n\
             #define BACKGROUND_CLASS {BACKGROUND}\n#define LAG {}u\n",
            self.lag(),
        );
        let classes: Vec<String> = self.class().iter().map(u8::to_string).collect();
        text += &table("uint8_t", "CLASS_OF", &[classes.len()], &classes);
        let background = self.background();
        let initial: Vec<String> = background.initial.iter().map(number).collect();
        text += &table("number", "BACKGROUND_INITIAL", &[BACKGROUND_STATES], &initial);
        let transition: Vec<String> = background.transition.iter().flatten().map(number).collect();
        let sizes = [BACKGROUND_STATES, BACKGROUND_STATES];
        text + &table("number", "BACKGROUND_TRANSITION", &sizes, &transition)
    }
}
