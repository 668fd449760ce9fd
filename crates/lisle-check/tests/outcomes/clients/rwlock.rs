//! A readers-writer lock around a number.

use super::Client;
use lisle_core::sync::{RwLock, RwLockWriteGuard};

pub(crate) const CLIENTS: Client<RwLock<u32>> = Client {
    primitive: "rwlock",
    make: || RwLock::new(0),
    operations: &[
        ("read", |lock, _| lock.read().to_string()),
        ("write", |lock, _| {
            let mut value = lock.write();
            *value += 1;
            value.to_string()
        }),
        ("try to read", |lock, _| lock.try_read().map_or("-".into(), |value| value.to_string())),
        ("try to write", |lock, _| {
            let Some(mut value) = lock.try_write() else { return "-".into() };
            *value += 1;
            value.to_string()
        }),
        ("write and read", |lock, _| {
            let mut value = lock.write();
            *value += 1;
            RwLockWriteGuard::downgrade(value).to_string()
        }),
    ],
};
