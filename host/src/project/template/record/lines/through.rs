
impl embedded_io::ErrorType for Line {
    type Error = embedded_io::ErrorKind;
}

impl embedded_io::Write for Line {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Self::Error> {
        embedded_io::Write::write(&mut self.0, bytes).map_err(|_| embedded_io::ErrorKind::Other)
    }

    fn flush(&mut self) -> Result<(), Self::Error> {
        embedded_io::Write::flush(&mut self.0).map_err(|_| embedded_io::ErrorKind::Other)
    }
}
