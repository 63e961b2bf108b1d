//! Nordic nRF52840-DK. Its log goes to the probe by RTT; LED 1 is lit while the second class leads.

pub use cortex_m_rt::entry;
use defmt_rtt as _;
use embedded_hal::delay::DelayNs;
use embedded_hal::digital::{OutputPin, PinState};
use fishweir_core::classify::Decision;
use nrf52840_hal::gpio::{Level, Output, Pin, PushPull, p0};
use nrf52840_hal::pac::{CorePeripherals, Peripherals, TIMER0};
use nrf52840_hal::{Clocks, Timer};
use panic_probe as _;

/// The board.
pub struct Board {
    /// P0.13, lit when low.
    led: Pin<Output<PushPull>>,
    delay: Timer<TIMER0>,
}

impl Board {
    /// Takes the board's peripherals; the core runs at 64 MHz.
    pub fn new() -> Self {
        let (Some(parts), Some(mut core)) = (Peripherals::take(), CorePeripherals::take()) else {
            defmt::panic!("the peripherals are taken")
        };
        // From the crystal: samples are due at its pace.
        let _ = Clocks::new(parts.CLOCK).enable_ext_hfosc();
        super::start_counter(&mut core.SYST);
        let led = p0::Parts::new(parts.P0).p0_13.into_push_pull_output(Level::High).degrade();
        Self { led, delay: Timer::new(parts.TIMER0) }
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
        let _ = self.led.set_state(PinState::from(decision.class != 1));
    }

    /// The recording has ended.
    pub fn finish(self) -> ! {
        defmt::info!("done");
        loop {
            cortex_m::asm::wfi();
        }
    }
}
