//! What a join or a loop does about what it has put off: for `lisle-par`.

pub mod owner;
