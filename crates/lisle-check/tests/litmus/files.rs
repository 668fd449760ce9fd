//! Each file of the crate under its own model: the condition is written as it holds.

use std::path::PathBuf;

use lisle_check::litmus::{Model, RunError};

use super::support::{folder, test, text};

fn files(folder: PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    paths.flat_map(|path| if path.is_dir() { files(path) } else { vec![path] }).collect()
}

#[test]
fn every_condition_holds() {
    let files = files(folder());
    assert!(files.len() > 100, "only {} files are left", files.len());
    for path in files {
        let test = test(&std::fs::read_to_string(&path).expect("it can be read"));
        assert_eq!(
            path.file_stem().and_then(|stem| stem.to_str()),
            Some(test.name()),
            "a file has its test's name"
        );
        let outcome = test.run(Model::of(test.architecture())).expect("its own model");
        assert!(outcome.holds(), "{}\n{outcome}", path.display());
    }
}

#[test]
fn a_release_sequence_goes_on_by_updates_only() {
    for (name, allowed) in [("MP+relseq-store", true), ("MP+relseq-update", false)] {
        let outcome = test(&text(&format!("c/{name}"))).run(Model::Rc11).expect("its own model");
        assert_eq!(outcome.is_allowed(), allowed, "{name}");
    }
}

#[test]
fn races_are_reported_with_both_sides() {
    let sound = test(&text("c/MP+na")).run(Model::Rc11).expect("its own model");
    assert_eq!(sound.races(), []);
    assert_eq!(test(&text("c/CAS-lock")).run(Model::Rc11).expect("its own model").races(), []);
    let racy = test(&text("c/MP+na-racy")).run(Model::Rc11).expect("its own model");
    let [race] = racy.races() else { panic!("one race, not {:?}", racy.races()) };
    assert_eq!(race.to_string(), "x: P0 writes it at line 7, column 6; P1 reads it at line 15, column 10");
    assert!(racy.to_string().contains("Flag data-race\n  x: P0 writes it"), "{racy}");
}

#[test]
fn the_output_is_that_of_herd7() {
    let outcome = test(&text("x86/SB")).run(Model::Tso).expect("its own model");
    let expected = "Test SB Allowed\nStates 4\n0:EAX=0; 1:EAX=0;\n0:EAX=0; 1:EAX=1;\n0:EAX=1; 1:EAX=0;\n\
                    0:EAX=1; 1:EAX=1;\nOk\nWitnesses\nPositive: 1 Negative: 3\n\
                    Condition exists (0:EAX=0 /\\ 1:EAX=0)\nObservation SB Sometimes 1 3\n";
    assert_eq!(outcome.to_string(), expected);
    let forbidden = test(&text("x86/2+2W")).run(Model::Tso).expect("its own model");
    let expected = "Test 2+2W Forbidden\nStates 3\n[x]=1; [y]=2;\n[x]=2; [y]=1;\n[x]=2; [y]=2;\nOk\nWitnesses\n\
                    Positive: 3 Negative: 0\nCondition ~exists ([x]=1 /\\ [y]=1)\nObservation 2+2W Never 0 3\n";
    assert_eq!(forbidden.to_string(), expected);
    let pointer = test(&text("aarch64/MP+pointer")).run(Model::Arm8).expect("its own model");
    assert!(pointer.to_string().contains("1:X0=z; 1:X2=0;\n"), "{pointer}");
}

#[test]
fn models_have_their_languages() {
    let x86 = test(&text("x86/SB"));
    assert_eq!(x86.run(Model::Sc).map(|outcome| outcome.holds()), Ok(false));
    for model in [Model::Rc11, Model::Arm8, Model::Arm8Rcpc] {
        assert!(matches!(x86.run(model), Err(RunError::Foreign { .. })), "{model}");
    }
    assert!(test(&text("aarch64/SB")).run(Model::Tso).is_err());
}

#[test]
fn an_address_of_nothing_is_an_error() {
    let wild = "AArch64 wild { 0:X1=x; 1:X1=x; x=y; }\n P0 | P1 ;\n LDR X0,[X1] | STR XZR,[X1] ;\n LDR W2,[X0] | ;\n\
                exists (0:X2=0)";
    let error = test(wild).run(Model::Arm8).expect_err("x may hold 0");
    assert_eq!(
        error.to_string().split(';').next(),
        Some("line 4, column 2: in some execution P0 accesses an address that belongs to no location")
    );
}
