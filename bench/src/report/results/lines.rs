//! The lines of a file, one after the other.

use super::{Facts, Run, Wrong, row, title};
use crate::{
    report::{
        setting::FACTS,
        summary::{Line, Table},
        table, threads,
    },
    systems, workloads,
};
use std::{iter::Enumerate, str::Lines};

pub(super) fn parse(text: &str) -> Result<Vec<Run>, Wrong> {
    let mut reader = Reader { lines: text.lines().enumerate(), last: 0 };
    let mut runs: Vec<Run> = Vec::new();
    let mut in_facts = false;
    while let Some(line) = reader.next() {
        let fact = fact(line);
        if fact.is_some() && !in_facts {
            runs.push(Run { facts: Facts::new(), tables: Vec::new(), threads: Vec::new() });
        }
        in_facts = fact.is_some();
        match (fact, runs.last_mut()) {
            _ if line.is_empty() => {}
            (Some(fact), Some(run)) => run.facts.push(fact),
            (_, None) => return Err(reader.wrong("there is no fact about the run before its first line")),
            (None, Some(run)) if line == threads::TITLE => reader.threads(run)?,
            (None, Some(run)) => {
                let table = reader.table(line)?;
                if run.tables.iter().any(|other| other.title() == table.title()) {
                    return Err(reader.wrong(&format!("the run has two tables of '{}'", table.title())));
                }
                run.tables.push(table);
            }
        }
    }
    match runs.iter().any(|run| run.tables.is_empty()) {
        true => Err(reader.wrong("a run has no table")),
        false if runs.is_empty() => Err(Wrong { line: 1, why: "there are no results".to_owned() }),
        false => Ok(runs),
    }
}

/// `Date: 2026-11-21`
fn fact(line: &str) -> Option<(&'static str, String)> {
    let (name, fact) = line.split_once(": ")?;
    let name = FACTS.iter().find(|known| **known == name)?;
    Some((name, fact.to_owned()))
}

struct Reader<'a> {
    lines: Enumerate<Lines<'a>>,
    /// The number of the line that was read last.
    last: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (index, line) = self.lines.next()?;
        self.last = index + 1;
        Some(line)
    }

    /// Something is wrong with the line that was read last.
    fn wrong(&self, why: &str) -> Wrong {
        Wrong { line: self.last, why: why.to_owned() }
    }

    fn must_be(&mut self, expected: &str) -> Result<(), Wrong> {
        match self.next() {
            Some(line) if line == expected => Ok(()),
            Some(line) => Err(self.wrong(&format!("'{line}' is not '{expected}'"))),
            None => Err(self.wrong(&format!("the file ends where '{expected}' must come"))),
        }
    }

    /// Up to an empty line, which ends each table, or to the end; at least one.
    fn rows<T>(&mut self, mut read: impl FnMut(&str) -> Result<T, String>) -> Result<Vec<T>, Wrong> {
        let mut rows = Vec::new();
        while let Some(line) = self.next().filter(|line| !line.is_empty()) {
            rows.push(read(line).map_err(|why| self.wrong(&why))?);
        }
        if rows.is_empty() { Err(self.wrong("the table has no rows")) } else { Ok(rows) }
    }

    fn table(&mut self, line: &str) -> Result<Table, Wrong> {
        let (group, figure) = title::parse(line).map_err(|why| self.wrong(&why))?;
        let unit = group.workload.unit(&figure);
        let with_limit = table::head(unit.name, true);
        let has_limit = self.lines.clone().next().is_some_and(|(_, line)| line == with_limit);
        self.must_be(&table::head(unit.name, has_limit))?;
        let first = self.last + 1;
        let rows = self.rows(row::parse)?;
        let is_without =
            |line: &Line| line.result.as_ref().is_ok_and(|stats| stats.to_limit.is_some() != has_limit);
        if let Some(row) = rows.iter().position(is_without) {
            let why = format!("{}: its columns differ from the table's columns", rows[row].system);
            return Err(Wrong { line: first + row, why });
        }
        row::check(&rows, unit.best).map_err(|(row, why)| Wrong { line: first + row, why })?;
        Ok(Table { group, figure, rows })
    }

    fn threads(&mut self, run: &mut Run) -> Result<(), Wrong> {
        if !run.threads.is_empty() {
            return Err(self.wrong("the run has two tables of threads"));
        }
        self.must_be(&threads::head())?;
        run.threads = self.rows(entry)?;
        Ok(())
    }
}

/// `  par-fib, lisle, 1 w    635621    0 …`
fn entry(line: &str) -> Result<threads::Entry, String> {
    let read = || {
        let (name, numbers) = line.trim_start().split_once(" w ")?;
        let [workload, system, workers] = name.split(", ").collect::<Vec<_>>().try_into().ok()?;
        let numbers: Vec<u64> = numbers.split_whitespace().map(|n| n.parse().ok()).collect::<Option<_>>()?;
        let [fibers, tasks, reified, inflated, migrations, messages, mean_bytes, largest_bytes] =
            numbers.try_into().ok()?;
        Some(threads::Entry {
            workload: workloads::find(workload)?.name,
            system: systems::find(system)?.name,
            workers: workers.parse().ok()?,
            threads: crate::job::Threads {
                fibers,
                tasks,
                reified,
                inflated,
                migrations,
                messages,
                mean_bytes,
                largest_bytes,
            },
        })
    };
    read()
        .filter(|entry| threads::line(entry) == line)
        .ok_or_else(|| format!("'{line}' does not say what the threads of a program were"))
}
