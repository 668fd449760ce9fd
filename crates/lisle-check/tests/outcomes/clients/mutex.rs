//! A mutex around a number.

use super::Client;
use lisle_core::Event;
use lisle_core::sync::Mutex;

pub(crate) const CLIENTS: Client<Mutex<u32>> = Client {
    primitive: "mutex",
    make: || Mutex::new(0),
    operations: &[
        ("lock", |mutex, _| {
            let mut value = mutex.lock();
            *value += 1;
            value.to_string()
        }),
        ("try", |mutex, _| {
            let Some(mut value) = mutex.try_lock() else { return "-".into() };
            *value += 1;
            value.to_string()
        }),
        ("perform", |mutex, _| {
            let mut value = mutex.lock_evt().sync();
            *value += 1;
            value.to_string()
        }),
        ("poll", |mutex, _| mutex.lock_evt().poll().map_or("-".into(), |value| value.to_string())),
    ],
};
