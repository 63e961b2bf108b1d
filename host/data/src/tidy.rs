//! Data as a tidy table, which every reader takes.

use std::fmt::Write as _;

use super::dataset::{Dataset, Kind};
use super::samples::SamplesView;

/// A field of comma-separated text, in quotes where it must be.
pub fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r', '\t']) || text.starts_with('#') {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

impl Dataset {
    /// The data as text: `series,<columns>,label,t,<channels>`, a sample per line, with fields left empty where missing; of
    /// symbols `label,id,<columns>,sequence`, a string per line.
    #[must_use]
    pub fn to_table(&self) -> String {
        let mut text = String::new();
        let label = |label: Option<usize>| {
            label
                .and_then(|label| self.classes().get(label))
                .map_or(String::new(), |name| field(name))
        };
        let columns =
            |columns: &[String]| columns.iter().map(|one| field(one) + ",").collect::<String>();
        match self.kind() {
            Kind::Channels(names) => {
                let names: Vec<String> = names.iter().map(|name| field(name)).collect();
                let time = if self.clock().named { "t [s]" } else { "t" };
                let _ = writeln!(
                    text,
                    "series,{}label,{time},{}",
                    columns(self.columns()),
                    names.join(",")
                );
                for one in self.series() {
                    let head =
                        format!("{},{}{}", field(&one.id), columns(&one.columns), label(one.label));
                    let SamplesView::Channels(rows) = one.samples.view() else { continue };
                    for (t, row) in rows.iter_in_part().enumerate() {
                        let _ = write!(text, "{head},");
                        let _ = match one.times.get(t) {
                            Some(time) => write!(text, "{time}"),
                            None => write!(text, "{t}"),
                        };
                        match row {
                            Some(row) => row.iter().for_each(|value| {
                                text.push(',');
                                if !value.is_nan() {
                                    let _ = write!(text, "{value}");
                                }
                            }),
                            None => text += &",".repeat(names.len()),
                        }
                        text.push('\n');
                    }
                }
            }
            Kind::Symbols(alphabet) => {
                let _ = writeln!(text, "label,id,{}sequence", columns(self.columns()));
                for one in self.series() {
                    let SamplesView::Symbols(symbols) = one.samples.view() else { continue };
                    let sequence = alphabet.spell(symbols);
                    let columns = columns(&one.columns);
                    let _ = writeln!(
                        text,
                        "{},{},{columns}{}",
                        label(one.label),
                        field(&one.id),
                        field(&sequence)
                    );
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dataset, ReadOptions};

    #[test]
    fn what_is_written_is_read_again() {
        for text in [
            "series,label,t,x,y\n7,up,0,1,\n7,up,1,,2\n7,up,2,3,4\n",
            "series,who,label,t,x,y\n7,\"a, b\",up,0.5,1,-2.5\n7,\"a, b\",up,1,,\n8,c,,0,1e-9,3\n",
            "label,id,sequence\nup,a,ACGT?A\n,b,GGTTCA\n",
            "label,id,sequence\nup,a,open close ? idle\n,b,close idle\n",
            "label,id,sequence\nup,a,10 9 NA 9\n,b,11 9\n",
        ] {
            let data =
                Dataset::parse("x", text.as_bytes(), &ReadOptions::default()).expect("sound");
            let again = data.to_table();
            let same =
                Dataset::parse("x", again.as_bytes(), &ReadOptions::default()).expect("sound");
            assert_eq!(
                (same.series(), same.classes(), same.columns()),
                (data.series(), data.classes(), data.columns())
            );
        }
    }
}
