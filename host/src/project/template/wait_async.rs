    /// Waits until the next sample is due, while other tasks run, and tells the watchdog that all is well.
    pub async fn wait(&mut self) {
        self.ticker.next().await;
        self.feed();
    }