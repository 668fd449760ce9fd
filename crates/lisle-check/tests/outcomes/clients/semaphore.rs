//! A semaphore with one permit.

use super::Client;
use lisle_core::sync::Semaphore;

pub(crate) const CLIENTS: Client<Semaphore> = Client {
    primitive: "semaphore",
    make: || Semaphore::new(1),
    operations: &[
        ("acquire", |permits, _| {
            let permit = permits.acquire();
            permit.count().to_string()
        }),
        ("wait", |permits, _| {
            permits.wait();
            "w".into()
        }),
        ("try", |permits, _| permits.try_wait().to_string()),
        ("post", |permits, _| {
            permits.post();
            "p".into()
        }),
        ("look", |permits, _| permits.tokens().to_string()),
    ],
};
