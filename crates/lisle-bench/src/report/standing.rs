//! How Lisle does in a table, against the best of the others.

use super::summary::Table;

#[derive(Debug, PartialEq)]
pub(super) enum Standing {
    Ranked {
        /// From 1, the best.
        place: usize,
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
        let is_lisle = |name: &str| name == "lisle";
        if let Some((_, why)) = table.failed().find(|(line, _)| is_lisle(line.system)) {
            return Standing::Failed(why.to_owned());
        }
        let Some(index) = table.measured().position(|(line, _)| is_lisle(line.system)) else {
            return Standing::Absent;
        };
        let (_, lisle) = table.measured().nth(index).expect("it has been found there");
        let Some((line, rival)) = table.measured().find(|(line, _)| !is_lisle(line.system)) else {
            return Standing::Alone;
        };
        Standing::Ranked {
            place: index + 1,
            of: table.measured().count(),
            advantage: rival.behind / lisle.behind,
            rival: line.system,
            overlap: lisle.min <= rival.max && rival.min <= lisle.max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::tests::table;

    #[test]
    fn ahead_is_above_one_and_behind_below() {
        let standing = Standing::of(&table(&[("lisle", Ok(20.0)), ("go", Ok(50.0)), ("may", Ok(60.0))]));
        let ahead = Standing::Ranked { place: 1, of: 3, advantage: 2.5, rival: "go", overlap: false };
        assert_eq!(standing, ahead);
        let standing = Standing::of(&table(&[("may", Ok(10.0)), ("lisle", Ok(20.0)), ("go", Err("gone"))]));
        let behind = Standing::Ranked { place: 2, of: 2, advantage: 0.5, rival: "may", overlap: false };
        assert_eq!(standing, behind);
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
