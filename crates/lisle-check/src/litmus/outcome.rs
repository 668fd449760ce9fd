//! The outcome of a test under a model, and its text.

use std::fmt;

use super::condition::Quantifier;
use super::error::SourcePosition;

/// A final state that is possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinalState {
    pub(crate) values: Vec<(String, String)>,
    pub(crate) executions: u64,
    pub(crate) satisfies: bool,
}

impl FinalState {
    /// The names and values of the test's items, as `("0:EAX", "0")` or `("[x]", "1")`, in the
    /// order of printing.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// How many executions end in it.
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// Returns `true` if the condition's statement is true of it.
    pub fn satisfies(&self) -> bool {
        self.satisfies
    }
}

impl fmt::Display for FinalState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<String> =
            self.values.iter().map(|(name, value)| format!("{name}={value};")).collect();
        f.write_str(&values.join(" "))
    }
}

/// One of the two accesses of a data race.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Access {
    /// The thread that makes it.
    pub thread: usize,
    /// Where it stands in the test.
    pub position: SourcePosition,
    /// Whether it writes.
    pub writes: bool,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P{} {} it at {}", self.thread, if self.writes { "writes" } else { "reads" }, self.position)
    }
}

/// A data race: two accesses of one location, not both atomic and not both reads, with nothing that
/// orders them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Race {
    /// The name of the location.
    pub location: String,
    /// The accesses.
    pub accesses: [Access; 2],
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.location, self.accesses[0], self.accesses[1])
    }
}

/// How many of a test's executions satisfy its condition's statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observation {
    /// None.
    Never,
    /// Some, but not all.
    Sometimes,
    /// All.
    Always,
}

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Observation::Never => "Never",
            Observation::Sometimes => "Sometimes",
            Observation::Always => "Always",
        })
    }
}

/// All that a test can do under a model. It prints as herd7 prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub(crate) name: String,
    pub(crate) quantifier: Quantifier,
    pub(crate) condition: String,
    pub(crate) states: Vec<FinalState>,
    pub(crate) races: Vec<Race>,
}

impl Outcome {
    /// The name of the test.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The quantifier of the condition.
    pub fn quantifier(&self) -> Quantifier {
        self.quantifier
    }

    /// The condition, as `exists (0:r0=1 /\\ [x]=2)`.
    pub fn condition(&self) -> &str {
        &self.condition
    }

    /// How many of the executions satisfy the condition's statement.
    pub fn observation(&self) -> Observation {
        match self.satisfying() {
            0 => Observation::Never,
            some if some == self.executions() => Observation::Always,
            _ => Observation::Sometimes,
        }
    }

    /// The final states, in ascending order of their values.
    pub fn states(&self) -> &[FinalState] {
        &self.states
    }

    /// The number of consistent executions: choices of a path for each thread, of a source for each
    /// read, and of an order for the writes of each location, that the model allows.
    pub fn executions(&self) -> u64 {
        self.states.iter().map(FinalState::executions).sum()
    }

    /// The number of executions whose final state satisfies the condition's statement.
    pub fn satisfying(&self) -> u64 {
        self.states.iter().filter(|state| state.satisfies).map(FinalState::executions).sum()
    }

    /// Returns `true` if some execution satisfies the condition's statement, whatever the test says
    /// about it.
    pub fn is_allowed(&self) -> bool {
        self.satisfying() > 0
    }

    /// Returns `true` if the condition is true as it is written: for `exists` some execution
    /// satisfies the statement, for `~exists` none, for `forall` all do.
    pub fn holds(&self) -> bool {
        match self.quantifier {
            Quantifier::Exists => self.is_allowed(),
            Quantifier::NotExists => !self.is_allowed(),
            Quantifier::ForAll => self.satisfying() == self.executions(),
        }
    }

    /// The data races of a C test under RC11. If there are any, the test has no meaning in C, and
    /// its states are of no use.
    pub fn races(&self) -> &[Race] {
        &self.races
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.quantifier {
            Quantifier::Exists => "Allowed",
            Quantifier::NotExists => "Forbidden",
            Quantifier::ForAll => "Required",
        };
        writeln!(f, "Test {} {kind}", self.name)?;
        writeln!(f, "States {}", self.states.len())?;
        for state in &self.states {
            writeln!(f, "{state}")?;
        }
        writeln!(f, "{}", if self.holds() { "Ok" } else { "No" })?;
        let (satisfying, rest) = (self.satisfying(), self.executions() - self.satisfying());
        // The witnesses count for the condition with its quantifier; the observation is about the
        // statement itself.
        let (positive, negative) = match self.quantifier {
            Quantifier::NotExists => (rest, satisfying),
            _ => (satisfying, rest),
        };
        writeln!(f, "Witnesses\nPositive: {positive} Negative: {negative}")?;
        if !self.races.is_empty() {
            writeln!(f, "Flag data-race")?;
            for race in &self.races {
                writeln!(f, "  {race}")?;
            }
        }
        writeln!(f, "Condition {}", self.condition)?;
        writeln!(f, "Observation {} {} {satisfying} {rest}", self.name, self.observation())
    }
}
