//! How much code a function needs: itself, and all that it calls.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use object::{Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionKind, SymbolKind};

/// The functions of an image that was linked with `--emit-relocs`, and which refers to which.
///
/// Calls through pointers are not seen: the recursions have none.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    /// Bytes of the function at an address.
    functions: BTreeMap<u64, u64>,
    /// Addresses of the functions that the one at an address refers to.
    calls: BTreeMap<u64, BTreeSet<u64>>,
}

/// The lowest bit of a function's address says on Arm that it is Thumb code; elsewhere it is zero.
const fn place(address: u64) -> u64 {
    address & !1
}

impl CallGraph {
    /// Reads it from an ELF file.
    ///
    /// # Errors
    /// When the file cannot be read, is no ELF file, or has no relocations left in it.
    pub fn read(elf: &Path) -> io::Result<Self> {
        let bytes = std::fs::read(elf)?;
        let bad = |message: String| io::Error::new(io::ErrorKind::InvalidData, message);
        let file = object::File::parse(&*bytes).map_err(|error| bad(error.to_string()))?;
        let mut graph = Self::default();
        for symbol in file.symbols() {
            if symbol.kind() == SymbolKind::Text && symbol.size() > 0 {
                graph.functions.insert(place(symbol.address()), symbol.size());
            }
        }
        // Debugging information has relocations too.
        let code = file.sections().filter(|section| section.kind() == SectionKind::Text);
        for section in code {
            for (offset, relocation) in section.relocations() {
                let RelocationTarget::Symbol(index) = relocation.target() else { continue };
                let target = file.symbol_by_index(index).map_err(|error| bad(error.to_string()))?;
                let callee = graph.function_at(place(target.address()));
                if let (Some(caller), Some(callee)) = (graph.function_at(offset), callee) {
                    graph.calls.entry(caller).or_default().insert(callee);
                }
            }
        }
        if graph.calls.is_empty() {
            return Err(bad(format!("{}: linked without --emit-relocs", elf.display())));
        }
        Ok(graph)
    }

    /// Bytes of the function at an address and of all that it calls, itself or through others; 0 where
    /// there is none.
    pub fn reachable_bytes(&self, address: u32) -> u64 {
        let mut seen = BTreeSet::new();
        let mut open: Vec<u64> = self.function_at(place(address.into())).into_iter().collect();
        while let Some(function) = open.pop() {
            if seen.insert(function) {
                open.extend(self.calls.get(&function).into_iter().flatten());
            }
        }
        seen.iter().filter_map(|function| self.functions.get(function)).sum()
    }

    /// The function that an address lies in.
    fn function_at(&self, address: u64) -> Option<u64> {
        let (&start, &size) = self.functions.range(..=address).next_back()?;
        (address < start + size).then_some(start)
    }
}
