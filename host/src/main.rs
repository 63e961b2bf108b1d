//! The command `fishweir`.

mod commands;

fn main() -> std::process::ExitCode {
    commands::main()
}
