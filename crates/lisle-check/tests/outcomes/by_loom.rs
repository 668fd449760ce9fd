//! The outcomes that loom finds with at most two forced switches. Most outcomes need no more.

use crate::clients::{Client, Program};
use crate::listed::{BLOCKS, List, Outcomes};
use std::sync::{Arc, Mutex};

pub(crate) fn compare<W: Send + Sync + 'static>(
    clients: &'static Client<W>,
    program: &Program,
    list: &mut List,
) {
    let name = clients.name(program);
    let listed = list.of(&name).clone();
    if listed.contains(BLOCKS) {
        return;
    }
    let found = Arc::new(Mutex::new(Outcomes::new()));
    let (of_model, body) = (found.clone(), program.clone());
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.max_branches = 10_000;
    builder.check(move || {
        let world = Arc::new((clients.make)());
        let (of_other, its) = (world.clone(), body.clone());
        let other = loom::thread::spawn(move || clients.run(&of_other, &its, 1));
        let here = clients.run(&world, &body, 0);
        let outcome = format!("{here} {}", other.join().unwrap());
        of_model.lock().unwrap().insert(outcome);
    });
    let found = found.lock().unwrap();
    let unknown: Vec<_> = found.difference(&listed).collect();
    assert!(unknown.is_empty(), "`{name}` may come to {unknown:?}, which the checker does not find");
    println!("{name}: {} of {}", found.len(), listed.len());
}
