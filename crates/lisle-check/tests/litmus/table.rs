//! The table of the weak outcomes of the known shapes, under each model.
//!
//! A shape is written once, in C with relaxed accesses. The columns are: sequential consistency;
//! x86-TSO; RC11 with relaxed accesses; RC11 with acquire loads and release stores; and Armv8 with
//! plain loads and stores, with LDAR and STLR, and with LDAPR and STLR.
//!
//! LB and 3.LB with relaxed accesses are forbidden by RC11, which forbids every cycle of program
//! order and reads-from. ISO C++ allows both outcomes.

use lisle_check::litmus::Model;

use super::support::{acquire_and_release, test, text};

/// Name, executions under sequential consistency, and A (allowed) or F (forbidden) for each column.
const TABLE: &str = "
    SB             3   F A  A A  A F A
    SB+fence+po    3   F A  A A  A F A
    SB+xchg        3   F F  A A  A F A
    MP             3   F F  A F  A F F
    MP+fence+po    3   F F  A F  A F F
    MP+fence+addr  3   F F  A F  F F F
    LB             3   F F  F F  A F F
    LB+datas       3   F F  F F  F F F
    S              3   F F  A F  A F F
    R              3   F A  A A  A F A
    R+po+fence     3   F F  A A  A F F
    2+2W           3   F F  A A  A F F
    WRC            7   F F  A F  A F F
    WRC+data+addr  7   F F  A F  F F F
    RWC            7   F A  A A  A F A
    IRIW          15   F F  A A  A F F
    IRIW+addrs    15   F F  A A  F F F
    WWC            9   F F  A F  A F F
    WRW+WR         7   F A  A A  A F A
    3.LB           7   F F  F F  A F F
    3.2W           7   F F  A A  A F F
    CoRR           3   F F  F F  F F F
    CoWR           3   F F  F F  F F F
    SB+fences      3   F F  F F  F F F
    MP+fences      3   F F  F F  F F F
    LB+fences      3   F F  F F  F F F
    R+fences       3   F F  F F  F F F
    2+2W+fences    3   F F  F F  F F F
    IRIW+fences   15   F F  F F  F F F
";

#[test]
fn every_row_in_every_column() {
    let rows = TABLE.lines().filter(|line| !line.trim().is_empty());
    for row in rows {
        let mut cells = row.split_whitespace();
        let name = cells.next().expect("a row begins with a name");
        let executions: u64 = cells.next().and_then(|cell| cell.parse().ok()).expect("a number follows");
        let relaxed = test(&text(&format!("c/{name}")));
        let ordered = test(&acquire_and_release(&text(&format!("c/{name}"))));
        let columns = [
            (&relaxed, Model::Sc),
            (&relaxed, Model::Tso),
            (&relaxed, Model::Rc11),
            (&ordered, Model::Rc11),
            (&relaxed, Model::Arm8),
            (&ordered, Model::Arm8),
            (&ordered, Model::Arm8Rcpc),
        ];
        let found = columns.map(|(test, model)| test.run(model).expect("the model is for C"));
        let letters = found.each_ref().map(|outcome| if outcome.is_allowed() { "A" } else { "F" });
        assert_eq!(letters.to_vec(), cells.collect::<Vec<_>>(), "{name}");
        assert_eq!(found[0].executions(), executions, "{name} under sequential consistency");
        assert!(found.iter().all(|outcome| outcome.races().is_empty()), "{name} has no race");
    }
}

#[test]
fn updates_of_one_instruction_are_whole() {
    // The verdict on SB+xchg in the column with LDAPR is true of a pair of exclusive instructions,
    // and of a swap that only releases. A swap that also acquires is ordered before later accesses.
    for (name, allowed) in [("SB+swpl+ldapr", true), ("SB+swpl+ldar", false), ("SB+swpal", false)] {
        let outcome = test(&text(&format!("aarch64/{name}"))).run(Model::Arm8).expect("its own model");
        assert_eq!(outcome.is_allowed(), allowed, "{name}");
    }
}
