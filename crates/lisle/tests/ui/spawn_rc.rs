//! An `Rc` goes into a fiber, which may begin on another thread.

use std::rc::Rc;

fn main() {
    let shared = Rc::new(5);
    lisle::spawn(move || println!("{shared}"));
}
