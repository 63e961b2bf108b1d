//! The page of the command `fishweir page`: one HTML file that holds the program as WebAssembly; and of `--report`, which holds
//! results alone.

mod packing;

use std::io;

use base64ct::{Base64, Encoding};
use packing::packed;
use sha2::{Digest, Sha256};

const BODY: &str = include_str!("../page/index.html");
const STYLE: &str = include_str!("../page/style.css");

/// Licences of the packages in the modules, as `tests/licences` writes them.
const LICENCES: &str = include_str!("../licences.txt");

/// What the page runs, in its order.
const PAGE: [&str; 14] = [
    include_str!("../page/words.js"),
    include_str!("../page/unpack.js"),
    include_str!("../page/charts.js"),
    include_str!("../page/zip.js"),
    include_str!("../page/program.js"),
    include_str!("../page/data.js"),
    include_str!("../page/judged.js"),
    include_str!("../page/recording.js"),
    include_str!("../page/model.js"),
    include_str!("../page/train.js"),
    include_str!("../page/live.js"),
    include_str!("../page/board.js"),
    include_str!("../page/report.js"),
    include_str!("../page/app.js"),
];

/// What its worker runs.
const WORKER: [&str; 4] = [
    include_str!("../page/unpack.js"),
    include_str!("../page/wasi.js"),
    include_str!("../page/scorer.js"),
    include_str!("../page/worker.js"),
];

/// A page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Page<'p> {
    /// The command as WebAssembly for WASI preview 1; a page without it trains nothing.
    pub program: Option<&'p [u8]>,
    /// The package `fishweir-scorer` as WebAssembly; a page without it decides nothing.
    pub scorer: Option<&'p [u8]>,
    /// Files that the page opens first: path and content.
    pub files: &'p [(String, Vec<u8>)],
    /// Model that the page opens with: name and content; an artefact if there is no program.
    pub model: Option<(&'p str, &'p [u8])>,
    /// JSON of a report that the page shows.
    pub report: Option<&'p str>,
}

impl Page<'_> {
    /// The page's text. Time and RAM: those of compressing the program, some seconds for eight megabytes.
    ///
    /// # Errors
    /// None but of memory.
    pub fn to_html(&self) -> io::Result<String> {
        let module = |bytes: Option<&[u8]>| match bytes {
            Some(bytes) => packed(&without_custom_sections(bytes)),
            None => Ok(String::new()),
        };
        let (program, scorer) = (module(self.program)?, module(self.scorer)?);
        let base64 = |bytes: &[u8]| Base64::encode_string(bytes);
        let files: Vec<[String; 2]> =
            self.files.iter().map(|(path, bytes)| [path.clone(), base64(bytes)]).collect();
        let model = self.model.map(|(name, bytes)| [name.to_owned(), base64(bytes)]);
        let report = self.report.unwrap_or("null");
        let (files, model) = (serde_json::to_string(&files)?, serde_json::to_string(&model)?);
        let given = format!("{{\"files\":{files},\"model\":{model},\"report\":{report}}}");
        // No name in it ends the element that holds it.
        let given = given.replace('<', "\\u003c");
        let (script, worker) = (lean(&PAGE), lean(&WORKER));
        // A report computes nothing.
        let computes = match (self.program, self.scorer) {
            (None, None) => ("", ""),
            _ => (" 'wasm-unsafe-eval' blob:", "worker-src blob:; "),
        };
        let policy = format!(
            "default-src 'none'; script-src 'sha256-{}'{}; {}style-src 'sha256-{}'; img-src data: blob:; base-uri 'none'; \
             form-action 'none'",
            digest(&script),
            computes.0,
            computes.1,
            digest(STYLE)
        );
        let (worker, licences) = match computes.0.is_empty() {
            true => ("", String::new()),
            false => (worker.as_str(), packed(LICENCES.as_bytes())?),
        };
        Ok(format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>fishweir</title>\n\
             <style>{STYLE}</style>\n</head>\n<body>\n{BODY}\n\
             <script type=\"text/plain\" id=\"worker-source\">{worker}</script>\n\
             <script type=\"application/json\" id=\"given\">{given}</script>\n\
             <script type=\"text/plain\" id=\"licences-packed\">{licences}</script>\n\
             <script type=\"text/plain\" id=\"program\">{program}</script>\n\
             <script type=\"text/plain\" id=\"scorer\">{scorer}</script>\n\
             <script>{script}</script>\n</body>\n</html>\n"
        ))
    }
}

/// A program without its custom sections: names of functions, which only a debugger reads. One that is cut short is left as it is.
fn without_custom_sections(program: &[u8]) -> Vec<u8> {
    /// A number in LEB128, and what follows it.
    fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
        let mut value = 0;
        for (index, byte) in bytes.iter().enumerate().take(5) {
            value |= usize::from(byte & 127) << (7 * index);
            if byte & 128 == 0 {
                return Some((value, &bytes[index + 1..]));
            }
        }
        None
    }
    // Magic number and version.
    let Some((head, mut left)) = program.split_at_checked(8) else { return program.to_vec() };
    let mut kept = head.to_vec();
    while let Some((&kind, rest)) = left.split_first() {
        let content = number(rest).and_then(|(length, content)| content.get(length..));
        let Some(after) = content else { return program.to_vec() };
        if kind != 0 {
            kept.extend_from_slice(&left[..left.len() - after.len()]);
        }
        left = after;
    }
    kept
}

/// Scripts one after another, without comments and indentation.
fn lean(scripts: &[&str]) -> String {
    let lines = scripts.iter().flat_map(|script| script.lines()).map(str::trim_start);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .map(|line| format!("{line}\n"))
        .collect()
}

fn digest(text: &str) -> String {
    Base64::encode_string(&Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_does_is_kept() {
        // A custom section `a`, a type section of two bytes, a custom section of 200 bytes.
        let mut program = b"\0asm\x01\0\0\0\0\x02\x01a\x01\x02\x00\x05\0\xc8\x01".to_vec();
        program.extend([7; 200]);
        assert_eq!(without_custom_sections(&program), b"\0asm\x01\0\0\0\x01\x02\x00\x05");
        for cut in [0, 5, 9, program.len() - 1] {
            assert_eq!(without_custom_sections(&program[..cut]), program[..cut], "{cut}");
        }
    }

    /// Every word is said, and every part of the page that a script asks for is there.
    #[test]
    fn words_and_parts_are_those_that_scripts_use() {
        let scripts = PAGE[1..].concat();
        let keys = PAGE[0].lines().filter_map(|line| line.strip_prefix("  ")?.split_once(':'));
        let keys = keys.map(|(key, _)| key).filter(|key| key.chars().all(char::is_alphanumeric));
        let mut seen = 0;
        for key in keys {
            seen += 1;
            assert!(scripts.contains(&format!("WORDS.{key}")), "no script says {key}");
        }
        assert!(seen > 20, "{seen} words");
        for (at, _) in scripts.match_indices("at(\"") {
            let id = scripts[at + 4..].split('"').next().unwrap_or_default();
            let is_there =
                ["given", "licences-packed", "program", "scorer", "worker-source"].contains(&id);
            assert!(is_there || BODY.contains(&format!("id=\"{id}\"")), "no part is called {id}");
        }
    }

    /// A name in the page is text: it neither ends an element nor begins one.
    #[test]
    fn names_of_files_are_no_markup() {
        let hostile = "</script><script>alert(1)</script>.csv";
        let files = [(hostile.to_owned(), b"x".to_vec())];
        let page = Page { program: Some(b"\0asm"), files: &files, ..Page::default() };
        let page = page.to_html().expect("memory");
        assert!(!page.contains(hostile) && page.contains("\\u003c/script>\\u003cscript>alert(1)"));
        // No text goes over lines: indentation is no part of one.
        let even = |line: &str| line.matches('`').count().is_multiple_of(2);
        assert!(PAGE.iter().chain(&WORKER).all(|script| script.lines().all(even)));
        let own = PAGE.iter().chain(&WORKER);
        assert!(own.into_iter().all(|text| !text.contains("</script") && !text.contains("<!--")));
        assert!(!STYLE.contains("</style"));
    }
}
