use std::fmt;

use super::{Table, grouped};
use crate::deploy::Route;

/// The ways to a decision: what each costs, and why it was taken or not.
pub(super) struct RouteTable<'a>(pub(super) &'a [Route]);

impl fmt::Display for RouteTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = ["route", "RAM", "flash", "multiply-adds per sample", "per decision"];
        let mut table = Table::new(heads);
        let with_items = |value: usize, per_item: usize, unit: &str| match per_item {
            0 => format!("{}{unit}", grouped(value)),
            _ => format!("{}{unit} + {}{unit} per item", grouped(value), grouped(per_item)),
        };
        for route in self.0 {
            table.row([
                format!("{}{}", route.name, if route.taken { " (taken)" } else { "" }),
                format!("{} B", grouped(route.state_bytes)),
                with_items(route.model_bytes, route.model_bytes_per_item, " B"),
                grouped(route.multiply_adds_per_sample),
                with_items(
                    route.multiply_adds_per_decision,
                    route.multiply_adds_per_decision_per_item,
                    "",
                ),
            ]);
        }
        write!(f, "{table}")?;
        self.0.iter().try_for_each(|route| writeln!(f, "  {}: {}", route.name, route.why))
    }
}
