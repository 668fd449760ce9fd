//! The table of conflicts between two requests in one turn.
//!
//! Stroscot gives four samples: writes to a variable, acquiring a mutex, appending to a file, and
//! exiting. The table keeps them as they are, and decides the rest by three principles. If an
//! effect would be lost or doubled in an arbitrary way, there is a conflict. If a thing exists to
//! be raced for, there is a winner. A look at something sees the state before the turn.
//!
//! *Invariant:* the requests of a turn without a conflict have together the same effect as in a row
//! in some order. So single turns reach all states that larger turns reach, and larger turns only
//! add the conflicts; these can be seen in pairs. So [`check`](super::check()) may take one task at
//! a time, and still speak about all sets of tasks.
//!
#![doc = include_str!("conflicts.md")]

use std::fmt;

/// The kind of a request in the table of conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Loading a place.
    Load,
    /// Storing into a place.
    Store,
    /// An atomic operation that reads and writes a cell in one step.
    Update,
    /// Writing an IVar.
    Fill,
    /// Locking a mutex.
    Lock,
    /// Trying to lock a mutex.
    TryLock,
    /// Unlocking a mutex.
    Unlock,
    /// Appending to a file, or printing, which appends to standard output.
    Append,
    /// Reading a file.
    ReadFile,
    /// Reading a line of standard input.
    ReadLine,
    /// Giving the program's answer.
    Answer,
    /// Failing: a function of the program has panicked.
    Fail,
    /// Ending the program.
    Exit,
}

/// The rule for two requests in one turn about the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Both happen, and do not notice each other.
    Together,
    /// Both happen. The first request sees the state before the turn.
    SeesBefore,
    /// Either may come first. The other one finds the winner's state: it waits, fails, or goes on
    /// from the winner's value.
    Winner,
    /// It is a conflict, unless both would leave the same value.
    UnlessEqual,
    /// It is a conflict.
    Conflict,
}

/// A line of the table: the rule for two requests about one thing in one turn, with its reason.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The first request.
    pub first: Kind,
    /// The second request.
    pub second: Kind,
    /// What happens.
    pub rule: Rule,
    /// Why.
    pub why: &'static str,
}

const fn row(first: Kind, second: Kind, rule: Rule, why: &'static str) -> Row {
    Row { first, second, rule, why }
}

/// The table. Requests about different things, and pairs without a row, are [`Rule::Together`].
///
/// [`Kind::Exit`] concerns everything: beside any other request it is a conflict.
pub const TABLE: &[Row] = &[
    row(Kind::Load, Kind::Load, Rule::Together, "looking changes nothing"),
    row(Kind::Load, Kind::Store, Rule::SeesBefore, "only one task writes the cell"),
    row(Kind::Load, Kind::Update, Rule::SeesBefore, "only one task writes the cell"),
    row(Kind::Store, Kind::Store, Rule::UnlessEqual, "one cell cannot hold two values"),
    row(Kind::Store, Kind::Update, Rule::UnlessEqual, "one cell cannot hold two values"),
    row(Kind::Update, Kind::Update, Rule::Winner, "atomic operations exist to be raced"),
    row(Kind::Fill, Kind::Fill, Rule::Conflict, "an IVar is filled once"),
    row(Kind::Lock, Kind::Lock, Rule::Winner, "one task gets the mutex, the other waits"),
    row(Kind::Lock, Kind::TryLock, Rule::Winner, "one task gets the mutex, the other waits or fails"),
    row(Kind::TryLock, Kind::TryLock, Rule::Winner, "one task gets the mutex, the other fails"),
    row(Kind::TryLock, Kind::Unlock, Rule::SeesBefore, "the mutex was held, so the attempt fails"),
    row(Kind::Append, Kind::Append, Rule::Conflict, "the order of texts in one file matters"),
    row(Kind::ReadFile, Kind::Append, Rule::SeesBefore, "only one task writes the file"),
    row(Kind::ReadFile, Kind::ReadFile, Rule::Together, "looking changes nothing"),
    row(Kind::ReadLine, Kind::ReadLine, Rule::Conflict, "which task gets which line matters"),
    row(Kind::Answer, Kind::Answer, Rule::UnlessEqual, "a program has one answer"),
    row(Kind::Exit, Kind::Exit, Rule::UnlessEqual, "a program has one exit code"),
];

/// The reason why an exit conflicts with all other requests of its turn.
pub(super) const EXIT_ENDS_OTHERS: &str = "the exit would end a task in the middle of what it does";

/// Returns the rule for two requests in one turn about the same thing.
///
/// The order of the two does not matter. With [`Rule::SeesBefore`], the request that changes
/// nothing sees the state before.
///
/// # Examples
///
/// ```
/// use lisle_check::task::conflict::{Kind, Rule, rule};
///
/// assert_eq!(rule(Kind::Store, Kind::Store), Rule::UnlessEqual);
/// assert_eq!(rule(Kind::Lock, Kind::Lock), Rule::Winner);
/// assert_eq!(rule(Kind::Exit, Kind::Load), Rule::Conflict);
/// ```
pub fn rule(one: Kind, other: Kind) -> Rule {
    match find(one, other) {
        Some(row) => row.rule,
        None if one == Kind::Exit || other == Kind::Exit => Rule::Conflict,
        None => Rule::Together,
    }
}

/// Returns the reason why two requests in one turn conflict.
pub(super) fn why(one: Kind, other: Kind) -> &'static str {
    find(one, other).map_or(EXIT_ENDS_OTHERS, |row| row.why)
}

fn find(one: Kind, other: Kind) -> Option<&'static Row> {
    let pair =
        |row: &&Row| (row.first, row.second) == (one, other) || (row.first, row.second) == (other, one);
    TABLE.iter().find(pair)
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Load => "load",
            Kind::Store => "store",
            Kind::Update => "update",
            Kind::Fill => "write an IVar",
            Kind::Lock => "lock",
            Kind::TryLock => "try to lock",
            Kind::Unlock => "unlock",
            Kind::Append => "append or print",
            Kind::ReadFile => "read a file",
            Kind::ReadLine => "read a line",
            Kind::Answer => "answer",
            Kind::Fail => "fail",
            Kind::Exit => "exit",
        })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rule::Together => "both happen",
            Rule::SeesBefore => "both happen; the first sees the state before",
            Rule::Winner => "one of them wins",
            Rule::UnlessEqual => "a conflict, unless the values are equal",
            Rule::Conflict => "a conflict",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{EXIT_ENDS_OTHERS, TABLE};
    use std::fmt::Write;

    #[test]
    fn the_page_shows_the_table() {
        let mut page =
            String::from("| one | other | in one turn, about one thing | why |\n|---|---|---|---|\n");
        for row in TABLE {
            writeln!(page, "| {} | {} | {} | {} |", row.first, row.second, row.rule, row.why).unwrap();
        }
        writeln!(page, "| exit | anything else | a conflict | {EXIT_ENDS_OTHERS} |").unwrap();
        assert_eq!(include_str!("conflicts.md"), page, "conflicts.md is not the table:\n{page}");
    }

    #[test]
    fn no_pair_is_listed_twice() {
        for (index, row) in TABLE.iter().enumerate() {
            let again = TABLE[index + 1..].iter().any(|other| {
                (row.first, row.second) == (other.first, other.second)
                    || (row.first, row.second) == (other.second, other.first)
            });
            assert!(!again, "{} and {}", row.first, row.second);
        }
    }
}
