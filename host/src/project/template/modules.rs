#[allow(dead_code, reason = "other programs do other things with the board")]
mod board;
{{bus?}}mod bus;
{{driver?}}mod driver;
mod fault;
{{slots?}}mod flash;
{{line?}}mod line;
{{attended?}}#[allow(dead_code, reason = "not every program is measured")]
{{attended?}}mod meter;
{{model?}}#[allow(dead_code, reason = "an export names more than this program uses")]
{{model?}}mod model;
#[allow(dead_code, reason = "other programs report other things")]
mod report;
{{model?}}#[allow(dead_code, reason = "other programs play the recordings")]
{{model?}}mod self_test;
{{sensed?}}mod sensor;
{{sleep?}}mod sleep;
{{updates?}}{{copied?}}mod slots;
mod start;
{{model?}}#[allow(dead_code, reason = "other programs around the model ask other things")]
{{model?}}mod stream;
