//! The results of the instructions of AArch64, each by itself.

use lisle_check::litmus::Model;

use super::support::test;

/// Runs instructions with X1=-2, X2=3, X3=0x1234567890abcdef, and asserts the value of X0.
fn computes(code: &str, value: &str) {
    let code: String = code.split(';').map(|line| format!(" {} ;\n", line.trim())).collect();
    let text = format!(
        "AArch64 one\n{{ int64_t 0:X0=7; 0:X1=-2; 0:X2=3; 0:X3=0x1234567890abcdef; int64_t a[4]={{10,11,12,13}}; \
         0:X9=a; }}\n P0 ;\n{code}forall (0:X0={value})"
    );
    let outcome = test(&text).run(Model::Arm8).unwrap_or_else(|error| panic!("{text}\n{error}"));
    assert!(outcome.holds(), "{text}\n{outcome}");
}

#[test]
fn moves_and_fields() {
    computes("MOVZ X0,#0x1234,LSL #16", "0x12340000");
    computes("MOVN X0,#0", "-1");
    computes("MOVN W0,#1", "0xfffffffe");
    computes("MOV X0,X3 ; MOVK X0,#0xffff,LSL #32", "0x1234ffff90abcdef");
    computes("MVN W0,W2", "0xfffffffc");
    computes("NEG X0,X2", "-3");
    computes("UBFM X0,X3,#8,#15", "0xcd");
    computes("UBFM X0,X3,#56,#7", "0xef00");
    computes("SBFM X0,X3,#8,#15", "-51");
    computes("UBFX X0,X3,#4,#8", "0xde");
    computes("SBFX W0,W3,#28,#4", "0xfffffff9");
    computes("UXTB W0,W3", "0xef");
    computes("SXTH W0,W3", "0xffffcdef");
    computes("SXTW X0,W3", "0xffffffff90abcdef");
    computes("LSL W0,W3,#4", "0x0abcdef0");
    computes("LSR W0,W3,#28", "9");
    computes("ASR W0,W3,#28", "0xfffffff9");
    computes("LSR X0,X1,#60", "15");
    computes("LSL X0,X2,X2", "24");
}

#[test]
fn arithmetic() {
    computes("ADD X0,X1,X2,LSL #4", "46");
    computes("ADD X0,X2,W1,UXTW", "0x100000001");
    computes("ADD X0,X2,W1,SXTW #2", "-5");
    computes("SUB X0,X2,#1,LSL #12", "-4093");
    computes("BIC X0,X3,#0xffff", "0x1234567890ab0000");
    computes("ORN W0,WZR,W2", "0xfffffffc");
    computes("EON X0,X2,X2", "-1");
    computes("MADD X0,X1,X2,X2", "-3");
    computes("MSUB X0,X1,X2,X2", "9");
    computes("MUL W0,W1,W2", "0xfffffffa");
}

#[test]
fn flags() {
    // A comparison, and the conditions that hold after it.
    for (code, holding) in [
        ("CMP X1,X2", "NE MI LT LE CS HI VC"),
        ("CMP X2,X1", "NE PL GT GE CC LS VC"),
        ("CMP X2,#3", "EQ PL GE LE CS LS VC"),
        ("CMP WZR,W1", "NE PL GT GE CC LS VC"),
        ("MOVZ W5,#0x8000,LSL #16 ; CMP W5,#1", "NE PL LT LE CS HI VS"),
        ("ADDS XZR,X1,X2", "NE PL GT GE CS HI VC"),
        ("ADDS XZR,X1,#2", "EQ PL GE LE CS LS VC"),
        ("CMN W2,WZR", "NE PL GT GE CC LS VC"),
        ("MOVN W5,#0x8000,LSL #16 ; ADDS W6,W5,#1", "NE MI GT GE CC LS VS"),
        ("ANDS X0,X1,X2", "NE PL GT GE CC LS VC"),
        ("TST W1,W1", "NE MI LT LE CC LS VC"),
        ("SUBS X0,X2,X2", "EQ PL GE LE CS LS VC"),
    ] {
        let all = ["EQ", "NE", "CS", "CC", "MI", "PL", "VS", "VC", "HI", "LS", "GE", "LT", "GT", "LE"];
        for condition in all {
            let value = if holding.split(' ').any(|name| name == condition) { "1" } else { "0" };
            computes(&format!("{code} ; CSET X0,{condition}"), value);
            computes(&format!("{code} ; MOV X0,#1 ; B.{condition} L0 ; MOV X0,#0 ; L0:"), value);
        }
    }
}

#[test]
fn choices() {
    for (code, value) in [
        ("CSEL X0,X1,X2,EQ", "-2"),
        ("CSEL X0,X1,X2,NE", "3"),
        ("CSINC X0,X1,X2,NE", "4"),
        ("CSINV X0,X1,X2,NE", "-4"),
        ("CSNEG X0,X1,X2,NE", "-3"),
        ("CINC X0,X2,EQ", "4"),
        ("CNEG X0,X2,NE", "3"),
        ("CSETM X0,EQ", "-1"),
    ] {
        computes(&format!("CMP X2,#3 ; {code}"), value);
    }
    computes("TBZ X2,#0,L0 ; MOV X0,#5 ; L0:", "5");
    computes("TBZ X2,#2,L0 ; MOV X0,#5 ; L0:", "7");
    computes("TBNZ X1,#63,L0 ; MOV X0,#5 ; L0:", "7");
    computes("CBNZ W2,L0 ; MOV X0,#5 ; L0:", "7");
}

#[test]
fn addresses() {
    computes("LDR X0,[X9,#8]", "11");
    computes("LDUR X0,[X9,#16]", "12");
    computes("MOV X4,#3 ; LDR X0,[X9,X4,LSL #3]", "13");
    computes("MOV W4,#-8 ; ADD X5,X9,#8 ; LDR X0,[X5,W4,SXTW]", "10");
    computes("LDR X4,[X9],#8 ; LDR X0,[X9]", "11");
    computes("LDR X4,[X9,#16]! ; LDR X5,[X9] ; SUB X0,X4,X5", "0");
    computes("LDP X4,X5,[X9,#16] ; ADD X0,X4,X5", "25");
    computes("STP X1,X2,[X9] ; LDR X0,[X9,#8]", "3");
    computes("STR X2,[X9,#8]! ; LDR X4,[X9],#8 ; LDR X5,[X9] ; ADD X0,X4,X5", "15");
    computes("SWP X2,X0,[X9]", "10");
}

#[test]
fn flags_depend_on_what_was_compared() {
    // A branch on flags that an ADDS has set is a control dependency like any other.
    let text = "AArch64 S+ctrl\n{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; }\n P0 | P1 ;\n MOV W0,#2 | LDR W0,[X1] ;\n \
                STR W0,[X1] | ADDS W4,W0,#0 ;\n DMB ST | B.EQ L0 ;\n MOV W2,#1 | MOV W2,#1 ;\n STR W2,[X3] | STR W2,[X3] ;\n \
                | L0: ;\nexists (1:X0=1 /\\ x=2)";
    assert!(!test(text).run(Model::Arm8).expect("its own model").is_allowed());
    let free = text.replace("B.EQ L0", "NOP");
    assert!(test(&free).run(Model::Arm8).expect("its own model").is_allowed());
}
