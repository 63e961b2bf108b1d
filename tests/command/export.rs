//! `fishweir export`.

use std::fs;
use std::path::Path;

use fishweir::classifier::Classifier;
use fishweir::report::grouped;
use fishweir_core::update::Update;
use serde_json::Value;

use crate::fixtures::{Folder, Noise, QUICK, fixtures};
use crate::{failed, fishweir, json, printed, refused, refuses};

#[test]
fn rust_and_artefact_by_option_or_by_ending() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    for model in ["two.json", "three.json", "bayes.json", "strings.json"] {
        let model = fixtures().at(model);
        let line =
            format!("export {model} --rust {} --artefact {} --json", at("a.rs"), at("a.fishweir"));
        let report = json(&line);
        let files = report["files"].as_array().expect("files");
        for file in files {
            let bytes = fs::metadata(file["file"].as_str().expect("a name")).expect("there").len();
            assert_eq!(file["bytes"], bytes);
        }
        assert_eq!(files.len(), 2);
        let line = format!("export {model} -o {} -o {}", at("b.rs"), at("b.fishweir"));
        printed(&line);
        let read = |name: &str| fs::read(at(name)).expect("written");
        assert_eq!(read("a.rs"), read("b.rs"));
        assert_eq!(read("a.fishweir"), read("b.fishweir"));
        assert!(read("a.fishweir").starts_with(b"FISHWEIR"));
        let source = String::from_utf8(read("a.rs")).expect("UTF-8");
        assert!(source.contains("pub static MODEL: Model"), "{source}");
        // What was read back is what was written.
        let line = format!("export {} -o {} -o {}", at("a.fishweir"), at("c.rs"), at("c.fishweir"));
        printed(&line);
        assert_eq!((read("a.rs"), read("a.fishweir")), (read("c.rs"), read("c.fishweir")));
    }
}

#[test]
fn an_update_has_the_artefact_its_version_and_a_self_test_of_the_data() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    for (model, data) in [("two.json", "two.csv"), ("strings.json", "strings.tsv")] {
        let (model, data) = (fixtures().at(model), fixtures().at(data));
        let line = format!(
            "export {model} --artefact {} --update {} --update-version 7 --data {data} --json",
            at("a.fishweir"),
            at("a.update")
        );
        let report = json(&line);
        assert_eq!(report["files"][1]["form"], "update");
        let read = |name: &str| fs::read(at(name)).expect("written");
        let bytes = read("a.update");
        let update = Update::read(&bytes).expect("sound");
        assert_eq!((update.header.version(), update.header.is_signed()), (7, false));
        assert_eq!(update.artefact, read("a.fishweir"));
        assert_eq!(update.self_test.entries().count(), 16);
        refuses(&format!("info {}", at("a.update")), "is-update 7");
        let info = |bytes: &[u8]| format!("info {}", folder.put("cut.update", bytes));
        let whole = grouped(bytes.len());
        for (there, told) in [
            (bytes.len() - 1, format!("truncated {} {whole}", grouped(bytes.len() - 1))),
            (64, format!("truncated 64 {whole}")),
            (63, "truncated 63".to_owned()),
        ] {
            refuses(&info(&bytes[..there]), &told);
        }
        let mut damaged = bytes.clone();
        damaged[100] ^= 1;
        refuses(&info(&damaged), "checksum");
        // An artefact's update is its model's; a signature is for who has the key.
        let line = format!(
            "export {} --update {} --update-version 7 --data {data} --to-be-signed",
            at("a.fishweir"),
            at("b.update")
        );
        printed(&line);
        refuses(&info(&read("b.update")), "unsigned-update 64");
        refuses(&info(&read("b.update")[..99]), "truncated 99");
        let signed = [read("b.update"), vec![0; 64]].concat();
        let signed = Update::read(&signed).expect("sound");
        assert_eq!((signed.artefact, signed.self_test), (update.artefact, update.self_test));
        assert!(signed.header.is_signed());
        refuses(
            &format!("export {} --update OUT --update-version 1", at("a.fishweir")),
            "other-data --data",
        );
        refuses(
            &format!("export {model} --update OUT"),
            "missing-required-argument --update-version",
        );
        refuses(
            &format!("export {model} --update OUT --update-version 0"),
            "invalid-value 0 1 --update-version",
        );
    }
}

#[test]
fn an_export_to_nowhere_or_of_no_known_kind_is_refused() {
    let model = fixtures().at("two.json");
    for (options, expected) in [
        ("", "nothing-to-write"),
        ("-o model.txt", "unfit-ending"),
        ("--rust /no/such/folder/m.rs", "unwritable-file"),
    ] {
        refuses(&format!("export {model} {options}"), expected);
    }
    refuses(&format!("export {model} --artefact {model}"), "output-is-input");
}

#[test]
fn fixed_point_is_measured_before_it_is_written() {
    let folder = Folder::new();
    let file = folder.at("q15.rs");
    let (model, data) = (fixtures().at("two.json"), fixtures().at("two.csv"));
    let line = format!("export {model} --rust {file} --number q15 --data {data}");
    let report = json(&format!("{line} --json"));
    assert_eq!(report["number"], "q15");
    assert!(report["deviation"]["windows"].as_u64().expect("a count") > 0);
    assert!(report["deviation"]["equal_decisions"].as_f64().expect("a share") >= 0.995);
    let source = fs::read_to_string(&file).expect("written");
    assert!(source.contains("GaussianQ15"), "{source}");
    // The bound is beside it, and is one.
    let (found, bound) = (&report["deviation"], &report["deviation"]["bound"]);
    assert_eq!((&bound["exceeded"], &bound["windows"]), (&0.into(), &found["windows"]));
    assert!(bound["worst"].as_f64() >= found["worst"].as_f64(), "{found}");
    let text = printed(&line);
    assert!(text.contains("bound of the rounding error"), "{text}");
    fs::remove_file(&file).expect("there");

    // More equality than there is, over many windows of one sample: refused, and nothing is written.
    let mut values = Noise(5);
    let mut text = "series,t,x,y\n".to_owned();
    for series in 0..20_000 {
        let mut next = || 0.8 * values.next().unwrap_or(0.0);
        text += &format!("{series},0,{:.3},{:.3}\n", next(), 0.5 + next());
    }
    let noise = folder.put("noise.csv", text);
    let strict = format!("export {model} --rust {file} --number q15 --equal 1 --data");
    let message = failed(&format!("{strict} {noise}"), 1);
    assert!(message.is("decisions-differ"), "{message}");
    assert!(!Path::new(&folder.at("q15.rs")).exists());
    // What is refused decides nothing: by one of the two it is a difference, by both it is no measure.
    let of = |name: &str, x: &str| {
        let rows: String = (0..8).map(|t| format!("0,{t},{x},0.5\n")).collect();
        folder.put(name, format!("series,t,x,y\n{rows}"))
    };
    let usual = format!("export {model} --rust {file} --number q15 --data");
    let far = failed(&format!("{usual} {}", of("far.csv", "3e6")), 1);
    assert!(far.is("decisions-differ 8"), "{far}");
    refuses(&format!("{usual} {}", of("wild.csv", "1e30")), "no-sample");
    refuses(&format!("{line} -o {file}.fishweir"), "unsupported");
    let nowhere = format!("export {model} --rust {file} --number q15 --data /no/such.csv");
    refuses(&nowhere, "other-data --data");
}

/// Without `--data` the file of the name that the model was trained on is taken, here or beside the model, if it is
/// that file; of a model that does not know its checksum, if it is as large.
#[test]
fn other_data_of_the_same_name_are_not_taken() {
    let folder = Folder::new();
    let text = fixtures().text("three.csv");
    let line = |model: &str| {
        format!("export {model} --rust {} --number q15 --equal 0.5", folder.at("q15.rs"))
    };
    let in_folder = |line: &str| {
        let mut command = fishweir(line);
        command.current_dir(folder.path());
        command
    };
    // Beside the model, whatever there is of that name here.
    let beside = line(&fixtures().at("three.json"));
    printed(&mut in_folder(&beside));
    let changed = text.replacen("1.", "2.", 1);
    let other = folder.put("three.csv", &changed);
    printed(&mut in_folder(&beside));

    let copy = folder.put("three.json", fixtures().text("three.json"));
    let known = line(&copy);
    let message = refused(&mut in_folder(&known));
    assert!(message.is("other-data three.csv"), "{message}");
    assert!(message.is("other-data --data"), "{message}");
    printed(&format!("{known} --data {other}"));
    // What cannot be read is not called other data.
    for (content, told) in
        [(&b""[..], "empty-file three.csv"), (b"\x1F\x8B\x08 damaged", "damaged-gzip three.csv")]
    {
        folder.put("three.csv", content);
        let message = refused(&mut in_folder(&known));
        assert!(message.is(told), "{message}");
    }
    folder.put("three.csv", &changed);
    let (mut old, told) = (
        Classifier::load(Path::new(&copy)).expect("a model"),
        json(&format!("info {copy} --json")),
    );
    let checksum = old.provenance.checksum.take().expect("of a file");
    assert_eq!(
        (checksum, &told["provenance"]["checksum"]),
        (crc32fast::hash(text.as_bytes()), &checksum.into())
    );
    assert!(
        printed(&format!("info {copy}")).contains(&format!("three.csv (CRC-32 {checksum:08x})"))
    );
    let none = folder.at("old.json");
    old.save(Path::new(&none)).expect("written");
    assert!(!folder.text("old.json").contains("checksum"));
    printed(&mut in_folder(&line(&none)));
    let fewer: String = changed.lines().take(60).map(|line| format!("{line}\n")).collect();
    folder.put("three.csv", fewer);
    refuses(&mut in_folder(&line(&none)), "other-data 18 54");
    std::fs::remove_file(&other).expect("there");
    refuses(&mut in_folder(&line(&none)), "other-data");
}

/// A level that leaves 16 bits no room for what moves about it is named, and what to do.
#[test]
fn a_level_beyond_fixed_point_is_named() {
    let folder = Folder::new();
    let mut values = Noise(3);
    let mut text = "series,label,t,p\n".to_owned();
    for (series, t) in (0..8).flat_map(|series| (0..30).map(move |t| (series, t))) {
        let x = 1e5 + [0.3, 1.0][series % 2] * values.next().unwrap_or(0.0);
        text += &format!("{series},{},{t},{x:.3}\n", ["a", "b"][series % 2]);
    }
    let (data, model) = (folder.put("pressure.csv", text), folder.at("pressure.json"));
    printed(&format!("fit {data} -o {model} --classifier bayes {QUICK}"));
    let line = format!("export {model} --number q15 --data {data} --rust {}", folder.at("p.rs"));
    refuses(&line, "level-out-of-range");
}

/// A source and a header beside it, which belong together; what C has no form for is refused by name.
#[test]
fn c_source_is_a_pair_of_files() {
    let folder = Folder::new();
    let at = |name: &str| folder.at(name);
    for model in ["two.json", "three.json", "bayes.json", "strings.json"] {
        let model = fixtures().at(model);
        let report = json(&format!("export {model} --c-source {} --json", at("a.c")));
        let forms: Vec<&str> = report["files"]
            .as_array()
            .expect("files")
            .iter()
            .filter_map(|file| file["form"].as_str())
            .collect();
        assert_eq!(forms, ["C header", "C source"]);
        let (source, header) = (folder.text("a.c"), folder.text("a.h"));
        assert!(source.contains("#include \"a.h\"\n") && source.contains("fishweir_push"));
        assert!(header.contains("#define FISHWEIR_CLASS_NAMES {\""), "{header}");
        printed(&format!("export {model} -o {} --prefix gait", at("b.c")));
        let named = source.replace("fishweir_", "gait_").replace("FISHWEIR_", "GAIT_");
        assert_eq!(folder.text("b.c"), named.replace("\"a.h\"", "\"b.h\""));
    }
    let model = fixtures().at("three.json");
    a_folder_is_a_library(&folder, &model);
    let data = fixtures().at("three.csv");
    let line = format!("export {model} --c-source {} --number q15 --data {data}", at("q.c"));
    printed(&line);
    assert!(folder.text("q.h").contains("#define FISHWEIR_FIXED_POINT 1\n"));
    assert!(folder.text("q.h").contains("#define FISHWEIR_CHANNEL_PLACES {"));
    assert!(folder.text("q.c").contains("fishweir_push_integers"));
    for (options, expected) in [
        ("--c-source OUT.cpp".to_owned(), "unfit-ending"),
        (format!("--c-source {}", fixtures().at("")), "folder-in-use"),
        (format!("--c-source {0} -o {0}", at("c.c")), "same-output"),
        (format!("--c-source {} --prefix 3", at("c.c")), "bad-prefix"),
    ] {
        refuses(&format!("export {model} {options}"), expected);
    }
    assert!(!folder.path().join("c.c").exists() && !folder.path().join("c.h").exists());
}

/// What Arduino, PlatformIO, ESP-IDF and Zephyr look for is there, by their rules.
fn a_folder_is_a_library(folder: &Folder, model: &str) {
    for _ in 0..2 {
        let line = format!("export {model} --c-source {} --prefix gait --json", folder.at("gait"));
        assert_eq!(json(&line)["files"].as_array().expect("files").len(), 11);
    }
    let properties = folder.text("gait/library.properties");
    let field = |name: &str| {
        let line = properties.lines().find_map(|line| line.split_once('=').filter(|x| x.0 == name));
        line.unwrap_or_else(|| panic!("no {name}")).1.to_owned()
    };
    assert_eq!((field("name"), field("includes")), ("gait".into(), "gait.h".into()));
    assert_eq!((field("architectures"), field("category")), ("*".into(), "Data Processing".into()));
    for name in ["version", "author", "maintainer", "sentence", "paragraph", "url"] {
        assert!(!field(name).trim().is_empty(), "{name}");
    }
    assert!(field("sentence").ends_with('.') && field("url").starts_with("https://"));
    let manifest: Value =
        serde_json::from_str(&folder.text("gait/library.json")).expect("the JSON of PlatformIO");
    assert_eq!((&manifest["name"], &manifest["build"]["srcDir"]), (&"gait".into(), &"src".into()));
    assert!(folder.text("gait/zephyr/CMakeLists.txt").contains("CONFIG_FISHWEIR_GAIT"));
    assert!(folder.text("gait/CMakeLists.txt").contains("idf_component_register(SRCS src/gait.c"));
    for file in ["README.md", "CMakeLists.txt", "zephyr/module.yml", "idf_component.yml"] {
        assert!(!folder.text(&format!("gait/{file}")).contains("{{"), "{file}");
    }
    assert!(folder.text("gait/examples/Sensor/Sensor.ino").contains("gait_push(&stream"));
    assert!(folder.text("gait/src/gait.c").contains("#include \"gait.h\""));
}
