
/// By its name, start-up code calls it for every exception.
#[unsafe(no_mangle)]
extern "C" fn ExceptionHandler(_frame: &riscv_rt::TrapFrame) -> ! {
    end(EXCEPTION, riscv::register::mepc::read() as u32, "")
}
