//! On each kind of board: the filter costs what the committed table says, a delay is as long as asked, and what streams
//! read is what the host reads.

use std::collections::{BTreeMap, BTreeSet};

use fishweir::device::{BOARDS, Board};
use fishweir_tests::cost_table::{BoardCosts, measure_boards, page};

use crate::{bits, boards};

const PAGE: &str = include_str!("../../../firmware/COSTS.md");

/// Compilers differ a little; the page is to be printed anew when the costs differ by more than this.
const TOLERANCE: f64 = 0.15;

/// The numbers of each row of a page, by the board's section and the cells that name the row.
fn rows(page: &str) -> BTreeMap<String, Vec<f64>> {
    let mut rows = BTreeMap::new();
    let mut section = "";
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = heading;
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [names @ .., instructions, state, stack, code, model, _rate] = &cells[..] else {
            continue;
        };
        let numbers: Option<Vec<f64>> = [instructions, state, stack, code, model]
            .into_iter()
            .map(|cell| cell.replace(' ', "").parse().ok())
            .collect();
        if let Some(numbers) = numbers {
            rows.insert(format!("{section}: {}", names.join(" ")), numbers);
        }
    }
    rows
}

/// Its image has no flash left for streams of dynamical systems.
const NO_SYSTEMS: &str = "lm3s6965evb";

#[test]
fn costs_are_those_of_the_committed_table() {
    let measured = measure_boards(boards()).expect("the boards measure");
    let (mut committed, now) = (rows(PAGE), rows(&page(&measured)));
    let core = |name: &String| name.split(": ").next().unwrap_or_default().to_owned();
    let cores = |boards: &mut dyn Iterator<Item = &Board>| -> BTreeSet<String> {
        boards.map(|board| board.core.to_owned()).collect()
    };
    let sections: BTreeSet<String> = committed.keys().map(core).collect();
    assert_eq!(sections, cores(&mut BOARDS.iter()), "firmware/COSTS.md has other boards");
    let there = cores(&mut measured.iter().map(|one| one.board));
    committed.retain(|name, _| there.contains(&core(name)));
    assert_eq!(now.len(), measured.iter().map(|board| board.rows.len()).sum::<usize>());
    assert!(committed.keys().eq(now.keys()), "firmware/COSTS.md has other rows: print it anew");
    for (name, now) in &now {
        for (committed, now) in committed[name].iter().zip(now) {
            let change = if now == committed { 0.0 } else { now / committed - 1.0 };
            assert!(
                change.abs() <= TOLERANCE,
                "{name}: {now} instead of {committed}; if that is right, print firmware/COSTS.md anew"
            );
        }
    }
    let host = bits::on_host();
    for BoardCosts { board, delay, digests, rows } in &measured {
        let host = host.iter().filter(|(name, _)| name != "systems" || board.name != NO_SYSTEMS);
        assert!(digests.iter().eq(host), "{}: other bits than the host's", board.name);
        // A tick more at either end at most, and the call.
        let longest = 1e6 + 3_000.0;
        assert!((1e6..longest).contains(delay), "{}: {delay} ns instead of 1 ms", board.name);
        for row in rows {
            assert!((500..16_000).contains(&row.code_bytes), "{}: {row:?}", board.name);
        }
    }
}
