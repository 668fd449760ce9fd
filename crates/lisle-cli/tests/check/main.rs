//! `lisle check` from outside: the real program on files of its own.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

const SB: &str = "X86 SB\n{ x=0; y=0; }\n P0          | P1          ;\n MOV [x],$1  | MOV [y],$1  ;\n \
                  MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n";

const MP: &str = "C MP\n{ x=0; y=0; }\n\
                  P0 (atomic_int* x, atomic_int* y) {\n  atomic_store(x, 1);\n  atomic_store(y, 1);\n}\n\
                  P1 (atomic_int* x, atomic_int* y) {\n  int r0 = atomic_load(y);\n  int r1 = atomic_load(x);\n}\n\
                  ~exists (1:r0=1 /\\ 1:r1=0)\n";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary directory");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }
    folder
}

/// Runs `lisle check` in the folder and returns its exit code, its output and its errors.
fn check(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lisle"));
    let Output { status, stdout, stderr } =
        command.arg("check").args(arguments).current_dir(folder).output().expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn a_condition_that_holds_and_one_that_does_not() {
    let folder = folder(&[("SB.litmus", SB)]);
    let (code, output, errors) = check(folder.path(), &["SB.litmus"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(output.starts_with("Test SB Allowed\nStates 4\n0:EAX=0; 1:EAX=0;\n"), "{output}");
    assert!(output.ends_with("Observation SB Sometimes 1 3\n\n"), "{output}");
    let (code, output, _) = check(folder.path(), &["SB.litmus", "--model", "sc"]);
    assert_eq!(code, Some(1));
    assert!(output.contains("States 3\n") && output.contains("\nNo\nWitnesses\n"), "{output}");
}

#[test]
fn several_models_are_named() {
    let folder = folder(&[("SB.litmus", SB)]);
    let (code, output, _) = check(folder.path(), &["SB.litmus", "--model", "tso", "--model", "sc"]);
    assert_eq!(code, Some(1));
    let headings: Vec<&str> = output.lines().filter(|line| line.starts_with("Model")).collect();
    assert_eq!(headings, ["Model tso", "Model sc"]);
}

#[test]
fn a_directory_is_searched() {
    let folder =
        folder(&[("tests/SB.litmus", SB), ("tests/deep/MP.litmus", MP), ("tests/notes.txt", "no test")]);
    let (code, output, errors) = check(folder.path(), &["tests"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert_eq!(
        output,
        "ok      tests/SB.litmus: SB under tso: Sometimes, 4 states, 4 executions\n\
         ok      tests/deep/MP.litmus: MP under rc11: Never, 3 states, 3 executions\n\
         2 files: 2 ok, 0 wrong, 0 refused, 0 errors\n"
    );
    let (code, output, _) = check(folder.path(), &["tests", "--format", "full"]);
    assert_eq!(code, Some(0));
    let tests: Vec<&str> = output.lines().filter(|line| line.starts_with("Test")).collect();
    assert_eq!(tests, ["Test SB Allowed", "Test MP Forbidden"]);
    std::fs::create_dir(folder.path().join("empty")).expect("a directory");
    let (code, output, errors) = check(folder.path(), &["empty"]);
    assert_eq!((code, errors.as_str()), (Some(2), ""));
    assert_eq!(
        output,
        "error   empty: there is no file in it that ends in .litmus\n\
         1 files: 0 ok, 0 wrong, 0 refused, 1 errors\n"
    );
}

#[test]
fn acquire_loads_become_what_is_asked_for() {
    let store_buffering = MP
        .replace("atomic_store(x, 1);\n  atomic_store(y, 1);", "S(x);\n  int r0 = L(y);")
        .replace("int r0 = atomic_load(y);\n  int r1 = atomic_load(x);", "S(y);\n  int r0 = L(x);")
        .replace("S(x)", "atomic_store_explicit(x, 1, memory_order_release)")
        .replace("S(y)", "atomic_store_explicit(y, 1, memory_order_release)")
        .replace("L(x)", "atomic_load_explicit(x, memory_order_acquire)")
        .replace("L(y)", "atomic_load_explicit(y, memory_order_acquire)")
        .replace("~exists (1:r0=1 /\\ 1:r1=0)", "exists (0:r0=0 /\\ 1:r0=0)");
    let folder = folder(&[("SB.litmus", &store_buffering)]);
    assert_eq!(check(folder.path(), &["SB.litmus", "--model", "arm8"]).0, Some(1));
    assert_eq!(check(folder.path(), &["SB.litmus", "--model", "arm8", "--acquire-pc"]).0, Some(0));
}

#[test]
fn a_wrong_file_is_shown_and_the_others_are_run() {
    let wrong = SB.replace("MOV [y],$1 ", "MOVE [y],$1");
    let folder = folder(&[("wrong.litmus", &wrong), ("SB.litmus", SB)]);
    let files = ["wrong.litmus", "SB.litmus", "missing.litmus"];
    let (code, output, errors) = check(folder.path(), &[&files[..], &["--format", "full"]].concat());
    assert_eq!(code, Some(2));
    assert!(output.contains("Test SB Allowed"), "{output}");
    assert!(errors.starts_with("lisle: wrong.litmus: line 4, column 16, error: `MOVE`"), "{errors}");
    assert!(errors.contains("^^^^") && errors.contains("supported on x86"), "{errors}");
    assert!(errors.contains("lisle: missing.litmus: cannot read it"), "{errors}");
    let (code, output, errors) = check(folder.path(), &files);
    assert_eq!((code, errors.as_str()), (Some(2), ""));
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(
        lines[0],
        "refused wrong.litmus: line 4, column 16: `MOVE` with 2 such operands is not supported"
    );
    assert!(lines[2].starts_with("error   missing.litmus: cannot read it: "), "{output}");
    assert_eq!(lines[3], "3 files: 1 ok, 0 wrong, 1 refused, 1 errors");
}

#[test]
fn the_exit_code_tells_what_was_worst() {
    let refused = SB.replace("MOV [y],$1 ", "MOVE [y],$1");
    let outside = "AArch64 outside\n{ 0:X5=x; }\n P0 ;\n LDR W1,[X5,#4] ;\n~exists (0:X1=0)\n";
    let wrong = SB.replace("exists", "~exists");
    let folder = folder(&[
        ("ok.litmus", SB),
        ("wrong.litmus", &wrong),
        ("refused.litmus", &refused),
        ("outside.litmus", outside),
    ]);
    for (files, expected) in [
        (&["ok.litmus"][..], 0),
        (&["wrong.litmus"], 1),
        (&["missing.litmus"], 2),
        (&["refused.litmus"], 3),
        (&["outside.litmus"], 3),
        (&["ok.litmus", "refused.litmus"], 3),
        (&["refused.litmus", "wrong.litmus"], 1),
        (&["wrong.litmus", "missing.litmus", "refused.litmus"], 2),
        (&["ok.litmus", "--model", "arm8"], 3),
    ] {
        assert_eq!(check(folder.path(), files).0, Some(expected), "{files:?}");
    }
    let (_, output, errors) = check(folder.path(), &["outside.litmus"]);
    assert_eq!(output, "");
    assert!(errors.starts_with("lisle: outside.litmus: line 4, column 2: in some execution P0"), "{errors}");
    let (_, _, errors) = check(folder.path(), &["ok.litmus", "--model", "arm8"]);
    assert!(errors.contains("the model arm8 says nothing about tests for X86"), "{errors}");
}

#[test]
fn words_of_linux_need_a_model() {
    let text = "C once\n{}\nP0 (int* x) {\n  WRITE_ONCE(*x, 1);\n}\nexists (x=1)\n";
    let folder = folder(&[("once.litmus", text)]);
    let (code, _, errors) = check(folder.path(), &["once.litmus"]);
    assert_eq!(code, Some(3));
    assert!(errors.contains("line 4, column 3: this is a word of Linux"), "{errors}");
    assert_eq!(check(folder.path(), &["once.litmus", "--model", "rc11"]).0, Some(0));
}

#[test]
fn the_output_for_machines() {
    let racy = MP
        .replace("~exists (1:r0=1 /\\ 1:r1=0)", "exists (1:r1=1)")
        .replace("atomic_store(x, 1)", "*x = 1")
        .replace("atomic_load(x)", "*x");
    let wrong = SB.replace("MOV [y],$1 ", "MOVE [y],$1");
    let folder = folder(&[("a.litmus", SB), ("b.litmus", &racy), ("c.litmus", &wrong)]);
    let (code, output, errors) = check(folder.path(), &[".", "missing.litmus", "--format", "json"]);
    assert_eq!((code, errors.as_str()), (Some(2), ""));
    let lines: Vec<Value> =
        output.lines().map(|line| serde_json::from_str(line).expect("an object on each line")).collect();
    let state = |first: &str, second: &str| {
        json!({ "values": { "0:EAX": first, "1:EAX": second }, "executions": 1,
                "satisfies": (first, second) == ("0", "0") })
    };
    assert_eq!(
        lines[0],
        json!({
            "file": "./a.litmus",
            "name": "SB",
            "model": "tso",
            "verdict": "ok",
            "condition": "exists (0:EAX=0 /\\ 1:EAX=0)",
            "observation": "Sometimes",
            "executions": 4,
            "satisfying": 1,
            "states": [state("0", "0"), state("0", "1"), state("1", "0"), state("1", "1")],
            "races": [],
        })
    );
    assert_eq!(
        lines[1]["races"],
        json!([{ "location": "x", "accesses": [
            { "thread": 0, "line": 4, "column": 6, "writes": true },
            { "thread": 1, "line": 9, "column": 12, "writes": false },
        ] }])
    );
    assert_eq!(
        lines[2],
        json!({
            "file": "./c.litmus",
            "verdict": "refused",
            "line": 4,
            "column": 16,
            "message": "line 4, column 16: `MOVE` with 2 such operands is not supported",
        })
    );
    assert_eq!((&lines[3]["verdict"], &lines[3]["line"]), (&json!("error"), &Value::Null));
    assert_eq!(lines[4], json!({ "totals": { "files": 4, "ok": 2, "wrong": 0, "refused": 1, "errors": 1 } }));
    assert_eq!(lines.len(), 5);
}
