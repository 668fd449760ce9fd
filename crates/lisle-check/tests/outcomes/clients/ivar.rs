//! A cell that is filled once.

use super::Client;
use lisle_core::sync::IVar;

pub(crate) const CLIENTS: Client<IVar<u32>> = Client {
    primitive: "ivar",
    make: IVar::new,
    operations: &[
        ("put", |cell, me| cell.put(me).is_ok().to_string()),
        ("get", |cell, _| cell.get().to_string()),
        ("try", |cell, _| cell.try_get().map_or("-".into(), ToString::to_string)),
    ],
};
