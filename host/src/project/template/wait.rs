    /// Waits until the next sample is due, and tells the watchdog meanwhile that all is well.
    pub fn wait(&mut self) {
        // Who is late does not hurry afterwards.
        self.due = (self.due + PERIOD).max(Instant::now());
        self.feed();
        while Instant::now() < self.due {
            self.feed();
        }
    }