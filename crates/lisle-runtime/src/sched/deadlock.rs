//! Notices that no fiber of a runtime will ever go on.
//!
//! The README beside this file argues why every report of this module is a deadlock. Running fibers
//! pay nothing for it: a domain stores a word as it goes to sleep, and the monitor, which notices
//! anyway that all domains sleep, does the rest.

use super::Domain;
use super::deadlock_policy::OnDeadlock;
use super::reactor;
use super::shared::Shared;
use crate::event::calls;
use crate::own_threads;
use crate::report::{Deadlock, Report};
use crate::shim::{
    atomic::{Ordering, fence},
    sync::Arc,
};
use crate::spawned::foreign_calls;
use crate::time::outside;

/// The result of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A domain will wake the monitor by itself; or there is nothing more to find.
    GoesOn,
    /// Something outside may wake a fiber, or something moved just now.
    Unknown,
    Dead,
}

/// The monitor's notes between two looks.
#[derive(Default)]
pub(crate) struct Watch {
    /// The turns at which a snapshot has refuted a look.
    refuted: Option<Vec<u64>>,
}

impl Watch {
    /// Checks whether a runtime, all of whose domains seem to sleep, is dead, and carries out its
    /// policy if so.
    pub(crate) fn look(&mut self, shared: &Shared) -> Verdict {
        let deadlocks = &shared.deadlocks;
        let ignored = deadlocks.policy == OnDeadlock::Ignore && !deadlocks.is_returned;
        if ignored || deadlocks.found.get().is_some() || self.refuted.as_ref() == Some(&shared.turns()) {
            return Verdict::GoesOn;
        }
        let verdict = judge(shared);
        if verdict != Verdict::Dead {
            return verdict;
        }
        let turns = shared.turns();
        let snapshot = shared.snapshot();
        let waiters = snapshot.graph.fibers.iter().chain(&snapshot.graph.tasks);
        let waits = waiters.flat_map(|waiter| &waiter.waits);
        if !snapshot.is_still || waits.into_iter().any(|wait| wait.external) || shared.turns() != turns {
            self.refuted = Some(shared.turns());
            return Verdict::Unknown;
        }
        let deadlock = Deadlock { graph: Arc::new(snapshot.graph) };
        // Stored before it is reported: the handler of the report may ask for it.
        let _ = deadlocks.found.set(deadlock.clone());
        if !deadlocks.is_fatal() || deadlocks.callers.load(Ordering::SeqCst) == 0 {
            shared.report(&Report::Deadlock(deadlock));
        }
        if deadlocks.is_fatal() {
            shared.stop();
            // Fibers wait for their foreign calls to return, and these would never do so.
            calls::interrupt(shared.number);
        }
        Verdict::Dead
    }
}

/// Returns how much the threads that serve all runtimes have done; `None` while one of them does
/// something, or has something to do.
fn services() -> Option<[u64; 4]> {
    let [calls, sleeps] = foreign_calls::stillness()?;
    Some([outside::stillness()?, reactor::stillness()?, calls, sleeps])
}

impl Domain {
    /// Returns `true` if a timer is armed on a domain that sleeps. Timers of its tasks may be
    /// disarmed meanwhile.
    fn has_timers(&self) -> bool {
        self.counts.timers.load(Ordering::Relaxed) || !self.tasks_timers.is_empty()
    }
}

/// Makes the steps A to D of the README.
fn judge(shared: &Shared) -> Verdict {
    // A: the sleep of each domain, and the counts of the service threads so far.
    let Some(services_before) = services() else { return Verdict::Unknown };
    let mut sleeps = Vec::with_capacity(shared.domains.len());
    for domain in &shared.domains {
        match domain.counts.asleep.load(Ordering::Acquire) {
            0 => return Verdict::Unknown,
            sleep => sleeps.push(sleep),
        }
    }
    if shared.domains.iter().any(|domain| domain.has_timers()) {
        return Verdict::GoesOn;
    }
    if !shared.domains.iter().all(|domain| domain.reactor.is_empty()) {
        return Verdict::Unknown;
    }
    // B: whether there is a thread that is not one of these.
    // That nobody else wakes a fiber, which may have been promised, does not mean that nobody else makes
    // room for a stack.
    let starves = shared.domains.iter().any(|domain| domain.counts.starves.load(Ordering::Relaxed));
    if (!shared.deadlocks.closed_world || starves) && own_threads::has_strangers(shared.number) {
        return Verdict::Unknown;
    }
    // C: whether anything is on its way.
    fence(Ordering::SeqCst);
    let nothing_registered = shared.domains.iter().all(|domain| domain.reactor.is_empty());
    if services() != Some(services_before)
        || !nothing_registered
        || shared.waiting_to_begin() > 0
        || !shared.may_be_dead()
    {
        return Verdict::Unknown;
    }
    // D: whether the sleeps are still the same.
    for (domain, sleep) in shared.domains.iter().zip(sleeps) {
        if !domain.inbox.is_still_asleep() || domain.counts.asleep.load(Ordering::Acquire) != sleep {
            return Verdict::Unknown;
        }
    }
    Verdict::Dead
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fiber::{JoinHandle, spawn_on};
    use crate::sched::reactor::{self, Direction, Wakes};
    use crate::{Runtime, blocking, spawn};
    use lisle_core::{Event, channel, choose};
    use mio::Interest;
    use std::future::Future;
    use std::os::fd::AsFd;
    use std::task::{Context, Wake, Waker};
    use std::time::Duration;

    /// Judges a runtime again and again, much more often than its monitor does, until these fibers
    /// have ended. They need nothing else to do so, and must not be judged dead.
    fn never_dead(runtime: &Runtime, fibers: Vec<JoinHandle<()>>) {
        let mut looks = 0_u64;
        while !fibers.iter().all(JoinHandle::is_finished) {
            assert_ne!(judge(runtime.shared()), Verdict::Dead, "after {looks} looks");
            looks += 1;
        }
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    }

    fn runtime(domains: usize) -> Runtime {
        let builder = Runtime::builder().domains(domains).on_deadlock(OnDeadlock::Ignore);
        builder.closed_world(true).start().unwrap()
    }

    fn rounds(count: usize) -> usize {
        if cfg!(debug_assertions) { count / 20 } else { count }
    }

    #[test]
    fn messages_from_domain_to_domain_are_no_deadlock() {
        for domains in [2, 4] {
            let runtime = runtime(domains);
            let fibers = runtime.run(|| {
                let ring: Vec<_> = (0..domains).map(|_| channel::<u32>()).collect();
                (0..domains)
                    .map(|domain| {
                        let (tx, rx) = (ring[(domain + 1) % domains].0.clone(), ring[domain].1.clone());
                        spawn_on(domain, move || {
                            if domain == 0 {
                                tx.send(0).unwrap();
                            }
                            for round in 0..rounds(50_000) {
                                let message = rx.recv().unwrap();
                                if domain > 0 || round + 1 < rounds(50_000) {
                                    tx.send(message).unwrap();
                                }
                            }
                        })
                    })
                    .collect()
            });
            never_dead(&runtime, fibers);
        }
    }

    #[test]
    fn spawns_and_steals_are_no_deadlock() {
        let runtime = runtime(3);
        let fiber = runtime.run(|| {
            spawn(|| {
                for _ in 0..rounds(300) {
                    // More than a ring holds: some go to the common queue.
                    let fibers: Vec<_> = (0..400).map(|i| spawn(move || assert!(i < 400))).collect();
                    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
                    spawn_on(1, || spawn_on(2, || ()).join().unwrap()).join().unwrap();
                }
            })
        });
        never_dead(&runtime, vec![fiber]);
    }

    #[test]
    fn timers_and_foreign_calls_are_no_deadlock() {
        let runtime = runtime(2);
        let fibers = runtime.run(|| {
            let sleeper = spawn(|| {
                for i in 0..rounds(3_000) as u64 {
                    crate::time::sleep(Duration::from_micros(i % 300));
                }
            });
            let caller = spawn_on(1, || {
                for i in 0..rounds(3_000) as u64 {
                    blocking(move || std::thread::sleep(Duration::from_micros(i % 100)));
                }
            });
            vec![sleeper, caller]
        });
        never_dead(&runtime, fibers);
    }

    /// Calls wait for fibers, and for each other, and fibers for calls.
    #[test]
    fn calls_that_wait_for_events_are_no_deadlock() {
        for domains in [1, 2] {
            let runtime = runtime(domains);
            let fibers = runtime.run(|| {
                let (to_call, in_call) = channel::<usize>();
                let (to_other, in_other) = channel::<usize>();
                let (to_fiber, in_fiber) = channel::<usize>();
                let count = rounds(5_000);
                let call = spawn(move || {
                    blocking(move || in_call.iter().for_each(|n| to_other.send(n).unwrap()));
                });
                let other = spawn(move || {
                    blocking(move || in_other.iter().for_each(|n| to_fiber.send(n).unwrap()));
                });
                let fiber = spawn(move || {
                    for n in 0..count {
                        to_call.send(n).unwrap();
                        assert_eq!(in_fiber.recv(), Ok(n));
                    }
                });
                vec![call, other, fiber]
            });
            never_dead(&runtime, fibers);
        }
    }

    /// Wakes by sending.
    struct Sends(channel::Sender<()>);

    impl Wake for Sends {
        fn wake(self: Arc<Self>) {
            // Others may go on before this has sent.
            std::thread::yield_now();
            self.0.try_send(()).unwrap();
        }
    }

    /// A fiber waits for a message that a future's waker sends, from the thread that has made the
    /// future ready.
    #[test]
    fn wakers_of_futures_are_no_deadlock() {
        let runtime = runtime(2);
        let fibers = runtime.run(|| {
            let wait_for = |round: usize| {
                let (tx, rx) = channel::bounded(1);
                let waker = Waker::from(Arc::new(Sends(tx)));
                let (reader, mut writer) = std::io::pipe().unwrap();
                let terms = reactor::Terms { interest: Interest::READABLE, wakes: Wakes::Commit };
                let reactor = reactor::current().unwrap();
                let reader = reactor.register(reader.as_fd(), terms, Direction::Read).unwrap();
                let soon = crate::time::after(Duration::from_micros((round % 200) as u64));
                let mut future = Box::pin(choose((reader.state(Direction::Read).ready(), soon)).future());
                let mut context = Context::from_waker(&waker);
                if future.as_mut().poll(&mut context).is_pending() {
                    if round.is_multiple_of(2) {
                        std::io::Write::write_all(&mut writer, b"x").unwrap();
                    }
                    rx.recv().unwrap();
                    assert!(future.as_mut().poll(&mut context).is_ready());
                }
            };
            (0..2).map(|domain| spawn_on(domain, move || (0..rounds(5_000)).for_each(wait_for))).collect()
        });
        never_dead(&runtime, fibers);
    }

    /// A task sleeps, also until the end of time, on a domain that sleeps.
    #[test]
    fn timers_of_tasks_are_no_deadlock() {
        let runtime = runtime(2);
        let sleepers = runtime.run(|| {
            let sleeper = |i: u64| {
                spawn_on(i as usize % 2, move || {
                    for round in 0..rounds(2_000) as u64 {
                        let wait = Duration::from_micros((round + i) % 300);
                        crate::spawn_task(async move { lisle_core::time::after(wait).await }).join().unwrap();
                    }
                })
            };
            (0..2).map(sleeper).collect()
        });
        never_dead(&runtime, sleepers);
        let endless = runtime.run(|| {
            crate::spawn_task(async { Box::pin(lisle_core::time::after(Duration::MAX).into_future()).await })
        });
        for _ in 0..rounds(20_000) {
            assert_ne!(judge(runtime.shared()), Verdict::Dead);
        }
        endless.cancel();
        assert!(endless.join().is_err());
    }

    /// A timer that was disarmed elsewhere keeps nobody from seeing that all wait for ever.
    #[test]
    fn a_timer_that_was_disarmed_elsewhere_hides_no_deadlock() {
        let runtime = runtime(2);
        let (tx, rx) = channel::<u32>();
        let task = runtime.run(|| {
            let armed = spawn_on(1, move || {
                crate::spawn_task(async move {
                    let hour = lisle_core::time::after(Duration::from_secs(3_600));
                    let first = choose((rx.recv_evt().wrap(Result::ok), hour.wrap(|()| None))).future().await;
                    (first, rx.recv_evt().await)
                })
            });
            armed.join().unwrap()
        });
        while runtime.shared().domains[1].counts.asleep.load(Ordering::Acquire) == 0 {
            std::thread::yield_now();
        }
        runtime
            .run(|| spawn_on(0, move || tx.send(1).map(|()| tx)).join().unwrap().map(std::mem::forget))
            .unwrap();
        while judge(runtime.shared()) != Verdict::Dead {
            std::thread::yield_now();
        }
        drop(task);
    }

    /// The judge finds a deadlock also while it is asked all the time.
    #[test]
    fn what_is_dead_is_found_dead() {
        for domains in [1, 3] {
            let runtime = runtime(domains);
            let (_tx, rx) = channel::<u32>();
            let waiting: Vec<_> = (0..10)
                .map(|_| {
                    let rx = rx.clone();
                    runtime.spawn(move || assert!(rx.recv().is_err()))
                })
                .collect();
            while judge(runtime.shared()) != Verdict::Dead {
                std::thread::yield_now();
            }
            let snapshot = runtime.shared().snapshot();
            assert!(snapshot.is_still);
            assert_eq!(snapshot.graph.fibers.len(), waiting.len());
        }
    }
}
