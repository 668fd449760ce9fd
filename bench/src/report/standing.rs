//! How Lisle does in a table: the best of its forms, against the best of the others.

use super::summary::{Line, Stats, Table};
use crate::systems::Kind;

#[derive(Debug, PartialEq)]
pub(super) enum Standing {
    Ranked {
        /// The best of Lisle's forms.
        form: &'static str,
        /// Its place among the peers, from 1, the best.
        place: usize,
        /// How many have a place: the peers and Lisle.
        of: usize,
        /// How many times Lisle is better than the best of the others; below 1, it is worse.
        advantage: f64,
        /// The best of the others.
        rival: &'static str,
        /// Some of the worse one's samples were better than some of the better one's.
        overlap: bool,
    },
    /// No other system has been measured.
    Alone,
    Failed(String),
    /// It has not been run.
    Absent,
}

impl Standing {
    pub(super) fn of(table: &Table) -> Self {
        let Some((form, own)) = best(table, Kind::Own) else {
            let failed = table.failed().find(|(line, _)| table.kind(line.system) == Some(Kind::Own));
            return failed.map_or(Standing::Absent, |(_, why)| Standing::Failed(why.to_owned()));
        };
        let Some((line, rival)) = best(table, Kind::Peer) else {
            return Standing::Alone;
        };
        let peers = || table.measured().filter(|(line, _)| table.kind(line.system) == Some(Kind::Peer));
        Standing::Ranked {
            form: form.system,
            place: peers().filter(|(_, peer)| peer.behind < own.behind).count() + 1,
            of: peers().count() + 1,
            advantage: rival.behind / own.behind,
            rival: line.system,
            overlap: own.min <= rival.max && rival.min <= own.max,
        }
    }
}

/// The first of that kind, which is the best.
pub(super) fn best(table: &Table, kind: Kind) -> Option<(&Line, Stats)> {
    table.measured().find(|(line, _)| table.kind(line.system) == Some(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::tests::table;

    #[test]
    fn ahead_is_above_one_and_behind_below() {
        let standing = Standing::of(&table(&[("lisle", Ok(20.0)), ("go", Ok(50.0)), ("may", Ok(60.0))]));
        let ahead =
            Standing::Ranked { form: "lisle", place: 1, of: 3, advantage: 2.5, rival: "go", overlap: false };
        assert_eq!(standing, ahead);
        let standing = Standing::of(&table(&[("may", Ok(10.0)), ("lisle", Ok(20.0)), ("go", Err("gone"))]));
        let behind =
            Standing::Ranked { form: "lisle", place: 2, of: 2, advantage: 0.5, rival: "may", overlap: false };
        assert_eq!(standing, behind);
    }

    #[test]
    fn the_best_form_is_compared_and_a_reference_is_no_rival() {
        let rows =
            [("serial", Ok(1.0)), ("lisle-tasks", Ok(20.0)), ("go", Ok(30.0)), ("lisle", Err("hangs"))];
        let ahead = Standing::Ranked {
            form: "lisle-tasks",
            place: 1,
            of: 2,
            advantage: 1.5,
            rival: "go",
            overlap: false,
        };
        assert_eq!(Standing::of(&table(&rows)), ahead);
    }

    #[test]
    fn without_a_rival_there_is_no_place() {
        assert_eq!(Standing::of(&table(&[("lisle", Ok(20.0)), ("go", Err("gone"))])), Standing::Alone);
        assert_eq!(Standing::of(&table(&[("go", Ok(20.0))])), Standing::Absent);
        assert_eq!(
            Standing::of(&table(&[("go", Ok(20.0)), ("lisle", Err("hangs"))])),
            Standing::Failed("hangs".to_owned())
        );
    }
}
