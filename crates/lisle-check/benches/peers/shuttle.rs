//! shuttle: every schedule, by depth-first search; schedules drawn at random; and by priorities.

use crate::{program, threads::threads};
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, Runner};

threads! {
    Shuttle: shuttle::thread::spawn => shuttle::thread::JoinHandle<()>,
    shuttle::sync, shuttle::sync::atomic, |guard| guard.unwrap()
}

fn explore(scheduler: impl Scheduler + 'static, name: &str) {
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(program::<Shuttle>(name));
}

pub(crate) fn exhaustive(name: &str) {
    explore(DfsScheduler::new(None, false), name);
}

pub(crate) fn random(name: &str, seed: u64) {
    explore(RandomScheduler::new_from_seed(seed, usize::MAX), name);
}

pub(crate) fn priorities(name: &str, seed: u64) {
    explore(PctScheduler::new_from_seed(seed, 3, usize::MAX), name);
}
