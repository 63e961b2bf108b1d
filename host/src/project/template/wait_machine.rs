    /// Waits until the next sample is due, by the clock of the machine that emulates.
    pub fn wait(&mut self) {
        let now = || semihosting::sys::arm_compat::sys_elapsed().unwrap_or(u64::MAX);
        // Who is late does not hurry afterwards.
        self.due = self.due.saturating_add(PERIOD).max(now());
        while now() < self.due {}
    }