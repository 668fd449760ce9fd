//! Tables in Markdown: the best of Lisle's forms beside everybody else.

use crate::{
    report::{
        numbers::{ratio, short},
        standing::best,
        summary::{Line, Stats, Table, behind},
    },
    systems::{self, Kind},
};
use std::fmt::Write;

/// A row for each of the tables, which have one workload and unit. `all` are the tables of the
/// file.
pub(super) fn table(tables: &[&Table], all: &[Table]) -> String {
    let present = |kind: Kind| -> Vec<&'static str> {
        let counts_so = |table: &Table, name: &str| {
            table.kind(name) == Some(kind) && table.measured().any(|(line, _)| line.system == name)
        };
        let is_present = |name: &str| tables.iter().any(|table| counts_so(table, name));
        systems::ALL.iter().map(|system| system.name).filter(|name| is_present(name)).collect()
    };
    let (mut references, forms, peers) = (present(Kind::Reference), present(Kind::Own), present(Kind::Peer));
    // A system that is a rival in some rows has its column there.
    references.retain(|name| !peers.contains(name));
    let forms = if forms.len() > 1 { forms } else { Vec::new() };
    let has_serial = references.contains(&"serial");
    let has_limit = tables.iter().any(|table| table.has_limit());
    let mut heads = vec!["", "Lisle", "range", "best other", "range", "times"];
    heads.splice(1..1, references.iter().copied());
    if has_serial {
        heads.extend(["over serial", "over 1 worker"]);
    }
    if has_limit {
        heads.push("to limit");
    }
    heads.extend(forms.iter().chain(&peers));
    let mut text = format!("| {} |\n|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    for table in tables {
        let alone = single(table, all);
        let mut cells = vec![table.case_title()];
        cells.extend(references.iter().map(|name| value(reference(table, alone, name))));
        cells.extend(rivals(table));
        if has_serial {
            cells.extend(speed_ups(table, alone));
        }
        if has_limit {
            let own = best(table, Kind::Own).and_then(|(_, stats)| stats.to_limit);
            cells.push(own.map_or(String::new(), ratio));
        }
        cells.extend(forms.iter().map(|name| value(stats(table, name))));
        cells.extend(peers.iter().map(|name| beside(table, name)));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// Lisle, its range, the best other, its range, and how many times Lisle is ahead.
fn rivals(table: &Table) -> [String; 5] {
    let (own, peer) = (best(table, Kind::Own), best(table, Kind::Peer));
    let named = |(line, stats): (&Line, Stats)| match line.system {
        "lisle" => short(stats.median),
        name => format!("{name} {}", short(stats.median)),
    };
    let range = |stats: Stats| format!("{} – {}", short(stats.min), short(stats.max));
    let times = super::advantage(table).map_or(String::new(), times);
    [
        own.map_or(String::new(), named),
        own.map_or(String::new(), |(_, stats)| range(stats)),
        peer.map_or(String::new(), named),
        peer.map_or(String::new(), |(_, stats)| range(stats)),
        times,
    ]
}

/// `▼ 0.53`
pub(super) fn times(advantage: f64) -> String {
    if super::is_loss(advantage) { format!("▼ {}", ratio(advantage)) } else { ratio(advantage) }
}

fn stats(table: &Table, system: &str) -> Option<Stats> {
    table.measured().find(|(line, _)| line.system == system).map(|(_, stats)| stats)
}

fn value(stats: Option<Stats>) -> String {
    stats.map_or(String::new(), |stats| short(stats.median))
}

/// A peer's time, and the factor by which Lisle is ahead of it, unless the peer does something else
/// in this case.
fn beside(table: &Table, peer: &str) -> String {
    let Some(stats) = stats(table, peer) else { return String::new() };
    if table.kind(peer) == Some(Kind::Reference) {
        return format!("{}, no rival", short(stats.median));
    }
    match best(table, Kind::Own) {
        Some((_, own)) => format!("{} ({})", short(stats.median), times(stats.behind / own.behind)),
        None => short(stats.median),
    }
}

/// The table of the same case with one worker.
fn single<'a>(table: &Table, all: &'a [Table]) -> Option<&'a Table> {
    all.iter().find(|other| {
        other.group.workers == 1
            && other.figure == table.figure
            && other.group.workload.name == table.group.workload.name
            && other.group.case.variant == table.group.case.variant
            && other.group.params == table.group.params
    })
}

/// A system with one worker only is in the table of one worker.
fn reference(table: &Table, alone: Option<&Table>, name: &str) -> Option<Stats> {
    stats(table, name).or(stats(alone?, name))
}

/// How many times Lisle is faster than the serial form, and than itself with one worker.
fn speed_ups(table: &Table, alone: Option<&Table>) -> [String; 2] {
    let Some((form, own)) = best(table, Kind::Own) else { return [String::new(), String::new()] };
    let over = |slow: Option<Stats>| {
        slow.map_or(String::new(), |slow| ratio(behind(own.median, slow.median, table.unit().best)))
    };
    let itself = alone.filter(|_| table.group.workers > 1).and_then(|alone| stats(alone, form.system));
    [over(reference(table, alone, "serial")), over(itself)]
}

/// The differences of programs from the others.
pub(super) fn notes(tables: &[Table]) -> String {
    let noted = tables.iter().flat_map(|table| &table.rows).filter(|line| !line.note.is_empty());
    let notes = together(noted.map(|line| (line.note.as_str(), line.system)));
    let entry = |(note, systems): &(&str, Vec<&str>)| format!("**{}**: {note}.", systems.join(", "));
    let entries: Vec<String> = notes.iter().map(entry).collect();
    if entries.is_empty() { String::new() } else { format!("\nNotes. {}\n", entries.join(" ")) }
}

/// The systems that were not measured, with the reasons.
pub(super) fn failures(tables: &[Table]) -> String {
    let failed = tables.iter().flat_map(|table| {
        let name = table.group.workload.name;
        table.failed().map(move |(line, why)| ((line.system, why), name))
    });
    let entry = |((system, why), workloads): &((&str, &str), Vec<&str>)| {
        format!("- **{system}** in {}: {why}\n", workloads.join(", "))
    };
    let entries: String = together(failed).iter().map(entry).collect();
    if entries.is_empty() { entries } else { format!("Not measured:\n\n{entries}") }
}

/// The values of each key, in the order in which they come; each once.
fn together<K: PartialEq, V: PartialEq>(all: impl Iterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in all {
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}
