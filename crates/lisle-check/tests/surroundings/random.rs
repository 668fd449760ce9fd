//! Small programs by chance, of loops over all cores and loops that ask again: exploring finds all
//! that sampling finds.

use crate::found::{self, Executions};
use lisle::fiber::yield_now;
use lisle::par::{self, prelude::*};
use lisle::sync::Mutex;
use lisle_check::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use lisle_check::hint::spin_loop;
use std::sync::Arc;

#[derive(Default)]
struct Shared {
    cells: [AtomicU32; 2],
    go: AtomicBool,
    lock: Mutex<u32>,
    /// The last value set is under a lock.
    gate: Mutex<bool>,
    forks: [Mutex<u32>; 2],
    is_taken: AtomicBool,
}

/// An operation of the fiber with this number. Its result is a part of the outcome.
type Operation = fn(&Shared, u32) -> Vec<u32>;

fn ask(most: u32, is_so: impl Fn() -> bool) -> Vec<u32> {
    let mut tries = 0;
    while tries < most && !is_so() {
        tries += 1;
        yield_now();
    }
    vec![tries]
}

const OPERATIONS: &[Operation] = &[
    |shared, _| vec![shared.cells[0].load(SeqCst)],
    |shared, id| vec![shared.cells[0].swap(id, SeqCst)],
    |shared, id| {
        shared.cells[1].store(id, SeqCst);
        Vec::new()
    },
    |shared, _| vec![shared.cells[1].fetch_add(10, SeqCst)],
    |shared, id| ask(2, || shared.cells[0].load(SeqCst) == 3 - id),
    |shared, id| ask(3, || shared.cells[1].compare_exchange(3 - id, 7, SeqCst, SeqCst).is_ok()),
    |shared, _| ask(2, || shared.cells[0].load(SeqCst) != 0 && shared.cells[1].load(SeqCst) != 0),
    |shared, _| {
        while !shared.go.load(SeqCst) {
            spin_loop();
        }
        vec![shared.cells[0].load(SeqCst)]
    },
    |shared, id| loop {
        if let Some(mut value) = shared.lock.try_lock() {
            return vec![std::mem::replace(&mut *value, id)];
        }
        yield_now();
    },
    |shared, id| vec![std::mem::replace(&mut *shared.lock.lock(), id + 10)],
    |shared, _| {
        while !*shared.gate.lock() {
            yield_now();
        }
        vec![shared.cells[0].load(SeqCst)]
    },
    |shared, _| ask(2, || *shared.gate.lock()),
    |shared, id| {
        // A turn that stands under a lock.
        ask(3, || {
            let mut count = shared.lock.lock();
            let has_turn = *count % 2 == id % 2;
            *count += u32::from(has_turn);
            has_turn
        })
    },
    |shared, id| {
        while shared.is_taken.swap(true, SeqCst) {
            spin_loop();
        }
        let before = shared.cells[1].swap(id, SeqCst);
        shared.is_taken.store(false, SeqCst);
        vec![before]
    },
    |shared, id| {
        let [one, other] = [id, id + 1].map(|at| &shared.forks[at as usize % 2]);
        ask(2, || {
            let mut one = one.lock();
            let Some(mut other) = other.try_lock() else { return false };
            (*one, *other) = (*one + 1, *other + id);
            true
        })
    },
    |shared, _| shared.forks.iter().map(|fork| *fork.lock()).collect(),
    |shared, id| {
        let (one, other) = par::join(|| shared.cells[0].load(SeqCst), || shared.cells[0].swap(id, SeqCst));
        vec![one, other]
    },
    |shared, _| (0..2_usize).into_par_iter().map(|at| shared.cells[at].fetch_add(1, SeqCst)).collect(),
    |shared, id| {
        par::scope(|scope| {
            let job = scope.spawn(|| shared.cells[1].swap(id, SeqCst));
            let seen = shared.cells[1].load(SeqCst);
            vec![seen, u32::from(job.is_finished()), job.wait()]
        })
    },
    |shared, _| {
        (0..2)
            .into_par_iter()
            .find_any(|at| shared.cells[*at as usize].load(SeqCst) > 0)
            .into_iter()
            .collect()
    },
];

type Program = Vec<Vec<Operation>>;

fn program(random: &mut fastrand::Rng) -> Program {
    let fibers = 2;
    (0..fibers)
        .map(|_| (0..random.usize(1..=2)).map(|_| *random.choice(OPERATIONS).unwrap()).collect())
        .collect()
}

fn run(program: &Program) -> Vec<Vec<u32>> {
    let shared = Arc::new(Shared::default());
    let fibers: Vec<_> = (1..)
        .zip(program.clone())
        .map(|(id, code)| {
            let shared = shared.clone();
            lisle::spawn(move || code.iter().flat_map(|operation| operation(&shared, id)).collect::<Vec<_>>())
        })
        .collect();
    shared.go.store(true, SeqCst);
    *shared.gate.lock() = true;
    fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect()
}

#[test]
fn exploring_finds_all_that_sampling_finds() {
    let executions = Executions { explored: 4_000, by_chance: 300 };
    found::exploring_finds_all_that_sampling_finds(executions, |seed| {
        let program = program(&mut fastrand::Rng::with_seed(seed));
        move || run(&program)
    });
}
