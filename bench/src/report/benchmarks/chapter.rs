//! The chapter of one file of results.

use super::{
    Part, comparison, middle,
    template::{self, Piece},
};
use crate::report::{
    html::plots,
    results::{Facts, Results},
    summary::Table,
    threads,
};
use std::fmt::Write;

/// The chapters of all files, in the order of the files. A chapter that the template does not know
/// has no prose.
pub(super) fn chapters(template: &[Piece], all: &[Results]) -> Vec<Part> {
    let mut parts = Vec::new();
    for results in all {
        let prose = template.iter().find_map(|piece| match piece {
            Piece::Chapter { file, before, after } if *file == results.name => Some((before, after)),
            _ => None,
        });
        let heading = format!("## {}\n", results.name);
        let (before, after) = prose.map_or((heading.as_str(), ""), |(before, after)| (before, after));
        parts.push(Part::Text(before.to_owned()));
        parts.push(Part::Text(facts(results, template)));
        parts.push(Part::Text(comparison::failures(&results.tables)));
        parts.push(Part::Text(middle::of_workloads(&results.tables)));
        for tables in results.tables.chunk_by(|a, b| a.group.workload.name == b.group.workload.name) {
            parts.extend(workload(tables, &results.tables));
        }
        parts.extend(threads(results));
        parts.push(Part::Text(after.to_owned()));
    }
    parts
}

/// The tables of each file, with the title of its chapter.
pub(super) fn titled<'a>(template: &[Piece], all: &'a [Results]) -> Vec<(String, &'a [Table])> {
    let title = |name: &str| {
        let before = template.iter().find_map(|piece| match piece {
            Piece::Chapter { file, before, .. } if file == name => Some(before.as_str()),
            _ => None,
        });
        let heading = before.and_then(|before| before.lines().find_map(|line| line.strip_prefix("## ")));
        heading.unwrap_or(name).to_owned()
    };
    all.iter().map(|results| (title(&results.name), results.tables.as_slice())).collect()
}

/// The facts about the results, as the file has them, and the command that takes others.
fn facts(results: &Results, template: &[Piece]) -> String {
    let name = &results.name;
    let mut text = if template::files(template).any(|file| file == name) {
        format!("From [{name}](bench/{name}):\n\n")
    } else {
        format!("From {name}:\n\n")
    };
    text += &results.facts.iter().map(run).collect::<String>();
    let mut names: Vec<&str> = results.tables.iter().map(|table| table.group.workload.name).collect();
    let mut seen = Vec::new();
    names.retain(|name| {
        !seen.contains(name) && {
            seen.push(name);
            true
        }
    });
    let _ = write!(
        text,
        "\nTo measure the same anew:\n\n```sh\ncargo run --release --manifest-path bench/Cargo.toml -- {}\n```\n",
        wrapped(&names)
    );
    text
}

fn run(facts: &Facts) -> String {
    let fact = |(name, fact): &(&str, String)| match *name {
        "Command" => format!("command: `{fact}`"),
        "Note" => fact.clone(),
        name => format!("{}: {fact}", name.to_lowercase()),
    };
    format!("- {}\n", facts.iter().map(fact).collect::<Vec<_>>().join("; "))
}

/// Words for a shell, in lines.
fn wrapped(words: &[&str]) -> String {
    let mut text = String::new();
    let mut length = "cargo run --release --manifest-path bench/Cargo.toml -- ".len();
    for word in words {
        if length + word.len() > 96 {
            text += "\\\n  ";
            length = 2;
        }
        length += word.len() + 1;
        text += word;
        text.push(' ');
    }
    text.trim_end().to_owned()
}

/// The part about one workload: a heading, its plots, and a table for each unit.
fn workload(tables: &[Table], all: &[Table]) -> Vec<Part> {
    let workload = tables[0].group.workload;
    let mut numbers = String::new();
    let mut units: Vec<&str> = Vec::new();
    for table in tables {
        if !units.contains(&table.unit().name) {
            units.push(table.unit().name);
        }
    }
    for unit in units {
        let same: Vec<&Table> = tables.iter().filter(|table| table.unit().name == unit).collect();
        let gap = if numbers.is_empty() { "" } else { "\n" };
        let _ = write!(numbers, "{gap}{}.\n\n{}", same[0].unit_title(), comparison::table(&same, all));
    }
    numbers += &comparison::notes(tables);
    vec![
        Part::Detail(format!("### {}\n\n{}.\n", workload.name, capital(workload.about))),
        Part::Plots(plots(tables)),
        Part::Numbers(numbers),
    ]
}

/// `text` with a capital.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}

/// The table of threads, if the file has one.
fn threads(results: &Results) -> Option<Part> {
    let first = results.threads.first()?;
    let mut text = format!(
        "| program | form | workers | {} |\n|---|---|---|{}\n",
        threads::HEADS.join(" | "),
        "---|".repeat(first.numbers().len())
    );
    for entry in &results.threads {
        let threads::Entry { workload, system, workers, .. } = entry;
        let numbers: Vec<String> = entry.numbers().map(|number| number.to_string()).to_vec();
        let _ = writeln!(text, "| {workload} | {system} | {workers} | {} |", numbers.join(" | "));
    }
    Some(Part::Numbers(format!("### {}\n\n{text}", threads::TITLE)))
}
