//! Lisle's events on smol, with no Lisle runtime: a buffer between a fast producer and a slow
//! consumer, made of one choice.
//!
//! Run it with `cargo run --manifest-path bench/Cargo.toml --example on_smol`.

use lisle::channel;
use lisle::channel::{Receiver, Sender};
use lisle::time::after;
use std::collections::VecDeque;
use std::time::Duration;

/// Passes messages on, with room for `capacity` of them. Gives how full it has been.
async fn buffer(input: Receiver<u32>, output: Sender<u32>, capacity: usize) -> usize {
    let mut queue = VecDeque::new();
    let (mut open, mut fullest) = (true, 0);
    while open || !queue.is_empty() {
        // Receives while there is room, sends while there is something: whichever can happen first.
        lisle::select! {
            await;
            message = input.recv_evt(), if open && queue.len() < capacity => match message {
                Ok(message) => {
                    queue.push_back(message);
                    fullest = fullest.max(queue.len());
                }
                Err(_) => open = false,
            },
            sent = output.send_evt(queue[0]), if !queue.is_empty() => {
                if sent.is_err() {
                    break;
                }
                queue.pop_front();
            }
        }
    }
    fullest
}

/// Takes its time, and gives up when nothing has come for too long.
async fn consume(messages: Receiver<u32>) -> Vec<u32> {
    let mut got = Vec::new();
    loop {
        smol::Timer::after(Duration::from_millis(1)).await;
        lisle::select! {
            await;
            message = messages.recv_evt() => match message {
                Ok(message) => got.push(message),
                Err(_) => return got,
            },
            () = after(Duration::from_secs(60)) => panic!("nothing has come for a minute"),
        }
    }
}

fn main() {
    smol::block_on(async {
        let (produced, input) = channel();
        let (output, consumed) = channel();
        let buffer = smol::spawn(buffer(input, output, 8));
        let consumer = smol::spawn(consume(consumed));
        for n in 0..50 {
            produced.send_evt(n).await.expect("the buffer is there");
        }
        drop(produced); // The buffer drains and ends, and with it the consumer.

        let got = consumer.await;
        println!("{} messages through a buffer that held up to {}", got.len(), buffer.await);
        assert_eq!(got, (0..50).collect::<Vec<_>>());
    });
}
