//! Arm MPS2+ with the AN505 FPGA image: Cortex-M33 at 20 MHz (Arm DAI 0505). QEMU's `mps2-an505`.
//!
//! All runs in the secure state, which the core starts in: the UART's address is its secure alias.
#![allow(unsafe_code, reason = "the address of the UART's registers")]

mps2!(20_000_000, 0x5020_0000);
