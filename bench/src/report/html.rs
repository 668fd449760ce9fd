//! One page with everything: it needs no other file, and no network.

mod figures;
mod overview;
mod section;
mod speedup;

pub(super) use figures::figures;
pub(super) use section::plots;

use super::{markup::escape, setting::Setting, summary::Table};
use crate::{runner::Findings, systems};

pub(super) fn page(findings: &Findings, tables: &[Table], setting: &Setting) -> String {
    let tables: Vec<&Table> = tables.iter().collect();
    page_of("Lisle beside its peers", findings, &tables, setting, &[])
}

/// The page of that title, with more parts behind the parts of the workloads: the id of each, the
/// name of a link to it, and its content.
pub(super) fn page_of(
    title: &str,
    findings: &Findings,
    tables: &[&Table],
    setting: &Setting,
    more: &[(&str, &str, String)],
) -> String {
    let numbered: Vec<(usize, &Table)> = tables.iter().copied().enumerate().collect();
    let workloads = || numbered.chunk_by(|(_, a), (_, b)| a.group.workload.name == b.group.workload.name);
    let links: String = workloads().map(|tables| link(tables[0].1.group.workload.name)).collect();
    let sections: String =
        workloads().map(|tables| section::section(tables[0].1.group.workload, tables)).collect();
    let more_links: String =
        more.iter().map(|(id, name, _)| format!("<a href=\"#{id}\">{name}</a>")).collect();
    let more: String = more.iter().map(|(_, _, part)| part.as_str()).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>\n{}{PLOTS}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{}{}{}\n\
         <nav><a href=\"#summary\">summary</a>{links}{more_links}<a href=\"#systems\">systems</a></nav>\n{}{sections}{more}{}\
         </body>\n</html>\n",
        include_str!("html/style.css"),
        facts(findings, setting),
        warnings(findings),
        HOW_TO_READ,
        overview::overview(tables),
        about_systems(tables),
    )
}

/// How the plots look. The page they stand on names their colours.
pub(super) const PLOTS: &str = include_str!("html/plots.css");

pub(super) const HOW_TO_READ: &str = "<p>A bar is the median of a system's samples, the thin line across its end goes from the \
    least to the greatest. Each sample is a process of its own, pinned to as many cores as it has workers; the \
    systems take turns. The ratio after a value says how far it is from the best.</p>";

/// The anchor for links to a table's plot.
fn anchor(table: usize) -> String {
    format!("table-{table}")
}

fn link(workload: &str) -> String {
    format!("<a href=\"#{name}\">{name}</a>", name = escape(workload))
}

fn facts(findings: &Findings, setting: &Setting) -> String {
    let fact = |(name, fact): (&'static str, String)| match name {
        "Warning" => None,
        "Command" => Some((name, format!("<code>{}</code>", escape(&fact)))),
        _ => Some((name, escape(&fact))),
    };
    let facts: String = setting
        .facts(findings)
        .into_iter()
        .filter_map(fact)
        .map(|(name, fact)| format!("<div><dt>{name}</dt><dd>{fact}</dd></div>\n"))
        .collect();
    format!("<dl>\n{facts}</dl>\n")
}

fn warnings(findings: &Findings) -> String {
    let warning = |warning: &String| format!("<p class=\"warning\">Warning: {}.</p>\n", escape(warning));
    findings.warnings.iter().map(warning).collect()
}

/// The descriptions of the systems that took part.
fn about_systems(tables: &[&Table]) -> String {
    let took_part = |name: &str| tables.iter().flat_map(|table| &table.rows).any(|line| line.system == name);
    let entry = |system: &systems::System| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escape(system.name), escape(system.about))
    };
    let entries: String = systems::ALL.iter().filter(|system| took_part(system.name)).map(entry).collect();
    format!("<h2 id=\"systems\">Systems</h2>\n<dl>\n{entries}</dl>\n")
}
