
impl Read for Line {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        let Some(first) = bytes.first_mut() else { return Ok(0) };
        let (register, mask, value) = RECEIVED;
        while read(register) & mask != value {}
        {{taken}}*first = read(INPUT) as u8;
        Ok(1)
    }
}
