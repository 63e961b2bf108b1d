//! Tables of records: CSV and ARFF, states, bins.

use fishweir_networks::records::{Binning, Cutting, MISSING, Schema, TextTable, Variable};

fn table(text: &str) -> TextTable {
    TextTable::parse("x", text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn learn(table: &TextTable, binning: &Binning) -> Schema {
    let rows: Vec<usize> = (0..table.len()).collect();
    Schema::learn(table, &rows, None, binning).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn csv_and_arff_say_the_same() {
    let csv = table("door,warm,n\nopen,?,1\nshut,yes,10\n,no,9\n");
    let arff = table(
        "% a comment\n@RELATION doors\n@attribute door {open,shut}\n@attribute 'warm' {no, yes}\n\
         @attribute n numeric\n\n@data\nopen,?,1\n'shut',\"yes\",10\n?,no,9\n",
    );
    let (a, b) = (learn(&csv, &Binning::default()), learn(&arff, &Binning::default()));
    assert_eq!(a, b);
    assert_eq!(a.variables()[2].states, ["1", "9", "10"], "numbers by size");
    let records = a.records(&csv).expect("read");
    assert_eq!(records, b.records(&arff).expect("read"));
    assert_eq!(
        records.rows().collect::<Vec<_>>(),
        [&[0, MISSING, 0], &[1, 1, 2], &[MISSING, 0, 1]]
    );
    let state = Binning { missing_is_a_state: true, ..Binning::default() };
    let schema = learn(&csv, &state);
    assert_eq!(schema.variables()[0].states, ["open", "shut", "?"]);
    assert_eq!(schema.records(&csv).expect("read").missing(), 0);
}

#[test]
fn a_column_that_a_table_lacks_is_missing_as_its_fields_are() {
    let state = Binning { missing_is_a_state: true, ..Binning::default() };
    let schema = learn(&table("door,warm\nopen,no\n?,yes\n"), &state);
    assert_eq!(schema.variables()[0].states, ["open", "?"]);
    let records = schema.records(&table("warm\nno\n?\n")).expect("read");
    assert_eq!(records.rows().collect::<Vec<_>>(), [&[1, 0], &[1, MISSING]]);
    // A file may declare the state, and not last.
    let declared = table("@attribute a {'?',x}\n@attribute b {y}\n@data\n?,y\nx,y\n");
    let schema = learn(&declared, &state);
    assert_eq!(schema.variables()[0].states, ["?", "x"]);
    let records = schema.records(&declared).expect("read");
    assert_eq!(records.rows().collect::<Vec<_>>(), [&[0, 0], &[1, 0]]);
}

#[test]
fn blanks_around_names_are_none_of_them_in_quotes_or_not() {
    let csv = table("\" door \",warm\n\" wide open\",no\n shut ,\" \"\n");
    let arff = table(
        "@attribute ' door ' {' wide open', shut }\n@attribute warm {\" no\"}\n@data\n\
         'wide open ',no\nshut,' '\n",
    );
    let (a, b) = (learn(&csv, &Binning::default()), learn(&arff, &Binning::default()));
    let states = |schema: &Schema| {
        let mut columns = schema.variables();
        columns.iter_mut().for_each(|column| column.states.sort());
        columns
    };
    assert_eq!(states(&a), states(&b));
    assert_eq!(a.variables()[0], Variable::new("door", ["shut", "wide open"]));
    let (a, b) = (b.records(&csv).expect("read"), b.records(&arff).expect("read"));
    assert_eq!((&a, a.row(1)), (&b, &[1, MISSING][..]));
}

#[test]
fn numbers_are_cut_and_the_cuts_are_kept() {
    let rows: String =
        (0..40).map(|i| format!("{},{}\n", i, if i < 25 { "a" } else { "b" })).collect();
    let numbers = table(&format!("x,c\n{rows}"));
    let schema = learn(&numbers, &Binning::default());
    assert_eq!(schema.columns()[0].cuts.as_deref(), Some(&[9.5, 19.5, 29.5][..]));
    assert_eq!(schema.variables()[0].states, ["<=9.5", "9.5..19.5", "19.5..29.5", ">29.5"]);
    let all: Vec<usize> = (0..40).collect();
    let mdl = Binning { cutting: Cutting::DescriptionLength, ..Binning::default() };
    let by_class = Schema::learn(&numbers, &all, Some(1), &mdl).expect("learnt");
    assert_eq!(by_class.columns()[0].cuts.as_deref(), Some(&[24.5][..]));
    assert!(Schema::learn(&numbers, &all, None, &mdl).is_err(), "there is no class");
    // Of some rows alone.
    let some = Schema::learn(&numbers, &all[..8], None, &Binning::default()).expect("learnt");
    assert_eq!(some.columns()[0].cuts.as_deref(), Some(&[1.5, 3.5, 5.5][..]));
    let later = table("c,x\na,-7\nb,1e9\na,9.5\n");
    let records = schema.records(&later).expect("read");
    assert_eq!(records.rows().collect::<Vec<_>>(), [&[0, 0], &[3, 1], &[0, 0]]);
    let text = serde_json::to_string(&schema).expect("written");
    assert_eq!(serde_json::from_str::<Schema>(&text).expect("read"), schema);
}

#[test]
fn a_number_is_one_state_however_it_is_written() {
    let schema = learn(&table("n,t\n1.0,1\n2,x\n1,y\n-0,x\n"), &Binning::default());
    let states: Vec<_> = schema.variables().into_iter().map(|one| one.states).collect();
    assert_eq!(states, [vec!["-0", "1.0", "2"], vec!["1", "x", "y"]]);
    let later = schema.records(&table("t,n\n1.00,1\nx,2e0\n+1,0.0\n")).expect("read");
    assert_eq!(later.rows().collect::<Vec<_>>(), [&[1, 0], &[2, 1], &[0, 0]]);
    // Whole numbers keep all their digits.
    let long = learn(
        &table("n,t\n9007199254740993,x\n9007199254740992,y\n+09007199254740992,y\n"),
        &Binning::default(),
    );
    assert_eq!(long.variables()[0].states, ["9007199254740992", "9007199254740993"]);
}

#[test]
fn names_of_columns_may_begin_as_lines_of_arff_do() {
    for text in ["%wet,@door\n?,open\n5,shut\n", "@data,%wet\n5,1\n"] {
        let names: Vec<String> = table(text).names().map(str::to_owned).collect();
        assert_eq!(names.join(","), text.lines().next().expect("a header"));
    }
}

#[test]
fn a_class_has_the_states_that_are_found() {
    let declared = "@attribute a {x,y}\n@attribute c {no,never,yes}\n@data\nx,no\ny,yes\nx,?\n";
    let table = table(declared);
    let schema = Schema::learn(&table, &[0, 1, 2], Some(1), &Binning::default()).expect("learnt");
    assert_eq!(schema.variables()[1].states, ["no", "yes"]);
    assert_eq!(learn(&table, &Binning::default()).variables()[1].states, ["no", "never", "yes"]);
}

#[test]
fn what_is_wrong_is_named_by_file_line_and_column() {
    let schema = Schema::of_variables(&[Variable::new("a", ["y", "n"])]);
    for (text, says) in [
        ("a\ny\nm\n", "x, line 3, column 1 (a): `m` is not a state of a; it has y, n"),
        ("b,a\n1,y\n", "x, line 1, column 1 (b): the model has no `b`; it has a"),
    ] {
        let error = schema.records(&table(text)).expect_err(text).to_string();
        assert!(error.starts_with(says), "{error}");
    }
    let numbers: String = (0..30).map(|i| format!("{i}\n")).collect();
    let cut = learn(&table(&format!("a\n{numbers}")), &Binning::default());
    let error = cut.records(&table("a\n1\nlow\n")).expect_err("no number").to_string();
    assert!(error.starts_with("x, line 3, column 1 (a): `low` is not a finite number"), "{error}");
    for (text, says) in [
        ("", "is empty"),
        ("a,b\n", "has a header but no data"),
        ("a,a\n1,2\n", "both named `a`"),
        ("a,b\n1\n", "line 2, column 2 (b): the row has 1 field"),
        ("@attribute a {y}\n", "no data"),
        ("@data\n1\n", "line 1: there is no @attribute before @data"),
        ("@attribute a {y,y}\n", "line 1: the state `y` occurs twice"),
        ("@attribute a {}\n", "line 1: a state has no name"),
        ("@attribute a {y,n\ro}\n@data\ny\n", "U+000D"),
        ("@attribute a {y,,n}\n", "line 1: a state has no name"),
        ("@attribute a {y\n", "line 1: the states are not closed"),
        ("@attribute a relational\n", "line 1: `relational` is not a type"),
        ("@attribute a {y}\n@attribute a {y}\n", "line 2: the attribute `a` occurs twice"),
        ("@attribute a {y}\n@data\nz\n", "line 3, column 1 (a): `z` is not a state"),
        ("@attribute a {y}\n@data\n{3 y}\n", "line 3: `3` is not the number of an attribute"),
        ("@attribute a {y}\n@data\ny,y\n", "line 3"),
        ("@attribute a {y}\n@data\n'y\n", "line 3: the quoted name is not closed"),
    ] {
        let error = TextTable::parse("x", text.as_bytes()).expect_err(text).to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
    let error = table("a,b\n1,2\n").without(&["c".into()]).expect_err("no such column").to_string();
    assert!(error.contains("no column `c`, only a, b"), "{error}");
}
