    /// Waits until the next sample is due, while other tasks run, and tells the watchdog at least once a second that
    /// all is well.
    pub async fn wait(&mut self) {
        const PIECE: Duration = Duration::from_secs(1);
        self.feed();
        while with_timeout(PIECE, self.ticker.next()).await.is_err() {
            self.feed();
        }
        self.feed();
    }