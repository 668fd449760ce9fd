//! A task for each stream, all of which are woken once a frame.

use super::{
    Job, Outcome, Plan, Run, of_size,
    plan::{Kind, begun, step, sum},
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
};
use tokio::{runtime, sync::Notify};

/// The state that the tasks of all streams share.
struct Shared {
    /// Tells them that a frame begins.
    begins: Notify,
    /// How many have not come to the end of this frame.
    remaining: AtomicUsize,
    /// Tells that none remains.
    ended: Notify,
    values: Box<[AtomicU64]>,
}

impl Shared {
    fn count_off(&self) {
        if self.remaining.fetch_sub(1, Relaxed) == 1 {
            self.ended.notify_one();
        }
    }
}

pub(super) fn tokio(job: &Job) -> Outcome {
    of_size!(job, of_words)
}

fn of_words<const WORDS: usize>(job: &Job) -> Outcome {
    let plan = Plan::new(job);
    let count = plan.kinds.len();
    let shared = Arc::new(Shared {
        begins: Notify::new(),
        remaining: AtomicUsize::new(count),
        ended: Notify::new(),
        values: plan.kinds.iter().map(|_| AtomicU64::new(0)).collect(),
    });
    // With one worker, which is the fastest where there is one.
    let runtime = runtime::Builder::new_current_thread().build().expect("a runtime starts");
    for (nth, kind) in plan.kinds.iter().enumerate() {
        let &Kind::Steps(first) = kind else { unreachable!("none of these reads") };
        runtime.spawn(stream::<WORDS>(shared.clone(), nth, first));
    }
    // Now each waits for its first frame.
    runtime.block_on(shared.ended.notified());
    let frame = |shared: &mut Arc<Shared>| {
        shared.remaining.store(count, Relaxed);
        shared.begins.notify_waiters();
        runtime.block_on(shared.ended.notified());
    };
    let all = |shared: &mut Arc<Shared>| sum(shared.values.iter().map(|value| value.load(Relaxed)));
    Run::<WORDS>::new(job, &plan).measure(shared, frame, all)
}

async fn stream<const WORDS: usize>(shared: Arc<Shared>, nth: usize, first: u64) {
    let mut state = begun::<WORDS>(first);
    loop {
        // Made before the end of this frame is told, it does not miss the next.
        let next_frame = shared.begins.notified();
        shared.count_off();
        next_frame.await;
        shared.values[nth].store(step(&mut state), Relaxed);
    }
}
