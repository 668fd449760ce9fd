//! One row of a table.

use crate::{
    limits,
    report::{
        numbers,
        summary::{self, Line, Stats},
        table,
    },
    systems,
    workload::Best,
};

/// Reads a row of [`table::row`]. The text must be the same, to the blank.
pub(super) fn parse(text: &str) -> Result<Line, String> {
    let words = text.trim_start();
    let (system, rest) = words.split_once(' ').unwrap_or((words, ""));
    let system = systems::find(system).ok_or_else(|| format!("'{system}' is no system"))?.name;
    let rest = rest.trim_start();
    let line = |result, note: &str| Line { system, note: note.to_owned(), result };
    let measured = stats(rest).map(|(stats, note)| line(Ok(stats), note));
    // In the reason of a failure there are no two blanks side by side; in a row of numbers there
    // are.
    let failed = (!rest.is_empty() && !rest.contains("  ")).then(|| line(Err(rest.to_owned()), ""));
    measured
        .or(failed)
        .filter(|line| table::row(line) == text)
        .ok_or_else(|| format!("'{text}' is no row of a table"))
}

/// The seven words of numbers, or eight with the distance from the limit, and the note.
fn stats(text: &str) -> Option<(Stats, &str)> {
    let (numbers, note) = match text.split_once("  (") {
        Some((numbers, note)) => (numbers, note.strip_suffix(')')?),
        None => (text, ""),
    };
    let words: Vec<&str> = numbers.split_whitespace().collect();
    let (median, min, max, behind, to_limit, resident, unit, cpu) = match *words.as_slice() {
        [median, min, max, behind, resident, unit, cpu] => {
            (median, min, max, behind, None, resident, unit, cpu)
        }
        [median, min, max, behind, limit, resident, unit, cpu] => {
            (median, min, max, behind, Some(limit), resident, unit, cpu)
        }
        _ => return None,
    };
    let stats = Stats {
        median: numbers::parse(median)?,
        min: numbers::parse(min)?,
        max: numbers::parse(max)?,
        p99: None,
        rounds: None,
        rss_bytes: numbers::parse_bytes(&format!("{resident} {unit}"))?,
        cpu_seconds: cpu.parse().ok()?,
        behind: behind.parse().ok()?,
        to_limit: to_limit.map(str::parse).transpose().ok()?,
    };
    Some((stats, note))
}

/// Checks that the rows of a table agree with each other. The error names the row that does not,
/// and why.
pub(super) fn check(rows: &[Line], best: Best) -> Result<(), (usize, String)> {
    let first = rows[0].result.as_ref().ok().map(|stats| stats.median);
    let mut before: Option<Stats> = None;
    for (i, line) in rows.iter().enumerate() {
        let wrong = |why: &str| Err((i, format!("{}: {why}", line.system)));
        if rows[..i].iter().any(|other| other.system == line.system) {
            return wrong("there is a row of it before");
        }
        let Ok(stats) = line.result else { continue };
        let Some(first) = first.filter(|_| rows[..i].iter().all(|line| line.result.is_ok())) else {
            return wrong("it stands below a row that failed");
        };
        if !(stats.min <= stats.median && stats.median <= stats.max) {
            return wrong("its median is not between the least and the greatest");
        }
        if before.is_some_and(|before| stats.behind < before.behind) {
            return wrong("it is better than the one above");
        }
        // Written figures are rounded: of 0.0227 and 0.0233 both are written 0.023.
        let behind = summary::behind(first, stats.median, best);
        let rounding = 0.02 + numbers::rounding(first) + numbers::rounding(stats.median);
        if (behind - stats.behind).abs() > rounding * behind {
            return wrong("its median and its distance from the best do not go together");
        }
        before = Some(stats);
    }
    check_limit(rows, best)
}

/// Checks that each row has a distance from the limit if and only if the table has the limit, and
/// that the distances agree with the medians.
fn check_limit(rows: &[Line], best: Best) -> Result<(), (usize, String)> {
    let limit = rows.iter().find(|line| line.system == limits::NAME);
    let limit = limit.and_then(|line| line.result.as_ref().ok()).map(|stats| stats.median);
    for (i, line) in rows.iter().enumerate() {
        let Ok(stats) = line.result else { continue };
        let goes_with_it = match (limit, stats.to_limit) {
            (None, None) => true,
            (Some(limit), Some(ratio)) => {
                let expected = summary::behind(limit, stats.median, best);
                let rounding = 0.02 + numbers::rounding(limit) + numbers::rounding(stats.median);
                // A ratio has two digits after the point. These are few if the row is much faster
                // than the limit.
                (expected - ratio).abs() <= rounding * expected + 0.005
            }
            _ => false,
        };
        if !goes_with_it {
            return Err((
                i,
                format!("{}: its median and its distance from the limit do not go together", line.system),
            ));
        }
    }
    Ok(())
}
