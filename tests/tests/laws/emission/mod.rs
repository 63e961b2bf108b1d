//! Emission families: densities, tangents, scores, estimates, draws and refusals, each against a
//! definition of its own.

mod counts;
mod densities;
mod derivatives;
mod displace;
mod draws;
mod estimates;
mod marginal;
mod models;
mod refusals;
mod zeros;
