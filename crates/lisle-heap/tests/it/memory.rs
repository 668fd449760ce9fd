//! Case 23: a system without memory is an error, as a limit is. A collection has all that it needs before it begins.

use crate::support::Running;
use lisle_heap::{Array, Bytes, Ephemeron, Full, Gc, Heap, Kind, Local, Object, Root, Scope, Slot, Weak};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

static ALIVE: AtomicUsize = AtomicUsize::new(0);

struct Counted(());

impl Counted {
    fn new() -> Self {
        ALIVE.fetch_add(1, Relaxed);
        Self(())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Relaxed);
    }
}

#[derive(Object)]
struct Link {
    _counted: Counted,
    number: usize,
    weak: Slot<Option<Weak<Link>>>,
    ephemeron: Slot<Option<Ephemeron<Link, Bytes>>>,
    rest: Gc<Option<Link>>,
}

/// Adds a link with a weak object and an ephemeron, to which an old array refers, too.
fn grow(
    s: &mut Scope<'_>,
    list: &mut Root<'_, Option<Link>>,
    table: Local<'_, Array<Option<Link>>>,
    number: usize,
) -> Result<(), Full> {
    s.scope(|s| {
        let link = s.try_alloc::<Link>(Link::init(Counted::new(), number, None, None, &*list))?;
        let weak = s.try_weak::<Link>(link)?;
        let bytes = s.try_bytes(&number.to_ne_bytes())?;
        let ephemeron = s.try_ephemeron::<Link, Bytes>(link, bytes)?;
        link.get(s).get().weak.set(s, weak);
        link.get(s).get().ephemeron.set(s, ephemeron);
        table.get(s).at(number * 7_919 % table.get(s).len()).set(s, link);
        list.set(s, link);
        Ok(())
    })
}

/// Grows a list to the end of the memory, and checks that nothing of it is lost.
fn fill(s: &mut Scope<'_>) -> Result<(), Full> {
    let table = s.try_array::<Option<Link>>(20_000, None)?;
    let mut list = s.root::<Option<Link>>(None);
    let mut count = 0;
    let full = loop {
        match grow(s, &mut list, table, count) {
            Ok(()) => count += 1,
            Err(full) => break full,
        }
    };
    assert_eq!(full.limit, None);
    let (mut link, mut seen) = (list.get(s), 0);
    while let Some(this) = link {
        seen += 1;
        assert_eq!(this.number, count - seen);
        assert_eq!(this.weak().unwrap().upgrade(s).unwrap().number, this.number);
        let (key, value) = this.ephemeron().unwrap().entry(s).unwrap();
        assert_eq!((key.number, value.as_slice()), (this.number, &this.number.to_ne_bytes()[..]));
        link = this.rest();
    }
    assert_eq!(seen, count);
    Err(full)
}

/// Lets the process have so many bytes more.
fn limit(more: usize) {
    let mapped = std::fs::read_to_string("/proc/self/statm").unwrap();
    let mapped: usize = mapped.split(' ').next().unwrap().parse().unwrap();
    let most = (mapped * 4096 + more) as libc::rlim_t;
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the structure is valid.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
}

#[test]
fn case_23_the_end_of_memory_is_an_error() {
    let alone = Running::new(|| {
        let heap = Heap::builder().nursery(1 << 20).build();
        limit(24 << 20);
        for _ in 0..2 {
            heap.enter(|s| {
                let full = s.scope(fill).unwrap_err();
                assert!(full.live > 4 << 20, "{full}");
                s.collect(Kind::Full);
            });
            assert_eq!(ALIVE.load(Relaxed), 0);
        }
        assert_eq!(heap.stats().live_bytes, 0);
    });
    if let Some(alone) = alone {
        alone.succeeds();
    }
}

#[test]
fn case_23_several_threads_come_to_the_end_of_memory() {
    let alone = Running::new(|| {
        let heap = Heap::builder().nursery(1 << 20).build();
        let begin = std::sync::Barrier::new(4);
        thread::scope(|threads| {
            for _ in 0..3 {
                threads.spawn(|| {
                    heap.enter(|_| ());
                    begin.wait();
                    begin.wait();
                    for _ in 0..2 {
                        heap.enter(|s| s.scope(fill)).unwrap_err();
                    }
                });
            }
            // They have their stacks and their places before memory ends.
            begin.wait();
            limit(32 << 20);
            begin.wait();
        });
        heap.collect(Kind::Full);
        assert_eq!((ALIVE.load(Relaxed), heap.stats().live_bytes), (0, 0));
    });
    if let Some(alone) = alone {
        alone.succeeds();
    }
}
