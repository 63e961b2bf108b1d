let timers = TimerGroup::new(parts.TIMG0);
        esp_rtos::start(timers.timer0, parts.FROM_CPU_INTR0);