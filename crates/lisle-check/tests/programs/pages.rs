//! The page of a failure: that it is well formed, and that no name is taken for markup.

use html5gum::{DefaultEmitter, Token, Tokenizer};
use lisle::sync::Mutex;
use lisle_check::Checker;
use std::ffi::OsStr;
use std::process::Command;
use std::sync::Arc;

const NAME: &str = "</script><script>alert(1)</script> & \"{{traces}}\"";

fn crosswise() {
    let (one, other) = (Arc::new(Mutex::new(1).named(NAME)), Arc::new(Mutex::new(2)));
    let (a, b) = (one.clone(), other.clone());
    let fiber = lisle::fiber::Builder::new().name(NAME).spawn(move || *b.lock() + *a.lock());
    assert_eq!(*one.lock() + *other.lock(), fiber.join().unwrap());
}

/// Returns the texts of the elements of this name. Panics if the page has errors, or elements that
/// do not end in the order in which they have begun.
fn texts(page: &str, wanted: &str) -> Vec<String> {
    let (mut open, mut texts) = (Vec::<String>::new(), Vec::new());
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    for Ok(token) in Tokenizer::new_with_emitter(page, emitter) {
        match token {
            Token::StartTag(tag) => {
                let name = String::from_utf8(tag.name.to_vec()).unwrap();
                if name == wanted {
                    texts.push(String::new());
                }
                if !["meta", "input"].contains(&name.as_str()) && !tag.self_closing {
                    open.push(name);
                }
            }
            Token::EndTag(tag) => {
                assert_eq!(open.pop().map(String::into_bytes).as_deref(), Some(&*tag.name.0))
            }
            Token::String(text) => {
                if open.last().is_some_and(|name| name == wanted) {
                    *texts.last_mut().unwrap() += &String::from_utf8_lossy(&text);
                }
            }
            Token::Error(error) => panic!("{error:?}"),
            Token::Comment(_) | Token::Doctype(_) => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
    texts
}

#[test]
fn a_page_is_well_formed_and_escapes_names() {
    let verdict = Checker::new().explore(crosswise);
    let failure = verdict.failure().unwrap();
    let page = failure.html();
    let scripts = texts(&page, "script");
    assert_eq!(scripts.len(), 2, "no name has begun another one");
    let traces: serde_json::Value = serde_json::from_str(&scripts[0]).unwrap();
    assert_eq!(traces[0]["trace"]["who"][1]["name"], NAME);
    assert_eq!(traces[0]["trace"]["objects"][0]["name"], format!("mutex '{NAME}'"));
    assert_eq!(traces[0]["trace"]["cycle"].as_array().unwrap().len(), 2);
    let [report] = texts(&page, "pre").try_into().expect("one report");
    assert!(report.contains(NAME) && report.contains(&failure.token()), "{report}");
    // It needs nothing but itself.
    assert!(!page.contains("src=") && !page.contains("href=") && !page.contains("@import"), "{page}");
}

#[test]
fn a_page_shows_both_schedules_of_a_difference() {
    let verdict = Checker::new().same_result(|| {
        let (tx, rx) = lisle::channel();
        for n in [1, 2] {
            let tx = tx.clone();
            lisle::spawn(move || tx.send(n).unwrap());
        }
        let (first, _) = (rx.recv().unwrap(), rx.recv().unwrap());
        first
    });
    let page = verdict.failure().unwrap().html();
    let traces: serde_json::Value = serde_json::from_str(&texts(&page, "script")[0]).unwrap();
    let headings: Vec<_> = traces.as_array().unwrap().iter().map(|trace| &trace["heading"]).collect();
    assert_eq!(headings, ["The first schedule", "The second schedule"]);
    let marked = |trace: &serde_json::Value| {
        let steps = trace["trace"]["steps"].as_array().unwrap().iter();
        steps.filter(|step| step["is_marked"].as_bool().unwrap()).count()
    };
    assert!(marked(&traces[0]) > 1 && marked(&traces[0]) == marked(&traces[1]));
}

/// Fails. It is run by the next test.
#[test]
#[ignore = "fails as it shall"]
fn fails() {
    lisle_check::check(crosswise);
}

/// Runs the test that fails with this variable in the environment. Returns its report.
fn report_with(name: &str, value: impl AsRef<OsStr>) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["pages::fails", "--exact", "--ignored", "--nocapture"]).env(name, value);
    let output = command.output().unwrap();
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_token_in_the_environment_runs_its_schedule_alone() {
    let token = Checker::new().explore(crosswise).failure().unwrap().token();
    let report = report_with("LISLE_CHECK_REPLAY", &token);
    assert!(report.contains("after 0 executions") && report.contains("a cycle of 2"), "{report}");
    assert!(report.contains("end  waits for ever: ") && report.contains(&token), "{report}");
    let report = report_with("LISLE_CHECK_REPLAY", "9nothing");
    assert!(report.contains("LISLE_CHECK_REPLAY: the token begins with '9'"), "{report}");
}

#[test]
fn a_failing_check_writes_its_page() {
    let file = std::env::temp_dir().join(format!("lisle-check-{}.html", std::process::id()));
    let report = report_with("LISLE_CHECK_HTML", &file);
    let page = std::fs::read_to_string(&file);
    let _ = std::fs::remove_file(&file);
    assert!(report.contains(&format!("as a page: {}", file.display())), "{report}");
    assert_eq!(texts(&page.unwrap(), "pre").len(), 1);
    let report = report_with("LISLE_CHECK_HTML", file.join("none"));
    assert!(report.contains("LISLE_CHECK_HTML") && report.contains("cannot be written"), "{report}");
}
