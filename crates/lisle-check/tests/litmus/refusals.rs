//! A test without a meaning here, or without an execution, has no verdict: an error names the fault
//! and its place.

use lisle_check::litmus::{Model, RunError, Test};

use super::support::{mistake, test};

fn refusal(text: &str, model: Model) -> RunError {
    match test(text).run(model) {
        Err(error) => error,
        Ok(outcome) => panic!("{text}\nhas a verdict:\n{outcome}"),
    }
}

fn position(error: &RunError) -> Option<(usize, usize)> {
    error.position().map(|position| (position.line, position.column))
}

#[test]
fn no_quantifier_is_true_of_an_access_to_nothing() {
    for condition in ["exists (0:X1=0)", "~exists (0:X1=0)", "forall (0:X1=77)"] {
        for code in ["LDR W1,[X5,#4]", "LDR X1,[X5]", "STRB W1,[X5,#4]", "LDADD W2,W1,[X5,#8]", "LDR W1,[X6]"]
        {
            let text = format!("AArch64 outside\n{{ int x; 0:X5=x; }}\n P0 ;\n {code} ;\n{condition}");
            let error = refusal(&text, Model::Arm8);
            assert!(matches!(error, RunError::Nowhere { thread: 0, .. }), "{error}");
            assert_eq!(position(&error), Some((4, 2)));
        }
    }
    let text = "AArch64 outside\n{ int x; 0:X5=x; }\n P0 ;\n LDR W1,[X5,#4] ;\nexists (0:X1=0)";
    let error = refusal(text, Model::Arm8).to_string();
    assert!(
        error.contains("the 4 bytes from 4 on of `x`, which has 4; give `x` a type of that size"),
        "{error}"
    );
}

#[test]
fn a_read_of_nothing_in_one_path_only() {
    // Only where the flag is seen is the access outside.
    let text = "AArch64 path\n{ 0:X1=x; 1:X1=x; }\n P0 | P1 ;\n MOV W0,#1 | LDR W0,[X1] ;\n STR W0,[X1] | CBZ W0,L0 ;\n\
                 | LDR W2,[X1,#64] ;\n | L0: ;\n~exists (1:X2=5)";
    assert_eq!(position(&refusal(text, Model::Arm8)), Some((6, 3)));
    let never = text.replace("MOV W0,#1", "MOV W0,#0");
    assert!(test(&never).run(Model::Arm8).expect("the access is in no execution").holds());
}

#[test]
fn no_verdict_without_executions() {
    for condition in ["exists (x=1)", "~exists (x=1)", "forall (x=1)"] {
        let filtered = format!("X86 filtered\n{{ x=0; }}\n P0 ;\n MOV [x],$1 ;\nfilter (x=2)\n{condition}");
        let error = refusal(&filtered, Model::Tso);
        assert!(matches!(error, RunError::Empty { filtered: true, .. }), "{error}");
        assert_eq!(position(&error), Some((5, 1)));
        let locked = format!(
            "C twice\n{{ x=0; }}\nP0 (spinlock_t* l, int* x) {{ spin_lock(l); spin_lock(l); }}\n{condition}"
        );
        let error = refusal(&locked, Model::Rc11);
        assert!(matches!(error, RunError::Empty { filtered: false, .. }), "{error}");
        assert_eq!(position(&error), Some((4, 1)));
    }
}

#[test]
fn accesses_that_are_not_aligned() {
    for code in ["LDR W1,[X5,#2]", "STRH W1,[X5,#1]", "LDR W1,[X5,X6]"] {
        let text =
            format!("AArch64 askew\n{{ uint64_t x; 0:X5=x; 0:X6=3; }}\n P0 ;\n {code} ;\nexists (x=0)");
        let error = refusal(&text, Model::Arm8);
        assert_eq!(position(&error), Some((4, 2)));
        assert!(error.to_string().contains("no multiple of the access's size"), "{error}");
    }
}

#[test]
fn sizes_that_differ_are_not_for_every_model() {
    let text = "X86_64 mixed\n{ uint64_t x; }\n P0 | P1 ;\n movl $1,(x) | movq (x),%rax ;\nexists (1:rax=1)";
    let error = refusal(text, Model::Tso);
    assert!(matches!(error, RunError::Mixed { model: Model::Tso, .. }), "{error}");
    assert_eq!(position(&error), Some((4, 16)));
    assert!(test(text).run(Model::Sc).expect("sc is for all").holds());
}

#[test]
fn too_many_parts() {
    let stores = " STRB W0,[X1] | LDR X0,[X1] ;\n".repeat(16);
    let bytes: String = (1..8).map(|byte| format!(" STRB W0,[X1,#{byte}] | ;\n")).collect();
    let text =
        format!("AArch64 many\n{{ uint64_t x; 0:X1=x; 1:X1=x; }}\n P0 | P1 ;\n{stores}{bytes}exists (x=0)");
    assert_eq!(refusal(&text, Model::Arm8), RunError::Large);
}

#[test]
fn what_is_not_supported_has_a_place() {
    let arm = |block: &str, cell: &str| {
        format!("AArch64 t\n{{ {block} 0:X1=x; }}\n P0 ;\n {cell} ;\nexists (true)")
    };
    let c = |block: &str, body: &str| {
        format!("C t\n{{ {block} }}\nP0 (atomic_int* x, int* y) {{\n  {body}\n}}\nexists (true)")
    };
    let mut wrong = String::new();
    for (text, position, word) in [
        (arm("", "NOP").replace("t\n{", "t\nVariant=vmsa\n{"), (2, 1), "`Variant=vmsa` is not supported"),
        (arm("", "NOP").replace("t\n{", "t\nTTHM=HA\n{"), (2, 1), "`TTHM=HA` is not supported"),
        (arm("char x;", "NOP"), (2, 3), "the type `char` is not supported"),
        (arm("int x; long x;", "NOP"), (2, 15), "`x` has a type already"),
        (arm("int x[2]={1,2,3};", "NOP"), (2, 7), "`x` has 2 elements, and 3 values"),
        (arm("[y]=(oa:PA(x), valid:1);", "NOP"), (2, 7), "page tables"),
        (arm("0:X2=PTE(x);", "NOP"), (2, 8), "page tables"),
        (arm("0:X2=pte_x;", "NOP"), (2, 8), "page tables"),
        (arm("pte_x=0;", "NOP"), (2, 3), "page tables"),
        (arm("0:X2=f(x);", "NOP"), (2, 9), "`f(...)` is no value"),
        (arm("0:X2=P0:L0;", "NOP"), (2, 10), "expected `;` or `}`"),
        (arm("", "LDRB X0,[X1]"), (4, 7), "32-bit name"),
        (arm("", "ADD X0,X0,W1"), (4, 12), "differ in size"),
        (arm("", "LDR W0,[W1]"), (4, 10), "one of X0 to X30"),
        (arm("", "LDR W0,[X1,W2]"), (4, 13), "SXTW or UXTW"),
        (arm("", "LDAR W0,[X1],#4"), (4, 10), "does not write its base register"),
        (arm("", "LDR X1,[X1],#8"), (4, 13), "something else"),
        (arm("", "MOVK W0,#1,LSL #32"), (4, 12), "shifted by 0 or 16"),
        (arm("", "CASP W0,W1,W2,W3,[X1]"), (4, 2), "`CASP` is not supported"),
        (arm("", "LDXRH W0,[X1] ;\n STXR W2,W0,[X1]"), (5, 2), "another size"),
        (arm("int x;", "NOP").replace("true", "x=0x1ffffffff"), (5, 11), "`[x]` has 32 bits"),
        (arm("int x[2];", "NOP").replace("true", "x=1"), (5, 11), "expected `{`"),
        (arm("int x[2];", "NOP").replace("true", "x[2]=1"), (5, 11), "no such element"),
        (c("int z[2];", "").replace("int* y", "int* z"), (3, 20), "arrays are not supported in C"),
        (c("", "unsigned r = 1;"), (4, 3), "the type `unsigned` is not supported"),
        (c("", "uint32_t r = 1;"), (4, 12), "unsigned numbers"),
        (c("", "int r = (uint64_t)1 > 0;"), (4, 12), "unsigned numbers"),
        (c("long y;", ""), (3, 20), "`y` has 4 bytes by this, and 8"),
        (c("", "rcu_read_lock();"), (4, 3), "RCU is not supported"),
        (c("", "int r = cmpxchg(x, 0, 1);"), (4, 11), "`cmpxchg` is not supported"),
    ] {
        let error = mistake(&text);
        if !error.message().contains(word) || (error.position().line, error.position().column) != position {
            wrong.push_str(&format!("{error}\nand not {word:?} at {position:?}\n\n"));
        }
    }
    assert_eq!(wrong, "");
}

#[test]
fn arithmetic_with_addresses_of_c() {
    let text = "C t\n{ x=0; }\nP0 (int* x) {\n  int r = *(x + 1);\n}\n~exists (0:r=1)";
    let error = refusal(text, Model::Rc11);
    assert_eq!(position(&error), Some((4, 11)));
    assert!(error.to_string().contains("no arithmetic"), "{error}");
}

#[test]
fn the_model_of_linux_is_none_of_these() {
    let text = "C MP\n{}\nP0 (int* x, int* y) {\n  WRITE_ONCE(*x, 1);\n  smp_wmb();\n  WRITE_ONCE(*y, 1);\n}\n\
                P1 (int* x, int* y) {\n  int r0 = READ_ONCE(*y);\n  smp_rmb();\n  int r1 = READ_ONCE(*x);\n}\n\
                ~exists (1:r0=1 /\\ 1:r1=0)";
    let parsed: Test = test(text);
    let error = parsed.own_model().expect_err("it is in the words of Linux");
    assert_eq!(position(&error), Some((4, 3)));
    assert!(error.to_string().contains("name a model"), "{error}");
    for model in [Model::Sc, Model::Tso, Model::Arm8] {
        assert!(parsed.run(model).expect("a processor has such fences").holds(), "{model}");
    }
    let error = refusal(text, Model::Rc11);
    assert!(matches!(error, RunError::Fence { .. }), "{error}");
    assert_eq!(position(&error), Some((5, 3)));
    assert_eq!(
        test(&text.replace("smp_wmb();", "").replace("smp_rmb();", ""))
            .run(Model::Rc11)
            .map(|outcome| outcome.holds()),
        Ok(false)
    );
}
