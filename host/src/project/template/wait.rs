    /// Waits until the next sample is due, and feeds the watchdog meanwhile.
    pub fn wait(&mut self) {
        // Who is late does not hurry afterwards.
        self.due = (self.due + PERIOD).max(Instant::now());
        self.feed();
        while Instant::now() < self.due {
            self.feed();
        }
    }