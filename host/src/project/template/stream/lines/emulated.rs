
/// Register, mask and value by which a byte has come; register of the byte.
const RECEIVED: (usize, {{register}}, {{register}}) = {{received}};
const INPUT: usize = {{input}};

/// The port has buffers of its own.
pub type Buffers = ();

impl Read for Line {
    /// Waits for a byte.
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        let Some(first) = bytes.first_mut() else { return Ok(0) };
        let (register, mask, value) = RECEIVED;
        while read(register) & mask != value {}
        {{taken}}*first = {{input_byte}};
        Ok(1)
    }
}
