//! The trace of an execution, for people.
//!
//! An exploration records no trace: that would cost more than the execution. A failing schedule
//! runs once more, with a [`Recorder`](recorder::Recorder) of each step. It asks the objects for
//! their names, and looks up the places of operations in the program. The result is a [`Trace`],
//! which has only values and does not refer to the execution. [`columns`] shows it in a terminal,
//! [`page`] as a page with a slider.

mod columns;
mod names;
pub(super) mod page;
mod places;
pub(super) mod recorder;
mod words;

use serde::Serialize;
use std::fmt;

/// The steps of an execution.
///
/// Its `Display` form has a column for each fiber and task, with time going down. A long trace is
/// cut in the middle there. Of many columns, it shows the ones that have most to do with the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Trace {
    who: Vec<Who>,
    objects: Vec<Object>,
    steps: Vec<Step>,
    /// The number of steps before the gap, and the number of steps left out.
    left_out: Option<(usize, usize)>,
    /// The waits that are left at the end.
    waits: Vec<Wait>,
    /// The cycle of these waits, each for the next.
    cycle: Vec<usize>,
}

/// A fiber, a task, or the time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Who {
    name: String,
    /// Where it was spawned.
    site: Option<SourceLine>,
}

/// An object that steps have touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Object {
    name: String,
    /// Where it was made.
    site: Option<SourceLine>,
}

/// A place in the source text of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct SourceLine {
    file: String,
    line: u32,
    /// The short text that is shown.
    short: String,
}

/// A step of a fiber or task, from one operation to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Step {
    /// The number of the step in the execution, from one on.
    number: usize,
    who: usize,
    /// The operation, as others see it.
    what: String,
    /// The place of the operation in the program.
    place: Option<SourceLine>,
    /// Further effects, such as the fiber that it has woken.
    notes: Vec<String>,
    /// The fibers and tasks whose states have changed, with the new states.
    states: Vec<(usize, State)>,
    /// It decides nothing, as a timer for which nothing waits any more.
    is_idle: bool,
    /// It is one of the steps that make the difference.
    is_marked: bool,
}

/// The state of a fiber or a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// It can go on, with this operation.
    Ready(String),
    /// It waits, as the text says.
    Waits(String),
    Ended,
}

/// A wait that is left at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Wait {
    who: usize,
    /// The operations of which the first one ends the wait.
    what: Vec<String>,
    /// The same as a text to follow its name.
    told: String,
    /// The fibers and tasks that are known to be able to end it.
    held_by: Vec<usize>,
}

impl Trace {
    /// Returns the number of steps of the execution.
    pub fn len(&self) -> usize {
        self.steps.len() + self.left_out.map_or(0, |(_, more)| more)
    }

    /// Returns `true` if time has passed.
    pub(super) fn has_time(&self) -> bool {
        let is_time = |who: &Who| who.name == recorder::TIME && who.site.is_none();
        self.steps.iter().any(|step| is_time(&self.who[step.who]))
    }

    /// Returns `true` if the execution had no steps, or was not recorded.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Marks these steps.
    pub(super) fn mark(&mut self, numbers: std::ops::RangeInclusive<usize>) {
        self.steps
            .iter_mut()
            .filter(|step| numbers.contains(&step.number))
            .for_each(|step| step.is_marked = true);
    }

    /// Returns this trace as text without the steps before this one.
    pub(super) fn from(&self, number: usize) -> impl fmt::Display {
        columns::From(self, number)
    }

    /// Returns a step as text, with its fiber or task.
    pub(super) fn told(&self, number: usize) -> Option<String> {
        let step = self.steps.iter().find(|step| step.number == number)?;
        let place = step.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        Some(format!("{}: {}{place}", self.who[step.who].name, step.what))
    }

    /// Returns a page of HTML, which needs no other file, with a slider through the steps. The
    /// arrow keys move it. `title` is its heading, and `report` is further text about the
    /// execution.
    pub fn html(&self, title: &str, report: &str) -> String {
        page::write(title, report, &[("", self)])
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        columns::write(self, 0, f)
    }
}

impl SourceLine {
    /// Creates a place. Its short text has the file's name and the line, and the folder where the
    /// name alone says nothing.
    fn new(file: String, line: u32) -> Self {
        let mut parts = file.rsplit(['/', '\\']);
        let name = parts.next().unwrap_or_default();
        let short = match parts.next() {
            Some(folder) if ["mod.rs", "lib.rs", "main.rs"].contains(&name) => {
                format!("{folder}/{name}:{line}")
            }
            _ => format!("{name}:{line}"),
        };
        SourceLine { file, line, short }
    }
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short)
    }
}
