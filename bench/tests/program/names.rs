//! Right and wrong names on the command line.

use super::{run, stderr, stdout};

#[test]
fn list_describes_each_workload_in_a_line() {
    let output = run(&["--list"]);
    assert!(output.status.success());
    let lines: Vec<_> = stdout(&output).lines().collect();
    for name in ["chain", "ping-pong"] {
        assert!(lines.iter().any(|line| line.split_whitespace().next() == Some(name)), "{lines:?}");
    }
    assert!(lines.iter().all(|line| line.ends_with(']')));
}

#[test]
fn a_wrong_name_is_answered_with_the_nearest() {
    for (arguments, nearest) in
        [(["ping-pnog", "--quick"], "'ping-pong'"), (["--systems", "lisle,tokoi-mt"], "'tokio-mt'")]
    {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2));
        let similar = stderr(&output).lines().find(|line| line.contains("similar"));
        assert!(similar.is_some_and(|line| line.contains(nearest)), "{}", stderr(&output));
    }
}

#[test]
fn workers_are_numbers_from_1_to_1024() {
    for wrong in ["0", "1025", "two", "", "1,,2", "-1"] {
        let output = run(&["ping-pong", &format!("--workers={wrong}")]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(stderr(&output).contains("from 1 to 1024"), "{}", stderr(&output));
    }
}

#[test]
fn systems_that_do_none_of_the_work_are_an_error() {
    let output = run(&["ping-pong", "--quick", "--systems", "nginx"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("none of the systems"), "{}", stderr(&output));
}
