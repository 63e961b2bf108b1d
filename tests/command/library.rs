//! `fishweir export --c` and `--micropython`, `fishweir detect --c`: what is refused before anything is built.

use crate::fixtures::{Folder, fixtures};
use crate::{answers, refuses};

#[test]
fn what_names_cannot_begin_with_is_refused() {
    let folder = Folder::new();
    let model = fixtures().at("two.json");
    let (c, rust) = (folder.at("two"), folder.at("two.rs"));
    answers(format!("export {model} --rust {rust} --prefix gait"), "idle-option --prefix");
    for prefix in ["Gait", "2gait", "ga-it", "_gait"] {
        refuses(
            &format!("export {model} --c {c} --prefix {prefix}"),
            format!("bad-prefix {prefix}"),
        );
    }
    refuses(&format!("export {model} --c {c} --prefix gait_model"), "bad-prefix gait_model");
    refuses(&format!("export {model} --c {c} --prefix string"), "bad-prefix string");
    refuses(&format!("export {model} --c {c} --prefix m"), "bad-prefix m");
    refuses(&format!("export {model} --c {c} --prefix board"), "bad-prefix board");
    let detect =
        format!("detect {} --mean-time 4 --memory 2 --states 2", fixtures().at("strings.tsv"));
    answers(format!("{detect} --prefix door"), "idle-option --prefix --c");
    refuses(&format!("{detect} --c {} --prefix m", folder.at("m")), "bad-prefix m");
    assert!(!folder.path().join("two").exists());
}

#[test]
fn a_core_without_a_library_is_refused() {
    let folder = Folder::new();
    let model = fixtures().at("two.json");
    let rust = folder.at("two.rs");
    answers(format!("export {model} --rust {rust} --core cortex-m4"), "idle-option --core --c");
    refuses(
        &format!("export {model} --c {} --core z80", folder.at("two")),
        "invalid-value cortex-m33 --core",
    );
    std::fs::create_dir(folder.at("mine")).expect("makes a folder");
    folder.put("mine/README.md", "mine");
    refuses(&format!("export {model} --c {}", folder.at("mine")), "file-failed mine");
    assert_eq!(folder.text("mine/README.md"), "mine");
    std::fs::create_dir(folder.at("mine/src")).expect("makes a folder");
    folder.put("mine/src/fishweir.h", "mine");
    refuses(&format!("export {model} --c {}", folder.at("mine")), "file-failed mine");
    assert_eq!(folder.text("mine/src/fishweir.h"), "mine");
}

#[test]
fn a_module_of_micropython_that_cannot_be_is_refused() {
    let folder = Folder::new();
    let model = fixtures().at("two.json");
    let rust = folder.at("two.rs");
    answers(format!("export {model} --rust {rust} --arch x64"), "idle-option --arch --micropython");
    let to = |folder: &str| format!("export {model} --micropython {folder}");
    refuses(&format!("{} --arch z80", to(&folder.at("two"))), "invalid-value rv32imc --arch");
    refuses(&format!("{} --prefix time", to(&folder.at("two"))), "bad-prefix time");
    std::fs::create_dir(folder.at("mine")).expect("makes a folder");
    folder.put("mine/README.md", "mine");
    refuses(&to(&folder.at("mine")), "file-failed mine");
    assert_eq!(folder.text("mine/README.md"), "mine");
}
