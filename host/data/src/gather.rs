//! Files of a source: one, standard input, several, those of a folder or of a pattern; and labels in their names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::error::DataError;
use super::part::Part;
use super::sensor_logger;
use super::source::{Finding, Source};
use crate::words::shorten;

/// Endings of files without samples that accompany others.
const BESIDE: [&str; 14] = [
    "md", "pdf", "png", "jpg", "jpeg", "svg", "html", "py", "ipynb", "toml", "yaml", "yml", "dat",
    "atr",
];

/// A file of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) path: PathBuf,
    /// Path below the folder that was named; only the name if a file was named.
    pub(super) below: PathBuf,
}

/// The files that paths stand for, in order of their names, and how many were left out.
pub(super) fn files_of(paths: &[PathBuf]) -> Result<(Vec<File>, usize), DataError> {
    let (mut files, mut left_out) = (Vec::new(), 0);
    for path in paths {
        let name = || path.display().to_string();
        let failed = |source| DataError::Io { file: name(), source };
        if path.is_dir() && sensor_logger::is_folder(path) {
            let below = PathBuf::from(path.file_name().unwrap_or(path.as_os_str()));
            files.push(File { path: path.clone(), below });
        } else if path.is_dir() {
            let before = files.len();
            left_out += walk(path, path, &mut files).map_err(failed)?;
            if files.len() == before {
                return Err(DataError::NoSeries { file: name() });
            }
        } else if is_pattern(path) && !path.exists() {
            let mut found = Vec::new();
            matching(path, &mut found).map_err(failed)?;
            if found.is_empty() {
                return Err(DataError::NoSeries { file: name() });
            }
            found.sort();
            let root = fixed_part(path);
            files.extend(found.into_iter().map(|path| {
                let below = path.strip_prefix(&root).unwrap_or(&path).to_owned();
                File { path, below }
            }));
        } else {
            let below = PathBuf::from(path.file_name().unwrap_or(path.as_os_str()));
            files.push(File { path: path.clone(), below });
        }
    }
    Ok((files, left_out))
}

/// Adds the files below a folder, sorted; returns how many were left out.
fn walk(folder: &Path, root: &Path, files: &mut Vec<File>) -> std::io::Result<usize> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    entries.sort();
    let mut left_out = 0;
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() && sensor_logger::is_folder(&path) {
            let below = path.strip_prefix(root).unwrap_or(&path).to_owned();
            files.push(File { path, below });
        } else if path.is_dir() && ["meta", "__macosx"].contains(&name.as_str()) {
            // What an application says of the device, or a system of its files.
            left_out += 1;
        } else if path.is_dir() {
            left_out += walk(&path, root, files)?;
        } else if BESIDE.contains(&ending.as_str())
            || ["readme", "license", "licence"].iter().any(|one| name.starts_with(one))
            || ["thumbs.db", "desktop.ini"].contains(&name.as_str())
        {
            left_out += 1;
        } else {
            let below = path.strip_prefix(root).unwrap_or(&path).to_owned();
            files.push(File { path, below });
        }
    }
    Ok(left_out)
}

fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?'])
}

/// The folders of a pattern before the first that has a wildcard.
fn fixed_part(pattern: &Path) -> PathBuf {
    pattern.components().take_while(|one| !is_pattern(Path::new(one.as_os_str()))).collect()
}

/// Adds the files that a pattern matches, component by component.
fn matching(pattern: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut open = vec![PathBuf::new()];
    let components: Vec<Component<'_>> = pattern.components().collect();
    for component in components {
        let text = component.as_os_str().to_string_lossy().into_owned();
        let mut next = Vec::new();
        for base in open {
            if !is_pattern(Path::new(&text)) {
                next.push(base.join(component));
                continue;
            }
            let folder =
                if base.as_os_str().is_empty() { PathBuf::from(".") } else { base.clone() };
            if !folder.is_dir() {
                continue;
            }
            for entry in fs::read_dir(&folder)? {
                let name = entry?.file_name();
                if fits(&text, &name.to_string_lossy()) {
                    next.push(base.join(name));
                }
            }
        }
        open = next;
    }
    found.extend(open.into_iter().filter(|path| path.is_file()));
    Ok(())
}

/// Returns whether a name fits a pattern of `*` and `?`.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    // Where the last star was, and how far it reaches.
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&one) if one == '?' || one == name[n] => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((at, reach)) => {
                    star = Some((at, reach + 1));
                    (p, n) = (at + 1, reach + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&one| one == '*')
}

/// A label in a file's name before numbers and the rest: `walk` of `walk_01.csv`, `walk.2k3f.json`.
fn stem_label(name: &str) -> Option<&str> {
    let first = name.split('.').next()?;
    let word = first.trim_end_matches(|one: char| {
        one.is_ascii_digit() || matches!(one, '_' | '-' | ' ' | '(' | ')')
    });
    let has_letters = word.chars().any(char::is_alphabetic);
    (has_letters && (word.len() < first.len() || name.matches('.').count() > 1)).then_some(word)
}

/// Labels unlabelled series by their file's name or folder, as given by options, or if all files agree.
pub(super) fn label_by_names(
    files: &[File],
    parts: &mut [Part],
    source: &Source,
) -> Result<(), DataError> {
    if let Some(pattern) = &source.names {
        for (file, part) in files.iter().zip(parts.iter_mut()) {
            let Some(label) = pattern.label(&file.below) else {
                return Err(DataError::Header {
                    line: 1,
                    file: part.file.clone(),
                    what: format!(
                        "the name of the file does not match `{}`",
                        shorten(pattern.text())
                    ),
                });
            };
            set(part, &label);
        }
        return Ok(());
    }
    let unlabelled = parts.iter().all(|part| part.drafts.iter().all(|draft| draft.label.is_none()));
    if !unlabelled || source.label.is_some() {
        return Ok(());
    }
    let folder = |file: &File| {
        let parent = file.below.parent()?.file_name()?;
        Some(parent.to_string_lossy().into_owned())
    };
    let folders: Option<Vec<String>> = files.iter().map(folder).collect();
    if let Some(labels) = folders.filter(|labels| labels.iter().any(|one| *one != labels[0])) {
        for (label, part) in labels.iter().zip(parts.iter_mut()) {
            set(part, label);
            part.findings.add(Finding::Names, "labels are the names of the folders");
        }
        return Ok(());
    }
    let name = |file: &File| {
        let name = file.below.file_name()?.to_string_lossy().into_owned();
        stem_label(&name).map(str::to_owned)
    };
    let names: Option<Vec<String>> = files.iter().map(name).collect();
    let Some(labels) = names else { return Ok(()) };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    labels.iter().for_each(|label| *counts.entry(label).or_default() += 1);
    let come_back = counts.values().filter(|&&count| count > 1).count();
    if counts.len() > 1 && 2 * come_back >= counts.len() {
        for (label, part) in labels.iter().zip(parts.iter_mut()) {
            set(part, label);
            part.findings
                .add(Finding::Names, "labels are the beginnings of the names of the files");
        }
    }
    Ok(())
}

/// Labels series by a list in their folder, by their paths from it.
pub(super) fn label_by_list(
    files: &[File],
    parts: &mut [Part],
    list: &File,
    labels: &BTreeMap<String, String>,
) {
    let folder = list.path.parent().unwrap_or(Path::new(""));
    for (file, part) in files.iter().zip(parts) {
        let Ok(path) = file.path.strip_prefix(folder) else { continue };
        let Some(label) = labels.get(&path.to_string_lossy().replace('\\', "/")) else { continue };
        for draft in &mut part.drafts {
            draft.label = Some(label.clone());
        }
        part.findings.add(Finding::Label, "labels are in `info.labels`");
    }
}

fn set(part: &mut Part, label: &str) {
    for draft in &mut part.drafts {
        draft.label.get_or_insert_with(|| label.to_owned());
    }
}

/// Gives series of several files names of their own, and all files the same further columns.
pub(super) fn name_by_files(files: &[File], parts: &mut [Part]) {
    let mut columns: Vec<String> = Vec::new();
    for part in parts.iter() {
        for column in &part.columns {
            if !columns.contains(column) {
                columns.push(column.clone());
            }
        }
    }
    for (file, part) in files.iter().zip(parts) {
        let stem = file.below.with_extension("").to_string_lossy().replace('\\', "/");
        let alone = part.drafts.len() == 1;
        for draft in &mut part.drafts {
            draft.id = if alone { stem.clone() } else { format!("{stem}/{}", draft.id) };
            let own = std::mem::take(&mut draft.columns);
            let value = |name: &String| {
                let at = part.columns.iter().position(|column| column == name);
                at.and_then(|at| own.get(at)).cloned().unwrap_or_default()
            };
            draft.columns = columns.iter().map(value).collect();
        }
        part.columns.clone_from(&columns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        assert!(fits("*.csv", "a.csv") && fits("a*b?c", "axxbyc") && fits("*", ""));
        assert!(!fits("*.csv", "a.json") && !fits("a?", "a"));
    }

    #[test]
    fn names_begin_with_labels() {
        assert_eq!(stem_label("walk_01.csv"), Some("walk"));
        assert_eq!(stem_label("walk.3k2.json"), Some("walk"));
        assert_eq!(stem_label("run fast (2).csv"), Some("run fast"));
        assert_eq!(stem_label("01.csv"), None);
        assert_eq!(stem_label("data.csv"), None);
    }
}
