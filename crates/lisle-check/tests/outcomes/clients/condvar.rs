//! A condition variable for a number that is to rise.

use super::Client;
use lisle_core::sync::{Condvar, Mutex};

pub(crate) const CLIENTS: Client<(Mutex<u32>, Condvar)> = Client {
    primitive: "condvar",
    make: || (Mutex::new(0), Condvar::new()),
    operations: &[
        ("wait", |(number, risen), _| risen.wait_while(number.lock(), |number| *number == 0).to_string()),
        ("take", |(number, risen), _| {
            let mut number = risen.wait_while(number.lock(), |number| *number == 0);
            *number -= 1;
            number.to_string()
        }),
        ("raise and tell one", |(number, risen), _| {
            *number.lock() += 1;
            risen.notify_one();
            "1".into()
        }),
        ("raise and tell all", |(number, risen), _| {
            let mut number = number.lock();
            *number += 1;
            risen.notify_all();
            number.to_string()
        }),
    ],
};
