//! The tables for the terminal, which are also the files of results: [`results`](super::results)
//! reads what is written here.

use super::{
    numbers::{bytes, number},
    summary::{Line, Stats, Table},
};

pub(crate) fn table(tables: &[Table]) -> String {
    let one = |table: &Table| {
        let rows: String = table.rows.iter().map(|line| row(line) + "\n").collect();
        format!("\n{}\n{}\n{rows}", table.title(), head(table.unit().name))
    };
    tables.iter().map(one).collect()
}

/// The line above the rows.
pub(super) fn head(unit: &str) -> String {
    columns(unit, ["median", "min", "max", "to best", "resident", "CPU s"])
}

pub(super) fn row(line: &Line) -> String {
    match &line.result {
        Err(why) => format!("  {:<18} {why}", line.system),
        Ok(stats) => {
            let Stats { median, min, max, behind, rss_bytes, cpu_seconds, .. } = *stats;
            let [median, min, max] = [median, min, max].map(number);
            let (behind, resident) = (format!("{behind:.2}"), bytes(rss_bytes));
            let cells = [&*median, &*min, &*max, &*behind, &*resident, &*format!("{cpu_seconds:.2}")];
            let note = if line.note.is_empty() { String::new() } else { format!("  ({})", line.note) };
            columns(line.system, cells) + &note
        }
    }
}

fn columns(first: &str, [median, min, max, behind, resident, cpu]: [&str; 6]) -> String {
    format!("  {first:<18} {median:>12} {min:>12} {max:>12} {behind:>8} {resident:>9} {cpu:>7}")
}
