//! A trace in a terminal: a column for each fiber and task, with time going down.
//!
//! A long trace shows its beginning, and more of its end, where the failure is. Of many columns,
//! the shown ones are first fibers that wait for each other, then fibers that wait, then fibers
//! that ran last. The others share one column.

use super::{Step, Trace};
use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use std::fmt;

/// The number of characters in a line.
const WIDTH: u16 = 110;
/// The number of columns.
const COLUMNS: usize = 5;
/// The numbers of first and last steps of a long trace that are shown.
const FIRST: usize = 12;
const LAST: usize = 28;

/// The steps of a trace from this number on, as text.
pub(super) struct From<'a>(pub(super) &'a Trace, pub(super) usize);

impl fmt::Display for From<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self.0, self.1, f)
    }
}

/// Writes the steps of a trace from this number on.
pub(super) fn write(trace: &Trace, from: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let columns = columns(trace);
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    table.set_header(row(&columns, "", |who| {
        let Some(who) = who else { return format!("{} others", trace.who.len() - columns.shown.len()) };
        let site = trace.who[who].site.as_ref().map(|site| format!("\nspawned at {site}"));
        format!("{}{}", trace.who[who].name, site.unwrap_or_default())
    }));
    let shown: Vec<&Step> = trace.steps.iter().filter(|step| !step.is_idle && step.number >= from).collect();
    let omitted = trace.left_out.map_or(0, |(_, more)| more);
    let gap = if shown.len() > FIRST + LAST || omitted > 0 {
        FIRST..shown.len().saturating_sub(LAST).max(FIRST)
    } else {
        0..0
    };
    for (place, step) in shown.iter().enumerate() {
        if place == gap.start && !gap.is_empty() {
            let more = gap.len() + omitted;
            table.add_row(row(&columns, "...", |who| who.map_or_else(String::new, |_| "...".into())));
            table.add_row(row(&columns, "", |who| match who {
                Some(who) if Some(&who) == columns.shown.first() => format!("({more} steps)"),
                _ => String::new(),
            }));
        }
        if !gap.contains(&place) {
            let mark = if step.is_marked { "> " } else { "" };
            table.add_row(row(&columns, &format!("{mark}{}", step.number), |who| match who {
                Some(who) if who == step.who => cell(step),
                None if !columns.shown.contains(&step.who) => {
                    format!("{}: {}", trace.who[step.who].name, cell(step))
                }
                _ => String::new(),
            }));
        }
    }
    if !trace.waits.is_empty() {
        table.add_row(row(&columns, "end", |who| match who {
            Some(who) => trace
                .waits
                .iter()
                .find(|wait| wait.who == who)
                .map(|wait| wait.told.clone())
                .unwrap_or_default(),
            None => match trace.waits.iter().filter(|wait| !columns.shown.contains(&wait.who)).count() {
                0 => String::new(),
                count => format!("{count} wait for ever"),
            },
        }));
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    f.write_str(&lines.join("\n"))?;
    objects(trace, f)
}

/// The columns of a table.
struct Columns {
    /// The columns with one fiber or task.
    shown: Vec<usize>,
    has_others: bool,
}

fn columns(trace: &Trace) -> Columns {
    let has_step = |who: usize| trace.steps.iter().any(|step| step.who == who && !step.is_idle);
    let waits = |who: usize| trace.waits.iter().any(|wait| wait.who == who);
    let mut shown: Vec<usize> = (0..trace.who.len()).filter(|&who| has_step(who) || waits(who)).collect();
    let all = shown.len();
    if all > COLUMNS {
        let last = |who: usize| trace.steps.iter().rposition(|step| step.who == who);
        shown.sort_by_key(|&who| (trace.cycle.contains(&who), waits(who), last(who)));
        shown.reverse();
        shown.truncate(COLUMNS - 1);
        shown.sort_unstable();
    }
    Columns { has_others: shown.len() < all, shown }
}

/// Returns a row: its beginning, and a cell for each column. `None` stands for the shared column.
fn row(columns: &Columns, begin: &str, cell: impl Fn(Option<usize>) -> String) -> Vec<String> {
    let shown = columns.shown.iter().copied().map(Some).chain(columns.has_others.then_some(None));
    [begin.to_owned()].into_iter().chain(shown.map(cell)).collect()
}

fn cell(step: &Step) -> String {
    let mut text = step.what.clone();
    if let Some(place) = &step.place {
        text += &format!(" ({place})");
    }
    step.notes.iter().for_each(|note| text += &format!("\n- {note}"));
    text
}

/// The number of objects in the list.
const OBJECTS: usize = 12;

/// Writes the places where the objects were made.
fn objects(trace: &Trace, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let made = trace.objects.iter().filter_map(|object| Some((&object.name, object.site.as_ref()?)));
    for (place, (name, site)) in made.clone().take(OBJECTS).enumerate() {
        let begin = if place == 0 { "\n\nmade at: " } else { ", " };
        write!(f, "{begin}{name} {site}")?;
    }
    match made.count().saturating_sub(OBJECTS) {
        0 => Ok(()),
        more => write!(f, ", and {more} more"),
    }
}
