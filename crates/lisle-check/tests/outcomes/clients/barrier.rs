//! A barrier of two, each of whom has a place in it.

use super::Client;
use lisle_core::sync::{Barrier, Mutex, Party};

pub(crate) const CLIENTS: Client<[Mutex<Option<Party>>; 2]> = Client {
    primitive: "barrier",
    make: || {
        let barrier = Barrier::new();
        [(); 2].map(|()| Mutex::new(Some(barrier.enrol())))
    },
    operations: &[
        ("wait", |places, me| {
            let place = places[me as usize].lock();
            place.as_ref().map_or("-".into(), |party| {
                let round = party.wait();
                round.number().to_string()
            })
        }),
        ("leave", |places, me| {
            let left = places[me as usize].lock().take();
            if left.is_some() { "l" } else { "-" }.into()
        }),
    ],
};
