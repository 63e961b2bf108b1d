//! Arm MPS2+ with the AN386 FPGA image: Cortex-M4F at 25 MHz (Arm DAI 0386). QEMU's `mps2-an386`.
#![allow(unsafe_code, reason = "the address of the UART's registers")]

mps2!(25_000_000, 0x4000_4000);
