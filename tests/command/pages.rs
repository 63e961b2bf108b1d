//! The book of `host/docs`: its commands run, its reference is the program's help, its links lead somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::fixtures::Folder;
use crate::printed;
use crate::shared::pages;

/// Pages that cargo or a reader may open, by their place in the repository.
fn all_pages() -> Vec<PathBuf> {
    let root = pages::root();
    let listed = std::process::Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "*.md"])
        .current_dir(&root)
        .output()
        .expect("git");
    let listed = String::from_utf8(listed.stdout).expect("names");
    listed.lines().map(|name| root.join(name)).filter(|path| path.exists()).collect()
}

/// Targets of the links of a text, without their anchors; those of the web and of code are left out.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    for (index, part) in text.split("```").enumerate() {
        // Every second part is a block of code.
        for link in part.split("](").skip(1).filter(|_| index % 2 == 0) {
            let target = link.split([')', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !target.contains("::") {
                links.push(target.to_owned());
            }
        }
    }
    links
}

#[test]
fn links_between_pages_lead_to_files() {
    let pages = all_pages();
    assert!(pages.len() > 40, "{} pages", pages.len());
    for page in pages {
        let text = fs::read_to_string(&page).expect("a page");
        for link in links(&text) {
            let target = page.parent().expect("a folder").join(&link);
            assert!(target.exists(), "{}: there is no {link}", page.display());
        }
    }
}

#[test]
fn the_summary_names_every_page_of_the_book() {
    let book = pages::root().join("host/docs");
    let summary = fs::read_to_string(book.join("SUMMARY.md")).expect("a summary");
    let named: BTreeSet<PathBuf> = links(&summary).iter().map(|link| book.join(link)).collect();
    for page in all_pages().into_iter().filter(|page| page.starts_with(&book)) {
        let is_listed = named.contains(&page) || page.ends_with("SUMMARY.md");
        let is_example = page.parent() == Some(&book.join("kernels"));
        assert!(is_listed || is_example, "{} is not in SUMMARY.md", page.display());
    }
}

#[test]
fn the_reference_is_the_help_of_the_program() {
    let folder = Folder::new();
    let written = folder.at("reference");
    printed(&format!("man {written} --markdown"));
    let kept = pages::root().join("host/docs/reference");
    let names = |folder: &Path| -> BTreeSet<String> {
        let all = fs::read_dir(folder).expect("a folder");
        all.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned()).collect()
    };
    assert_eq!(names(&kept), names(Path::new(&written)));
    for name in names(&kept) {
        let [kept, written] = [&kept, Path::new(&written)]
            .map(|folder| fs::read_to_string(folder.join(&name)).expect("a page"));
        assert!(
            kept == written,
            "{name}: write it again by `fishweir man host/docs/reference --markdown`"
        );
    }
}

#[test]
fn the_page_of_regressions_does_what_it_says() {
    let output = pages::run("host/docs/REGRESSION.md");
    for words in ["estimates wx, the mean of a window", "series,start,end,estimate,low,high"] {
        assert!(output.contains(words), "no `{words}` in\n{output}");
    }
}

#[test]
fn tutorials_do_what_they_say() {
    let quick = [
        ("machine", &["detector written to pump.json", "today,30", "detector of change"][..]),
        ("strings", &["s1,0,60,promoter", "200 x 200 matrix"]),
        ("log", &["0,30,worn", "artefact written to log.fishweir"]),
    ];
    // Each tutorial is run: here, or where firmware is built.
    let all = fs::read_dir(pages::root().join("host/docs/tutorials")).expect("a folder");
    for page in all {
        let path = page.expect("a page").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let is_quick = quick.iter().any(|(one, _)| *one == name);
        assert!(is_quick || pages::WITH_FIRMWARE.contains(&name.as_str()), "nothing runs {name}");
    }
    for (name, found) in quick {
        let output = pages::run(&format!("host/docs/tutorials/{name}.md"));
        for words in found {
            assert!(output.contains(words), "{name}: no `{words}` in\n{output}");
        }
    }
}
