//! The workloads that Lisle loses. The template has to give the reasons.

use super::{advantage, comparison, is_clear_loss, is_loss, template::Piece};
use crate::report::{numbers::ratio, results::Results, summary::Table};
use std::fmt::Write;

/// Returns, for each workload with a lost row, how many rows are lost, and the worst. It is an
/// error if the template's prose about losses does not name a workload that is clearly lost.
pub(super) fn losses(template: &[Piece], all: &[Results]) -> Result<String, String> {
    let why: String = template
        .iter()
        .skip_while(|piece| **piece != Piece::Losses)
        .filter_map(|piece| if let Piece::Text(text) = piece { Some(text.as_str()) } else { None })
        .collect();
    let mut text = "| workload | results | tables | behind | by more than a fifth | at worst | where |\n\
         |---|---|---|---|---|---|---|\n"
        .to_owned();
    for results in all {
        for tables in results.tables.chunk_by(|a, b| a.group.workload.name == b.group.workload.name) {
            let mut lost: Vec<(f64, &Table)> =
                tables.iter().filter_map(|table| Some((advantage(table)?, table))).collect();
            lost.retain(|(advantage, _)| is_loss(*advantage));
            lost.sort_by(|(a, _), (b, _)| a.total_cmp(b));
            let Some((worst, table)) = lost.first() else { continue };
            let name = table.group.workload.name;
            let clear = lost.iter().filter(|(advantage, _)| is_clear_loss(*advantage)).count();
            if clear > 0 && !why.contains(&format!("`{name}`")) {
                return Err(format!(
                    "the template does not say why Lisle loses `{name}`: {}, {} of the best other's speed",
                    table.title(),
                    ratio(*worst)
                ));
            }
            let _ = writeln!(
                text,
                "| {name} | {} | {} | {} | {clear} | {} | {} |",
                results.name,
                tables.len(),
                lost.len(),
                comparison::times(*worst),
                table.case_title(),
            );
        }
    }
    Ok(text)
}
