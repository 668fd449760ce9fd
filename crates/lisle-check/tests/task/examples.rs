//! The examples of Stroscot's documentation.

use crate::{check_both_ways, run_among};
use lisle_check::steps;
use lisle_check::task::{
    Checker, Coverage, End, IVar, InMemory, Memory, MemoryCell, OpV, Task, Wants, answer, check, check_value,
    die, exit, fork, fork_value, give, ivar, join, mem, print,
};

#[test]
fn hello_world() {
    let hello = print("Hello World").then(exit(0));
    let verdict = check_both_ways(&Checker::new(), &hello);
    let outcome = verdict.assert_ok();
    assert_eq!((outcome.output.as_str(), &outcome.end), ("Hello World", &End::Exit(0)));
    assert_eq!(run_among(&verdict, InMemory::new(), &hello), *outcome);
}

fn store_buffering() -> OpV<(i32, i32)> {
    steps! {
        let a = mem(0);
        let b = mem(0);
        let t1 = fork_value(a.store(1).then(b.load()));
        let t2 = fork_value(b.store(1).then(a.load()));
        join((t1, t2))
    }
}

#[test]
fn store_buffering_has_three_results_and_on_x86_four() {
    let program = store_buffering().and_then(answer);
    let verdict = check_both_ways(&Checker::new(), &program);
    assert_eq!(verdict.coverage, Coverage::Exhaustive);
    assert_eq!(verdict.conflicts, [], "a race is an outcome, not an error");
    assert_eq!(verdict.answers::<(i32, i32)>(), [(0, 1), (1, 0), (1, 1)]);
    assert!(!verdict.is_ok(), "but the result depends on the order");
    run_among(&verdict, InMemory::new(), &program);

    let x86 = check_both_ways(&Checker::new().memory(Memory::TotalStoreOrder), &program);
    assert_eq!(x86.answers::<(i32, i32)>(), [(0, 0), (0, 1), (1, 0), (1, 1)]);
}

#[test]
fn store_buffering_with_exchanges_has_three_results_on_x86_too() {
    let program: OpV<(i32, i32)> = steps! {
        let a = mem(0);
        let b = mem(0);
        let t1 = fork_value(a.exchange(1).then(b.load()));
        let t2 = fork_value(b.exchange(1).then(a.load()));
        join((t1, t2))
    };
    let x86 = Checker::new().memory(Memory::TotalStoreOrder).check_value(program);
    assert_eq!(x86.answers::<(i32, i32)>(), [(0, 1), (1, 0), (1, 1)]);
}

fn both(first: MemoryCell<i32>, second: MemoryCell<i32>) -> OpV<(i32, i32)> {
    steps! {
        let a = first.load();
        let b = second.load();
        give((a, b))
    }
}

#[test]
fn independent_reads_of_independent_writes_agree_on_the_order() {
    let program: OpV<(i32, i32, i32, i32)> = steps! {
        let x = mem(0);
        let y = mem(0);
        let reader = fork_value(both(x, y));
        let writer = fork_value(x.store(1));
        let other_writer = fork_value(y.store(1));
        let other_reader = fork_value(both(y, x));
        let (ab, _x, _y, cd) = join((reader, writer, other_writer, other_reader));
        give((ab.0, ab.1, cd.0, cd.1))
    };
    for memory in [Memory::Sequential, Memory::TotalStoreOrder] {
        let verdict = Checker::new().memory(memory).check_value(program.clone());
        let answers = verdict.answers::<(i32, i32, i32, i32)>();
        assert_eq!(answers.len(), 15, "all of the sixteen but one: {answers:?}");
        assert!(!answers.contains(&(1, 0, 1, 0)), "the readers would disagree");
    }
}

type Matrix = [[i64; 2]; 2];

fn product(a: i64, b: i64) -> OpV<IVar<i64>> {
    fork_value(give((a, b)).map(|(a, b)| a * b))
}

fn sum(c: IVar<i64>, d: IVar<i64>) -> OpV<IVar<i64>> {
    fork_value(join((c, d)).map(|(c, d)| c + d))
}

fn multiply([[a11, a12], [a21, a22]]: Matrix, [[b11, b12], [b21, b22]]: Matrix) -> OpV<Matrix> {
    steps! {
        let c11 = product(a11, b11);
        let d11 = product(a12, b21);
        let c12 = product(a11, b12);
        let d12 = product(a12, b22);
        let c21 = product(a21, b11);
        let d21 = product(a22, b21);
        let c22 = product(a21, b12);
        let d22 = product(a22, b22);
        let t11 = sum(c11, d11);
        let t12 = sum(c12, d12);
        let t21 = sum(c21, d21);
        let t22 = sum(c22, d22);
        let (t11, t12, t21, t22) = join((t11, t12, t21, t22));
        give([[t11, t12], [t21, t22]])
    }
}

#[test]
fn a_product_of_matrices_as_dataflow_has_one_result() {
    let product = multiply([[1, 2], [3, 4]], [[5, 6], [7, 8]]);
    let verdict = check_value(product.clone());
    assert_eq!(verdict.assert_ok().answer_as(), Some(&[[19_i64, 22], [43, 50]]));
    // Of each of the four sums: two factors written or not, or the sum written. And the answer
    // given.
    assert_eq!(verdict.states, 5_usize.pow(4) + 1);
    run_among(&verdict, InMemory::new(), &product.and_then(answer));
}

#[test]
fn join_gives_the_values_in_the_order_of_the_cells() {
    let squares = |n: usize| -> OpV<Vec<usize>> {
        let forks = (0..n).map(|i| fork_value(give(i * i))).collect();
        lisle_check::task::sequence(forks).and_then(join)
    };
    let program: Task = squares(6).and_then(answer);
    let verdict = check(program.clone());
    assert_eq!(verdict.assert_ok().answer_as(), Some(&vec![0_usize, 1, 4, 9, 16, 25]));
    run_among(&verdict, InMemory::new(), &program);

    let three: OpV<[i32; 3]> = steps! {
        let a = fork_value(give(1));
        let b = fork_value(give(2));
        let c = fork_value(give(3));
        join([a, b, c])
    };
    assert_eq!(check_value(three).answers::<[i32; 3]>(), [[1, 2, 3]]);
}

#[test]
fn a_cycle_of_ivars_is_a_deadlock() {
    let program: Task = steps! {
        let a = ivar::<i32>();
        let b = ivar::<i32>();
        fork(a.read().and_then(move |v| b.write(v)).then(die()).named("left"));
        fork(b.read().and_then(move |v| a.write(v)).then(die()).named("right"));
        die()
    };
    let verdict = check_both_ways(&Checker::new(), &program);
    assert!(!verdict.is_ok());
    let End::Deadlock(waiting) = &verdict.outcomes[0].outcome.end else { panic!("{verdict}") };
    let told: Vec<String> = waiting.iter().map(|one| format!("{} {}", one.task, one.cell)).collect();
    assert_eq!(told, ["left (main.0) main#0", "right (main.1) main#1"]);
    assert!(waiting.iter().all(|one| one.wants == Wants::Value && one.at.file().ends_with("examples.rs")));
    assert!(verdict.to_string().contains("left (main.0) waits for a value in IVar main#0"), "{verdict}");
    run_among(&verdict, InMemory::new(), &program);
}
