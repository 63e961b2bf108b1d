//! The Bayesian Interchange Format, and networks as JSON.

use std::path::Path;

use fishweir_networks::records::Variable;
use fishweir_networks::{Network, NetworkFile, read_bif, write_bif};

use super::stored;

#[test]
fn what_is_written_is_read_back_to_the_bit() {
    for name in ["asia", "sachs", "alarm", "hailfinder"] {
        let network = stored(name);
        assert_eq!(read_bif("again", &write_bif(&network)).expect("a network"), network);
        let file = NetworkFile::of_network(network);
        for path in ["x.json", "x.bif"] {
            let bytes = file.bytes_for(Path::new(path)).expect("written");
            assert_eq!(NetworkFile::parse(path, &bytes).expect("a network"), file);
        }
    }
    // Without their quotes the last two would be one.
    let odd = Variable::new("a\\ \"b", ["x,y", "/*", "\\\\\" b", "'a'", "\"a\""]);
    let rows = [vec![vec![0.1, 0.2, 0.3, 0.3, 0.1]]];
    let network = Network::new(vec![odd], vec![vec![]], &rows).expect("one");
    assert_eq!(read_bif("odd", &write_bif(&network)).expect("a network"), network);
    // As many states as there may be.
    let many = Variable::new("m", (0..65535).map(|state| format!("s{state}")));
    let rows = [vec![vec![1.0 / 65535.0; 65535]], vec![vec![1.0]; 65535]];
    let network = Network::new(vec![many, Variable::new("o", ["o"])], vec![vec![], vec![0]], &rows);
    let network = network.expect("two nodes");
    assert_eq!(read_bif("many", &write_bif(&network)).expect("a network"), network);
}

const A: &str = "variable A { type discrete [2] { y, n }; }\n";
const B: &str = "variable B { type discrete [2] { y, n }; }\n";

#[test]
fn tables_are_read_in_every_form() {
    let rows = format!(
        "network \"two nodes\" {{ property author nobody ; }}\n{A}{B}// a comment\n\
         probability (A) {{ table 0.7 0.3; }} /* another\none */\n"
    );
    for block in [
        "probability (B | A) { (y) 0.4, 0.6; (n) 0.1, 0.9; }",
        "probability (B | A) { default 0.1, 0.9; (y) 0.4, 0.6; }",
        "probability (B | A) { property x 1; table 0.4, 0.1, 0.6, 0.9; }",
    ] {
        let network = read_bif("x", &(rows.clone() + block)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(network.theta(), [0.7, 0.3, 0.4, 0.6, 0.1, 0.9], "{block}");
    }
    let rounded = "probability (B | A) { (y) 0.333, 0.6669; (n) 0, 1; }";
    let network = read_bif("x", &(rows + rounded)).expect("rounded");
    let sum: f64 = network.table(1)[..2].iter().sum();
    assert!((sum - 1.0).abs() < 1e-15 && network.table(1)[2] == 0.0);
}

#[test]
fn what_is_wrong_is_named_by_line_and_column() {
    let two = format!("{A}{B}");
    let root = "probability (A) { table 0.5, 0.5; }\n";
    for (text, line, column, says) in [
        (String::new(), 1, 1, "there is no variable"),
        ("wariable A".into(), 1, 1, "is expected here, not `wariable`"),
        ("variable A { type discrete [3] { y, n }; }".into(), 1, 29, "has 2 states, not 3"),
        ("variable A { type discrete [2] { y, y }; }".into(), 1, 37, "state `y` occurs twice"),
        ("variable A { type real; }".into(), 1, 19, "`discrete` belongs here"),
        ("variable A { }".into(), 1, 10, "has no states"),
        (format!("{A}{A}"), 2, 10, "variable `A` occurs twice"),
        ("variable \" \" {".into(), 1, 10, "the name `` is empty"),
        ("variable A { type discrete [1] { a\u{7} }; }".into(), 1, 34, "character U+0007"),
        (format!("{A}variable \"A \" {{ type discrete [1] {{ y }}; }}"), 2, 10, "occurs twice"),
        (format!("{A}/* open"), 2, 1, "the comment is not closed"),
        (format!("{A}\"open"), 2, 1, "the quoted text is not closed"),
        (A.into(), 1, 10, "`A` has no table"),
        (format!("{A}probability (C) {{ }}"), 2, 14, "no variable `C` above"),
        (format!("{A}probability (A | A) {{ }}"), 2, 18, "list of parents already"),
        (format!("{A}probability (A) {{ table 0.5; }}"), 2, 28, "1 numbers where 2 belong"),
        (format!("{A}probability (A) {{ table 0.5, 1.5; }}"), 2, 30, "`1.5` is not a probability"),
        (format!("{A}probability (A) {{ table 0.5, x; }}"), 2, 30, "`x` is not a probability"),
        (format!("{A}probability (A) {{ table 0.5, 0.4; }}"), 2, 25, "sums to 0.9"),
        (format!("{A}{root}{root}"), 3, 14, "`A` has had its table"),
        (format!("{two}{root}probability (B | A) {{ (y) 0.5, 0.5; }}"), 4, 14, "no row for (n)"),
        (format!("{two}{root}probability (B | A) {{ (m) 0.5, 0.5; }}"), 4, 24, "no state `m`"),
        (
            format!("{two}{root}probability (B | A) {{ (y) 0.5, 0.5; (y) 0.5, 0.5; }}"),
            4,
            38,
            "this row has been before",
        ),
        (
            format!(
                "{two}probability (A | B) {{ default 0.5, 0.5; }}\n\
                 probability (B | A) {{ default 0.5, 0.5; }}"
            ),
            3,
            14,
            "A -> B -> A form a cycle",
        ),
    ] {
        let error = read_bif("x.bif", &text).expect_err(&text);
        assert!(error.what.contains(says), "{text}: {error}");
        assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
        assert!(error.to_string().starts_with("x.bif, line "), "{error}");
    }
}

#[test]
fn files_that_are_no_models_are_named() {
    for (text, says) in [
        ("{\n  \"columns\": 3}", "line 2, column"),
        ("{\"columns\": [], \"model\": {\"network\": {\"nodes\": []}}}", "needs a node"),
        (
            "{\"columns\": [], \"model\": {\"network\": {\"nodes\": [{\"name\": \"a\", \"states\": [\"x\"], \
             \"parents\": [\"b\"], \"table\": [[1]]}]}}}",
            "has the parent `b`",
        ),
        (
            "{\"columns\": [], \"model\": {\"network\": {\"nodes\": [{\"name\": \"a\", \"states\": [\"x\", \
             \"y\"], \"parents\": [], \"table\": [[0.5, 0.6]]}]}}}",
            "node `a`, row 0 (without parents): its entries sum to 1.1",
        ),
        (
            "{\"columns\": [], \"model\": {\"network\": {\"nodes\": [{\"name\": \"a\", \"states\": [\"x\"], \
             \"parents\": [], \"table\": [[1]]}]}}}",
            "its columns are not the nodes",
        ),
        ("{\"columns\": [{\"name\": \"a\", \"states\": [\"x \"]}], \"model\": MODEL}", "blanks"),
        (
            "{\"columns\": [{\"name\": \"a\u{202E}\", \"states\": [\"x\"]}], \"model\": MODEL}",
            "U+202E",
        ),
    ] {
        let text = text.replace(
            "MODEL",
            "{\"network\": {\"nodes\": [{\"name\": \"a\", \"states\": [\"x\"], \"parents\": [], \
             \"table\": [[1]]}]}}",
        );
        let error = NetworkFile::parse("x.json", text.as_bytes()).expect_err(&text).to_string();
        assert!(error.contains(says) && error.starts_with("x.json"), "{error}");
    }
}
