//! Raspberry Pi Pico. Its log goes to the probe by RTT; the LED is lit while the second class leads.

use defmt_rtt as _;
use embedded_hal::delay::DelayNs;
use embedded_hal::digital::{OutputPin, PinState};
use fishweir_core::classify::Decision;
use panic_probe as _;
pub use rp2040_hal::entry;
use rp2040_hal::gpio::bank0::Gpio25;
use rp2040_hal::gpio::{FunctionSioOutput, Pin, Pins, PullDown};
use rp2040_hal::pac::{CorePeripherals, Peripherals};
use rp2040_hal::{Sio, Timer, Watchdog, clocks};

/// The second-stage boot loader, which sets the external flash up.
#[unsafe(link_section = ".boot2")]
#[unsafe(no_mangle)]
#[used]
static BOOT2: [u8; 256] = rp2040_boot2::BOOT_LOADER_W25Q080;

const CRYSTAL_HERTZ: u32 = 12_000_000;

/// The board.
pub struct Board {
    /// GPIO 25, lit when high.
    led: Pin<Gpio25, FunctionSioOutput, PullDown>,
    delay: Timer,
}

impl Board {
    /// Takes the board's peripherals; the core runs at 125 MHz.
    pub fn new() -> Self {
        let (Some(mut parts), Some(mut core)) = (Peripherals::take(), CorePeripherals::take())
        else {
            defmt::panic!("the peripherals are taken")
        };
        let mut watchdog = Watchdog::new(parts.WATCHDOG);
        let Ok(clocks) = clocks::init_clocks_and_plls(
            CRYSTAL_HERTZ,
            parts.XOSC,
            parts.CLOCKS,
            parts.PLL_SYS,
            parts.PLL_USB,
            &mut parts.RESETS,
            &mut watchdog,
        ) else {
            defmt::panic!("the clocks do not start")
        };
        super::start_counter(&mut core.SYST);
        let bank = Sio::new(parts.SIO).gpio_bank0;
        let pins = Pins::new(parts.IO_BANK0, parts.PADS_BANK0, bank, &mut parts.RESETS);
        Self {
            led: pins.gpio25.into_push_pull_output(),
            delay: Timer::new(parts.TIMER, &mut parts.RESETS, &clocks),
        }
    }

    /// Waits until the next sample is due.
    pub fn wait(&mut self) {
        self.delay.delay_us(super::SAMPLE_PERIOD_US);
    }

    /// Does some work and says how many clocks of the core it took.
    pub fn counted<T>(&mut self, work: impl FnOnce() -> T) -> (T, u32) {
        super::counted(work)
    }

    /// Says what was decided, with the bits of the margin: the host computes the same bits.
    pub fn report(&mut self, samples: usize, class: &str, decision: &Decision, clocks: u32) {
        defmt::info!(
            "{=usize} samples: {=str} leads by {=f32} ({=u32:#010x}), {=u32} clocks a sample",
            samples,
            class,
            decision.margin,
            decision.margin.to_bits(),
            clocks
        );
        // Setting a pin does not fail.
        let _ = self.led.set_state(PinState::from(decision.class == 1));
    }

    /// The recording has ended.
    pub fn finish(self) -> ! {
        defmt::info!("done");
        loop {
            cortex_m::asm::wfi();
        }
    }
}
