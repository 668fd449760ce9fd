//! What an execution did, for people.
//!
//! Exploring notes nothing of this: it would cost more than the execution. A schedule that goes
//! wrong is run once more, and then a [`Recorder`](recorder::Recorder) is told what each step does.
//! It asks the names of the objects, and where in the program the operation is. What comes of it is
//! a [`Trace`]: values alone, of which nothing refers to the execution any more. [`columns`] shows
//! it in a terminal, [`page`] as a page with a slider.

mod columns;
mod names;
pub(super) mod page;
mod places;
pub(super) mod recorder;
mod words;

use serde::Serialize;
use std::fmt;

/// What an execution did, step by step.
///
/// Its `Display` form has a column for each fiber and task, with time going down. Long traces are
/// cut in the middle there, and of many columns those are shown that have most to do with the end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Trace {
    who: Vec<Who>,
    objects: Vec<Object>,
    steps: Vec<Step>,
    /// After so many of the steps, how many more there were.
    left_out: Option<(usize, usize)>,
    /// How those wait that are left at the end.
    waits: Vec<Wait>,
    /// Those of them that wait for each other, each for the next.
    cycle: Vec<usize>,
}

/// A fiber, a task, or the time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Who {
    name: String,
    /// Where it was spawned.
    site: Option<Place>,
}

/// An object that steps have touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Object {
    name: String,
    /// Where it was made.
    site: Option<Place>,
}

/// A place in the source text of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Place {
    file: String,
    line: u32,
    /// What is shown of it.
    short: String,
}

/// What one fiber or task has done from one operation to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Step {
    /// The number of the step in the execution, from one on.
    number: usize,
    who: usize,
    /// What it has done: the operation that others see.
    what: String,
    /// Where that is in the program.
    place: Option<Place>,
    /// What else there is to say, such as which fiber it has woken.
    notes: Vec<String>,
    /// Of whom the state is another one after this step.
    states: Vec<(usize, State)>,
    /// It decides nothing, such as a timer that nobody waits for any more.
    is_idle: bool,
    /// It is one of those that make a difference.
    is_marked: bool,
}

/// What a fiber or a task is up to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// It can go on, with this.
    Ready(String),
    /// It waits, as this says.
    Waits(String),
    Ended,
}

/// Who is left waiting at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Wait {
    who: usize,
    /// For the first of these.
    what: Vec<String>,
    /// The same as a text that its name is put before.
    told: String,
    /// Those who could end it, as far as that is known.
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

    /// Returns `true` if the execution had no steps, or if nothing is known of it.
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

    /// Returns what a step did, and who took it.
    pub(super) fn told(&self, number: usize) -> Option<String> {
        let step = self.steps.iter().find(|step| step.number == number)?;
        let place = step.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        Some(format!("{}: {}{place}", self.who[step.who].name, step.what))
    }

    /// Returns a page of HTML, which needs no other file, with a slider through the steps. The
    /// arrow keys move it. `title` is its heading, and `report` what is said of the execution
    /// besides.
    pub fn html(&self, title: &str, report: &str) -> String {
        page::write(title, report, &[("", self)])
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        columns::write(self, 0, f)
    }
}

impl Place {
    /// Creates a place that is shown by the file's name and the line, and by the folder where the
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
        Place { file, line, short }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short)
    }
}
