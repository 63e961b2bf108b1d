//! `fishweir export --c`: what its page says is done by gcc alone, and run under QEMU. Both must be there.

use std::path::Path;
use std::process::Command;

use crate::fixtures::{Folder, fixtures};
use crate::{printed, refuses};

/// Runs a shell in a folder; what it prints.
#[track_caller]
fn shell(folder: &Path, script: &str) -> String {
    let output = Command::new("sh")
        .current_dir(folder)
        .args(["-ec", script])
        .output()
        .expect("a shell starts");
    assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_page_of_a_library_is_done_by_gcc_alone_for_each_core() {
    let folder = Folder::new();
    let model = fixtures().at("three.json");
    let said = printed(&format!("export {model} --c {}", folder.at("gait")));
    assert!(said.starts_with("C library written to "), "{said}");
    let library = folder.path().join("gait");
    let page = folder.text("gait/README.md");
    let commands = page.split("```").find_map(|part| part.strip_prefix("sh\n")).expect("commands");
    let (builds, run) = commands.split_at(commands.find("qemu-system-arm").expect("a run"));
    let decided: Vec<String> = builds
        .split("arm-none-eabi-gcc ")
        .skip(1)
        .map(|build| {
            shell(&library, &format!("arm-none-eabi-gcc -Wall -Wextra -Werror {build}\n{run}"))
        })
        .collect();
    // A Cortex-M0+ without hardware floats, and a Cortex-M4 with them: four samples, the same bits.
    assert_eq!(decided.len(), 2, "{commands}");
    assert_eq!(decided[0], decided[1]);
    assert_eq!(decided[0].lines().count(), 4, "{decided:?}");
    assert!(decided[0].lines().all(|line| line.starts_with("00000000 ") && line.len() > 40));

    // The sketch, as Arduino compiles it: in C++, with a header before it.
    folder.put(
        "gait/Arduino.h",
        "#include <stddef.h>\n#include <stdint.h>\n#define A0 0\nint analogRead(int);\nvoid delay(int);\n\
         struct Port { void begin(long); void print(const char *); void println(const char *); \
         void println(float); };\nextern Port Serial;\n",
    );
    shell(
        &library,
        "arm-none-eabi-g++ -mcpu=cortex-m4 -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I. -Isrc \
         -include Arduino.h -x c++ examples/Classify/Classify.ino",
    );
    for (file, words) in [
        ("library.properties", "precompiled=full"),
        ("zephyr/module.yml", "cmake: zephyr"),
        ("zephyr/CMakeLists.txt", "elseif(CONFIG_CPU_CORTEX_M4 AND CONFIG_FP_HARDABI)"),
    ] {
        let text = folder.text(&format!("gait/{file}"));
        assert!(text.contains(words) && !text.contains("{{"), "{file}: {text}");
    }
}

#[test]
fn a_core_without_a_library_is_refused() {
    let folder = Folder::new();
    let model = fixtures().at("two.json");
    let rust = folder.at("two.rs");
    refuses(&format!("export {model} --rust {rust} --core cortex-m4"), "--c");
    refuses(&format!("export {model} --c {} --core z80", folder.at("two")), "cortex-m33");
    std::fs::create_dir(folder.at("mine")).expect("makes a folder");
    folder.put("mine/README.md", "mine");
    refuses(&format!("export {model} --c {}", folder.at("mine")), "other files in it");
    assert_eq!(folder.text("mine/README.md"), "mine");
}
