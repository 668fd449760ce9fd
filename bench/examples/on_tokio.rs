//! Lisle's events on tokio, with no Lisle runtime: a server that answers only the clients that
//! still wait.
//!
//! Run it with `cargo run --manifest-path bench/Cargo.toml --example on_tokio`.

use lisle::channel::{Receiver, Sender, bounded};
use lisle::event::{Nack, with_nack};
use lisle::time::after;
use lisle::{Event, channel, choose};
use std::time::Duration;

/// A client's question, the channel for the answer, and the event that the client has given up.
struct Question {
    n: u64,
    reply: Sender<u64>,
    gone: Nack,
}

/// Answers until the last client has gone. Gives how many it has answered, and how many had left.
async fn server(questions: Receiver<Question>) -> (u32, u32) {
    let (mut answered, mut left) = (0, 0);
    while let Ok(Question { n, reply, gone }) = questions.recv_evt().await {
        if n % 10 == 0 {
            tokio::time::sleep(Duration::from_millis(200)).await; // a hard one
        }
        // Either the client takes its answer, or it is known to have left. Never both.
        lisle::select! {
            await;
            sent = reply.send_evt(n * n) => match sent {
                Ok(()) => answered += 1,
                Err(_) => left += 1,
            },
            () = gone => left += 1,
        }
    }
    (answered, left)
}

/// Asks, but does not wait for longer than `patience`.
async fn ask(server: Sender<Question>, n: u64, patience: Duration) -> Option<u64> {
    let (reply, answers) = channel();
    let answer = with_nack(|gone| {
        let question = Question { n, reply: reply.clone(), gone };
        server.try_send(question).unwrap_or_else(|_| unreachable!("the queue has room for all"));
        answers.recv_evt()
    });
    // One event, to be awaited, or to be chosen from by somebody else.
    choose((answer.wrap(Result::ok), after(patience).wrap(|()| None))).await
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let (questions, asked) = bounded(100);
    let server = tokio::spawn(server(asked));

    let patient = tokio::spawn(ask(questions.clone(), 10, Duration::from_secs(60)));
    let impatient = tokio::spawn(ask(questions.clone(), 20, Duration::from_millis(1)));
    let aborted = tokio::spawn(ask(questions.clone(), 30, Duration::from_secs(60)));
    tokio::time::sleep(Duration::from_millis(10)).await;
    aborted.abort(); // The future is dropped, which its nack tells the server.
    let last = ask(questions, 7, Duration::from_secs(60)).await;

    assert_eq!(patient.await.unwrap(), Some(100));
    assert_eq!(impatient.await.unwrap(), None);
    assert_eq!(last, Some(49));
    let (answered, left) = server.await.unwrap();
    println!("{answered} clients have taken their answers, {left} had left");
    assert_eq!((answered, left), (2, 2));
}
