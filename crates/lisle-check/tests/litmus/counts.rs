//! Exact numbers of consistent executions. They show both executions that are missed and executions
//! that are found twice.

use lisle_check::litmus::{Model, Test};

use super::support::{acquire_and_release, test, text};

fn executions(test: &Test, model: Model) -> u64 {
    test.run(model).expect("the model is for C").executions()
}

#[test]
fn under_rc11() {
    for (name, count) in [("SB", 4), ("IRIW", 16), ("2+2W", 4)] {
        let relaxed = text(&format!("c/{name}"));
        for text in [&relaxed, &acquire_and_release(&relaxed)] {
            assert_eq!(executions(&test(text), Model::Rc11), count, "{name}");
        }
    }
}

/// `count` threads that each add to one counter: an execution for each order of them.
#[test]
fn counters() {
    for (threads, orders) in [(1, 1), (2, 2), (3, 6), (4, 24), (5, 120)] {
        let body = |thread| {
            format!(
                "P{thread} (atomic_int* x) {{ int r = atomic_fetch_add_explicit(x, 1, memory_order_relaxed); }}\n"
            )
        };
        let code: String = (0..threads).map(body).collect();
        let test = test(&format!("C adders {{ x=0; }}\n{code} forall ([x]={threads})"));
        for model in [Model::Sc, Model::Tso, Model::Rc11, Model::Arm8] {
            assert_eq!(executions(&test, model), orders, "{threads} threads under {model}");
            assert!(test.run(model).expect("the model is for C").holds());
        }
    }
}

/// `count` writers of one location and a reader: each order of the writes, and each write to read
/// from, or the first value.
#[test]
fn writers_and_a_reader() {
    for (writers, count) in [(1, 2), (2, 2 * 3), (3, 6 * 4), (4, 24 * 5)] {
        let writer = |thread| {
            format!(
                "P{thread} (atomic_int* x) {{ atomic_store_explicit(x, {thread}+1, memory_order_relaxed); }}\n"
            )
        };
        let code: String = (0..writers).map(writer).collect();
        let reader = format!(
            "P{writers} (atomic_int* x) {{ int r = atomic_load_explicit(x, memory_order_relaxed); }}"
        );
        let test =
            test(&format!("C writers {{ x=0; }}\n{code}{reader} locations [{writers}:r;] forall (true)"));
        let outcome = test.run(Model::Sc).expect("every test has it");
        assert_eq!(outcome.executions(), count);
        // As observed: the reader's value.
        assert_eq!(outcome.states().len(), writers + 1);
    }
}

/// N readers of one variable and a writer each of N others: 2^N.
#[test]
fn readers() {
    for count in 1..=6_usize {
        let thread = |thread: usize| match thread {
            0 => "P0 (atomic_int* x0) { atomic_store_explicit(x0, 1, memory_order_relaxed); }\n".to_owned(),
            _ => format!(
                "P{thread} (atomic_int* x0, atomic_int* x{thread}) {{\
                 atomic_store_explicit(x{thread}, 1, memory_order_relaxed);\
                 int r = atomic_load_explicit(x0, memory_order_relaxed); }}\n"
            ),
        };
        let code: String = (0..=count).map(thread).collect();
        let test = test(&format!("C readers {{ x0=0; }}\n{code} forall (true)"));
        assert_eq!(executions(&test, Model::Sc), 1 << count, "{count} readers");
    }
}

/// One thread looks for the last element that is zero, the others each increment theirs from the
/// one before it.
#[test]
fn last_zero() {
    for (size, count) in [(1_usize, 2), (2, 5), (3, 12), (4, 28)] {
        let mut search = "int r = 0;".to_owned();
        for element in 0..=size {
            search.push_str(&format!(
                "if (atomic_load_explicit(x{}, memory_order_seq_cst) != 0) {{",
                size - element
            ));
        }
        search.push_str(&"}".repeat(size + 1));
        let parameters: Vec<String> = (0..=size).map(|element| format!("atomic_int* x{element}")).collect();
        let mut code = format!("P0 ({}) {{ {search} }}\n", parameters.join(", "));
        for element in 1..=size {
            code.push_str(&format!(
                "P{element} (atomic_int* x{}, atomic_int* x{element}) {{ int r = atomic_load(x{}); \
                 atomic_store(x{element}, r + 1); }}\n",
                element - 1,
                element - 1
            ));
        }
        let test = test(&format!("C lastzero {{ x0=0; }}\n{code} forall (true)"));
        assert_eq!(executions(&test, Model::Sc), count, "lastzero_{size}");
    }
}

#[test]
fn a_weak_exchange_may_fail_for_no_reason() {
    let code = |kind: &str| {
        format!(
            "C exchange {{ x=0; }} P0 (atomic_int* x) {{ int e = 0; \
             int r = atomic_compare_exchange_{kind}(x, &e, 1); }} forall (0:r=1)"
        )
    };
    assert_eq!(executions(&test(&code("strong")), Model::Rc11), 1);
    assert_eq!(executions(&test(&code("weak")), Model::Rc11), 2);
}
