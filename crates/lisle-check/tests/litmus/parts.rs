//! Accesses of different sizes beside a machine that has bytes, for many small programs made by
//! chance.
//!
//! The machine runs the threads step by step, each access at once. So it has the sequentially
//! consistent states. The model `sc` has the same states, and `arm8` has all of them.

use std::collections::{BTreeSet, HashSet};

use lisle_check::litmus::{FinalState, Model};

use super::support::test;

#[derive(Debug, Clone, Copy)]
struct Step {
    /// The bytes: where they begin, and how many there are.
    offset: usize,
    size: usize,
    /// The value stored; a load stores none.
    stored: Option<u64>,
}

/// The values read by each thread, and the memory at the end.
type Final = (Vec<Vec<u64>>, u64);

/// Numbers that look like chance and are the same each time (Marsaglia, "Xorshift RNGs", 2003).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    fn program(&mut self) -> Vec<Vec<Step>> {
        let mut stored = 0;
        let mut step = || {
            let size = 1 << self.below(4);
            let offset = size * self.below(8 / size);
            stored += 1;
            let value = 0x1111_1111_1111_1111_u64 * stored;
            let value = if size == 8 { value } else { value & ((1 << (8 * size)) - 1) };
            Step { offset, size, stored: (self.below(2) == 0).then_some(value) }
        };
        (0..2).map(|_| (0..3).map(|_| step()).collect()).collect()
    }
}

fn mask(step: &Step) -> u64 {
    if step.size == 8 { u64::MAX } else { (1 << (8 * step.size)) - 1 }
}

/// The states in which the machine can end.
fn run(program: &[Vec<Step>]) -> BTreeSet<Final> {
    let start = (vec![0; program.len()], vec![Vec::new(); program.len()], 0_u64);
    let (mut seen, mut open, mut ends) = (HashSet::from([start.clone()]), vec![start], BTreeSet::new());
    while let Some((next, read, memory)) = open.pop() {
        if next.iter().zip(program).all(|(next, steps)| *next == steps.len()) {
            ends.insert((read, memory));
            continue;
        }
        for (thread, steps) in program.iter().enumerate() {
            let Some(step) = steps.get(next[thread]) else { continue };
            let (mut next, mut read, mut memory) = (next.clone(), read.clone(), memory);
            next[thread] += 1;
            let shift = 8 * step.offset;
            match step.stored {
                Some(value) => memory = memory & !(mask(step) << shift) | value << shift,
                None => read[thread].push(memory >> shift & mask(step)),
            }
            let way = (next, read, memory);
            if seen.insert(way.clone()) {
                open.push(way);
            }
        }
    }
    ends
}

/// The program for AArch64. The value that a load reads goes into a register of its own.
fn text(program: &[Vec<Step>]) -> String {
    let mut columns = Vec::new();
    let mut block = String::from("uint64_t x; ");
    let mut items = String::new();
    for (thread, steps) in program.iter().enumerate() {
        let mut cells = Vec::new();
        block.push_str(&format!("{thread}:X9=x; "));
        for (number, step) in steps.iter().enumerate() {
            let wide = if step.size == 8 { "X" } else { "W" };
            let size = match step.size {
                1 => "B",
                2 => "H",
                _ => "",
            };
            let name = if step.stored.is_some() { "STR" } else { "LDR" };
            cells.push(format!("{name}{size} {wide}{number},[X9,#{}]", step.offset));
            block.push_str(&format!("uint64_t {thread}:X{number}={}; ", step.stored.unwrap_or(0)));
            if step.stored.is_none() {
                items.push_str(&format!("{thread}:X{number}; "));
            }
        }
        columns.push(cells);
    }
    let rows: String = (0..3).map(|row| format!(" {} | {} ;\n", columns[0][row], columns[1][row])).collect();
    format!("AArch64 parts\n{{ {block} }}\n P0 | P1 ;\n{rows}locations [{items}x;]\nforall (true)")
}

fn states(program: &[Vec<Step>], model: Model) -> BTreeSet<Final> {
    let text = text(program);
    let outcome = test(&text).run(model).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let end = |state: &FinalState| {
        let mut end = (vec![Vec::new(); program.len()], 0);
        for (name, value) in state.values() {
            let value = value.parse::<i64>().expect("a number") as u64;
            match name.split_once(':') {
                Some((thread, _)) => end.0[thread.parse::<usize>().expect("a thread")].push(value),
                None => end.1 = value,
            }
        }
        end
    };
    outcome.states().iter().map(end).collect()
}

#[test]
fn a_machine_of_bytes_has_the_same_states() {
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    let mut weak = 0;
    for _ in 0..if cfg!(debug_assertions) { 60 } else { 600 } {
        let program = chance.program();
        let machine = run(&program);
        assert_eq!(states(&program, Model::Sc), machine, "{}", text(&program));
        let armv8 = states(&program, Model::Arm8);
        assert!(armv8.is_superset(&machine), "{}", text(&program));
        weak += usize::from(armv8.len() > machine.len());
    }
    assert!(weak > 0, "none of the programs shows a weak order");
}
