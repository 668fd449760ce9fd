//! Tests in the words of Linux, and locks.

use lisle_check::litmus::Model;

use super::support::test;

fn is_allowed(text: &str, model: Model) -> bool {
    test(text).run(model).unwrap_or_else(|error| panic!("{text}\n{error}")).is_allowed()
}

fn message_passing(write: &str, read: &str) -> String {
    format!(
        "C MP {{}} P0 (int* x, int* y) {{ WRITE_ONCE(*x, 1); {write}; }}\n\
         P1 (int* x, int* y) {{ int r0 = {read}; int r1 = READ_ONCE(*x); }}\nexists (1:r0=1 /\\ 1:r1=0)"
    )
}

#[test]
fn words_have_the_orders_of_their_kinds() {
    let once = message_passing("WRITE_ONCE(*y, 1)", "READ_ONCE(*y)");
    let ordered = message_passing("smp_store_release(y, 1)", "smp_load_acquire(y)");
    let fenced = message_passing("smp_mb(); WRITE_ONCE(*y, 1)", "READ_ONCE(*y); smp_mb()");
    for (model, weak) in [(Model::Sc, false), (Model::Tso, false), (Model::Arm8, true), (Model::Rc11, true)] {
        assert_eq!(is_allowed(&once, model), weak, "{model}");
        assert!(!is_allowed(&ordered, model) && !is_allowed(&fenced, model), "{model}");
    }
    let exchanged = message_passing("int r = xchg_release(y, 1)", "cmpxchg_acquire(y, 1, 2)");
    assert!(!is_allowed(&exchanged, Model::Arm8) && !is_allowed(&exchanged, Model::Rc11));
    assert!(is_allowed(&exchanged.replace("cmpxchg_acquire", "cmpxchg_relaxed"), Model::Rc11));
}

#[test]
fn an_exchange_is_between_two_fences() {
    let text = |exchange: &str| {
        format!(
            "C SB {{}} P0 (int* x, int* y) {{ int r = {exchange}(x, 1); int r0 = READ_ONCE(*y); }}\n\
             P1 (int* x, int* y) {{ int r = {exchange}(y, 1); int r0 = READ_ONCE(*x); }}\n\
             exists (0:r0=0 /\\ 1:r0=0)"
        )
    };
    for model in [Model::Sc, Model::Tso, Model::Arm8, Model::Rc11] {
        assert!(!is_allowed(&text("xchg"), model), "{model}");
    }
    assert!(is_allowed(&text("xchg_relaxed"), Model::Arm8) && is_allowed(&text("xchg_relaxed"), Model::Rc11));
}

#[test]
fn a_lock_is_held_by_one() {
    let text = "C lock {}\n\
        P0 (spinlock_t* l, int* x) { spin_lock(l); int r = *x; *x = r + 1; spin_unlock(l); }\n\
        P1 (spinlock_t* l, int* x) { spin_lock(l); int r = *x; *x = r + 1; spin_unlock(l); }\n\
        P2 (spinlock_t* l, int* x) { spin_lock(l); int r = *x; spin_unlock(l); }\n\
        forall (x=2 /\\ ~(0:r=1:r) /\\ l=0)";
    let parsed = test(text);
    assert_eq!(parsed.own_model(), Ok(Model::Rc11));
    for model in [Model::Sc, Model::Tso, Model::Rc11, Model::Arm8] {
        let outcome = parsed.run(model).expect("the model is for C");
        assert!(outcome.holds() && outcome.races().is_empty(), "{model}\n{outcome}");
        // Each order of the three.
        assert_eq!(outcome.executions(), 6, "{model}");
    }
    let racy =
        test(&text.replace("P2 (spinlock_t* l, int* x) { spin_lock(l);", "P2 (spinlock_t* l, int* x) {"));
    assert!(!racy.run(Model::Rc11).expect("its own model").races().is_empty());
}
