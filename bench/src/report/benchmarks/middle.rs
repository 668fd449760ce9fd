//! One row for many: the row in the middle, when they are ordered by Lisle's lead over the fastest
//! other.
//!
//! The fastest other is the fastest program of a peer, also where it does something else in that case:
//! a reader who looks for the fastest way is to see it. A star marks it, and a note tells the
//! difference.

use super::{advantage, comparison, is_clear_loss};
use crate::{
    report::{
        numbers::{ratio, short},
        standing::best,
        summary::{Line, Stats, Table},
    },
    systems::{self, Kind},
};
use std::fmt::Write;

/// Lisle in a table, beside the fastest other.
pub(super) struct Compared<'a> {
    pub(super) table: &'a Table,
    own: (&'a Line, Stats),
    other: (&'a Line, Stats),
    /// How many times Lisle is ahead of it.
    pub(super) times: f64,
    /// The other does something else in this case.
    pub(super) is_no_rival: bool,
}

impl<'a> Compared<'a> {
    /// Returns `None` if there is no other, or no Lisle.
    pub(super) fn of(table: &'a Table) -> Option<Self> {
        let own = best(table, Kind::Own)?;
        let other = table.measured().find(|(line, _)| systems::kind(line.system) == Some(Kind::Peer))?;
        let times = other.1.behind / own.1.behind;
        let is_no_rival = table.kind(other.0.system) == Some(Kind::Reference);
        Some(Compared { table, own, other, times, is_no_rival })
    }

    /// Three cells: Lisle, the fastest other, and how many times Lisle is ahead.
    fn cells(&self) -> String {
        let unit = self.table.unit().name;
        let own = match self.own.0.system {
            "lisle" => short(self.own.1.median),
            name => format!("{name} {}", short(self.own.1.median)),
        };
        let star = if self.is_no_rival { "\\*" } else { "" };
        let other = format!("{} {}", self.other.0.system, short(self.other.1.median));
        format!("{own} {unit} | {other} {unit}{star} | {}", comparison::times(self.times))
    }

    /// Tells the work of the other, where it is no rival.
    fn note(&self) -> Option<String> {
        let Line { system, note, .. } = self.other.0;
        self.is_no_rival.then(|| format!("\\* {system} does something else there: {note}."))
    }
}

/// Returns the row in the middle; of two in the middle, the lower one.
pub(super) fn middle<'a>(tables: impl Iterator<Item = &'a Table>) -> Option<Compared<'a>> {
    let mut all: Vec<Compared<'a>> = tables.filter_map(Compared::of).collect();
    all.sort_by(|a, b| a.times.total_cmp(&b.times));
    let middle = all.len().checked_sub(1)? / 2;
    Some(all.swap_remove(middle))
}

/// Writes a row for each chapter, with the notes below: the chapters have titles.
pub(super) fn of_chapters(chapters: &[(String, &[Table])]) -> String {
    let mut text =
        "| chapter | ahead, even, behind | its row in the middle | Lisle | fastest other | times |\n\
         |---|---|---|---|---|---|\n"
            .to_owned();
    let mut notes = Vec::new();
    for (title, tables) in chapters {
        let Some(compared) = middle(tables.iter()) else { continue };
        let times = || tables.iter().filter_map(Compared::of).map(|compared| compared.times);
        let ahead = times().filter(|times| *times > 1.2).count();
        let behind = times().filter(|times| is_clear_loss(*times)).count();
        let even = times().count() - ahead - behind;
        let _ = writeln!(
            text,
            "| {title} | {ahead}, {even}, {behind} | {} | {} |",
            compared.table.title(),
            compared.cells()
        );
        notes.extend(compared.note());
    }
    text + &lines(notes)
}

/// Writes a row for each workload of a chapter, with the notes below.
pub(super) fn of_workloads(tables: &[Table]) -> String {
    let mut text = "| work | its row in the middle | Lisle | fastest other | times | at least | at most | rows | lost |\n\
         |---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let mut notes = Vec::new();
    for tables in tables.chunk_by(|a, b| a.group.workload.name == b.group.workload.name) {
        let name = tables[0].group.workload.name;
        let Some(compared) = middle(tables.iter()) else {
            let _ = writeln!(text, "| {name} | | | | | | | {} | |", tables.len());
            continue;
        };
        let times = || tables.iter().filter_map(Compared::of).map(|compared| compared.times);
        let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        let lost = tables.iter().filter_map(advantage).filter(|advantage| is_clear_loss(*advantage)).count();
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {lost} |",
            compared.table.case_title(),
            compared.cells(),
            ratio(least),
            ratio(most),
            tables.len(),
        );
        notes.extend(compared.note());
    }
    text + &lines(notes)
}

/// Each note once, a paragraph each.
fn lines(mut notes: Vec<String>) -> String {
    notes.sort();
    notes.dedup();
    notes.iter().map(|note| format!("\n{note}\n")).collect()
}
