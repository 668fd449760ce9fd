//! The findings of the checker, and its reports of them.

use crate::{check_both_ways, run_among};
use lisle_check::steps;
use lisle_check::task::{
    Checker, Clock, Coverage, End, InMemory, Memory, MemoryCell, Mutex, Op, OpV, Task, Turns, Wants, answer,
    check, die, exit, fork, fork_value, give, join, mem, mutex, print, repeat, set_timeout, sleep,
};
use std::time::Duration;

fn read_and_write(count: MemoryCell<i32>) -> Op {
    count.load().and_then(move |n| count.store(n + 1))
}

fn twice(increment: fn(MemoryCell<i32>) -> Op) -> Task {
    steps! {
        let count = mem(0);
        let one = fork_value(increment(count));
        let two = fork_value(increment(count));
        join((one, two));
        die()
    }
}

#[test]
fn writes_that_commute_have_one_result() {
    let program = twice(|count| count.fetch_add(1).map(drop));
    let verdict = check_both_ways(&Checker::new(), &program);
    let outcome = verdict.assert_ok();
    assert_eq!(outcome.memory.values().next().unwrap().downcast_ref(), Some(&2));
    assert_eq!(run_among(&verdict, InMemory::new(), &program), *outcome);
}

#[test]
fn a_lost_update_is_a_different_result_with_a_shortest_schedule() {
    let verdict = check_both_ways(&Checker::new(), &twice(read_and_write));
    assert!(!verdict.has_one_result());
    let (first, second) = verdict.differing().unwrap();
    let count = |possible: &lisle_check::task::Possible| {
        *possible.outcome.memory.values().next().unwrap().downcast_ref::<i32>().unwrap()
    };
    let mut counts = [count(first), count(second)];
    counts.sort();
    assert_eq!(counts, [1, 2]);
    assert_eq!((first.schedule.len(), second.schedule.len()), (6, 6), "two loads, stores and IVars");
    let told = verdict.to_string();
    assert!(told.contains("2 different results"), "{told}");
    assert!(told.contains("main.0 loads main#0: 0"), "{told}");
}

#[test]
fn locks_taken_crosswise_are_a_deadlock_with_the_holders() {
    fn philosopher(left: Mutex, right: Mutex) -> Task {
        steps! { left.lock(); right.lock(); right.unlock(); left.unlock(); die() }
    }
    let program = steps! {
        let left = mutex();
        let right = mutex();
        fork(philosopher(left, right).named("Kant"));
        fork(philosopher(right, left).named("Hegel"));
        die()
    };
    let verdict = check_both_ways(&Checker::new(), &program);
    let deadlock = verdict.deadlocks().next().unwrap();
    assert_eq!(deadlock.schedule.len(), 2, "each takes one");
    let End::Deadlock(waiting) = &deadlock.outcome.end else { unreachable!() };
    let holders: Vec<_> = waiting.iter().map(|one| one.holder.as_ref().unwrap().to_string()).collect();
    assert_eq!(holders, ["Hegel (main.1)", "Kant (main.0)"]);
    assert!(waiting.iter().all(|one| one.wants == Wants::Lock));
    run_among(&verdict, InMemory::new(), &program);
}

#[test]
fn a_lock_taken_twice_is_told_as_ones_own() {
    let program = mutex().and_then(|lock| lock.lock().then(lock.lock()).then(die()));
    let verdict = check_both_ways(&Checker::new(), &program);
    assert!(verdict.to_string().contains("which it holds itself"), "{verdict}");
    run_among(&verdict, InMemory::new(), &program);
}

#[test]
fn faults_are_outcomes() {
    let cases: [(Task, &str); 4] = [
        (mutex().and_then(|lock| lock.unlock().then(die())), "unlocks a mutex that it does not hold"),
        (
            steps! { let i = lisle_check::task::ivar(); i.write(1); i.write(1); die() },
            "writes an IVar that is full",
        ),
        (
            mem(1).and_then(|place| {
                place.load().and_then(|one| {
                    assert_eq!(one, 2);
                    die()
                })
            }),
            "panicked: assertion",
        ),
        (mem(u8::MAX).and_then(|place| place.fetch_add(1).then(die())), "panicked: attempt to add"),
    ];
    for (program, what) in cases {
        let verdict = check_both_ways(&Checker::new(), &program);
        let End::Fault(fault) = &verdict.outcomes[0].outcome.end else { panic!("{verdict}") };
        assert!(fault.what.starts_with(what), "{fault:?}");
        assert!(fault.at.unwrap().file().ends_with("verdicts.rs"));
        run_among(&verdict, InMemory::new(), &program);
    }
}

#[test]
fn others_may_go_on_before_a_panic_ends_the_program() {
    let program = steps! {
        let place = mem(0);
        fork(place.store(1).then(die()));
        place.load().map(|seen| assert_eq!(seen, 1));
        die()
    };
    let verdict = check_both_ways(&Checker::new(), &program);
    let after_a_fault = |possible: &&lisle_check::task::Possible| !possible.outcome.is_orderly();
    assert_eq!(verdict.outcomes.iter().filter(after_a_fault).count(), 2, "memory holds 0, or 1: {verdict}");
}

#[test]
fn a_handle_of_another_run_is_a_fault_that_says_so() {
    let outcome = check(steps! { mem(0); let place = mem(0); answer(place) });
    let foreign = *outcome.outcomes[0].outcome.answer_as::<MemoryCell<i32>>().unwrap();
    let program = foreign.load().then(die());
    let verdict = check(program.clone());
    assert!(verdict.to_string().contains("another run of the program"), "{verdict}");
    assert!(lisle_check::task::run(program).to_string().contains("another run of the program"));
}

#[test]
fn a_bound_is_said_when_it_is_hit() {
    fn forever(place: MemoryCell<u64>) -> Task {
        place.fetch_add(1).and_then(move |_| forever(place))
    }
    let program = mem(0).and_then(forever);
    let verdict = Checker::new().states(500).check(program);
    assert_eq!((verdict.coverage, verdict.states, verdict.outcomes.len()), (Coverage::Bounded, 500, 0));
    assert!(verdict.to_string().starts_with("bounded, not everything was looked at: 500 states"));

    let all = Checker::new().states(500).check(twice(read_and_write));
    assert!(all.to_string().starts_with("exhaustive: "));
}

#[test]
fn a_task_that_forks_for_ever_is_a_fault() {
    fn breed() -> Task {
        fork(die()).and_then(|()| breed())
    }
    let verdict = check(breed());
    assert!(verdict.to_string().contains("without end"), "{verdict}");
}

#[test]
fn the_same_program_has_the_same_verdict_and_counts() {
    let program = || twice(read_and_write);
    let first = check(program());
    assert_eq!(first, check(program()));
    let same = program();
    assert_eq!(check(same.clone()), check(same), "a value may be interpreted many times");
    // The states, counted by the progress of the two tasks, 0 to 3 each. A progress may have
    // several, with other values loaded or in memory: 00 1, 10 1, 20 1, 30 1, 11 1, 21 2, 31 2, 22
    // 3, 32 3, the same for 01, 02 and so on; 33 2.
    assert_eq!(first.states, 27);
}

#[test]
fn a_sleep_orders_nothing_unless_time_is_modelled() {
    let seconds = Duration::from_secs;
    let program = steps! {
        set_timeout(seconds(2), print("b").then(die()));
        set_timeout(seconds(1), print("a").then(die()));
        sleep(seconds(3));
        print("c");
        exit(0)
    };
    let timed = Checker::new().clock(Clock::WhenIdle);
    assert_eq!(check_both_ways(&timed, &program).assert_ok().output, "abc");
    let verdict = check_both_ways(&Checker::new(), &program);
    assert!(!verdict.conflicts.is_empty());
    assert!(verdict.outcomes.iter().any(|one| one.outcome.output == "c"), "{verdict}");
}

#[test]
fn sleeps_that_end_together_race() {
    let second = Duration::from_secs(1);
    let program =
        set_timeout(second, print("a").then(die())).then(sleep(second)).then(print("b")).then(die());
    let verdict = check_both_ways(&Checker::new().clock(Clock::WhenIdle), &program);
    assert_eq!((verdict.conflicts.len(), verdict.outcomes.len()), (1, 2));
}

#[test]
fn on_x86_a_task_finds_its_own_stores_and_others_find_them_in_order() {
    let own: OpV<i32> = steps! { let a = mem(0); a.store(1); a.store(2); a.load() };
    let x86 = Checker::new().memory(Memory::TotalStoreOrder);
    assert_eq!(x86.check_value(own).answers::<i32>(), [2]);

    // A message and its flag: the first store is seen first.
    let program = steps! {
        let message = mem(0);
        let flag = mem(0);
        fork(message.store(1).then(flag.store(1)).then(die()));
        let ready = flag.load();
        let seen = message.load();
        give((ready, seen))
    };
    assert_eq!(x86.check_value(program).answers::<(i32, i32)>(), [(0, 0), (0, 1), (1, 1)]);
}

#[test]
fn memory_need_not_be_compared() {
    let program = steps! {
        let scratch = mem(0);
        fork(scratch.exchange(1).then(die()));
        scratch.exchange(2);
        die()
    };
    assert!(!check(program.clone()).is_ok());
    assert!(Checker::new().compare_memory(false).check(program).is_ok());
}

#[test]
fn a_long_loop_is_no_deep_recursion() {
    let program =
        mem(0_u32).and_then(|place| repeat(20_000, place.fetch_add(1).map(drop)).then(place.load()));
    let verdict = lisle_check::task::check_value(program.clone());
    assert_eq!(verdict.assert_ok().answer_as(), Some(&20_000_u32));
    assert_eq!(lisle_check::task::run_value(program).answer_as(), Some(&20_000_u32));
}

#[test]
#[should_panic(expected = "use Turns::One")]
fn sets_of_too_many_tasks_are_refused() {
    let fork_many = lisle_check::task::sequence((0..30).map(|_| fork(print("x").then(die()))).collect());
    Checker::new().turns(Turns::EverySet).check(fork_many.then(die()));
}
