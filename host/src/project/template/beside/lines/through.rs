
impl embedded_io_async::ErrorType for Line<'_> {
    type Error = embedded_io_async::ErrorKind;
}

impl embedded_io_async::Read for Line<'_> {
    async fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Self::Error> {
        let read = embedded_io_async::Read::read(&mut self.port, bytes).await;
        read.map_err(|_| embedded_io_async::ErrorKind::Other)
    }
}

impl embedded_io_async::Write for Line<'_> {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
        let written = embedded_io_async::Write::write(&mut self.port, bytes).await;
        written.map_err(|_| embedded_io_async::ErrorKind::Other)
    }

    async fn flush(&mut self) -> Result<(), Self::Error> {
        let flushed = embedded_io_async::Write::flush(&mut self.port).await;
        flushed.map_err(|_| embedded_io_async::ErrorKind::Other)
    }
}
