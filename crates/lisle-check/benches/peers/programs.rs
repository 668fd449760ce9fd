//! The programs, for any threads.

use crate::Threads;
use std::sync::Arc;

/// The description of a program without its threads.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// It goes wrong in some schedule. Then the tools that draw schedules by chance look for that,
    /// too.
    pub(crate) fails: bool,
}

macro_rules! programs {
    ($($name:literal, $fails:literal, $body:expr;)*) => {
        pub(crate) const PROGRAMS: &[Program] = &[$(Program { name: $name, fails: $fails }),*];

        /// Returns the program of this name.
        pub(crate) fn find<T: Threads>(name: &str) -> Option<fn()> {
            match name {
                $($name => Some(|| {
                    crate::sample::begin();
                    $body
                }),)*
                _ => None,
            }
        }
    };
}

programs! {
    "counter-2", false, counter::<T>(2, 1);
    "counter-3", false, counter::<T>(3, 1);
    "counter-4", false, counter::<T>(4, 1);
    "counter-3-twice", false, counter::<T>(3, 2);
    "buffer", false, buffer::<T>();
    "philosophers-3", false, philosophers::<T>(3, true);
    "philosophers-4", false, philosophers::<T>(4, true);
    "philosophers-5", false, philosophers::<T>(5, true);
    "philosophers-6", false, philosophers::<T>(6, true);
    "philosophers-7", false, philosophers::<T>(7, true);
    "treiber", false, treiber::<T>();
    "sb", false, store_buffering::<T>();
    "iriw", false, independent_reads::<T>();
    "ab-ba", true, crosswise::<T>();
    "philosophers-3-wrong", true, philosophers::<T>(3, false);
    "philosophers-7-wrong", true, philosophers::<T>(7, false);
    "reorder-21", true, reorder::<T>(20);
    "two-stage-101", true, two_stage::<T>(100);
}

fn join_all<T: Threads>(threads: impl IntoIterator<Item = T::Thread>) {
    threads.into_iter().for_each(T::join);
}

/// Threads that add to one number under a mutex, `times` times each.
fn counter<T: Threads>(threads: u32, times: u32) {
    let count = Arc::new(T::mutex(0));
    let adders: Vec<_> = (0..threads)
        .map(|_| {
            let count = count.clone();
            T::spawn(move || (0..times).for_each(|_| *T::lock(&count) += 1))
        })
        .collect();
    join_all::<T>(adders);
    assert_eq!(*T::lock(&count), threads * times);
}

/// A buffer with room for one message, a thread that puts two, and one that takes them.
fn buffer<T: Threads>() {
    struct Buffer<T: Threads> {
        /// The message, or 0.
        message: T::Mutex,
        is_full: T::Condvar,
        is_empty: T::Condvar,
    }
    let buffer = Buffer::<T> { message: T::mutex(0), is_full: T::condvar(), is_empty: T::condvar() };
    let buffer = Arc::new(buffer);
    let putter = buffer.clone();
    let putter = T::spawn(move || {
        for message in [1, 2] {
            let mut place = T::lock(&putter.message);
            while *place != 0 {
                place = T::wait(&putter.is_empty, place);
            }
            *place = message;
            drop(place);
            T::notify(&putter.is_full);
        }
    });
    for message in [1, 2] {
        let mut place = T::lock(&buffer.message);
        while *place == 0 {
            place = T::wait(&buffer.is_full, place);
        }
        assert_eq!(std::mem::take(&mut *place), message);
        drop(place);
        T::notify(&buffer.is_empty);
    }
    T::join(putter);
}

/// Philosophers, each of whom takes the fork to the left and then the one to the right; one of them
/// the other way round, if it is right.
fn philosophers<T: Threads>(number: usize, is_right: bool) {
    let forks: Vec<_> = (0..number).map(|_| Arc::new(T::mutex(0))).collect();
    let philosophers: Vec<_> = (0..number)
        .map(|n| {
            let (mut one, mut other) = (forks[n].clone(), forks[(n + 1) % number].clone());
            if is_right && n == 0 {
                std::mem::swap(&mut one, &mut other);
            }
            T::spawn(move || {
                let _one = T::lock(&one);
                let _other = T::lock(&other);
            })
        })
        .collect();
    join_all::<T>(philosophers);
}

/// Two locks, which two threads take crosswise.
fn crosswise<T: Threads>() {
    let locks = Arc::new([T::mutex(0), T::mutex(0)]);
    let of_other = locks.clone();
    let other = T::spawn(move || {
        let _first = T::lock(&of_other[1]);
        let _second = T::lock(&of_other[0]);
    });
    let first = T::lock(&locks[0]);
    drop(T::lock(&locks[1]));
    drop(first);
    T::join(other);
}

/// Treiber's stack (*Systems programming: coping with parallelism*, 1986), whose nodes have
/// numbers: two threads push one node each, and pop one.
fn treiber<T: Threads>() {
    struct Stack<T: Threads> {
        /// The number of the first node, and above it how often it has changed.
        head: T::Atomic,
        next: [T::Atomic; 3],
    }
    const NODE: u32 = 0xff;
    impl<T: Threads> Stack<T> {
        fn push(&self, node: u32) {
            loop {
                let head = T::load(&self.head);
                T::store(&self.next[node as usize], head & NODE);
                if T::exchange(&self.head, head, (head & !NODE) + NODE + 1 + node) {
                    return;
                }
            }
        }

        fn pop(&self) -> u32 {
            loop {
                let head = T::load(&self.head);
                assert_ne!(head & NODE, 0, "each has pushed before it pops");
                let next = T::load(&self.next[(head & NODE) as usize]);
                if T::exchange(&self.head, head, (head & !NODE) + NODE + 1 + next) {
                    return head & NODE;
                }
            }
        }
    }
    let stack = Arc::new(Stack::<T> { head: T::atomic(0), next: [T::atomic(0), T::atomic(0), T::atomic(0)] });
    let popped = Arc::new([T::atomic(0), T::atomic(0)]);
    let threads = [1, 2].map(|node| {
        let (stack, popped) = (stack.clone(), popped.clone());
        T::spawn(move || {
            stack.push(node);
            T::store(&popped[node as usize - 1], stack.pop());
        })
    });
    join_all::<T>(threads);
    assert_eq!(T::load(&popped[0]) + T::load(&popped[1]), 3, "each node is popped once");
}

/// Two threads, each of which stores to one variable and loads the other.
fn store_buffering<T: Threads>() {
    let variables = Arc::new([T::atomic(0), T::atomic(0)]);
    let threads = [0, 1].map(|own| {
        let variables = variables.clone();
        T::spawn(move || {
            T::store(&variables[own], 1);
            T::load(&variables[1 - own]);
        })
    });
    join_all::<T>(threads);
}

/// Independent reads of independent writes.
fn independent_reads<T: Threads>() {
    let variables = Arc::new([T::atomic(0), T::atomic(0)]);
    let writers = [0, 1].map(|own| {
        let variables = variables.clone();
        T::spawn(move || T::store(&variables[own], 1))
    });
    let readers = [0, 1].map(|first| {
        let variables = variables.clone();
        T::spawn(move || {
            T::load(&variables[first]);
            T::load(&variables[1 - first]);
        })
    });
    join_all::<T>(writers.into_iter().chain(readers));
}

/// SCTBench's `reorder`: threads that set one value and then another, and one that sees them in
/// between.
fn reorder<T: Threads>(setters: usize) {
    let values = Arc::new([T::atomic(0), T::atomic(0)]);
    let mut threads: Vec<_> = (0..setters)
        .map(|_| {
            let values = values.clone();
            T::spawn(move || {
                T::store(&values[0], 1);
                T::store(&values[1], 1);
            })
        })
        .collect();
    threads.push(T::spawn(move || {
        let seen = [T::load(&values[0]), T::load(&values[1])];
        assert_eq!(seen[0], seen[1], "one is set, and the other is not");
    }));
    join_all::<T>(threads);
}

/// SCTBench's `twostage`: threads that set a value under one lock, and another under a second one;
/// a thread that takes both locks sees the one without the other.
fn two_stage<T: Threads>(setters: usize) {
    let values = Arc::new([T::mutex(0), T::mutex(0)]);
    let mut threads: Vec<_> = (0..setters)
        .map(|_| {
            let values = values.clone();
            T::spawn(move || {
                *T::lock(&values[0]) = 1;
                let one = *T::lock(&values[0]);
                *T::lock(&values[1]) = one + 1;
            })
        })
        .collect();
    threads.push(T::spawn(move || {
        let one = *T::lock(&values[0]);
        if one != 0 {
            let other = *T::lock(&values[1]);
            assert_eq!(other, one + 1, "the first stage is over, and the second is not");
        }
    }));
    join_all::<T>(threads);
}
