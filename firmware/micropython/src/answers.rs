//! Answers of the model as objects: what kind they are of, the model's type says.

use fishweir_core::classify::RejectionReason;
use fishweir_core::filter::Streaming;
use fishweir_model::{CLASSES, Model, ModelWindows};

use crate::Status;
use crate::answer::{Answering, FISHWEIR_NO_ALARM, Found};
use crate::runtime::{Object, Runtime, This};
use crate::shape::{Sizes, State};

/// `true` of a classifier.
pub(crate) const DECIDES: bool = <Model as Sizes<_>>::MODELS.is_some();
/// `true` of a detector of change.
pub(crate) const DETECTS: bool = <Model as Sizes<_>>::STATISTICS.is_some();
/// `true` of a spotter of events.
pub(crate) const SPOTS: bool = <Model as Sizes<_>>::EVENTS.is_some();

type WindowState = <Model as Streaming>::State;

/// The answer to the last sample: `None`, or the decision that is due, the alarm, or the events.
pub(crate) fn read(this: &This<'_, State>, windows: &ModelWindows) -> Result<Object, Status> {
    let none = this.runtime().none();
    if DECIDES {
        let decided = windows.decided(this.content());
        return decided.map_or(Ok(none), |state| decision(this.runtime(), windows, state));
    }
    if DETECTS {
        let alarm = of_window(windows, this.content(), |model, state| model.detect(state))?;
        return Ok(match alarm.statistic {
            FISHWEIR_NO_ALARM => none,
            statistic => alarmed(this.runtime(), statistic, alarm.value),
        });
    }
    events(this, windows, |model, state, events| model.decided(state, events))
}

fn alarmed(runtime: Runtime, statistic: i32, value: f32) -> Object {
    runtime.tuple(&[runtime.integer(statistic as isize), runtime.float(value)])
}

/// The decision on the oldest open window so far, or `None`.
pub(crate) fn so_far(this: &This<'_, State>, windows: &ModelWindows) -> Result<Object, Status> {
    let none = this.runtime().none();
    let open = windows.so_far(this.content());
    open.map_or(Ok(none), |state| decision(this.runtime(), windows, state))
}

fn decision(
    runtime: Runtime,
    windows: &ModelWindows,
    state: &WindowState,
) -> Result<Object, Status> {
    let model = *windows.classifier();
    let choice = Answering::decide(model, state)?;
    let none = runtime.none();
    let (probability, doubt) = match fishweir_model::prediction(model, state) {
        None => (none, none),
        Some(read) => {
            let doubt = match read.rejection {
                None => none,
                Some(RejectionReason::LowMargin) => runtime.text("low-margin"),
                Some(RejectionReason::LowLikelihood) => runtime.text("low-likelihood"),
                Some(_) => runtime.text("high-likelihood"),
            };
            (runtime.float(read.probability), doubt)
        }
    };
    let class = class(runtime, choice.class_index);
    Ok(runtime.tuple(&[class, runtime.float(choice.margin), probability, doubt]))
}

fn class(runtime: Runtime, index: u32) -> Object {
    CLASSES.get(index as usize).map_or(runtime.none(), |name| runtime.text(name))
}

/// The log-likelihoods of a window, or the decision values of a kernel machine; or the statistics of a detector.
pub(crate) fn values(this: &This<'_, State>, windows: &ModelWindows) -> Result<Object, Status> {
    let (models, statistics) =
        (<Model as Sizes<_>>::MODELS.unwrap_or(0), <Model as Sizes<_>>::STATISTICS.unwrap_or(0));
    let count = if DECIDES { models } else { statistics };
    this.with_room(count, |values: &mut [f32]| {
        of_window(windows, this.content(), |model, state| match DECIDES {
            true => model.evidence(state, values),
            false => model.statistics(state, values),
        })?;
        let runtime = this.runtime();
        let value = |n: usize| values.get(n).map_or(runtime.none(), |&x| runtime.float(x));
        Ok(this.tuple_of(values.len(), value))
    })
}

/// The events that a spotter has not decided at the end of a stream.
pub(crate) fn rest(this: &This<'_, State>, windows: &ModelWindows) -> Result<Object, Status> {
    events(this, windows, |model, state, events| model.rest(state, events))
}

/// Events as a tuple; `None` where there are none.
fn events(
    this: &This<'_, State>,
    windows: &ModelWindows,
    ask: impl FnOnce(&Model, &WindowState, &mut [Found]) -> Result<usize, Status>,
) -> Result<Object, Status> {
    let count = <Model as Sizes<_>>::EVENTS.unwrap_or(0);
    this.with_room(count, |events: &mut [Found]| {
        let found = of_window(windows, this.content(), |model, state| ask(model, state, events))?;
        let runtime = this.runtime();
        if found == 0 {
            return Ok(runtime.none());
        }
        let event = |n: usize| {
            events.get(n).map_or(runtime.none(), |event| {
                runtime.tuple(&[
                    class(runtime, event.class_index),
                    runtime.count(event.start as usize),
                    runtime.count(event.end as usize),
                    runtime.float(event.log_odds),
                ])
            })
        };
        Ok(this.tuple_of(found, event))
    })
}

/// Reads the window that the last sample has filled, else the oldest open one, else a new one.
fn of_window<T>(
    windows: &ModelWindows,
    state: &State,
    read: impl FnOnce(&Model, &WindowState) -> Result<T, Status>,
) -> Result<T, Status> {
    let model = *windows.classifier();
    match windows.open(state) {
        Some(state) => read(model, state),
        None => read(model, &model.initial_state()),
    }
}
