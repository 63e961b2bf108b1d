    /// Waits until the next sample is due: never, as the recordings are already there.
    pub fn wait(&mut self) {}