//! The progress of an exploration, for the users who wait for it.
//!
//! On a terminal, an exploration that takes longer than a second shows a bar on the standard error.
//! If the standard error is no terminal, nothing is written, so a test's output does not depend on
//! its time. The environment variable `LISLE_CHECK_PROGRESS` asks for lines there (`1`), or for
//! nothing anywhere (`0`).

use super::limit::{Limits, Seconds};
use super::verdict::grouped;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _, stderr};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Shorter explorations show nothing.
const PATIENCE: Duration = Duration::from_secs(1);
/// The times between two drawings of the bar, and between two lines.
const BAR: Duration = Duration::from_millis(200);
const LINE: Duration = Duration::from_secs(10);
/// The estimate walks through the tree, and meanwhile no worker can add to it. It may take a
/// hundredth of the time.
const SHARE_OF_ESTIMATE: u32 = 100;

/// The bars of all explorations of the process, one below the other.
static BARS: LazyLock<MultiProgress> =
    LazyLock::new(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr()));

/// The place where progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Nowhere,
    Bar,
    Lines,
}

impl Shown {
    /// Returns the place that the environment asks for.
    ///
    /// # Panics
    ///
    /// If `LISLE_CHECK_PROGRESS` is neither 0 nor 1.
    pub(super) fn by_environment() -> Self {
        let asked = std::env::var_os("LISLE_CHECK_PROGRESS");
        Self::asked_for(
            asked.as_ref().map(|asked| asked.to_string_lossy()).as_deref(),
            stderr().is_terminal(),
        )
    }

    fn asked_for(asked: Option<&str>, is_terminal: bool) -> Self {
        match (asked, is_terminal) {
            (Some("0"), _) | (None | Some(""), false) => Shown::Nowhere,
            (None | Some("" | "1"), true) => Shown::Bar,
            (Some("1"), false) => Shown::Lines,
            (Some(other), _) => {
                panic!("LISLE_CHECK_PROGRESS is `{other}`: set it to 1 to see the progress, or to 0 not to")
            }
        }
    }
}

/// The display of an exploration.
pub(super) struct Progress {
    name: String,
    shown: Shown,
    begun: Instant,
    next: Instant,
    bar: Option<ProgressBar>,
    /// The estimate, and the time at which it may be made again.
    explored: Option<f64>,
    next_estimate: Instant,
}

/// The state of an exploration.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExplorationState {
    /// The number of all executions, and of the ones that an earlier exploration has run.
    pub(super) executions: u64,
    pub(super) before: u64,
    pub(super) limits: Limits,
}

impl Progress {
    pub(super) fn new(name: String, shown: Shown) -> Self {
        let begun = Instant::now();
        Progress {
            name,
            shown,
            begun,
            next: begun + PATIENCE,
            bar: None,
            explored: None,
            next_estimate: begun,
        }
    }

    /// Returns `true` if it is time to [show](Progress::show) something. Takes some nanoseconds.
    pub(super) fn is_due(&self) -> bool {
        self.shown != Shown::Nowhere && Instant::now() >= self.next
    }

    /// Shows the state of the exploration. `estimate` returns an estimate of the explored share, if
    /// there is one; it is not called each time.
    pub(super) fn show(&mut self, state: ExplorationState, estimate: impl FnOnce() -> Option<f64>) {
        let now = Instant::now();
        if now >= self.next_estimate {
            self.explored = estimate();
            self.next_estimate = now + (now.elapsed() * SHARE_OF_ESTIMATE).max(PATIENCE);
        }
        let elapsed = now - self.begun;
        let line = line(state, self.explored, elapsed);
        match self.shown {
            Shown::Nowhere => {}
            Shown::Bar => {
                self.next = now + BAR;
                let bar = self.bar.get_or_insert_with(|| new_bar(&self.name));
                bar.set_position((done(state, self.explored, elapsed) * 1000.0) as u64);
                bar.set_message(line);
            }
            Shown::Lines => {
                self.next = now + LINE;
                // An error is ignored: nobody reads the output then.
                let _ = writeln!(stderr(), "{}: {line}", self.name);
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
            BARS.remove(&bar);
        }
    }
}

fn new_bar(name: &str) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{prefix} [{bar:20}] {msg}").expect("the template is well-formed");
    let bar = ProgressBar::new(1000).with_style(style.progress_chars("=> ")).with_prefix(name.to_owned());
    BARS.add(bar)
}

/// Returns the share of the work that is done.
fn done(state: ExplorationState, explored: Option<f64>, elapsed: Duration) -> f64 {
    let executions = (state.executions - state.before) as f64 / state.limits.executions as f64;
    let time = state.limits.time.map_or(0.0, |time| elapsed.as_secs_f64() / time.as_secs_f64());
    explored.unwrap_or(0.0).max(executions).max(time).clamp(0.0, 1.0)
}

/// Returns the state of an exploration as a line of text.
fn line(state: ExplorationState, explored: Option<f64>, elapsed: Duration) -> String {
    let new = state.executions - state.before;
    let rate = new as f64 / elapsed.as_secs_f64().max(1e-9);
    let mut line = format!("{} executions, {}/s", grouped(state.executions), grouped(rate as u64));
    if let Some(explored) = explored {
        let _ = write!(line, ", {}", share(explored));
    }
    let done = done(state, explored, elapsed);
    if done > 0.001 {
        let left = elapsed.as_secs_f64() * (1.0 - done) / done;
        let _ = write!(line, ", {} left", Seconds(Duration::from_secs_f64(left)));
    }
    line
}

/// Returns the explored share as text.
pub(super) fn share(explored: f64) -> String {
    let percent = explored * 100.0;
    match percent {
        ..0.01 => "less than 0.01 % explored".into(),
        ..1.0 => format!("about {percent:.2} % explored"),
        ..99.0 => format!("about {percent:.0} % explored"),
        _ => "nearly all explored".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{ExplorationState, Limits, Shown, line, share};
    use std::time::Duration;

    #[test]
    fn a_line_says_how_long_it_will_take() {
        let limits = Limits { executions: 1_000_000, time: None };
        let state = ExplorationState { executions: 12_345, before: 2_345, limits };
        let second = Duration::from_secs(1);
        let text = line(state, Some(0.25), second);
        assert_eq!(text, "12,345 executions, 10,000/s, about 25 % explored, 3.0 s left");
        // The limit comes before the end.
        assert_eq!(line(state, None, second), "12,345 executions, 10,000/s, 99 s left");
        let soon = ExplorationState { limits: Limits { time: Some(second * 2), ..limits }, ..state };
        assert!(line(soon, Some(0.1), second).ends_with("1.0 s left"));
        let begun = ExplorationState { executions: 0, before: 0, limits };
        assert_eq!(line(begun, None, Duration::ZERO), "0 executions, 0/s");
    }

    #[test]
    fn shares_are_not_more_exact_than_they_are() {
        assert_eq!(share(0.0), "less than 0.01 % explored");
        assert_eq!(share(0.0042), "about 0.42 % explored");
        assert_eq!(share(0.314), "about 31 % explored");
        assert_eq!(share(0.9999), "nearly all explored");
    }

    #[test]
    fn nothing_is_shown_where_nobody_looks() {
        assert_eq!(Shown::asked_for(None, false), Shown::Nowhere);
        assert_eq!(Shown::asked_for(None, true), Shown::Bar);
        assert_eq!(Shown::asked_for(Some("1"), false), Shown::Lines);
        assert_eq!(Shown::asked_for(Some("0"), true), Shown::Nowhere);
    }

    #[test]
    #[should_panic = "LISLE_CHECK_PROGRESS is `yes`"]
    fn what_is_asked_for_is_0_or_1() {
        Shown::asked_for(Some("yes"), true);
    }
}
