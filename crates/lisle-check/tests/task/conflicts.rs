//! Each cell of the table of conflicts.

use crate::check_both_ways;
use lisle_check::steps;
use lisle_check::task::conflict::{Kind, Rule, TABLE, rule};
use lisle_check::task::{
    Checker, End, IVar, InMemory, MemoryCell, Mutex, Op, Task, Verdict, answer, append, die, exit, fork,
    ivar, mem, mutex, print, read_file, read_line,
};

/// The objects of a request: a memory cell that holds 0, an empty IVar, a free mutex, and a mutex that
/// the second task holds.
#[derive(Clone, Copy)]
struct Cells {
    place: MemoryCell<i32>,
    ivar: IVar<i32>,
    free: Mutex,
    held: Mutex,
}

type Request = fn(Cells) -> Task;

/// Two tasks that can make these requests at the same time, beside a place for their results.
fn meet(first: Request, second: Request) -> Verdict {
    let program = steps! {
        let place = mem(0);
        let ivar = ivar();
        let free = mutex();
        let held = mutex();
        let begin = mem(0);
        let cells = lisle_check::task::give(Cells { place, ivar, free, held });
        held.lock();
        fork(begin.load().then(first(cells)).named("first"));
        second(cells)
    };
    let world = InMemory::new().with_file("file", "text").with_line("line").with_line("other line");
    check_both_ways(&Checker::new().world(world), &program)
}

fn ends(op: Op) -> Task {
    op.then(die())
}

fn request(kind: Kind) -> Request {
    match kind {
        Kind::Load => |cells| ends(cells.place.load().map(drop)),
        Kind::Store => |cells| ends(cells.place.store(1)),
        Kind::Update => |cells| ends(cells.place.fetch_add(2).map(drop)),
        Kind::Fill => |cells| ends(cells.ivar.write(1)),
        Kind::Lock => |cells| ends(cells.free.lock()),
        Kind::TryLock => |cells| ends(cells.free.try_lock().map(drop)),
        Kind::Unlock => |cells| ends(cells.held.unlock()),
        Kind::Append => |_| ends(append("file", "more")),
        Kind::ReadFile => |_| ends(read_file("file").map(drop)),
        Kind::ReadLine => |_| ends(read_line().map(drop)),
        Kind::Answer => |_| answer(1),
        Kind::Fail => |cells| cells.place.load().and_then(|_| panic!("no good")),
        Kind::Exit => |_| exit(1),
    }
}

/// The same kind of request, but one that leaves something else.
fn other_request(kind: Kind) -> Request {
    match kind {
        Kind::Store => |cells| ends(cells.place.store(3)),
        Kind::Answer => |_| answer(2),
        Kind::Exit => |_| exit(2),
        Kind::TryLock => |cells| ends(cells.held.try_lock().map(drop)),
        kind => request(kind),
    }
}

#[test]
fn every_row_is_what_happens() {
    for row in TABLE {
        let about_held = row.second == Kind::Unlock;
        let first = if about_held { other_request(row.first) } else { request(row.first) };
        let second =
            if row.second == Kind::Update { request(Kind::Update) } else { other_request(row.second) };
        let conflicts = meet(first, second).conflicts;
        let met = conflicts.iter().any(|conflict| conflict.why == row.why);
        let expected = matches!(row.rule, Rule::Conflict | Rule::UnlessEqual);
        assert_eq!(met, expected, "{} and {}: {conflicts:?}", row.first, row.second);
        assert_eq!(rule(row.second, row.first), row.rule, "the order does not matter");
    }
}

#[test]
fn an_exit_conflicts_with_everything_else() {
    use Kind::{Answer, Append, Fill, Load, Lock, ReadFile, ReadLine, Store, TryLock, Unlock, Update};
    for kind in [Load, Store, Update, Fill, Lock, TryLock, Unlock, Append, ReadFile, ReadLine, Answer] {
        assert_eq!(rule(Kind::Exit, kind), Rule::Conflict);
        let conflicts = meet(request(Kind::Exit), request(kind)).conflicts;
        let text = conflicts.iter().map(ToString::to_string).find(|text| text.contains("exits with code 1"));
        assert!(text.unwrap().contains("the exit would end a task in the middle"), "{kind}");
    }
}

#[test]
fn an_exit_ends_tasks_that_wait_without_a_conflict() {
    let program = steps! {
        let never = ivar::<i32>();
        fork(never.read().then(die()));
        exit(3)
    };
    assert_eq!(check_both_ways(&Checker::new(), &program).assert_ok().end, End::Exit(3));
}

#[test]
fn equal_writes_do_not_conflict() {
    for kind in [Kind::Store, Kind::Answer] {
        let verdict = meet(request(kind), request(kind));
        assert_eq!(verdict.conflicts, [], "{kind}");
        assert!(verdict.has_one_result(), "{kind}: {verdict}");
    }
    let exits = fork(exit(1)).then(exit(1));
    assert_eq!(check_both_ways(&Checker::new(), &exits).assert_ok().end, End::Exit(1));
}

#[test]
fn an_update_that_leaves_the_stored_value_does_not_conflict_with_the_store() {
    let with = |update: fn(MemoryCell<i32>) -> Op| {
        let program = steps! {
            let place = mem(0);
            fork(place.store(1).then(die()));
            update(place);
            die()
        };
        check_both_ways(&Checker::new(), &program)
    };
    assert_eq!(with(|place| place.exchange(1).map(drop)).conflicts, []);
    assert_eq!(with(|place| place.compare_exchange(7, 8).map(drop)).conflicts, [], "it changes nothing");
    assert_eq!(with(|place| place.exchange(2).map(drop)).conflicts.len(), 1);
}

#[test]
fn requests_about_different_things_do_not_conflict() {
    let stores = steps! {
        let a = mem(0);
        let b = mem(0);
        fork(a.store(1).then(die()));
        b.store(2);
        die()
    };
    assert!(check_both_ways(&Checker::new(), &stores).is_ok());
    let files = fork(append("one", "text").then(die())).then(append("other", "text")).then(die());
    let verdict = check_both_ways(&Checker::new(), &files);
    assert_eq!(verdict.assert_ok().files.len(), 2);
    let output = fork(print("text").then(die())).then(append("file", "text")).then(die());
    assert!(check_both_ways(&Checker::new(), &output).is_ok());
}

#[test]
fn what_looks_in_the_turn_of_a_change_sees_what_was_before() {
    // Both orders are there, and nothing else: a turn of both is the order in which the look is
    // first.
    let program = steps! {
        let place = mem(0);
        fork(place.store(1).then(die()));
        let seen = place.load();
        answer(seen)
    };
    let verdict = check_both_ways(&Checker::new(), &program);
    assert_eq!((verdict.conflicts.len(), verdict.answers::<i32>()), (0, vec![0, 1]));
}

#[test]
fn one_of_two_acquires_wins() {
    let program = steps! {
        let lock = mutex();
        let winner = mem(0);
        fork(steps! { lock.lock(); winner.store(1); lock.unlock(); die() });
        lock.lock();
        winner.store(2);
        lock.unlock();
        die()
    };
    let verdict = check_both_ways(&Checker::new(), &program);
    assert_eq!(verdict.conflicts, []);
    assert_eq!(verdict.outcomes.len(), 2, "either may be the last");

    let trying = steps! {
        let lock = mutex();
        fork(lock.lock().then(die()));
        let got_it = lock.try_lock();
        answer(got_it)
    };
    let verdict = check_both_ways(&Checker::new(), &trying);
    assert_eq!(verdict.answers::<bool>(), [false, true]);
    assert_eq!(verdict.deadlocks().count(), 1, "after a try that succeeds the other waits for ever");
}

#[test]
fn a_conflict_names_both_tasks_and_places() {
    let program = steps! {
        let place = mem(0);
        fork(place.store(1).then(die()).named("one"));
        fork(place.store(2).then(die()).named("two"));
        die()
    };
    let verdict = check_both_ways(&Checker::new(), &program);
    let conflict = &verdict.conflicts[0];
    assert_eq!(
        (conflict.first.task.to_string(), conflict.second.task.to_string()),
        ("one (main.0)".to_owned(), "two (main.1)".to_owned())
    );
    let lines = [&conflict.first, &conflict.second].map(|asked| asked.at.unwrap().line());
    assert_eq!(lines[1], lines[0] + 1, "they are written one below the other");
    assert_eq!(conflict.why, "one cell cannot hold two values");
    assert!(conflict.schedule.is_empty());
}
