//! Ready tasks go to a domain that has nothing to do, and take their partners along.

use crate::support::watched;
use lisle::{Runtime, channel, spawn_task};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

/// The threads on which tasks have run.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<HashSet<ThreadId>>>);

impl Seen {
    /// Notes the current thread. Returns `true` if tasks have run on two.
    fn note(&self) -> bool {
        let mut seen = self.0.lock().unwrap();
        seen.insert(thread::current().id());
        seen.len() == 2
    }
}

/// All pairs begin on one domain, and could go on for ever without leaving it.
#[test]
fn pairs_that_talk_are_soon_on_both_domains() {
    let _watched = watched();
    Runtime::builder().domains(2).stall_report(None).run(|| {
        let seen = Seen::default();
        let pairs: Vec<_> = [(); 16]
            .into_iter()
            .flat_map(|()| {
                let (question, asked) = channel::<u64>();
                let (answer, answered) = channel();
                let (asks, answers) = (seen.clone(), seen.clone());
                let one = spawn_task(async move {
                    let mut n = 0;
                    while !asks.note() {
                        question.send_evt(n).await.unwrap();
                        assert_eq!(answered.recv_evt().await, Ok(n + 1), "none is lost on the way");
                        n += 1;
                    }
                });
                let other = spawn_task(async move {
                    while let Ok(n) = asked.recv_evt().await {
                        answers.note();
                        answer.send_evt(n + 1).await.unwrap();
                    }
                });
                [one, other]
            })
            .collect();
        pairs.into_iter().for_each(|task| task.join().unwrap());
    });
}
