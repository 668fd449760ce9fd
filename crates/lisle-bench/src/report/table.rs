//! The tables for the terminal.

use super::{
    numbers::{bytes, number},
    summary::{Line, Stats, Table},
};
use std::fmt::Write;

pub(crate) fn table(tables: &[Table]) -> String {
    let mut text = String::new();
    for table in tables {
        let _ = writeln!(text, "\n{}", table.title());
        let _ = writeln!(
            text,
            "  {:<18} {:>12} {:>12} {:>12} {:>8} {:>9} {:>7}",
            table.unit().name,
            "median",
            "min",
            "max",
            "to best",
            "resident",
            "CPU s"
        );
        for line in &table.rows {
            let _ = writeln!(text, "  {}", row(line));
        }
    }
    text
}

fn row(line: &Line) -> String {
    match &line.result {
        Err(why) => format!("{:<18} {why}", line.system),
        Ok(stats) => {
            let Stats { median, min, max, behind, rss_bytes, cpu_seconds, .. } = *stats;
            let note = if line.note.is_empty() { String::new() } else { format!("  ({})", line.note) };
            format!(
                "{:<18} {:>12} {:>12} {:>12} {behind:>8.2} {:>9} {cpu_seconds:>7.2}{note}",
                line.system,
                number(median),
                number(min),
                number(max),
                bytes(rss_bytes),
            )
        }
    }
}
