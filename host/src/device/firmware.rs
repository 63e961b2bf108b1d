//! Building the firmware around a model.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use object::{Object, ObjectSection};

use super::{Board, DeviceError};

/// The model to build in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelFile<'a> {
    /// A Rust source with a `static MODEL`, as the export writes it.
    Source(&'a Path),
    /// A binary artefact: included as bytes, read in place.
    Artefact(&'a Path),
    /// The small model that comes with the firmware.
    Bundled,
}

/// Feature of every image.
const IMAGE: &str = "image";

/// The folder of the firmware's workspace, and where its builds go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firmware {
    folder: PathBuf,
    target_folder: PathBuf,
    /// The file of the public key whose holder may update the image `field`.
    update_key: Option<PathBuf>,
}

impl Firmware {
    /// The firmware in a folder. Builds go to `target` in it.
    ///
    /// # Errors
    /// [`DeviceError::NoFirmware`] where the folder holds none.
    pub fn at(folder: &Path) -> Result<Self, DeviceError> {
        if !folder.join("Cargo.toml").is_file() {
            return Err(DeviceError::NoFirmware { folder: folder.to_owned() });
        }
        let folder = absolute(folder)?;
        Ok(Self { target_folder: folder.join("target"), folder, update_key: None })
    }

    /// The firmware of the checkout that this program was built from.
    ///
    /// # Errors
    /// [`DeviceError::NoFirmware`] where the checkout is gone.
    pub fn in_repository() -> Result<Self, DeviceError> {
        Self::at(&Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("firmware"))
    }

    /// Sends builds to another folder: kept between builds, it saves compiling the dependencies.
    ///
    /// # Errors
    /// [`DeviceError::File`] where there is no current folder to complete a relative path.
    pub fn with_target_folder(self, folder: &Path) -> Result<Self, DeviceError> {
        Ok(Self { target_folder: absolute(folder)?, ..self })
    }

    /// Names the file of the public key whose holder may update the model of the image `field`, as
    /// [`UpdateKey::public_text`](crate::deploy::UpdateKey::public_text) gives its text.
    ///
    /// # Errors
    /// As [`with_target_folder`](Self::with_target_folder).
    pub fn with_update_key(self, file: &Path) -> Result<Self, DeviceError> {
        Ok(Self { update_key: Some(absolute(file)?), ..self })
    }

    /// Builds an application for a board with a model in it, and puts the image at `elf`, whole or not
    /// at all.
    ///
    /// Processes that build in one target folder at the same time wait for each other, so that every
    /// image holds its own model.
    ///
    /// # Errors
    /// When cargo is missing or refuses, with what it said; when the image cannot be written.
    pub fn build(
        &self,
        board: &'static Board,
        application: &str,
        model: ModelFile<'_>,
        elf: &Path,
    ) -> Result<Image, DeviceError> {
        self.produce(board, application, IMAGE, model, elf)
    }

    /// Builds an application that has a feature of its own, the application's name with hyphens.
    /// Otherwise as [`build`](Self::build).
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_application(
        &self,
        board: &'static Board,
        application: &str,
        model: ModelFile<'_>,
        elf: &Path,
    ) -> Result<Image, DeviceError> {
        let features = format!("{IMAGE},{}", application.replace('_', "-"));
        self.produce(board, application, &features, model, elf)
    }

    /// Builds an application with these features (separated by commas) and those of every image, and no others. Otherwise as
    /// [`build`](Self::build).
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_with(
        &self,
        board: &'static Board,
        application: &str,
        features: &str,
        model: ModelFile<'_>,
        elf: &Path,
    ) -> Result<Image, DeviceError> {
        self.produce(board, application, &format!("{IMAGE},{features}"), model, elf)
    }

    /// Builds any of the firmware's binaries for a board's target, with these features (separated by
    /// commas) and no others, on the bundled model. Otherwise as [`build`](Self::build).
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn build_binary(
        &self,
        board: &'static Board,
        binary: &str,
        features: &str,
        elf: &Path,
    ) -> Result<Image, DeviceError> {
        self.produce(board, binary, features, ModelFile::Bundled, elf)
    }

    fn produce(
        &self,
        board: &'static Board,
        binary: &str,
        features: &str,
        model: ModelFile<'_>,
        elf: &Path,
    ) -> Result<Image, DeviceError> {
        let _one_at_a_time = self.locked()?;
        let build = ["--bin", binary, "--target", board.target];
        let settings = ["--no-default-features", "--features", features];
        let folder = match board.folder {
            Some(folder) => folder.to_owned(),
            None => self.folder.join("boards").join(board.name),
        };
        let arguments = [&["build", "--release"], &build[..], &settings].concat();
        let output = self.cargo(&arguments, model, &[("FISHWEIR_BOARD", folder.as_os_str())])?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
            return Err(build_error(message, board));
        }
        let failed = |path: &Path, what| {
            let path = path.to_owned();
            move |source| DeviceError::File { path, what, source }
        };
        let built = self.target_folder.join(board.target).join("release").join(binary);
        let mut part = elf.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        fs::copy(&built, &part).map_err(failed(&part, "cannot be written"))?;
        fs::rename(&part, elf).map_err(failed(elf, "cannot be written"))?;
        Image::open(board, elf)
    }

    /// Locks the folder against other builds until the file is dropped.
    fn locked(&self) -> Result<File, DeviceError> {
        let failed = |path: &Path, what| {
            let path = path.to_owned();
            move |source| DeviceError::File { path, what, source }
        };
        fs::create_dir_all(&self.target_folder)
            .map_err(failed(&self.target_folder, "cannot be made"))?;
        let lock_path = self.target_folder.join("fishweir.lock");
        let lock = File::create(&lock_path).map_err(failed(&lock_path, "cannot be written"))?;
        lock.lock().map_err(failed(&lock_path, "cannot be locked"))?;
        Ok(lock)
    }

    /// Builds a library of the C interface for a target, in names that begin with `prefix`; puts its headers into a
    /// folder and the library at `archive`.
    pub(super) fn c_archive(
        &self,
        target: &'static str,
        model: ModelFile<'_>,
        prefix: &str,
        include: &Path,
        archive: &Path,
    ) -> Result<(), DeviceError> {
        let _one_at_a_time = self.locked()?;
        let arguments = ["build", "--release", "--package", "fishweir-c", "--target", target];
        let include = absolute(include)?;
        let variables =
            [("FISHWEIR_INCLUDE", include.as_os_str()), ("FISHWEIR_PREFIX", OsStr::new(prefix))];
        let output = self.cargo(&arguments, model, &variables)?;
        built_for(target, &output)?;
        let built = self.target_folder.join(target).join("release/libfishweir.a");
        let place = archive.parent().map_or(Ok(()), fs::create_dir_all);
        place.and_then(|()| fs::copy(&built, archive)).map(drop).map_err(|source| {
            DeviceError::File { path: archive.to_owned(), what: "cannot be written", source }
        })
    }

    /// Builds a module of MicroPython for a target: its linked file.
    pub(super) fn module(
        &self,
        target: &'static str,
        model: ModelFile<'_>,
    ) -> Result<Vec<u8>, DeviceError> {
        let _one_at_a_time = self.locked()?;
        let mut arguments =
            vec!["rustc", "--profile", "module", "--package", "fishweir-micropython"];
        arguments.extend(["--bin", "module", "--features", "module", "--target", target]);
        // Code that runs wherever it is loaded, linked by the linker that Rust brings along.
        let linked =
            ["--", "-Crelocation-model=pic", "-Clinker=rust-lld", "-Clinker-flavor=ld.lld"];
        let mut output = self.cargo(&[&arguments[..], &linked].concat(), model, &[])?;
        let told = String::from_utf8_lossy(&output.stderr);
        if told.contains("fishweir_a_panic_can_be_reached") {
            // Of this model more has to be inlined until none is left.
            arguments.extend(["--config", "profile.module.opt-level=3"]);
            output = self.cargo(&[&arguments[..], &linked].concat(), model, &[])?;
        }
        built_for(target, &output)?;
        let path = self.target_folder.join(target).join("module/module");
        fs::read(&path).map_err(|source| DeviceError::File { path, what: "cannot be read", source })
    }

    /// The folder of the C interface.
    pub(super) fn c_folder(&self) -> PathBuf {
        self.folder.join("c")
    }

    /// Runs cargo with these arguments, a subcommand first, and variables.
    fn cargo(
        &self,
        arguments: &[&str],
        model: ModelFile<'_>,
        variables: &[(&str, &OsStr)],
    ) -> Result<Output, DeviceError> {
        // The cargo that runs this program, if one does: it knows its own toolchain.
        let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut cargo = Command::new(&program);
        cargo
            .current_dir(&self.folder)
            .args(arguments.first())
            .arg("--target-dir")
            .arg(&self.target_folder)
            .args(arguments.iter().skip(1));
        // Flags meant for the host would displace the firmware's own.
        for variable in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_RUSTFLAGS",
            "FISHWEIR_MODEL",
            "FISHWEIR_ARTEFACT",
            "FISHWEIR_BOARD",
            "FISHWEIR_INCLUDE",
            "FISHWEIR_PREFIX",
            "FISHWEIR_UPDATE_KEY",
        ] {
            cargo.env_remove(variable);
        }
        if let Some(key) = &self.update_key {
            cargo.env("FISHWEIR_UPDATE_KEY", key);
        }
        cargo.envs(variables.iter().copied());
        match model {
            ModelFile::Source(path) => cargo.env("FISHWEIR_MODEL", absolute(path)?),
            ModelFile::Artefact(path) => cargo.env("FISHWEIR_ARTEFACT", absolute(path)?),
            ModelFile::Bundled => &mut cargo,
        };
        cargo.output().map_err(|source| DeviceError::NoProgram {
            program: OsStr::to_string_lossy(&program).into_owned(),
            source,
            hint: "the firmware is built by cargo: install Rust from https://rustup.rs".to_owned(),
        })
    }
}

fn absolute(path: &Path) -> Result<PathBuf, DeviceError> {
    std::path::absolute(path).map_err(|source| DeviceError::File {
        path: path.to_owned(),
        what: "cannot be made absolute",
        source,
    })
}

/// Checks that cargo has built a library or module for a target.
fn built_for(target: &'static str, output: &Output) -> Result<(), DeviceError> {
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
    if message.contains("can't find crate for `core`") {
        return Err(DeviceError::NoTarget { target });
    }
    let without_linker = message.contains("linker `rust-lld` not found");
    let hint = without_linker.then(|| {
        "install Rust by rustup, which brings its linker along: https://rustup.rs".to_owned()
    });
    Err(DeviceError::Build { message, hint })
}

/// Error of a build, with a remedy if cargo's message implies one.
fn build_error(message: String, board: &Board) -> DeviceError {
    if message.contains("can't find crate for `core`") {
        return DeviceError::NoTarget { target: board.target };
    }
    let too_large = message.contains("will not fit in region");
    let hint = too_large
        .then(|| format!("model and program are too large for the memory of {}", board.name));
    DeviceError::Build { message, hint }
}

/// A linked image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The board that it is built for.
    pub board: &'static Board,
    /// The ELF file.
    pub elf: PathBuf,
    /// Sections of the image on the part.
    pub sections: Sections,
}

/// Bytes of an image's sections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// Interrupt vectors.
    pub vector_table: u64,
    /// Code.
    pub text: u64,
    /// Constants, the model among them.
    pub rodata: u64,
    /// Initialised variables: in flash, and copied to RAM.
    pub data: u64,
    /// Zeroed and uninitialised variables. The stack comes on top of them.
    pub bss: u64,
}

impl Sections {
    /// Bytes of flash.
    pub const fn flash(&self) -> u64 {
        self.vector_table + self.text + self.rodata + self.data
    }

    /// Bytes of RAM without the stack.
    pub const fn ram(&self) -> u64 {
        self.data + self.bss
    }
}

impl Image {
    /// Reads the sections of a board's ELF file.
    ///
    /// # Errors
    /// When the file cannot be read or is no ELF file.
    pub fn open(board: &'static Board, elf: &Path) -> Result<Self, DeviceError> {
        let bytes = fs::read(elf).map_err(|source| DeviceError::File {
            path: elf.to_owned(),
            what: "cannot be read",
            source,
        })?;
        let refused = |message: String| DeviceError::Image { path: elf.to_owned(), message };
        let file = object::File::parse(&*bytes).map_err(|error| refused(error.to_string()))?;
        let mut sections = Sections::default();
        for section in file.sections() {
            let size = section.size();
            match section.name() {
                Ok(".vector_table") => sections.vector_table += size,
                Ok(".text") => sections.text += size,
                Ok(".rodata") => sections.rodata += size,
                Ok(".data") => sections.data += size,
                Ok(".bss" | ".uninit") => sections.bss += size,
                _ => {}
            }
        }
        if sections.text == 0 {
            return Err(refused(String::from("no code in it")));
        }
        Ok(Self { board, elf: elf.to_owned(), sections })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_firmware_is_named() {
        let error = Firmware::at(Path::new("/nowhere")).expect_err("no firmware there");
        assert!(error.to_string().starts_with("/nowhere: there is no firmware"), "{error}");
    }

    #[test]
    fn only_elf_files_are_images() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let board = Board::named(Board::default_name()).expect("a board");
        let error = Image::open(board, &source).expect_err("a text file is no image");
        assert!(matches!(error, DeviceError::Image { .. }), "{error}");
        let error = Image::open(board, Path::new("/nowhere.elf")).expect_err("no file there");
        assert!(matches!(error, DeviceError::File { .. }), "{error}");
    }

    #[test]
    fn flash_and_ram_are_sums_of_sections() {
        let sections = Sections { vector_table: 1, text: 20, rodata: 300, data: 4000, bss: 50000 };
        assert_eq!((sections.flash(), sections.ram()), (4321, 54000));
    }

    #[test]
    fn a_missing_target_is_explained() {
        let board = Board::named(Board::default_name()).expect("a board");
        let told = |message: &str| build_error(message.into(), board).to_string();
        let message = told("error[E0463]: can't find crate for `core`\nthirty lines more");
        assert!(message.ends_with("run: rustup target add thumbv7em-none-eabihf"), "{message}");
        let message = told("section '.rodata' will not fit in region 'FLASH'");
        assert!(message.contains("too large for the memory of mps2-an386"), "{message}");
        let message = told("error: expected expression");
        assert_eq!(message, "the firmware does not build:\nerror: expected expression");
    }
}
