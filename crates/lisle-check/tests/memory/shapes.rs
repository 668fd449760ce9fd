//! The table of the weak outcomes of the known shapes, as programs of the checker's atomics.
//!
//! A shape is written once. `W` stores, `R` loads, `X` exchanges, `F` is a sequentially consistent
//! fence, `Wyr` stores the value loaded last, and the address of `Ryr` depends on it. The columns
//! are: sequential consistency, x86-TSO, RC11 with relaxed accesses, and RC11 with acquire loads
//! and release stores. RC11 forbids LB and 3.LB with relaxed accesses; ISO C++ allows them.

use super::language::{Op, Program, Value, compare, model};
use lisle_check::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use lisle_check::litmus::Model;
use lisle_check::{Checker, Memory};

/// Name, threads, executions under sequential consistency, weak outcome: the values that the loads
/// of each thread read, and the last values that matter; A (allowed) or F (forbidden) for each
/// column.
const TABLE: &str = "
    SB            | Wx1 Ry; Wy1 Rx                |  3 | 0;0       | F A A A
    SB+fence+po   | Wx1 F Ry; Wy1 Rx              |  3 | 0;0       | F A A A
    SB+xchg       | Xx1 Ry; Xy1 Rx                |  3 | .0;.0     | F F A A
    MP            | Wx1 Wy1; Ry Rx                |  3 | ;10       | F F A F
    MP+fence+po   | Wx1 F Wy1; Ry Rx              |  3 | ;10       | F F A F
    MP+fence+addr | Wx1 F Wy1; Ry Rxr             |  3 | ;10       | F F A F
    LB            | Rx Wy1; Ry Wx1                |  3 | 1;1       | F F F F
    LB+datas      | Rx Wyr; Ry Wxr                |  3 | 1;1       | F F F F
    S             | Wx2 Wy1; Ry Wx1               |  3 | ;1 x=2    | F F A F
    R             | Wx1 Wy1; Wy2 Rx               |  3 | ;0 y=2    | F A A A
    R+po+fence    | Wx1 Wy1; Wy2 F Rx             |  3 | ;0 y=2    | F F A A
    2+2W          | Wx1 Wy2; Wy1 Wx2              |  3 | ; x=1 y=1 | F F A A
    WRC           | Wx1; Rx Wy1; Ry Rx            |  7 | ;1;10     | F F A F
    WRC+data+addr | Wx1; Rx Wyr; Ry Rxr           |  7 | ;1;10     | F F A F
    RWC           | Wx1; Rx Ry; Wy1 Rx            |  7 | ;10;0     | F A A A
    IRIW          | Wx1; Rx Ry; Wy1; Ry Rx        | 15 | ;10;;10   | F F A A
    IRIW+addrs    | Wx1; Rx Ryr; Wy1; Ry Rxr      | 15 | ;10;;10   | F F A A
    WWC           | Wx2; Rx Wy1; Ry Wx1           |  9 | ;2;1 x=2  | F F A F
    WRW+WR        | Wx1; Rx Wy1; Wy2 Rx           |  7 | ;1;0 y=2  | F A A A
    3.LB          | Rx Wy1; Ry Wz1; Rz Wx1        |  7 | 1;1;1     | F F F F
    3.2W          | Wx1 Wy2; Wy1 Wz2; Wz1 Wx2     |  7 | ;; x=1 y=1 z=1 | F F A A
    CoRR          | Wx1; Rx Rx                    |  3 | ;10       | F F F F
    CoWR          | Wx1 Rx; Wx2                   |  3 | 0;        | F F F F
    SB+fences     | Wx1 F Ry; Wy1 F Rx            |  3 | 0;0       | F F F F
    MP+fences     | Wx1 F Wy1; Ry F Rx            |  3 | ;10       | F F F F
    LB+fences     | Rx F Wy1; Ry F Wx1            |  3 | 1;1       | F F F F
    R+fences      | Wx1 F Wy1; Wy2 F Rx           |  3 | ;0 y=2    | F F F F
    2+2W+fences   | Wx1 F Wy2; Wy1 F Wx2          |  3 | ; x=1 y=1 | F F F F
    IRIW+fences   | Wx1; Rx F Ry; Wy1; Ry F Rx    | 15 | ;10;;10   | F F F F
";

fn shape(text: &str, orders: [Ordering; 3]) -> Program {
    let [load, store, update] = orders;
    let operation = |word: &str, loads: &mut usize| {
        let letters: Vec<char> = word.chars().collect();
        let at = letters.get(1).map_or(0, |letter| *letter as usize - 'x' as usize);
        let value = match letters.get(2) {
            Some('r') => Value::Register(*loads - 1),
            letter => Value::Constant(letter.and_then(|letter| letter.to_digit(10)).unwrap_or(0)),
        };
        *loads += usize::from(letters[0] == 'R');
        match letters[0] {
            'R' => match value {
                Value::Register(by) => Op::LoadBy(at, by, load),
                Value::Constant(_) => Op::Load(at, load),
            },
            'W' => Op::Store(at, value, store),
            'X' => Op::Swap(at, value, update),
            _ => Op::Fence(SeqCst),
        }
    };
    let thread = |text: &str| {
        let mut loads = 0;
        text.split_whitespace().map(|word| operation(word, &mut loads)).collect()
    };
    let threads: Vec<Vec<Op>> = text.split(';').map(thread).collect();
    Program {
        locations: if text.contains('z') {
            3
        } else if text.contains('y') {
            2
        } else {
            1
        },
        threads,
    }
}

/// Returns `true` if the outcome is the one that is described.
fn is_weak(program: &Program, outcome: &[u32], described: &str) -> bool {
    let mut words = described.split_whitespace();
    let registers = words.next().expect("it describes the registers");
    let registers: Vec<char> = registers.chars().filter(|letter| *letter != ';').collect();
    let last = &outcome[outcome.len() - program.locations..];
    let all = registers.iter().zip(outcome);
    registers.len() + program.locations == outcome.len()
        && all.into_iter().all(|(letter, value)| letter.to_digit(10).is_none_or(|digit| digit == *value))
        && words.all(|word| {
            let letters: Vec<char> = word.chars().collect();
            last[letters[0] as usize - 'x' as usize] == letters[2].to_digit(10).unwrap()
        })
}

const RELAXED: [Ordering; 3] = [Relaxed; 3];
const ORDERED: [Ordering; 3] = [Acquire, Release, AcqRel];

#[test]
fn every_row_in_every_column() {
    for row in TABLE.lines().filter(|line| !line.trim().is_empty()) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [name, text, executions, described, letters] = cells[..] else { panic!("{row}") };
        let columns =
            [(RELAXED, Memory::Sc), (RELAXED, Memory::Tso), (RELAXED, Memory::Rc11), (ORDERED, Memory::Rc11)];
        let mut found = Vec::new();
        for (orders, memory) in columns {
            let program = shape(text, orders);
            let (complete, redundant, graphs) = compare(&program, memory);
            println!("{name}, {memory}: {graphs} graphs, {complete} executions, {redundant} in vain");
            let (_, outcomes) = program.explore(&Checker::new().memory(memory));
            let weak = outcomes.iter().any(|outcome| is_weak(&program, outcome, described));
            found.push(if weak { "A" } else { "F" });
            if memory == Memory::Sc {
                assert_eq!((graphs, redundant), (executions.parse().unwrap(), 0), "{name}");
            }
        }
        assert_eq!(found.join(" "), letters, "{name}");
    }
}

#[test]
fn exact_counts() {
    for (text, graphs) in [("Wx1 Ry; Wy1 Rx", 4), ("Wx1; Rx Ry; Wy1; Ry Rx", 16), ("Wx1 Wy2; Wy1 Wx2", 4)] {
        let program = shape(text, RELAXED);
        assert_eq!(compare(&program, Memory::Rc11).2, graphs, "{text}");
        assert_eq!(program.litmus(Model::Rc11).0, graphs, "{text}");
    }
}

#[test]
fn sequentially_consistent_operations_have_the_counts_of_sequential_consistency() {
    for row in TABLE.lines().filter(|line| !line.trim().is_empty()) {
        let text = row.split('|').nth(1).unwrap();
        if text.contains('F') {
            continue; // a fence has no influence, and has an axiom of its own
        }
        let program = shape(text, [SeqCst; 3]);
        let [rc11, sc] = [Memory::Rc11, Memory::Sc].map(|memory| compare(&program, memory));
        assert_eq!(rc11, sc, "{text}");
        assert_eq!((rc11.0, rc11.1), (rc11.2, 0), "{text}");
        assert_eq!(program.litmus(model(Memory::Rc11)).0, rc11.2, "{text}");
    }
}
