//! The type `Stream`: the state of a stream, and methods that Python calls.

use core::ffi::CStr;

use fishweir_core::filter::Streaming;
use fishweir_model::{Model, ModelWindows};

use crate::runtime::{Code, Context, Object, Runtime, This, Type};
use crate::shape::State;
use crate::{Status, answers, samples};

/// Makes the type.
pub(crate) fn make_type(runtime: Runtime, context: Context) -> Object {
    let values = if answers::DECIDES { "log_likelihoods" } else { "statistics" };
    runtime.new_type(
        context,
        new,
        &[
            (true, "push", Code::With(push)),
            (true, "read", Code::Own(read)),
            (true, "reset", Code::Own(reset)),
            (answers::DECIDES, "so_far", Code::Own(so_far)),
            (!answers::SPOTS, values, Code::Own(list_values)),
            (answers::SPOTS, "finish", Code::Own(finish)),
        ],
    )
}

extern "C" fn new(kind: *const Type, arguments: usize, named: usize, _: *const Object) -> Object {
    // SAFETY: MicroPython calls it of this type.
    unsafe { This::make(kind, arguments, named, || windows().initial_state()) }
}

extern "C" fn push(this: Object, sample: Object) -> Object {
    of(this, |this, windows| {
        // What raises an error of MicroPython's does it here.
        let observation = samples::observation(this.runtime(), sample);
        let refused = match observation {
            Ok(observation) => {
                let pushed = windows.push(this.content_mut(), observation.as_ref());
                pushed.map_err(Status::refusing)
            }
            Err(refused) => {
                windows.step_missing(this.content_mut());
                Err(refused)
            }
        };
        refused.and_then(|()| answers::read(this, windows))
    })
}

extern "C" fn read(this: Object) -> Object {
    of(this, |this, windows| answers::read(this, windows))
}

extern "C" fn so_far(this: Object) -> Object {
    of(this, |this, windows| answers::so_far(this, windows))
}

extern "C" fn list_values(this: Object) -> Object {
    of(this, |this, windows| answers::values(this, windows))
}

extern "C" fn reset(this: Object) -> Object {
    of(this, |this, windows| {
        windows.restart(this.content_mut());
        Ok(this.runtime().none())
    })
}

extern "C" fn finish(this: Object) -> Object {
    of(this, |this, windows| {
        let rest = answers::rest(this, windows);
        windows.restart(this.content_mut());
        rest
    })
}

/// Does what a method does with its instance; raises a value error where that is refused.
fn of(
    this: Object,
    work: impl FnOnce(&mut This<'_, State>, &ModelWindows) -> Result<Object, Status>,
) -> Object {
    // SAFETY: MicroPython calls methods with instances of their type, one after another.
    let mut this = unsafe { This::of(this) };
    match work(&mut this, &windows()) {
        Ok(answer) => answer,
        Err(status) => this.refuse(message(status)),
    }
}

/// The model: a source's was checked when it was exported.
const MODEL: &Model = match fishweir_model::loaded() {
    Some(model) => model,
    None => panic!("the model that was compiled in"),
};

/// The model on the windows of its contract.
fn windows() -> ModelWindows {
    fishweir_model::windows(MODEL)
}

const fn message(status: Status) -> &'static CStr {
    match status {
        Status::Impossible => c"the model rules this sample out: it is missing",
        Status::PastEnd => c"one sample more than the model has positions: it is missing",
        Status::Undecided => c"scores out of range: nothing is decided",
        _ => c"a channel or symbol out of range: the sample is missing",
    }
}
