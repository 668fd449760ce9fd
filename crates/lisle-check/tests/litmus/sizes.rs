//! Accesses of different sizes to the same bytes, arrays, and the types of locations.

use std::collections::BTreeSet;

use lisle_check::litmus::{FinalState, Model};

use super::support::test;

/// The values that end in the states of a test, in the order of printing.
fn states(text: &str, model: Model) -> BTreeSet<Vec<String>> {
    let outcome = test(text).run(model).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let values = |state: &FinalState| state.values().map(|(_, value)| value.to_owned()).collect();
    outcome.states().iter().map(values).collect()
}

fn holds(text: &str) {
    let outcome = test(text).run(Model::Arm8).unwrap_or_else(|error| panic!("{text}\n{error}"));
    assert!(outcome.holds(), "{text}\n{outcome}");
}

#[test]
fn half_of_a_location_is_written() {
    holds(
        "AArch64 low\n{ uint64_t x=0x100000001; 0:X5=x; 1:X5=x; }\n P0 | P1 ;\n MOV W1,#2 | LDR X2,[X5] ;\n \
         STR W1,[X5] | ;\nforall (1:X2=0x100000001 \\/ 1:X2=0x100000002)",
    );
    holds(
        "AArch64 high\n{ uint64_t x=0x100000001; 0:X5=x; }\n P0 ;\n MOV W1,#2 ;\n STR W1,[X5,#4] ;\n\
         forall (x=0x200000001)",
    );
}

#[test]
fn who_reads_both_halves_reads_them_at_once() {
    let text = |between: &str| {
        format!(
            "AArch64 halves\n{{ uint64_t x; 0:X5=x; 1:X5=x; uint64_t 1:X2; }}\n P0 | P1 ;\n MOV W1,#1 | LDR X2,[X5] ;\n \
             STR W1,[X5] | ;\n {between} | ;\n STR W1,[X5,#4] | ;\nlocations [1:X2;] forall (true)"
        )
    };
    let some =
        |values: &[&str]| values.iter().map(|value| vec![(*value).to_owned()]).collect::<BTreeSet<_>>();
    let all = some(&["0", "1", "4294967296", "4294967297"]);
    assert_eq!(states(&text("NOP"), Model::Arm8), all);
    assert_eq!(states(&text("DMB ST"), Model::Arm8), some(&["0", "1", "4294967297"]));
    assert_eq!(states(&text("NOP"), Model::Sc), some(&["0", "1", "4294967297"]));
    let whole = text("NOP").replace("MOV W1,#1", "MOV X1,#-1").replace("STR W1,[X5,#4]", "NOP");
    assert_eq!(states(&whole.replace("STR W1,[X5]", "STR X1,[X5]"), Model::Arm8), some(&["-1", "0"]));
}

#[test]
fn a_part_that_is_observed_orders_the_whole() {
    // The reader of one byte has seen the store. So the store, with its other bytes, comes before
    // the reader's next accesses.
    let text = |second: &str| {
        format!(
            "AArch64 parts\n{{ uint32_t x; 0:X5=x; 1:X5=x; }}\n P0 | P1 ;\n MOVZ W1,#0x0101 | LDRB W2,[X5] ;\n \
             STR W1,[X5] | DMB LD ;\n | {second} ;\nexists (1:X2=1 /\\ 1:X3=0)"
        )
    };
    let is_allowed = |text: &str| test(text).run(Model::Arm8).expect("its own model").is_allowed();
    assert!(!is_allowed(&text("LDRB W3,[X5,#1]")));
    assert!(is_allowed(&text("LDRB W3,[X5,#2]")));
    assert!(is_allowed(&text("LDRB W3,[X5,#1]").replace("DMB LD", "NOP")));
    // Two reads of overlapping bytes are coherent byte by byte.
    assert!(!is_allowed(&text("LDR W3,[X5]").replace("DMB LD", "NOP")));
}

#[test]
fn updates_of_a_part() {
    holds(
        "AArch64 both\n{ uint32_t x; 0:X5=x; 1:X5=x; 0:X1=1; 1:X1=1; }\n P0 | P1 ;\n LDADDB W1,W2,[X5] | \
         LDADDH W1,W2,[X5] ;\nforall (x=2)",
    );
    holds(
        "AArch64 wrap\n{ uint32_t x=0x1ff; 0:X5=x; 0:X1=1; }\n P0 ;\n LDADDB W1,W2,[X5] ;\nforall (x=0x100 /\\ 0:X2=0xff)",
    );
    holds(
        "AArch64 cas\n{ int8_t x=-1; 0:X5=x; 0:X1=-1; 0:X2=7; }\n P0 ;\n CASB W1,W2,[X5] ;\nforall (x=7 /\\ 0:X1=0xff)",
    );
    holds(
        "AArch64 exclusive\n{ uint16_t x=0x101; 0:X5=x; 1:X5=x; 1:X1=2; }\n P0 | P1 ;\n LDXRB W0,[X5] | STRH W1,[X5] ;\n \
         ADD W0,W0,#1 | ;\n STXRB W3,W0,[X5] | ;\n\
         forall (0:X3=1 \\/ x=2 \\/ x=3)",
    );
}

#[test]
fn arrays() {
    holds(
        "AArch64 array\n{ int a[3]={1,2}; 0:X1=a; }\n P0 ;\n LDR W0,[X1,#4] ;\n ADD W0,W0,#3 ;\n STR W0,[X1,#8] ;\n\
         locations [a;]\nforall (a={1,2,5} /\\ a[2]=5 /\\ a[0]=1)",
    );
    // A store of two elements, of which nothing else is accessed.
    holds(
        "AArch64 bytes\n{ uint8_t t[4]; 0:X2=t; 0:X0=0x201; }\n P0 ;\n STRH W0,[X2,#2] ;\nforall (t={0,0,1,2})",
    );
    let outcome = test(
        "AArch64 shown\n{ int a[2]={1,2}; 0:X1=a; }\n P0 ;\n STR WZR,[X1] ;\nlocations [a;]\nforall (true)",
    )
    .run(Model::Arm8)
    .expect("its own model");
    assert_eq!(outcome.states()[0].to_string(), "a[0]=0; a[1]=2;");
}

#[test]
fn an_address_that_is_read_goes_to_parts() {
    // The address comes from memory, so the parts are found out on the way.
    let text = "AArch64 pointer\n{ uint64_t x=0x0102030405060708; long p=x; 0:X1=p; 1:X1=x; 1:X0=0xff; }\n P0 | P1 ;\n \
                LDR X2,[X1] | STRB W0,[X1,#3] ;\n LDR X3,[X2] | STRH W0,[X1,#6] ;\nlocations [0:X3; x;]\nexists (true)";
    let text = text.replace("1:X1=x;", "1:X1=x; uint64_t 0:X3;");
    let ends = states(&text, Model::Arm8);
    let read: BTreeSet<&str> = ends.iter().map(|state| state[0].as_str()).collect();
    let expected = [0x0102030405060708_i64, 0x01020304ff060708, 0x00ff030405060708, 0x00ff0304ff060708];
    assert_eq!(read, expected.map(|value| value.to_string()).iter().map(String::as_str).collect());
    assert!(ends.iter().all(|state| state[1] == 0x00ff0304ff060708_i64.to_string()));
}

#[test]
fn loads_and_locations_have_signs() {
    for (code, value) in [
        ("LDRSB W0,[X1]", "0xfffffffe"),
        ("LDRSB X0,[X1]", "-2"),
        ("LDRB W0,[X1]", "0xfe"),
        ("LDRSH X0,[X1]", "-2"),
        ("LDRH W0,[X1]", "0xfffe"),
        ("LDRSW X0,[X1]", "-2"),
        ("LDR W0,[X1]", "0xfffffffe"),
        ("LDR X0,[X1]", "-2"),
        ("LDURSB X0,[X1,#0]", "-2"),
    ] {
        holds(&format!(
            "AArch64 signs\n{{ int64_t x=-2; int64_t 0:X0; 0:X1=x; }}\n P0 ;\n {code} ;\nforall (0:X0={value})"
        ));
    }
    holds(
        "AArch64 int\n{ int x; uint16_t y; 0:X1=x; 0:X2=y; 0:X0=-1; }\n P0 ;\n STR W0,[X1] ;\n STRH W0,[X2] ;\n\
           forall (x=-1 /\\ x=0xffffffff /\\ y=65535)",
    );
}

#[test]
fn the_types_of_c() {
    let outcome = test(
        "C types\n{ int8_t x; }\nP0 (int8_t* x, int16_t* y, long* z) {\n  *x = 300;\n  int8_t r = 200;\n  *y = r;\n  \
         *z = (int16_t)0x18000;\n}\nforall (x=44 /\\ 0:r=-56 /\\ y=-56 /\\ z=-32768)",
    )
    .run(Model::Rc11)
    .expect("its own model");
    assert!(outcome.holds(), "{outcome}");
}
