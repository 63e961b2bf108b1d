//! A linked module as a .mpy file, of version 6.3: what MicroPython 1.23 and later releases load.
//!
//! ```text
//! 'M' 6 (architecture << 2 | 3) 31, count of names, count of objects, names, objects,
//! length of code << 3 | kind, code, flags, relocations, 255
//! ```
//!
//! Numbers are in groups of seven bits, the highest first. A relocation adds the address of the code to a word of it: 1, twice
//! the index of the word. The format is described in `mpyfiles` of MicroPython's documentation.

use object::{Object as _, ObjectSection as _};

use super::ModuleArchitecture;

/// Smallest integers of the system that loads the file: of no matter to machine code.
const INTEGER_BITS: u8 = 31;
/// A constant that MicroPython replaces by its table of functions.
const TABLE_OF_FUNCTIONS: u8 = 0;
/// Kind of code that is called as it is.
const VIPER: usize = 2;
/// The code has relocations.
const RELOCATED: u8 = 0x10;

/// Makes the file of a module `name` from what the linker made; says what is wrong with that otherwise.
pub(super) fn module_file(
    elf: &[u8],
    architecture: &ModuleArchitecture,
    name: &str,
) -> Result<Vec<u8>, String> {
    let file = object::File::parse(elf).map_err(|error| error.to_string())?;
    let section = |name: &str| file.sections().find(|section| section.name() == Ok(name));
    let content = |name: &str| section(name).and_then(|section| section.data().ok());
    let variables = section(".variables").map_or(0, |section| section.size());
    if variables > 0 {
        return Err(format!("{variables} bytes of variables, which no module has"));
    }
    let mut code = content(".module").filter(|code| !code.is_empty()).ok_or("no code")?.to_vec();
    if file.entry() & !1 != 0 {
        return Err("the entry is not at its beginning".to_owned());
    }
    let mut words = Vec::new();
    for (section, has_addend) in [(".rel.dyn", false), (".rela.dyn", true)] {
        let relocations = content(section).unwrap_or_default();
        relocate(&mut code, relocations, has_addend, architecture, &mut words)?;
    }
    words.sort_unstable();
    let names = String::from_utf8_lossy(content(".names").ok_or("no names")?);
    let of_file = format!("{name}.mpy\0{names}");
    let names: Vec<&str> = of_file.split_terminator('\0').collect();
    let mut made = vec![b'M', 6, architecture.code << 2 | 3, INTEGER_BITS];
    number(&mut made, names.len());
    number(&mut made, 1);
    for name in names {
        number(&mut made, name.len() << 1);
        made.extend(name.as_bytes());
        made.push(0);
    }
    made.push(TABLE_OF_FUNCTIONS);
    number(&mut made, code.len() << 3 | VIPER);
    made.extend(code);
    made.push(RELOCATED);
    for word in words {
        made.push(1);
        number(&mut made, word << 1);
    }
    made.push(u8::MAX);
    Ok(made)
}

/// Writes into the code what a section of relocations says, and adds the words that the address of the code is added to.
fn relocate(
    code: &mut [u8],
    relocations: &[u8],
    has_addend: bool,
    architecture: &ModuleArchitecture,
    words: &mut Vec<usize>,
) -> Result<(), String> {
    let size = architecture.word;
    // Little-endian, as all these architectures are.
    let word = |bytes: &[u8]| {
        bytes.iter().rev().fold(0, |number: u64, &byte| number << 8 | u64::from(byte))
    };
    for relocation in relocations.chunks_exact(if has_addend { 3 } else { 2 } * size) {
        let field = |n: usize| &relocation[n * size..(n + 1) * size];
        let (place, kind) = (word(field(0)) as usize, word(field(1)));
        if kind != architecture.relative {
            return Err(format!("a relocation of kind {kind} at {place:#x}"));
        }
        let slot = code.get_mut(place..place + size).filter(|_| place % size == 0);
        let slot = slot.ok_or_else(|| format!("a relocation outside its code, at {place:#x}"))?;
        if has_addend {
            slot.copy_from_slice(field(2));
        }
        words.push(place / size);
    }
    Ok(())
}

/// Adds a number in groups of seven bits, the highest first.
fn number(bytes: &mut Vec<u8>, number: usize) {
    let groups = (usize::BITS - number.leading_zeros()).div_ceil(7).max(1);
    for group in (0..groups).rev() {
        let more = if group > 0 { 0x80 } else { 0 };
        bytes.push((number >> (7 * group)) as u8 & 0x7f | more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::MODULE_ARCHITECTURES;

    #[test]
    fn numbers_are_in_groups_of_seven_bits() {
        for (value, expected) in
            [(0, &[0][..]), (127, &[127]), (128, &[0x81, 0]), (1042, &[0x88, 0x12])]
        {
            let mut bytes = Vec::new();
            number(&mut bytes, value);
            assert_eq!(bytes, expected);
        }
    }

    #[test]
    fn relocations_are_written_into_the_code_or_refused() {
        let architecture = MODULE_ARCHITECTURES.iter().find(|one| one.name == "rv32imc");
        let architecture = architecture.expect("an architecture");
        let at = |place: u32, kind: u32| [place, kind, 5].map(u32::to_le_bytes).concat();
        let (mut code, mut words) = ([0; 12], Vec::new());
        relocate(&mut code, &at(8, 3), true, architecture, &mut words).expect("inside");
        assert_eq!((code, words.as_slice()), ([0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0], &[2][..]));
        for (wrong, why) in [(at(9, 3), "outside"), (at(12, 3), "outside"), (at(8, 1), "kind 1")] {
            let error = relocate(&mut code, &wrong, true, architecture, &mut words);
            assert!(error.expect_err("refused").contains(why));
        }
        assert!(module_file(b"text", architecture, "gait").is_err());
    }
}
