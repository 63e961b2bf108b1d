
/// Handler of every exception, which start-up code calls by its name.
#[unsafe(no_mangle)]
extern "C" fn ExceptionHandler(_frame: &riscv_rt::TrapFrame) -> ! {
    end(EXCEPTION, riscv::register::mepc::read() as u32, "")
}
