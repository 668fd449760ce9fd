//! The kernel's part: a system call, and a thread that sleeps and is woken by another.

use super::cores;
use crate::job::timed;
use rustix::{
    event::{EventfdFlags, epoll, eventfd},
    io::{Errno, write},
    process::getppid,
    thread::futex,
};
use std::{
    hint::black_box,
    os::fd::OwnedFd,
    sync::atomic::{
        AtomicU32,
        Ordering::{Acquire, Release},
    },
    time::Duration,
};

/// Times `n` calls that do next to nothing.
pub(crate) fn system_calls(n: u64) -> Duration {
    timed(|| {
        for _ in 0..n {
            black_box(getppid());
        }
    })
}

/// A word that a thread sleeps at until it is another.
#[derive(Default)]
pub(crate) struct Bell(AtomicU32);

impl Bell {
    /// Rings for the `nth` time.
    pub(crate) fn ring(&self, nth: u32) {
        self.0.store(nth, Release);
        futex::wake(&self.0, futex::Flags::PRIVATE, 1).expect("the word is there");
    }

    /// Sleeps until it has rung for the `nth` time.
    pub(crate) fn wait(&self, nth: u32) {
        loop {
            let seen = self.0.load(Acquire);
            if seen == nth {
                return;
            }
            match futex::wait(&self.0, futex::Flags::PRIVATE, seen, None) {
                Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => panic!("a thread cannot sleep: {error}"),
            }
        }
    }
}

/// Two threads wake each other `n` times by futexes: both on one core, or each on its own.
pub(crate) fn futexes(n: u64, cores: usize) -> Duration {
    let (there, back) = (Bell::default(), Bell::default());
    let n = u32::try_from(n).expect("a run lasts less than hours");
    both(
        cores,
        || {
            for i in 1..=n {
                there.ring(i);
                back.wait(i);
            }
        },
        || {
            for i in 1..=n {
                there.wait(i);
                back.ring(i);
            }
        },
    )
}

/// A descriptor that another thread makes ready, and the poll that waits for it. So a thread is
/// woken that also waits for sockets.
struct Poller {
    ready: OwnedFd,
    epoll: OwnedFd,
}

impl Poller {
    /// Edge-triggered, so that nothing has to be read to sleep again.
    fn new() -> Self {
        let ready = eventfd(0, EventfdFlags::NONBLOCK).expect("a process may have a descriptor");
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).expect("a process may have a descriptor");
        let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &ready, epoll::EventData::new_u64(0), flags).expect("an eventfd may be polled");
        Poller { ready, epoll }
    }

    fn wake(&self) {
        write(&self.ready, &1_u64.to_ne_bytes()).expect("its counter is far from its end");
    }

    fn wait(&self) {
        let mut events = Vec::with_capacity(1);
        while events.is_empty() {
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => panic!("a thread cannot wait for a descriptor: {error}"),
            }
        }
    }
}

/// As [`futexes`], by descriptors.
pub(crate) fn events(n: u64, cores: usize) -> Duration {
    let (there, back) = (Poller::new(), Poller::new());
    both(
        cores,
        || {
            for _ in 0..n {
                there.wake();
                back.wait();
            }
        },
        || {
            for _ in 0..n {
                there.wait();
                back.wake();
            }
        },
    )
}

fn both(cores: usize, one: impl FnOnce() + Send, other: impl FnOnce() + Send) -> Duration {
    if cores == 1 { cores::on_one(one, other) } else { cores::on_two(one, other) }
}
