//! Where a run is: a bar on a terminal, a line for each group elsewhere.

use super::{Group, Plan};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write};

pub(super) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn new(plan: &Plan) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let style = "{elapsed_precise} {wide_bar} {pos}/{len}, about {eta} left\n{msg}";
            let bar = ProgressBar::new(plan.samples());
            bar.set_style(ProgressStyle::with_template(style).expect("the template is right"));
            bar
        });
        Progress { bar }
    }

    /// The program of `system` is built now, if need be.
    pub(super) fn preparing(&self, system: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("preparing {system}"));
        }
    }

    /// The samples of this group are taken next.
    pub(super) fn group(&self, group: &Group) {
        if self.bar.is_none() {
            // A user who has closed standard error does not need the line.
            let _ = writeln!(io::stderr(), "{}", group.title());
        }
    }

    /// The next sample is this one.
    pub(super) fn sample(&self, group: &Group, system: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{}: {system}", group.title()));
        }
    }

    /// A sample has been taken, or is left out.
    pub(super) fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
