//! The limits that end an exploration early.

use std::fmt;
use std::time::Duration;

/// The reason why an exploration has ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The number of [executions](super::Checker::executions).
    Executions(u64),
    /// The [time](super::Checker::time).
    Time(Duration),
    /// A signal, such as Ctrl-C sends.
    Interrupt,
}

/// The limits of an exploration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) executions: u64,
    pub(super) time: Option<Duration>,
}

/// A time, printed for people.
pub(super) struct Seconds(pub(super) Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs_f64();
        match seconds {
            ..9.95 => write!(f, "{seconds:.1} s"),
            ..120.0 => write!(f, "{seconds:.0} s"),
            ..7200.0 => write!(f, "{:.0} min", seconds / 60.0),
            ..172_800.0 => write!(f, "{:.0} h", seconds / 3600.0),
            _ => write!(f, "{:.0} days", seconds / 86_400.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Seconds;
    use std::time::Duration;

    #[test]
    fn times_are_for_people() {
        let text = |seconds| Seconds(Duration::from_secs_f64(seconds)).to_string();
        assert_eq!(text(0.25), "0.2 s");
        assert_eq!(text(60.2), "60 s");
        assert_eq!(text(150.0), "2 min");
        assert_eq!(text(7_300.0), "2 h");
        assert_eq!(text(1e6), "12 days");
    }
}
