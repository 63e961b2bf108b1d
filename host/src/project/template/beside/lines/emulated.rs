
/// Register, mask and value by which a byte has come; register of the byte.
const RECEIVED: (usize, {{register}}, {{register}}) = {{received}};
const INPUT: usize = {{input}};

/// The port has buffers of its own.
pub type Buffers = ();

impl embedded_io_async::Read for Line {
    /// Waits for a byte, and asks for it again and again.
    async fn read(&mut self, bytes: &mut [u8]) -> Result<usize, Infallible> {
        let Some(first) = bytes.first_mut() else { return Ok(0) };
        let (register, mask, value) = RECEIVED;
        core::future::poll_fn(|context| match read(register) & mask == value {
            true => core::task::Poll::Ready(()),
            false => {
                context.waker().wake_by_ref();
                core::task::Poll::Pending
            }
        })
        .await;
        {{taken}}*first = {{input_byte}};
        Ok(1)
    }
}

impl embedded_io_async::Write for Line {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        Write::write(self, bytes)
    }

    async fn flush(&mut self) -> Result<(), Infallible> {
        Write::flush(self)
    }
}
