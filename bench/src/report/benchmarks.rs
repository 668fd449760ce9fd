//! `BENCHMARKS.md`: the files of results as tables for people, with the prose of a template around
//! them; and the same as a page of the site, with plots.

mod chapter;
mod comparison;
mod losses;
mod middle;
mod picture;
mod readme;
mod site;
mod template;

use super::{results::Results, standing::Standing, summary::Table};
use crate::cli::ReportOptions;
use crate::repository::repository;
use std::{
    fs,
    path::{Path, PathBuf},
};
use template::{Piece, TEMPLATE};

/// A piece of the document.
enum Part {
    /// In Markdown.
    Text(String),
    /// In Markdown, for the page only.
    Detail(String),
    /// In Markdown, for the page only: tables that it hides behind its plots.
    Numbers(String),
    /// In HTML, for the page only.
    Plots(String),
}

/// Writes the document, and the page if one is asked for. If only the repository's files are read,
/// also writes its rows in the README and their picture. With `--check` it only compares the files
/// with these texts.
pub(crate) fn report(options: &ReportOptions) -> Result<(), String> {
    let folder = repository().join("bench");
    let template = template::parse(TEMPLATE)?;
    let paths: Vec<PathBuf> = if options.files.is_empty() {
        template::files(&template).map(|name| folder.join(name)).collect()
    } else {
        options.files.clone()
    };
    let all: Vec<Results> = paths.iter().map(|path| Results::read(path)).collect::<Result<_, _>>()?;
    let parts = document(&template, &all)?;
    let mut outputs = vec![(repository().join("BENCHMARKS.md"), markdown(&parts))];
    if options.files.is_empty() {
        let chapters = chapter::titled(&template, &all);
        let readme = repository().join("README.md");
        let text = fs::read_to_string(&readme)
            .map_err(|error| format!("cannot read {}: {error}", readme.display()))?;
        outputs.push((readme, readme::with_rows(&text, &middle::of_chapters(&chapters))?));
        outputs.push((repository().join("docs/speed.svg"), picture::file(&chapters)));
    }
    if let Some(site) = &options.site {
        outputs.push((site.clone(), site::page(&parts)));
    }
    for (path, text) in outputs {
        if options.check {
            check(&path, &text)?;
        } else {
            fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// The template, with the results in the place of its directives.
fn document(template: &[Piece], all: &[Results]) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut chapters = Some(chapter::chapters(template, all));
    for piece in template {
        match piece {
            Piece::Text(text) => parts.push(Part::Text(text.clone())),
            Piece::Counts => parts.push(Part::Text(counts(all))),
            Piece::Middle => {
                let chapters = chapter::titled(template, all);
                parts.push(Part::Text(middle::of_chapters(&chapters)));
                parts.push(Part::Plots(picture::picture(&chapters)));
            }
            // All chapters stand where the first does.
            Piece::Chapter { .. } => parts.extend(chapters.take().into_iter().flatten()),
            Piece::Losses => parts.push(Part::Text(losses::losses(template, all)?)),
        }
    }
    Ok(parts)
}

fn markdown(parts: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) => Some(text.trim().to_owned()),
        Part::Detail(_) | Part::Numbers(_) | Part::Plots(_) => None,
    };
    let texts: Vec<String> = parts.iter().filter_map(text).filter(|text| !text.is_empty()).collect();
    texts.join("\n\n") + "\n"
}

/// Lisle's wins and losses, file by file.
fn counts(all: &[Results]) -> String {
    let head = "| results | tables | ahead | behind | by more than a fifth | no other |\n|---|---|---|---|---|---|\n";
    let row = |results: &Results| {
        let count = |matches: fn(f64) -> bool| {
            results.tables.iter().filter_map(advantage).filter(|advantage| matches(*advantage)).count()
        };
        let (tables, compared) = (results.tables.len(), count(|_| true));
        format!(
            "| {} | {tables} | {} | {} | {} | {} |\n",
            results.name,
            count(|advantage| !is_loss(advantage)),
            count(is_loss),
            count(is_clear_loss),
            tables - compared,
        )
    };
    head.to_owned() + &all.iter().map(row).collect::<String>()
}

/// How many times Lisle is ahead of the best other; `None` if there is no other, or no Lisle.
fn advantage(table: &Table) -> Option<f64> {
    match Standing::of(table) {
        Standing::Ranked { advantage, .. } => Some(advantage),
        _ => None,
    }
}

/// Whether a loss shows in two digits after the point.
fn is_loss(advantage: f64) -> bool {
    advantage < 0.995
}

/// A smaller loss is no difference, on the machines of the results.
fn is_clear_loss(advantage: f64) -> bool {
    advantage < 1.0 / 1.2
}

/// Checks that the file is this text. The ends of its lines may differ.
fn check(path: &Path, text: &str) -> Result<(), String> {
    let file =
        fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let repair = "write it anew with `lisle-bench report`";
    let (mut old, mut new) = (file.split('\n'), text.split('\n'));
    for line in 1.. {
        match (old.next(), new.next()) {
            (None, None) => break,
            (old, new) if old == new => {}
            (_, new) => {
                return Err(format!(
                    "{}:{line}: is not what the results say: '{}'; {repair}",
                    path.display(),
                    new.unwrap_or("nothing more")
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
