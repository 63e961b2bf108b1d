
impl embedded_io_async::ErrorType for Line<'_> {
    type Error = embedded_io_async::ErrorKind;
}

impl embedded_io_async::Read for Line<'_> {
    /// Waits for bytes, and tells the watchdog at least once a second that all is well.
    async fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Self::Error> {
        const PIECE: Duration = Duration::from_secs(1);
        loop {
            self.board.feed();
            let read = embedded_io_async::Read::read(&mut self.port, bytes);
            if let Ok(read) = with_timeout(PIECE, read).await {
                return read.map_err(|_| embedded_io_async::ErrorKind::Other);
            }
        }
    }
}

impl embedded_io_async::Write for Line<'_> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
        // It answers: a later fault is not in a row with earlier ones.
        crate::fault::survived();
        let written = embedded_io_async::Write::write(&mut self.port, bytes).await;
        written.map_err(|_| embedded_io_async::ErrorKind::Other)
    }

    async fn flush(&mut self) -> Result<(), Self::Error> {
        let flushed = embedded_io_async::Write::flush(&mut self.port).await;
        flushed.map_err(|_| embedded_io_async::ErrorKind::Other)
    }
}
