//! A queue that survives its clients: a client that goes away while it puts or takes has put or
//! taken nothing.
//!
//! Run it with `cargo run -p lisle --example kill_safe_queue`.
//!
//! After Flatt and Findler, *Kill-safe synchronization abstractions* (PLDI 2004). The manager makes
//! each waiting client an offer: the first item to every client that takes, and room to every client
//! that puts. The queue changes only when a client has taken its offer.

use lisle::kill_safe::{self, ClientGone, Reply, Requests, Server, ServerGone};
use lisle::time::after;
use lisle::{Event, choose};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

/// A handle to the queue. Clones share the queue.
#[derive(Clone)]
pub(crate) struct KillSafeQueue<T> {
    server: Server<Request<T>, Option<T>>,
}

#[derive(Clone)]
enum Request<T> {
    Put(T),
    Take,
}

impl<T: Clone + Send + 'static> KillSafeQueue<T> {
    /// Creates a queue with room for `capacity` items.
    pub(crate) fn new(capacity: usize) -> Self {
        KillSafeQueue { server: kill_safe::start(move |requests| Manager::new(capacity).manage(&requests)) }
    }

    /// Returns the event of putting `item` at the end of the queue.
    pub(crate) fn put_evt(&self, item: T) -> impl Event<Output = Result<(), ServerGone>> + '_ {
        self.server.request_evt(Request::Put(item)).wrap(|answer| answer.map(drop))
    }

    /// Returns the event of taking the first item.
    pub(crate) fn take_evt(&self) -> impl Event<Output = Result<T, ServerGone>> + '_ {
        self.server
            .request_evt(Request::Take)
            .wrap(|answer| answer.map(|item| item.expect("the answer to a take is an item")))
    }
}

struct Manager<T> {
    capacity: usize,
    items: RefCell<VecDeque<T>>,
    clients: Vec<(Request<T>, Reply<Option<T>>)>,
}

impl<T: Clone + Send> Manager<T> {
    fn new(capacity: usize) -> Self {
        Manager { capacity, items: RefCell::default(), clients: Vec::new() }
    }

    fn manage(mut self, requests: &Requests<Request<T>, Option<T>>) {
        enum Step<R, T> {
            Next(Option<R>),
            Served(usize),
            Gone(usize),
            /// The client was dropped after the queue had changed for it, and before it learned of the
            /// change.
            Undo(usize, Option<T>),
        }
        loop {
            let offers = self.clients.iter().enumerate().map(|(index, (request, reply))| {
                let offer = reply.offer_with_evt(|| self.serve(request)).wrap(move |offered| match offered {
                    Ok(()) => Step::Served(index),
                    Err(ClientGone(None)) => Step::Gone(index),
                    Err(ClientGone(Some(answer))) => Step::Undo(index, answer),
                });
                // A client that cannot be served now is only watched.
                let gone = reply.gone_evt().wrap(move |()| Step::Gone(index));
                let can = self.can_serve(request);
                choose((can.then_some(offer), (!can).then_some(gone)))
            });
            let offers: Vec<_> = offers.collect();
            let step = choose((requests.next_evt().wrap(Step::Next), choose(offers))).sync();
            match step {
                Step::Next(None) => return,
                Step::Next(Some(request)) => self.clients.push(request.into_parts()),
                Step::Served(index) | Step::Gone(index) => drop(self.clients.remove(index)),
                Step::Undo(index, answer) => {
                    drop(self.clients.remove(index));
                    let items = self.items.get_mut();
                    match answer {
                        Some(item) => items.push_front(item),
                        None => drop(items.pop_back()),
                    }
                }
            }
        }
    }

    fn can_serve(&self, request: &Request<T>) -> bool {
        let length = self.items.borrow().len();
        match request {
            Request::Put(_) => length < self.capacity,
            Request::Take => length > 0,
        }
    }

    /// Makes the change for a taken offer and returns the answer.
    fn serve(&self, request: &Request<T>) -> Option<T> {
        let mut items = self.items.borrow_mut();
        match request {
            Request::Put(item) => {
                items.push_back(item.clone());
                None
            }
            Request::Take => items.pop_front(),
        }
    }
}

fn main() {
    lisle::run(|| {
        let queue = KillSafeQueue::new(2);
        let consumer = {
            let queue = queue.clone();
            lisle::spawn(move || (0..5).map(|_| queue.take_evt().sync().unwrap()).collect::<Vec<u32>>())
        };
        for item in 0..5 {
            queue.put_evt(item).sync().unwrap();
        }
        println!("taken in order: {:?}", consumer.join().unwrap());

        // A performance that gives up has taken nothing.
        let patience = Duration::from_millis(5);
        let in_time = choose((queue.take_evt().wrap(Some), after(patience).wrap(|()| None)));
        assert_eq!(in_time.sync(), None);
        queue.put_evt(5).sync().unwrap();
        assert_eq!(queue.take_evt().sync(), Ok(5));

        // A fiber that panics while it waits to be served has taken nothing, either. No state is
        // left half changed.
        let failing = {
            let queue = queue.clone();
            lisle::spawn(move || {
                let dies = lisle::always(()).wrap(|()| panic!("as expected"));
                choose((queue.take_evt().wrap(drop), dies)).sync()
            })
        };
        assert!(failing.join().is_err());
        queue.put_evt(6).sync().unwrap();
        assert_eq!(queue.take_evt().sync(), Ok(6));
        println!("nothing was lost");
    });
}
