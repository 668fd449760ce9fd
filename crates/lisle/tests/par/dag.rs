//! Graphs of sparks: results, order, panics, costs, on any number of domains.

use lisle::Runtime;
use lisle::par::dag::{Dag, Spark};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Runs `f` on several numbers of domains, and on a plain thread.
fn everywhere(f: impl Fn() + Sync) {
    for domains in [1, 2, 4, 8] {
        Runtime::builder().domains(domains).stack_size(1 << 20).start().unwrap().run(&f);
    }
    f();
}

fn work(n: u64) -> u64 {
    if n < 2 { n } else { work(n - 1) + work(n - 2) }
}

/// Pascal's triangle: each number uses two of the row before. Some are declared short, and some
/// long.
#[test]
fn a_triangle() {
    everywhere(|| {
        for effort in [0, 5, 15] {
            let mut dag = Dag::new();
            let mut row = vec![dag.spark((), |()| 1_u64)];
            for height in 1..20 {
                let mut next = vec![dag.spark((&row[0],), |(&one,)| one)];
                for pair in row.windows(2) {
                    let sum =
                        dag.spark((&pair[0], &pair[1]), move |(a, b)| a + b + work(effort) - work(effort));
                    if height % 3 == 0 {
                        dag.cost(&sum, Duration::from_nanos(height * 10_000));
                    }
                    next.push(sum);
                }
                next.push(dag.spark(&row, |row| *row[row.len() - 1]));
                row = next;
            }
            let results = dag.run();
            let row: Vec<u64> = row.into_iter().map(|spark| results.take(spark)).collect();
            assert_eq!(row[..4], [1, 19, 171, 969]);
            assert_eq!(row.iter().sum::<u64>(), 1 << 19);
        }
    });
}

#[test]
fn results_are_borrowed_by_those_that_use_them() {
    everywhere(|| {
        let text = String::from("several words, not all of them short");
        let (longest, lengths) = lisle::par::dag! {
            let words = text.split(' ').collect::<Vec<&str>>();
            let lengths = |words| words.iter().map(|word| word.len()).collect::<Vec<_>>();
            let longest = |words, lengths| words[(0..words.len()).max_by_key(|&i| lengths[i]).unwrap()].to_owned();
            (longest, lengths)
        };
        assert_eq!(longest, "several");
        assert_eq!(lengths.len(), 7);
    });
}

/// Counts its drops.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A chain with one link that panics, next to one without a panic.
#[test]
fn a_panic_stops_what_depends_on_it_and_arrives_once() {
    everywhere(|| {
        for bad in 0..12 {
            for cost in [Duration::from_nanos(1), Duration::from_millis(1)] {
                let (ran, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let mut dag = Dag::new();
                let mut last: [Option<Spark<Counted<'_>>>; 2] = [None, None];
                for link in 0..12 {
                    for (chain, last) in last.iter_mut().enumerate() {
                        let (ran, dropped) = (&ran, &dropped);
                        let held = Counted(dropped);
                        let step = move || {
                            let _held = held;
                            if chain == 0 && link >= bad {
                                panic_any(link);
                            }
                            ran.fetch_add(1, Ordering::Relaxed);
                            Counted(dropped)
                        };
                        let spark = match last.as_ref() {
                            Some(before) => dag.spark((before,), |_| step()),
                            None => dag.spark((), |()| step()),
                        };
                        dag.cost(&spark, cost);
                        *last = Some(spark);
                    }
                }
                let caught = catch_unwind(AssertUnwindSafe(|| dag.run()));
                assert_eq!(*caught.unwrap_err().downcast::<i32>().unwrap(), bad);
                drop(last);
                let ran = ran.into_inner();
                assert_eq!(ran, 12 + usize::try_from(bad).unwrap());
                assert_eq!(dropped.into_inner(), 24 + ran, "functions and results");
            }
        }
    });
}

#[test]
fn of_several_panics_the_first_one_in_the_graph_arrives() {
    everywhere(|| {
        for _ in 0..20 {
            let mut dag = Dag::new();
            let sparks: Vec<_> = (0..40)
                .map(|i| {
                    dag.spark((), move |()| {
                        work(i % 12);
                        if i > 3 {
                            panic_any(i);
                        }
                    })
                })
                .collect();
            let _last = dag.spark(&sparks, |_| unreachable!("what it uses has panicked"));
            let caught = catch_unwind(AssertUnwindSafe(|| dag.run()));
            assert_eq!(*caught.unwrap_err().downcast::<u64>().unwrap(), 4);
        }
    });
}

#[test]
fn a_graph_of_nothing_and_a_long_chain() {
    everywhere(|| {
        let _ = Dag::new().run();
        let mut dag = Dag::new();
        let mut last = dag.spark((), |()| 0_u32);
        for _ in 0..20_000 {
            last = dag.spark((&last,), |(before,)| before + 1);
        }
        assert_eq!(dag.run().take(last), 20_000);
    });
}

#[test]
fn a_spark_of_another_graph_is_refused() {
    let (mut one, mut two) = (Dag::new(), Dag::new());
    let spark = one.spark((), |()| 1);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(two.spark((&spark,), |(one,)| *one)))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| two.cost(&spark, Duration::ZERO))).is_err());
    let results = two.run();
    assert!(catch_unwind(AssertUnwindSafe(|| *results.get(&spark))).is_err());
    assert_eq!(one.run().take(spark), 1);
}
