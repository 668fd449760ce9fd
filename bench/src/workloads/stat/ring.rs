//! io_uring: questions are written into a ring, and a system call has the kernel look at it.
//!
//! A question for a file's attributes may have to wait for a disk, so the kernel does not try it in
//! place: it hands each to threads of its own. The ring spares the threads of a pool, and one
//! system call for each of the questions that go together.

use super::Sized;
use crate::{
    job::{Job, Outcome, timed},
    peers,
};
use io_uring::{IoUring, opcode, types};
use lisle::net::Pollable;
use std::{
    cell::RefCell,
    ffi::CString,
    io, mem,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd},
        unix::ffi::OsStrExt,
    },
};

/// The ring is a descriptor that can be read when an answer has come. Its owner alone writes
/// questions and takes answers.
struct Ring(RefCell<IoUring>);

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        let descriptor = self.0.borrow().as_raw_fd();
        // SAFETY: the descriptor is open for as long as the ring is there.
        unsafe { BorrowedFd::borrow_raw(descriptor) }
    }
}

impl Ring {
    /// Ends the sample if there can be none: a kernel or a container may refuse it.
    fn new(entries: u64) -> Self {
        let entries = u32::try_from(entries).expect("tasks are few").next_power_of_two();
        let ring = IoUring::new(entries).unwrap_or_else(|error| {
            peers::cannot(&format!("not here: the system refuses io_uring: {error}"))
        });
        Ring(RefCell::new(ring))
    }

    /// Has the kernel look at the written entries, and waits for `wait_for` answers.
    fn submit(&self, wait_for: usize) {
        self.0.borrow().submit_and_wait(wait_for).expect("the kernel takes the questions");
    }

    /// Takes the answers that have come, and returns how many.
    fn take(&self) -> usize {
        let mut ring = self.0.borrow_mut();
        let mut taken = 0;
        for answer in ring.completion() {
            assert!(answer.result() >= 0, "{}", io::Error::from_raw_os_error(-answer.result()));
            taken += 1;
        }
        taken
    }
}

/// Questions that go together, and where their answers are written.
struct Questions {
    path: CString,
    answers: Vec<libc::statx>,
}

impl Questions {
    fn new(file: &Sized, count: u64) -> Self {
        let path = CString::new(file.path().as_os_str().as_bytes()).expect("a path has no zero");
        // SAFETY: a record of numbers may be all zeroes.
        let empty: libc::statx = unsafe { mem::zeroed() };
        Questions { path, answers: vec![empty; count as usize] }
    }

    /// Asks `n` times, as many at a time as there are questions. `finish` has the kernel answer the
    /// given number.
    fn ask(&mut self, n: u64, ring: &Ring, finish: impl Fn(usize)) -> u64 {
        let (mut sum, mut left) = (0, n as usize);
        while left > 0 {
            let count = left.min(self.answers.len());
            self.write(ring, count);
            finish(count);
            sum += self.answers[..count].iter().map(|answer| answer.stx_size).sum::<u64>();
            left -= count;
        }
        sum
    }

    /// Writes the first `count` of them into the ring.
    fn write(&mut self, ring: &Ring, count: usize) {
        let mut ring = ring.0.borrow_mut();
        for answer in &mut self.answers[..count] {
            let into = (&raw mut *answer).cast::<types::statx>();
            let question = opcode::Statx::new(types::Fd(libc::AT_FDCWD), self.path.as_ptr(), into)
                .mask(libc::STATX_SIZE)
                .build();
            // SAFETY: path and answer stay where they are until the question is answered: `ask`
            // waits for all that it has written before it goes on, and if it panicked, so would the
            // sample's process end.
            unsafe { ring.submission().push(&question) }.expect("the ring has room for them");
        }
    }
}

/// A thread that waits in the kernel.
pub(super) fn thread(job: &Job) -> Outcome {
    let (file, tasks) = (Sized::new(), job.param("tasks"));
    let (ring, mut questions) = (Ring::new(tasks), Questions::new(&file, tasks));
    let finish = |count| {
        ring.submit(count);
        assert_eq!(ring.take(), count);
    };
    job.measure(|n| timed(|| file.check(n, questions.ask(n, &ring, finish)))).nanoseconds()
}

/// A fiber that waits for the ring's descriptor, while its domain would run others.
pub(super) fn fiber(job: &Job) -> Outcome {
    let (file, tasks) = (Sized::new(), job.param("tasks"));
    let measured = peers::runtime(job.workers).run(|| {
        let ring = Pollable::new(Ring::new(tasks)).expect("the ring is a descriptor");
        let mut questions = Questions::new(&file, tasks);
        let finish = |count| {
            ring.get_ref().submit(0);
            let mut left = count;
            while left > 0 {
                let taken = ring.read_with(|ring| match ring.take() {
                    0 => Err(io::ErrorKind::WouldBlock.into()),
                    taken => Ok(taken),
                });
                left -= taken.expect("the ring can be waited for");
            }
        };
        job.measure(|n| timed(|| file.check(n, questions.ask(n, ring.get_ref(), finish))))
    });
    measured.nanoseconds()
}
