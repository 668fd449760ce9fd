//! The outcomes that the checker finds.

use crate::clients::{Client, Program};
use crate::listed::{BLOCKS, List, Outcomes};
use lisle_check::{Checker, Ending};
use std::sync::{Arc, Mutex};

pub(crate) fn compare<W: Send + Sync + 'static>(
    clients: &'static Client<W>,
    program: &Program,
    list: &mut List,
) {
    let last = Arc::new(Mutex::new(String::new()));
    let (of_program, body) = (last.clone(), program.clone());
    let mut found = Outcomes::new();
    let explored = move || {
        let world = Arc::new((clients.make)());
        let (of_other, its) = (world.clone(), body.clone());
        let other = lisle::spawn(move || clients.run(&of_other, &its, 1));
        let here = clients.run(&world, &body, 0);
        *of_program.lock().unwrap() = format!("{here} {}", other.join().unwrap());
    };
    let verdict = Checker::new().past_failures().explore_each(explored, |ending| match ending {
        Ending::Complete => drop(found.insert(last.lock().unwrap().clone())),
        Ending::Blocked => drop(found.insert(BLOCKS.to_owned())),
        other => panic!("`{}` has ended so: {other:?}", clients.name(program)),
    });
    assert!(verdict.is_exhaustive(), "{verdict}");
    list.is(&clients.name(program), &found);
}
