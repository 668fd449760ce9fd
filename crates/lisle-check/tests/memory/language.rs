//! A small language of programs that share atomics. A program is run by the checker, with the
//! checker's atomics, and written as a litmus test in C. So its outcomes can be found in both ways.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

use lisle_check::atomic::{AtomicU32, Ordering, fence};
use lisle_check::litmus::{Model, Test};
use lisle_check::{Checker, Memory, Verdict};

/// The source of an operation's value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value {
    Constant(u32),
    /// The value that a load of the same thread has read.
    Register(usize),
}

/// An operation. Each operation that reads puts the value into the next register of its thread.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Load(usize, Ordering),
    /// The address depends on a register, whose value makes no difference.
    LoadBy(usize, usize, Ordering),
    Store(usize, Value, Ordering),
    Swap(usize, Value, Ordering),
    Add(usize, u32, Ordering),
    /// Also puts into a second register whether it has succeeded.
    Exchange {
        at: usize,
        expected: u32,
        new: u32,
        success: Ordering,
        failure: Ordering,
        weak: bool,
    },
    Fence(Ordering),
    /// Runs these operations if a register has this value.
    If(usize, u32, Vec<Op>),
}

/// Threads over some locations, all of them zero.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) locations: usize,
    pub(crate) threads: Vec<Vec<Op>>,
}

/// The registers of all threads, and then the last values of the locations.
pub(crate) type Outcome = Vec<u32>;

fn registers_of(ops: &[Op]) -> usize {
    ops.iter()
        .map(|op| match op {
            Op::Load(..) | Op::LoadBy(..) | Op::Swap(..) | Op::Add(..) => 1,
            Op::Exchange { .. } => 2,
            Op::Store(..) | Op::Fence(_) => 0,
            Op::If(_, _, then) => registers_of(then),
        })
        .sum()
}

fn run(ops: &[Op], memory: &[AtomicU32], registers: &mut [u32], next: &mut usize) {
    for op in ops {
        let value = |value: &Value| match *value {
            Value::Constant(value) => value,
            Value::Register(register) => registers[register],
        };
        let read = match op {
            Op::Load(at, order) => memory[*at].load(*order),
            Op::LoadBy(at, by, order) => memory[*at + (registers[*by] & 128) as usize].load(*order),
            Op::Store(at, stored, order) => {
                memory[*at].store(value(stored), *order);
                continue;
            }
            Op::Swap(at, stored, order) => memory[*at].swap(value(stored), *order),
            Op::Add(at, n, order) => memory[*at].fetch_add(*n, *order),
            Op::Exchange { at, expected, new, success, failure, weak } => {
                let result = match weak {
                    true => memory[*at].compare_exchange_weak(*expected, *new, *success, *failure),
                    false => memory[*at].compare_exchange(*expected, *new, *success, *failure),
                };
                registers[*next] = u32::from(result.is_ok());
                *next += 1;
                result.unwrap_or_else(|now| now)
            }
            Op::Fence(order) => {
                fence(*order);
                continue;
            }
            Op::If(register, value, then) => {
                if registers[*register] == *value {
                    run(then, memory, registers, next);
                } else {
                    *next += registers_of(then);
                }
                continue;
            }
        };
        registers[*next] = read;
        *next += 1;
    }
}

impl Program {
    /// Lets the checker explore the program. Returns the verdict and the outcomes.
    pub(crate) fn explore(&self, checker: &Checker) -> (Verdict, BTreeSet<Outcome>) {
        let found = Arc::new(Mutex::new(BTreeSet::new()));
        let (program, of_program) = (Arc::new(self.clone()), found.clone());
        let verdict = checker.explore(move || {
            let memory: Arc<Vec<_>> = Arc::new((0..program.locations).map(|_| AtomicU32::new(0)).collect());
            let threads: Vec<_> = (0..program.threads.len())
                .map(|thread| {
                    let (memory, program) = (memory.clone(), program.clone());
                    lisle::spawn(move || {
                        let ops = &program.threads[thread];
                        let mut registers = vec![0; registers_of(ops)];
                        run(ops, &memory, &mut registers, &mut 0);
                        registers
                    })
                })
                .collect();
            let mut outcome: Outcome =
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
            outcome.extend(memory.iter().map(|last| last.load(Ordering::Relaxed)));
            of_program.lock().unwrap().insert(outcome);
        });
        let found = found.lock().unwrap().clone();
        (verdict, found)
    }

    /// Returns the number of executions that the axioms distinguish, and the outcomes that they
    /// allow.
    pub(crate) fn litmus(&self, model: Model) -> (u64, BTreeSet<Outcome>) {
        let text = self.text();
        let test = Test::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let outcome = test.run(model).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let states = outcome.states().iter().map(|state| {
            let value = |name: &String| {
                let mut values = state.values();
                values.find(|(known, _)| known == name).expect("each is looked at").1.parse().unwrap()
            };
            self.names().iter().map(value).collect()
        });
        (outcome.executions(), states.collect())
    }

    /// The names of the parts of an outcome, as litmus tests print them.
    fn names(&self) -> Vec<String> {
        let registers = self.threads.iter().enumerate().flat_map(|(thread, ops)| {
            (0..registers_of(ops)).map(move |register| format!("{thread}:r{register}"))
        });
        registers.chain((0..self.locations).map(|location| format!("[x{location}]"))).collect()
    }

    /// The program as a litmus test.
    pub(crate) fn text(&self) -> String {
        let mut text = String::from("C program\n{");
        (0..self.locations).for_each(|location| write!(text, " x{location}=0;").unwrap());
        text += " }\n";
        let parameters: Vec<_> = (0..self.locations).map(|at| format!("atomic_int* x{at}")).collect();
        for (thread, ops) in self.threads.iter().enumerate() {
            writeln!(text, "P{thread} ({}) {{", parameters.join(", ")).unwrap();
            (0..registers_of(ops)).for_each(|register| writeln!(text, "  int r{register} = 0;").unwrap());
            write_ops(ops, &mut text, &mut 0);
            text += "}\n";
        }
        let items: Vec<_> = self.names().iter().map(|name| format!("{name}=0")).collect();
        writeln!(text, "exists ({})", items.join(" /\\ ")).unwrap();
        text
    }
}

fn order(order: Ordering) -> &'static str {
    match order {
        Ordering::Relaxed => "memory_order_relaxed",
        Ordering::Acquire => "memory_order_acquire",
        Ordering::Release => "memory_order_release",
        Ordering::AcqRel => "memory_order_acq_rel",
        _ => "memory_order_seq_cst",
    }
}

fn write_ops(ops: &[Op], text: &mut String, next: &mut usize) {
    let value = |value: &Value| match value {
        Value::Constant(value) => value.to_string(),
        Value::Register(register) => format!("r{register}"),
    };
    for op in ops {
        let register = *next;
        *next += match op {
            Op::If(..) => 0,
            op => registers_of(std::slice::from_ref(op)),
        };
        match op {
            Op::Load(at, o) => writeln!(text, "  r{register} = atomic_load_explicit(x{at}, {});", order(*o)),
            Op::LoadBy(at, by, o) => {
                let o = order(*o);
                writeln!(text, "  r{register} = atomic_load_explicit(x{at} + (r{by} ^ r{by}), {o});")
            }
            Op::Store(at, v, o) => {
                writeln!(text, "  atomic_store_explicit(x{at}, {}, {});", value(v), order(*o))
            }
            Op::Swap(at, v, o) => {
                let (v, o) = (value(v), order(*o));
                writeln!(text, "  r{register} = atomic_exchange_explicit(x{at}, {v}, {o});")
            }
            Op::Add(at, n, o) => {
                writeln!(text, "  r{register} = atomic_fetch_add_explicit(x{at}, {n}, {});", order(*o))
            }
            Op::Exchange { at, expected, new, success, failure, weak } => {
                let name = if *weak { "weak" } else { "strong" };
                let (success, failure) = (order(*success), order(*failure));
                let (made, old) = (register, register + 1);
                writeln!(
                    text,
                    "  r{old} = {expected};\n  r{made} = atomic_compare_exchange_{name}_explicit\
                     (x{at}, &r{old}, {new}, {success}, {failure});"
                )
            }
            Op::Fence(o) => writeln!(text, "  atomic_thread_fence({});", order(*o)),
            Op::If(register, value, then) => {
                writeln!(text, "  if (r{register} == {value}) {{").unwrap();
                write_ops(then, text, next);
                writeln!(text, "  }}")
            }
        }
        .unwrap();
    }
}

/// The model of the litmus tests for a memory model of programs.
pub(crate) fn model(memory: Memory) -> Model {
    match memory {
        Memory::Tso => Model::Tso,
        Memory::Rc11 => Model::Rc11,
        _ => Model::Sc,
    }
}

/// Asks the checker and the axioms, and compares. Returns the executions that were run, those that
/// were run in vain, and the number of graphs.
#[track_caller]
pub(crate) fn compare(program: &Program, memory: Memory) -> (u64, u64, u64) {
    let checker = Checker::new().memory(memory);
    let (verdict, found) = program.explore(&checker);
    let (executions, expected) = program.litmus(model(memory));
    let text = program.text();
    assert!(verdict.failure().is_none(), "{memory}: {verdict}\n{text}");
    let missing: Vec<_> = expected.difference(&found).collect();
    let surplus: Vec<_> = found.difference(&expected).collect();
    let names = program.names();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "{memory}: {verdict}\n{names:?}: missing {missing:?}, surplus {surplus:?}\n{text}"
    );
    // Where nothing is weak, an update that leaves the value as it is counts as a read.
    let is_exact = verdict.to_string().contains("graphs under") || !text.contains("_exch");
    assert!(verdict.graphs() <= executions, "{memory}: {verdict}, of {executions}\n{text}");
    assert!(!is_exact || verdict.graphs() == executions, "{memory}: {verdict}, of {executions}\n{text}");
    let counts = verdict.counts();
    (counts.complete, counts.redundant, verdict.graphs())
}
