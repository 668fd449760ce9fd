//! The number of times that the initial values of loops are created: once for each part that was
//! divided, and not for each block or item.

use crate::support::{everywhere, work};
use lisle::Runtime;
use lisle::par::iter::{At, Consumer};
use lisle::par::prelude::*;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

const ITEMS: usize = 2_000;

/// Counts the runs of neighbouring steps that a loop was divided into, and adds them up.
struct Runs(AtomicUsize);

impl Consumer for Runs {
    type Item = usize;
    type Acc = usize;

    fn begin(&self) -> usize {
        self.0.fetch_add(1, Relaxed);
        0
    }

    fn feed<I: Iterator<Item = usize>>(&self, acc: usize, _: At<'_>, items: I) -> usize {
        acc + items.sum::<usize>()
    }

    fn merge(&self, left: usize, right: usize) -> usize {
        left + right
    }
}

/// Takes as long as a block.
fn step(n: usize) -> usize {
    let end = std::time::Instant::now() + std::time::Duration::from_micros(6);
    while std::time::Instant::now() < end {
        std::hint::spin_loop();
    }
    n
}

#[test]
fn one_value_for_each_divided_part() {
    everywhere(|| {
        let (inits, runs) = (AtomicUsize::new(0), Runs(AtomicUsize::new(0)));
        let init = || inits.fetch_add(1, Relaxed);
        let mapped = (0..ITEMS).into_par_iter().map_init(init, |_, n| step(n));
        let plan = mapped.plan();
        assert_eq!(mapped.drive(&runs, plan), ITEMS * (ITEMS - 1) / 2);
        let (inits, runs) = (inits.into_inner(), runs.0.into_inner());
        assert!(inits >= 1 && inits <= runs, "{inits} values for {runs} parts");
    });
}

/// Without other participants there is one value.
#[test]
fn one_value_on_one_domain() {
    let runtime = Runtime::builder().domains(1).start().unwrap();
    runtime.run(|| {
        let items = || (0..ITEMS).into_par_iter();
        let made = |run: &dyn Fn(&(dyn Fn() -> usize + Sync))| {
            let count = AtomicUsize::new(0);
            run(&|| count.fetch_add(1, Relaxed));
            count.into_inner()
        };
        for _ in 0..3 {
            let all = ITEMS * (ITEMS - 1) / 2;
            assert_eq!(made(&|init| items().for_each_init(init, |_, n| _ = step(n))), 1);
            assert_eq!(
                made(&|init| assert_eq!(items().map_init(init, |_, n| step(n)).sum::<usize>(), all)),
                1
            );
            let collect = |init: &(dyn Fn() -> usize + Sync)| {
                let collected: Vec<usize> = items().map_init(init, |_, n| step(n)).collect();
                assert!(collected.iter().copied().eq(0..ITEMS));
            };
            assert_eq!(made(&collect), 1);
            let filtered = |init: &(dyn Fn() -> usize + Sync)| {
                let even = items().map_init(init, |_, n| step(n)).filter(|n| n % 2 == 0).map(|n| n / 2);
                assert_eq!(even.count(), ITEMS / 2);
            };
            assert_eq!(made(&filtered), 1);
            let failing = |init: &(dyn Fn() -> usize + Sync)| {
                let all: Result<Vec<usize>, ()> = items().map_init(init, |_, n| Ok(step(n))).collect();
                assert_eq!(all.unwrap().len(), ITEMS);
            };
            assert_eq!(made(&failing), 1);
            let folded = |init: &(dyn Fn() -> usize + Sync)| {
                let identity = || {
                    init();
                    0
                };
                let sums: Vec<usize> = items().fold(identity, |sum, n| sum + step(n)).collect();
                assert_eq!(sums, [all]);
            };
            assert_eq!(made(&folded), 1);
            let reduced = |init: &(dyn Fn() -> usize + Sync)| {
                let identity = || {
                    init();
                    0
                };
                assert_eq!(items().map(step).reduce(identity, |a, b| a + b), all);
            };
            assert_eq!(made(&reduced), 1);
        }
    });
}

/// A value stays with the thread that has created it, from its beginning to its end.
#[test]
fn a_value_never_leaves_its_thread() {
    struct AtHome(thread::ThreadId, Rc<Cell<usize>>);
    impl AtHome {
        fn look(&self) -> usize {
            assert_eq!(self.0, thread::current().id());
            self.1.set(self.1.get() + 1);
            self.1.get()
        }
    }
    static ALIVE: AtomicUsize = AtomicUsize::new(0);
    impl Drop for AtHome {
        fn drop(&mut self) {
            self.look();
            ALIVE.fetch_sub(1, Relaxed);
        }
    }
    everywhere(|| {
        let init = || {
            ALIVE.fetch_add(1, Relaxed);
            AtHome(thread::current().id(), Rc::default())
        };
        let looks: Vec<usize> = (0..20_000_usize)
            .into_par_iter()
            .map_init(init, |home, n| {
                work(n as u64);
                home.look()
            })
            .collect();
        assert!(looks.iter().all(|&looks| looks > 0));
        let same = (0..20_000_u32).into_par_iter().map_init(init, |home, n| home.look() as u32 + n);
        let grouped = same.fold(|| 0_u64, |sum, n| sum + u64::from(n)).map_init(init, |home, sum| {
            home.look();
            sum
        });
        assert!(grouped.sum::<u64>() > 0);
    });
    // Each loop has dropped its values when it returns. Other tests create none of these.
    assert_eq!(ALIVE.load(Relaxed), 0);
}
