    /// Waits asleep until the next sample is due, and tells the watchdog at least once a second that all is well.
    pub fn wait(&mut self) {
        const PIECE: Duration = Duration::from_secs(1);
        // Who is late does not hurry afterwards.
        self.due = (self.due + PERIOD).max(Instant::now());
        self.feed();
        while Instant::now() < self.due {
            block_on(Timer::at(self.due.min(Instant::now() + PIECE)));
            self.feed();
        }
    }