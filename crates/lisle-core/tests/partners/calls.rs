//! Calls: their clients give up at each point, and their servers survive that.

use crate::executor::poll_once;
use crate::message::{Message, Messages};
use crate::ways::perform;
use crate::{rounds, start};
use lisle_core::{Event, kill_safe, rpc};
use std::thread::scope;

#[test]
fn callers_of_a_line_come_and_go() {
    let messages = Messages::default();
    let (caller, entry) = rpc::rpc::<Message, Message>();
    scope(|scope| {
        let messages = &messages;
        for first in start()..start() + 2 {
            let caller = caller.clone();
            scope.spawn(move || {
                for way in first..first + rounds(200, 4) {
                    if let Some(Ok(answer)) = perform(way, caller.call_evt(messages.make(way))) {
                        assert_eq!(*answer.number, 7);
                    }
                }
            });
        }
        drop(caller);
        scope.spawn(move || {
            for way in 0.. {
                let served = entry.entry_evt(|question| {
                    drop(question);
                    messages.make(7)
                });
                match way % 3 {
                    0 => drop(poll_once(Box::pin((&served).wrap(|served| served).future()).as_mut())),
                    _ if served.sync().is_err() => return,
                    _ => {}
                }
            }
        });
    });
    messages.assert_all_dropped();
}

#[test]
fn a_kill_safe_server_and_clients_that_leave() {
    let messages = Messages::default();
    let (server, requests) = kill_safe::server::<Message, Message>();
    scope(|scope| {
        let messages = &messages;
        for first in start()..start() + 2 {
            let server = server.clone();
            scope.spawn(move || {
                for way in first..first + rounds(200, 4) {
                    let _ = perform(way, server.request_evt(messages.make(way)));
                    poll_once(Box::pin(async { server.request_evt(messages.make(way)).await }).as_mut());
                }
            });
        }
        drop(server);
        scope.spawn(move || {
            while let Some(request) = requests.next() {
                let (question, reply) = request.into_parts();
                let _ = reply.offer(question);
            }
        });
    });
    messages.assert_all_dropped();
}
