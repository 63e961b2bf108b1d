//! Emulated boards: every bit is the host's, costs are as promised, faults are survived. These tests fail
//! where QEMU or a target is missing.

mod applications;
mod bits;
mod c_interface;
mod costs;
mod faults;
mod fixed;
mod fronts;
mod machines;
mod measure;
mod streams;
