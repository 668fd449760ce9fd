//! Exchanges have another result in another place: they succeed, fail, or fail without a reason.
//! The exploration has to find the result of a reversed exchange before it knows which steps the
//! exchange commutes with.

use super::language::{Op, Program, Value, compare};
use lisle_check::Memory;
use lisle_check::atomic::Ordering::SeqCst;

fn exchange(expected: u32, new: u32) -> Op {
    Op::Exchange { at: 0, expected, new, success: SeqCst, failure: SeqCst, weak: true }
}

fn store(value: u32) -> Op {
    Op::Store(0, Value::Constant(value), SeqCst)
}

fn load() -> Op {
    Op::Load(0, SeqCst)
}

#[test]
fn what_an_exchange_commutes_with_is_known_when_it_has_run() {
    for threads in [
        vec![vec![store(1)], vec![exchange(1, 2)], vec![load()], vec![load()]],
        vec![vec![store(1)], vec![exchange(1, 2)], vec![load()], vec![load(), load()]],
        vec![vec![store(1), store(2)], vec![exchange(1, 1)], vec![load()], vec![load()]],
        vec![vec![store(1), exchange(1, 1)], vec![exchange(1, 1)], vec![load()], vec![load(), load()]],
        vec![vec![load(), load(), exchange(0, 1)], vec![load()], vec![exchange(1, 2), store(1)]],
        vec![vec![store(1)], vec![exchange(1, 2)], vec![exchange(1, 3)], vec![load()]],
    ] {
        let program = Program { locations: 1, threads };
        for memory in [Memory::Sc, Memory::Rc11] {
            let (complete, _, graphs) = compare(&program, memory);
            assert_eq!(complete, graphs, "{}", program.text());
        }
    }
}
