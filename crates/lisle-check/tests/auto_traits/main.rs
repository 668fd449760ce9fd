//! Every public type of the checker, and which auto traits it has. The list of all others is in
//! `lisle`, and says more.

#[macro_use]
mod has;

use has::*;
use std::panic::{RefUnwindSafe, UnwindSafe};

auto_traits! {
    [] yes yes yes yes yes {
        lisle_check::atomic::Ordering;
        lisle_check::atomic::AtomicBool;
        lisle_check::atomic::AtomicI16;
        lisle_check::atomic::AtomicI32;
        lisle_check::atomic::AtomicI64;
        lisle_check::atomic::AtomicI8;
        lisle_check::atomic::AtomicIsize;
        lisle_check::atomic::AtomicU16;
        lisle_check::atomic::AtomicU32;
        lisle_check::atomic::AtomicU64;
        lisle_check::atomic::AtomicU8;
        lisle_check::atomic::AtomicUsize;
        lisle_check::CellAccess;
        lisle_check::Ending;
        lisle_check::Limit;
        lisle_check::Memory;
        lisle_check::TokenError;
        lisle_check::litmus::Architecture;
        lisle_check::litmus::Model;
        lisle_check::litmus::Misplaced;
        lisle_check::litmus::Observation;
        lisle_check::litmus::Quantifier;
        lisle_check::litmus::RunError;
        lisle_check::litmus::Access;
        lisle_check::litmus::Outcome;
        lisle_check::litmus::ParseError;
        lisle_check::litmus::SourcePosition;
        lisle_check::litmus::Race;
        lisle_check::litmus::FinalState;
        lisle_check::litmus::Test;
        lisle_check::litmus::UnknownModel;
        lisle_check::Checker;
        lisle_check::Counts;
        lisle_check::DataRace;
        lisle_check::Difference;
        lisle_check::Failure;
        lisle_check::RaceSide;
        lisle_check::Spin;
        lisle_check::Trace;
        lisle_check::Verdict;
        lisle_check::task::conflict::Kind;
        lisle_check::task::conflict::Rule;
        lisle_check::task::conflict::Row;
        lisle_check::task::Clock;
        lisle_check::task::Coverage;
        lisle_check::task::End;
        lisle_check::task::Memory;
        lisle_check::task::Turns;
        lisle_check::task::Wants;
        lisle_check::task::Asked;
        lisle_check::task::CellName;
        lisle_check::task::Checker;
        lisle_check::task::Conflict;
        lisle_check::task::Fault;
        lisle_check::task::InMemory;
        lisle_check::task::Mutex;
        lisle_check::task::Outside;
        lisle_check::task::Path;
        lisle_check::task::Record;
        lisle_check::task::Schedule;
        lisle_check::task::Step;
        lisle_check::task::TaskName;
        lisle_check::task::Waiting;
    }
    [T] yes yes yes (T: RefUnwindSafe) yes {
        lisle_check::atomic::AtomicPtr<T>;
    }
    // As the cells of `std`.
    [T] (T: Send) no (T: Unpin) (T: UnwindSafe) no {
        lisle_check::cell::Cell<T>;
        lisle_check::cell::UnsafeCell<T>;
    }
    // `std::io::Error` is neither, and the contents of a task and of its values are not known.
    [] yes yes yes no no {
        lisle_check::ResumeError;
        lisle_check::task::Datum;
        lisle_check::task::Outcome;
        lisle_check::task::Possible;
        lisle_check::task::Task;
        lisle_check::task::Verdict;
    }
    [R] (R: Send) (R: Sync) (R: Unpin) (R: UnwindSafe) (R: RefUnwindSafe) {
        lisle_check::Outcome<R>;
        lisle_check::Outcomes<R>;
    }
    [T] yes yes yes yes yes {
        lisle_check::task::IVar<T>;
        lisle_check::task::MemoryCell<T>;
    }
    // As above.
    [T] yes yes yes no no {
        lisle_check::task::OpV<T>;
    }
}
