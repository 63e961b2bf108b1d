    /// Waits until the next sample is due, by the clock of the machine that emulates.
    pub async fn wait(&mut self) {
        let now = || semihosting::sys::arm_compat::sys_elapsed().unwrap_or(u64::MAX);
        let due = self.due;
        poll_fn(|context| match now() < due {
            true => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            false => Poll::Ready(()),
        })
        .await;
        // Who is late does not hurry afterwards.
        self.due = due.saturating_add(PERIOD).max(now());
    }