//! Events awaited by futures, on an executor that does not know this library.
//!
//! Run it with `cargo run -p lisle --example futures`.

use lisle::channel::{Receiver, Sender};
use lisle::time::after;
use lisle::{Event, channel, choose};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// A minimal executor: one future, one thread.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// An `async` function that asks a fiber and limits the time to wait.
async fn ask(questions: &Sender<u64>, answers: &Receiver<u64>, n: u64) -> Option<u64> {
    questions.send_evt(n).await.ok()?;
    // To wait for one of several things, choose between events instead of selecting between
    // futures. A future that is dropped right after its event has happened drops the value; a
    // choice never does.
    choose((answers.recv_evt().wrap(Result::ok), after(Duration::from_secs(10)).wrap(|()| None))).await
}

fn main() {
    let (questions, asked) = channel::<u64>();
    let (answer, answers) = channel::<u64>();
    // Outside any runtime, `spawn` starts the default one.
    let fiber = lisle::spawn(move || {
        for n in asked {
            answer.send(n * n).expect("the answer is waited for");
        }
    });

    let sum = block_on(async {
        let mut sum = 0;
        for n in 1..=10 {
            sum += ask(&questions, &answers, n).await.expect("the fiber answers");
        }
        sum
    });
    println!("the sum of the first ten squares is {sum}");
    assert_eq!(sum, 385);

    drop(questions);
    block_on(async { fiber.join_evt().await }).expect("the fiber does not panic");
}
