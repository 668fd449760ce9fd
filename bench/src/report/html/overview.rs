//! Lisle against the best of the others, in every table of the run, in the order of the run.

use super::anchor;
use crate::{
    report::{
        markup::escape,
        standing::{Standing, best},
        summary::Table,
    },
    systems::Kind,
};

pub(super) fn overview(tables: &[&Table]) -> String {
    let standings: Vec<Standing> = tables.iter().map(|table| Standing::of(table)).collect();
    let rows: String = tables
        .iter()
        .zip(&standings)
        .enumerate()
        .map(|(i, (table, standing))| row(i, table, standing))
        .collect();
    format!(
        "<h2 id=\"summary\">Summary</h2>\n<p>{}</p>\n<div class=\"wide\"><table class=\"overview\">\n\
         <thead><tr><th></th><th>Work</th><th>Place of Lisle</th><th>Against the best other</th></tr></thead>\n\
         <tbody>\n{rows}</tbody></table></div>\n",
        counts(&standings),
    )
}

fn row(i: usize, table: &Table, standing: &Standing) -> String {
    let (class, mark, place, ratio) = match standing {
        Standing::Ranked { form, place, of, advantage, rival, overlap } => {
            let (class, mark, times, word) = if *advantage >= 1.0 {
                ("ahead", "▲ ahead", *advantage, "better")
            } else {
                ("behind", "▼ behind", advantage.recip(), "worse")
            };
            let near = if *overlap { ", the ranges overlap" } else { "" };
            let ratio = format!("<b>{times:.2}×</b> {word} than {}{near}", escape(rival));
            let form = if *form == "lisle" { String::new() } else { format!(", by {}", escape(form)) };
            (class, mark, format!("{place} of {of}{form}"), ratio + &to_limit(table))
        }
        Standing::Alone => {
            ("alone", "– alone", "1 of 1".to_owned(), "no other system has a figure".to_owned())
        }
        Standing::Failed(why) => ("failed", "✕ failed", String::new(), escape(why)),
        Standing::Absent => ("alone", "– not run", String::new(), String::new()),
    };
    format!(
        "<tr class=\"{class}\"><td class=\"verdict\">{mark}</td><td><a href=\"#{}\">{}</a></td>\
         <td>{place}</td><td>{ratio}</td></tr>\n",
        anchor(i),
        escape(&table.title()),
    )
}

/// `; 2.31 times the limit`
fn to_limit(table: &Table) -> String {
    let ratio = best(table, Kind::Own).and_then(|(_, stats)| stats.to_limit);
    ratio.map_or(String::new(), |ratio| format!("; {ratio:.2} times the limit"))
}

/// `Lisle is ahead in 10, behind in 3 and failed in 1 of 14 comparisons.`
fn counts(standings: &[Standing]) -> String {
    let count =
        |matches: fn(&Standing) -> bool| standings.iter().filter(|standing| matches(standing)).count();
    let ahead = count(|standing| matches!(standing, Standing::Ranked { advantage, .. } if *advantage >= 1.0));
    let behind = count(|standing| matches!(standing, Standing::Ranked { advantage, .. } if *advantage < 1.0));
    let mut parts = vec![
        format!("ahead of the best other system in <b class=\"ahead\">{ahead}</b>"),
        format!("behind it in <b class=\"behind\">{behind}</b>"),
    ];
    for (what, number) in [
        ("failed in", count(|standing| matches!(standing, Standing::Failed(_)))),
        ("alone in", count(|standing| matches!(standing, Standing::Alone))),
        ("not run in", count(|standing| matches!(standing, Standing::Absent))),
    ] {
        if number > 0 {
            parts.push(format!("{what} <b>{number}</b>"));
        }
    }
    format!("Of {} tables, Lisle is {}.", standings.len(), parts.join(", "))
}
