//! Case 21: a child that is forked while other threads use the heap has the heap in order, and collects.
//!
//! The threads of the parent have all begun before the first fork and end after the last one, since a child inherits the
//! locks that the standard library takes when a thread begins or ends.

#[cfg(any(not(unix), miri))]
fn main() {}

#[cfg(all(unix, not(miri)))]
fn main() {
    cases::run();
}

#[cfg(all(unix, not(miri)))]
mod cases {
    use lisle_heap::{Gc, Global, Heap, Kind, Object, Scope, Slot};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread;

    #[derive(Object)]
    struct List {
        number: u64,
        rest: Gc<Option<List>>,
    }

    #[derive(Object)]
    struct Shared {
        list: Slot<Option<List>>,
    }

    const LENGTH: u64 = 1_000;
    /// How long a child may take, in seconds, on a machine that is busy.
    const PATIENCE: u32 = 120;

    /// Replaces a shared list by a new one.
    fn replace(s: &mut Scope<'_>, shared: &Global<Shared>) {
        s.scope(|s| {
            let mut list = s.root::<Option<List>>(None);
            for number in 0..LENGTH {
                s.scope(|s| {
                    let longer = s.alloc::<List>(List::init(number, &list));
                    list.set(s, longer);
                });
            }
            let shared = s.local::<Shared>(shared);
            shared.get(s).list.set(s, &list);
        });
    }

    /// Checks that each list is whole, also after collections.
    fn check(s: &mut Scope<'_>, shared: &[Global<Shared>]) {
        for round in 0..3 {
            for shared in shared {
                s.scope(|s| {
                    let shared = s.local::<Shared>(shared);
                    let (mut count, mut rest) = (0, shared.get(s).list());
                    while let Some(list) = rest {
                        count += 1;
                        assert_eq!(list.number, LENGTH - count);
                        rest = list.rest();
                    }
                    assert!(count == LENGTH || count == 0, "{count}");
                });
                replace(s, shared);
            }
            s.collect(if round == 1 { Kind::Full } else { Kind::Minor });
            assert_eq!(s.verify(), Ok(()));
        }
    }

    /// Forks. The child calls `f`.
    fn forked(f: impl FnOnce()) {
        // SAFETY: the child's steps after it are the subject of this test.
        let child = unsafe { libc::fork() };
        assert!(child >= 0, "{}", std::io::Error::last_os_error());
        if child == 0 {
            // SAFETY: it takes a number.
            unsafe { libc::alarm(PATIENCE) };
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
            // SAFETY: it ends the process.
            unsafe { libc::_exit(i32::from(outcome.is_err())) };
        }
        let mut status = 0;
        // SAFETY: the pointer is to a live value.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "the child has ended with status {status}");
    }

    /// Sets the variable in the end, also in that of a panic.
    struct OnDrop<'a>(&'a AtomicBool);

    impl Drop for OnDrop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn run() {
        const THREADS: usize = 3;
        const FORKS: usize = 30;
        let heap = Heap::builder().name("forked").nursery(1 << 18).build();
        // It has a thread inside that does not allocate, and is stopped by its polls. It copies a handle of the first heap meanwhile.
        let other = Heap::builder().name("other").build();
        let shared: Vec<Global<Shared>> = heap.enter(|s| {
            let new = |_| {
                s.scope(|s| {
                    let shared = s.alloc::<Shared>(Shared::init(None));
                    s.global::<Shared>(shared)
                })
            };
            (0..THREADS).map(new).collect()
        });
        let (done, began) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|threads| {
            let _done = OnDrop(&done);
            for shared in &shared {
                let (heap, done, began) = (&heap, &done, &began);
                threads.spawn(move || {
                    while !done.load(Ordering::Relaxed) {
                        heap.enter(|s| {
                            for _ in 0..5 {
                                replace(s, shared);
                            }
                        });
                        began.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            threads.spawn(|| {
                began.fetch_add(1, Ordering::Relaxed);
                other.enter(|s| {
                    while !done.load(Ordering::Relaxed) {
                        s.poll();
                        drop(shared[0].clone());
                        thread::yield_now();
                    }
                });
            });
            while began.load(Ordering::Relaxed) < 10 * THREADS {
                thread::yield_now();
            }
            for fork in 0..FORKS {
                let in_child = || {
                    heap.enter(|s| check(s, &shared));
                    // New threads take over the places of those that are gone.
                    let places = heap.stats().places;
                    thread::scope(|threads| {
                        for _ in 0..THREADS {
                            threads.spawn(|| heap.enter(|s| check(s, &shared[..1])));
                        }
                    });
                    assert_eq!(heap.stats().places, places);
                    // Another heap, and one of the child's own.
                    let collects = || [&other, &Heap::new()].iter().for_each(|heap| heap.collect(Kind::Full));
                    thread::scope(|threads| drop(threads.spawn(collects)));
                };
                match fork % 3 {
                    // A place that is outside forks,
                    0 => forked(in_child),
                    // one that is inside, where references stay valid,
                    1 => heap.enter(|s| {
                        let mine = s.alloc::<List>(List::init(7, None));
                        let list = mine.get(s);
                        forked(|| assert_eq!(list.number, 7));
                        assert_eq!(list.number, 7);
                        forked(|| {
                            s.outside(in_child);
                            assert_eq!(mine.get(s).number, 7);
                            check(s, &shared);
                        });
                    }),
                    // and one that is in `outside`.
                    _ => heap.enter(|s| {
                        let mine = s.alloc::<List>(List::init(7, None));
                        s.outside(|| forked(in_child));
                        assert_eq!(mine.get(s).number, 7);
                    }),
                }
            }
        });
        heap.enter(|s| check(s, &shared));
        let at_once = fork_at_once([&heap, &heap, &other], &shared);
        println!("test result: ok. 1 passed; 0 failed; {FORKS} forks, and {at_once} at once");
    }

    /// Threads that are inside fork at the same time, while another one collects. Returns the number of forks.
    fn fork_at_once(heaps: [&Heap; 3], shared: &[Global<Shared>]) -> usize {
        const EACH: usize = 10;
        let (threads, forking) = (Barrier::new(heaps.len() + 1), AtomicUsize::new(heaps.len()));
        thread::scope(|scope| {
            for heap in heaps {
                scope.spawn(|| {
                    threads.wait();
                    for _ in 0..EACH {
                        heap.enter(|s| {
                            let mine = s.alloc::<List>(List::init(7, None));
                            let list = mine.get(s);
                            forked(|| assert_eq!(list.number, 7));
                            assert_eq!(list.number, 7);
                            forked(|| {
                                s.collect(Kind::Full);
                                assert_eq!((mine.get(s).number, s.verify()), (7, Ok(())));
                            });
                        });
                    }
                    forking.fetch_sub(1, Ordering::Relaxed);
                    threads.wait();
                });
            }
            threads.wait();
            while forking.load(Ordering::Relaxed) > 0 {
                heaps[0].enter(|s| replace(s, &shared[0]));
                heaps[0].collect(Kind::Full);
            }
            threads.wait();
        });
        2 * EACH * heaps.len()
    }
}
