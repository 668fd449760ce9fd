//! The axioms beside machines that run the same programs step by step, and beside each other, for
//! many small programs made by chance.
//!
//! The machines share nothing with the library: a memory, and for x86-TSO a queue of stores for
//! each thread (Owens, Sarkar and Sewell, TPHOLs 2009). The relations between the models are
//! theorems: sequentially consistent accesses alone behave so under RC11 (Lahav et al. 2017), and
//! the mappings to x86 and to Armv8 allow no more than RC11 does (the same paper; Podkopaev, Lahav
//! and Vafeiadis, POPL 2019), apart from reads that go after later writes of their thread, which
//! RC11 never allows.

use std::collections::{BTreeSet, HashSet, VecDeque};

use lisle_check::litmus::Model;

use super::support::test;

const LOCATIONS: usize = 2;

/// One step of a thread. The values that are read are numbered in the order of the program.
#[derive(Debug, Clone, Copy)]
enum Step {
    Store(usize, i64),
    Load(usize),
    Exchange(usize, i64),
    Fence,
}

type Program = Vec<Vec<Step>>;

/// The values read by each thread, and the memory at the end.
type Final = (Vec<Vec<i64>>, Vec<i64>);

/// Numbers that look like chance and are the same each time (Marsaglia, "Xorshift RNGs", 2003).
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    fn program(&mut self) -> Program {
        let threads = 2 + self.below(2);
        let mut value = 0;
        let mut step = || {
            value += 1;
            match self.below(8) {
                0..3 => Step::Store(self.below(LOCATIONS), value),
                3..6 => Step::Load(self.below(LOCATIONS)),
                6 => Step::Exchange(self.below(LOCATIONS), value),
                _ => Step::Fence,
            }
        };
        (0..threads).map(|_| (0..4 - threads / 3).map(|_| step()).collect()).collect()
    }
}

/// Where a machine is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Machine {
    next: Vec<usize>,
    queues: Vec<VecDeque<(usize, i64)>>,
    memory: Vec<i64>,
    read: Vec<Vec<i64>>,
}

/// The final states of a machine with queues of stores, or without.
fn run(program: &Program, queues: bool) -> BTreeSet<Final> {
    let start = Machine {
        next: vec![0; program.len()],
        queues: vec![VecDeque::new(); program.len()],
        memory: vec![0; LOCATIONS],
        read: vec![Vec::new(); program.len()],
    };
    let (mut seen, mut open, mut ends) = (HashSet::from([start.clone()]), vec![start], BTreeSet::new());
    while let Some(machine) = open.pop() {
        let ways: Vec<Machine> =
            (0..program.len()).flat_map(|thread| steps(&machine, program, thread, queues)).collect();
        if ways.is_empty() {
            ends.insert((machine.read, machine.memory));
        } else {
            open.extend(ways.into_iter().filter(|way| seen.insert(way.clone())));
        }
    }
    ends
}

/// Returns the possible next steps of one thread: to bring its oldest store to memory, or to
/// execute an instruction.
fn steps(machine: &Machine, program: &Program, thread: usize, queues: bool) -> Vec<Machine> {
    let mut ways = Vec::new();
    if !machine.queues[thread].is_empty() {
        let mut way = machine.clone();
        let (location, value) = way.queues[thread].pop_front().expect("it is not empty");
        way.memory[location] = value;
        ways.push(way);
    }
    let Some(step) = program[thread].get(machine.next[thread]) else { return ways };
    let mut way = machine.clone();
    way.next[thread] += 1;
    let drained = machine.queues[thread].is_empty();
    match *step {
        Step::Store(location, value) if queues => way.queues[thread].push_back((location, value)),
        Step::Store(location, value) => way.memory[location] = value,
        Step::Load(location) => {
            let own = machine.queues[thread].iter().rev().find(|(stored, _)| *stored == location);
            way.read[thread].push(own.map_or(machine.memory[location], |(_, value)| *value));
        }
        Step::Exchange(..) | Step::Fence if !drained => return ways,
        Step::Exchange(location, value) => {
            way.read[thread].push(machine.memory[location]);
            way.memory[location] = value;
        }
        Step::Fence => {}
    }
    ways.push(way);
    ways
}

/// The program in C. `order` gives the order of each access, of which the kinds are `load`, `store`
/// and `update`.
fn in_c(program: &Program, mut order: impl FnMut(&str) -> &'static str) -> String {
    let mut text = String::from("C random { a=0; b=0; }\n");
    let name = |location: usize| ["a", "b"][location];
    let mut items = vec!["a".to_owned(), "b".to_owned()];
    for (thread, steps) in program.iter().enumerate() {
        text.push_str(&format!("P{thread} (atomic_int* a, atomic_int* b) {{\n"));
        let mut read = 0;
        for step in steps {
            text.push_str(&match *step {
                Step::Store(location, value) => {
                    format!("atomic_store_explicit({}, {value}, {});\n", name(location), order("store"))
                }
                Step::Load(location) => {
                    read += 1;
                    format!("int r{read} = atomic_load_explicit({}, {});\n", name(location), order("load"))
                }
                Step::Exchange(location, value) => {
                    read += 1;
                    let order = order("update");
                    format!("int r{read} = atomic_exchange_explicit({}, {value}, {order});\n", name(location))
                }
                Step::Fence => "atomic_thread_fence(memory_order_seq_cst);\n".to_owned(),
            });
        }
        text.push_str("}\n");
        items.extend((1..=read).map(|read| format!("{thread}:r{read}")));
    }
    text + &format!("locations [{};]\nforall (true)\n", items.join("; "))
}

/// The final states of a C test under a model.
fn states(text: &str, threads: usize, model: Model) -> BTreeSet<Final> {
    let outcome = test(text).run(model).expect("the model is for C");
    let state = |state: &lisle_check::litmus::FinalState| {
        let mut end = (vec![Vec::new(); threads], Vec::new());
        for (name, value) in state.values() {
            let value: i64 = value.parse().expect("a number");
            match name.split_once(':') {
                Some((thread, _)) => end.0[thread.parse::<usize>().expect("a number")].push(value),
                None => end.1.push(value),
            }
        }
        end
    };
    outcome.states().iter().map(state).collect()
}

fn programs() -> impl Iterator<Item = Program> {
    let count = if cfg!(debug_assertions) { 40 } else { 400 };
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    (0..count).map(move |_| chance.program())
}

fn relaxed(_: &str) -> &'static str {
    "memory_order_relaxed"
}

fn acquire_and_release(kind: &str) -> &'static str {
    match kind {
        "load" => "memory_order_acquire",
        "store" => "memory_order_release",
        _ => "memory_order_acq_rel",
    }
}

#[test]
fn the_axioms_allow_what_the_machines_do() {
    for program in programs() {
        let text = in_c(&program, relaxed);
        assert_eq!(states(&text, program.len(), Model::Sc), run(&program, false), "sc\n{text}");
        assert_eq!(states(&text, program.len(), Model::Tso), run(&program, true), "tso\n{text}");
    }
}

#[test]
fn sequentially_consistent_accesses_are_so() {
    for program in programs() {
        let text = in_c(&program, |_| "memory_order_seq_cst");
        let expected = run(&program, false);
        for model in [Model::Rc11, Model::Tso, Model::Arm8, Model::Arm8Rcpc] {
            assert_eq!(states(&text, program.len(), model), expected, "{model}\n{text}");
        }
    }
}

#[test]
fn the_mappings_allow_no_more_than_c() {
    let mut weaker = 0;
    for program in programs() {
        let mut chance = Chance(program.len() as u64 + 7);
        let relaxed = in_c(&program, relaxed);
        let ordered = in_c(&program, acquire_and_release);
        let mixed = in_c(&program, |kind| match chance.below(2) {
            0 => "memory_order_seq_cst",
            _ => acquire_and_release(kind),
        });
        for text in [&relaxed, &ordered, &mixed] {
            let in_c = states(text, program.len(), Model::Rc11);
            assert!(states(text, program.len(), Model::Tso).is_subset(&in_c), "tso\n{text}");
            // Relaxed accesses may go after later writes of their thread under Armv8.
            for model in [Model::Arm8, Model::Arm8Rcpc].into_iter().filter(|_| text != &relaxed) {
                let on_arm = states(text, program.len(), model);
                assert!(on_arm.is_subset(&in_c), "{model}\n{text}");
                weaker += usize::from(on_arm != in_c);
            }
        }
        let with_ldar = states(&ordered, program.len(), Model::Arm8);
        assert!(with_ldar.is_subset(&states(&ordered, program.len(), Model::Arm8Rcpc)), "{ordered}");
        assert!(run(&program, false).is_subset(&with_ldar), "{ordered}");
    }
    assert!(weaker > 0, "Armv8 forbids some of what C allows");
}
