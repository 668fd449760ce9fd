//! Texts that are no tests: the error names the mistake, its place, and a correct form.

use lisle_check::litmus::Test;

use super::support::mistake;

const X86: &str = "X86 t\n{ x=0; }\n P0 | P1 ;\n MOV [x],$1 | CELL ;\nexists (x=1)";

#[test]
fn an_error_shows_the_place() {
    let error = mistake(&X86.replace("CELL", "FNORD EAX"));
    assert_eq!((error.position().line, error.position().column), (4, 15));
    let shown = error.to_string();
    for part in [
        "line 4, column 15",
        "FNORD",
        "4 |  MOV [x],$1 | FNORD EAX ;",
        "^^^^^",
        "supported on x86: MOV, XCHG",
    ] {
        assert!(shown.contains(part), "no {part:?} in\n{shown}");
    }
}

#[test]
fn mistakes_of_every_part() {
    let c = |body: &str| format!("C t\n{{ x=0; }}\nP0 (atomic_int* x) {{\n  {body}\n}}\nexists (x=1)");
    let arm = |cell: &str| format!("AArch64 t\n{{ 0:X1=x; }}\n P0 ;\n {cell} ;\nexists (x=1)");
    let mut wrong = String::new();
    for (text, position, word) in [
        (String::new(), (1, 1), "the file is empty"),
        ("PPC t\n{ }".to_owned(), (1, 1), "`PPC` is no architecture"),
        ("C t\nP0".to_owned(), (2, 3), "no block of initial values"),
        ("X86\n{ }".to_owned(), (1, 1), "no name"),
        ("X86 t\n(* open\n{ }".to_owned(), (2, 1), "no end"),
        ("X86 t\n{ x=0".to_owned(), (2, 5), "expected `;` or `}`"),
        ("X86 t\n{ int a[0]; }".to_owned(), (2, 9), "an array has 1 to 4096 elements"),
        ("X86 t\n{ 3:EAX=1; }\n P0 ;\n NOP ;\nexists (true)".to_owned(), (2, 3), "there is no thread 3"),
        (
            "X86 t\n{ 0:R99=1; }\n P0 ;\n NOP ;\nexists (true)".to_owned(),
            (2, 3),
            "`R99` is no register of X86",
        ),
        (X86.replace("| CELL", ""), (4, 2), "1 columns"),
        (X86.replace("P1", "P2"), (3, 7), "expected `P1`"),
        (X86.replace("CELL", "JE L9"), (4, 18), "there is no label `L9`"),
        (X86.replace("CELL", "MOV AL,$1"), (4, 19), "`AL` is no register"),
        (X86.replace("CELL", "MOV [x],[y]"), (4, 15), "`MOV` with 2 such operands"),
        (X86.replace("CELL", "NOP").replace("(x=1)", "(2:EAX=1)"), (5, 9), "there is no thread 2"),
        (X86.replace("CELL", "NOP").replace("(x=1)", "(y=1)"), (5, 9), "there is no location `y`"),
        (X86.replace("CELL", "NOP").replace("(x=1)", "(x=1"), (5, 11), "expected `)`, found the end"),
        (X86.replace("CELL", "NOP").replace("exists", "sometimes"), (5, 1), "expected `;`"),
        (arm("LDXP W0,W2,[X1]"), (4, 2), "`LDXP` is not supported"),
        (arm("LDR W0,[X31]"), (4, 10), "`X31` is no register"),
        (arm("LDR W0,[X1,W2,LSL]"), (4, 19), "expected the number of bits"),
        (arm("DMB OSH"), (4, 6), "the barrier `OSH`"),
        (arm("B.XX L0"), (4, 4), "the condition `XX` is not supported"),
        (arm("L0: B L0"), (4, 6), "this loop has no bound"),
        (c("int r0 = y;"), (4, 12), "`y` is neither a variable nor a parameter"),
        (c("int r1 = r0; r0 = 1;"), (4, 12), "`r0` is neither"),
        (c("x = 1;"), (4, 5), "expected `;`, found `=`"),
        (c("frob(x);"), (4, 3), "`frob` is not supported"),
        (c("for (;;) {}"), (4, 3), "`for` is not supported"),
        (c("atomic_store_explicit(x, 1, memory_order_acquire);"), (4, 31), "cannot have this order"),
        (c("int r = atomic_load_explicit(x, memory_order_release);"), (4, 35), "cannot have this order"),
        (c("int r = atomic_load_explicit(x, relaxed);"), (4, 35), "`relaxed` is no memory order"),
        (c("while (atomic_load(x) == 0) {}"), (4, 3), "this loop has no bound"),
        (c("int r0 = 1"), (5, 1), "expected `;`, found `}`"),
        (c("").replace("(x=1)", "(0:r5=1)"), (6, 11), "thread 0 has no register `r5`"),
    ] {
        let error = mistake(&text);
        if !error.message().contains(word) || (error.position().line, error.position().column) != position {
            wrong.push_str(&format!("{error}\nand not {word:?} at {position:?}\n\n"));
        }
    }
    assert_eq!(wrong, "");
}

#[test]
fn too_much_is_an_error_and_not_a_wait() {
    let stores = "atomic_store(x, 1);".repeat(200);
    let many = mistake(&format!("C t\n{{ x=0; }}\nP0 (atomic_int* x) {{ {stores} }}\nexists (x=1)"));
    assert!(many.message().contains("more than 128"), "{many}");
    let branches = "if (atomic_load(x)) {}".repeat(20);
    let paths = mistake(&format!("C t\n{{ x=0; }}\nP0 (atomic_int* x) {{ {branches} }}\nexists (x=1)"));
    assert!(paths.message().contains("more than 4096 paths"), "{paths}");
}

#[test]
fn depth_and_growth_have_limits() {
    let c = |body: &str| {
        format!("C t {{ x=0; }} P0 (atomic_int* x) {{ int r = atomic_load(x); {body} }} exists (x=1)")
    };
    let deep = 100_000;
    for text in [
        c(&format!("r = {}1;", "!".repeat(deep))),
        c(&format!("r = {}1;", "(".repeat(deep))),
        c(&"{".repeat(deep)),
        c(&format!("r = 1{};", " + 1".repeat(deep))),
        c(&"if (r) ".repeat(deep)),
        c("").replace("(x=1)", &"(".repeat(deep)),
        c("").replace("(x=1)", &"not ".repeat(deep)),
        c("").replace("(x=1)", &"x=1 => ".repeat(deep)),
    ] {
        assert_eq!(mistake(&text).message(), "this is too long, or nested too deeply");
    }
    let grown = mistake(&c(&"r = r + r;".repeat(60)));
    assert!(grown.message().contains("has grown to more than 4096"), "{grown}");
}

#[test]
fn a_loop_with_a_bound_is_unrolled() {
    let text = "C t { x=0; } P0 (atomic_int* x) { int i = 0; while (i < 3) { atomic_fetch_add(x, 2); i = i + 1; } }\n\
                forall ([x]=6 /\\ 0:i=3)";
    let test = Test::parse(text).expect("the bound is a constant");
    assert!(test.run(lisle_check::litmus::Model::Rc11).expect("its own model").holds());
}
