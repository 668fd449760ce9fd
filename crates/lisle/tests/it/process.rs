//! Child processes: their exit is an event, and they leave nothing behind. Case 46, for children: a
//! descriptor whose number is reused.

use crate::support::{Cx, scaled, worlds};
use lisle::net::PipeReader;
use lisle::process::{self, Child};
use lisle::time::after;
use lisle::{Event, choose};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

worlds!(
    an_exit_is_an_event_for_good,
    all_waiters_learn_of_it,
    an_exit_can_lose_and_win_later,
    no_exit_is_lost,
    reused_descriptors,
    pipes_are_lisles,
    output_of_both_streams,
    killed_on_drop_if_asked_to,
    a_dropped_child_goes_on_and_leaves_no_zombie,
);

fn sh(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

/// Starts a child that exits with `code` when its standard input ends.
fn on_command(code: i32) -> Child {
    process::spawn(sh(&format!("read line; exit {code}")).stdin(Stdio::piped())).unwrap()
}

fn is_there(id: u32) -> bool {
    Path::new(&format!("/proc/{id}")).exists()
}

async fn an_exit_is_an_event_for_good(cx: Cx) {
    let mut child = on_command(3).named("worker");
    assert!(child.exit_evt().poll().is_none());
    assert!(child.try_wait().unwrap().is_none());
    drop(child.stdin.take());
    for _ in 0..3 {
        assert_eq!(cx.sync(child.exit_evt()).await.unwrap().code(), Some(3));
    }
    assert_eq!(child.exit_evt().poll().unwrap().unwrap().code(), Some(3));
    assert_eq!(child.try_wait().unwrap().unwrap().code(), Some(3));
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

async fn all_waiters_learn_of_it(cx: Cx) {
    let mut child = on_command(5);
    let input = child.stdin.take();
    let child = Arc::new(child);
    let (ready, waits) = lisle::channel::bounded::<()>(8);
    let waiters: Vec<_> = (0..8)
        .map(|_| {
            let (child, ready) = (child.clone(), ready.clone());
            cx.spawn(move |cx| async move {
                cx.sync(ready.send_evt(())).await.unwrap();
                cx.sync(child.exit_evt()).await.unwrap().code()
            })
        })
        .collect();
    for _ in 0..8 {
        cx.sync(waits.recv_evt()).await.unwrap();
    }
    drop(input);
    assert_eq!(cx.join_all(waiters).await, [Some(5); 8]);
}

async fn an_exit_can_lose_and_win_later(cx: Cx) {
    let mut child = on_command(0);
    let input = child.stdin.take();
    let exited = || {
        let late = after(Duration::from_millis(2)).wrap(|()| None);
        choose((child.exit_evt().wrap(Some), late))
    };
    for _ in 0..3 {
        assert!(cx.sync(exited()).await.is_none());
    }
    drop(input);
    let patient = choose((child.exit_evt().wrap(Some), after(Duration::from_secs(3_600)).wrap(|()| None)));
    assert!(cx.sync(patient).await.unwrap().unwrap().success());
}

async fn no_exit_is_lost(cx: Cx) {
    let performers: Vec<_> = (0..4)
        .map(|id| {
            cx.spawn(move |cx| async move {
                for round in 0..scaled(25, 8) {
                    let code = (id * 50 + round % 50) as i32;
                    let child = process::spawn(&mut sh(&format!("exit {code}"))).unwrap();
                    assert_eq!(cx.sync(child.exit_evt()).await.unwrap().code(), Some(code));
                    let number = child.id();
                    drop(child);
                    assert!(!is_there(number) || round > 0, "collected, or the number is another's");
                }
            })
        })
        .collect();
    cx.join_all(performers).await;
}

/// Case 46: each child's descriptor has the number of the previous child's.
async fn reused_descriptors(cx: Cx) {
    for code in 0..5 {
        let mut child = on_command(code);
        let input = child.stdin.take();
        let late = after(Duration::from_millis(1)).wrap(|()| None);
        // A waiter is pending when the child and its descriptor go away.
        assert!(cx.sync(choose((child.exit_evt().wrap(Some), late))).await.is_none());
        drop(child);
        let mut next = on_command(code + 10);
        drop(next.stdin.take());
        assert_eq!(cx.sync(next.exit_evt()).await.unwrap().code(), Some(code + 10));
        drop(input);
    }
}

async fn pipes_are_lisles(cx: Cx) {
    let mut child = process::spawn(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped())).unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    assert!(output.readable_evt().poll().is_none());
    for round in 0..20_u8 {
        input.write_all(&[round; 100]).unwrap();
        cx.sync(output.readable_evt()).await.unwrap();
        let mut bytes = [0; 100];
        output.read_exact(&mut bytes).unwrap();
        assert_eq!(bytes, [round; 100]);
    }
    drop(input);
    assert!(cx.sync(child.exit_evt()).await.unwrap().success());
    assert_eq!(output.read(&mut [0]).unwrap(), 0);
}

/// The child writes more to each stream than its pipe holds.
async fn output_of_both_streams(cx: Cx) {
    let script = "i=0; while [ $i -lt 40 ]; do head -c 5000 /dev/zero; head -c 5000 /dev/zero >&2; i=$((i+1)); done; exit 9";
    let performer = cx.spawn(move |_| async move { process::output(&mut sh(script)).unwrap() });
    let output = cx.join(performer).await;
    assert_eq!(output.status.code(), Some(9));
    assert_eq!((output.stdout.len(), output.stderr.len()), (200_000, 200_000));
}

fn to_the_end(mut reader: PipeReader) -> String {
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    text
}

async fn killed_on_drop_if_asked_to(cx: Cx) {
    let mut child = process::spawn(Command::new("sleep").arg("600").stdout(Stdio::piped())).unwrap();
    let output = child.stdout.take().unwrap();
    let id = child.id();
    drop(child.kill_on_drop(true));
    assert_eq!(to_the_end(output), "");
    cx.until(|| !is_there(id)).await;

    let child = process::spawn(Command::new("sleep").arg("600")).unwrap();
    child.kill().unwrap();
    assert_eq!(cx.sync(child.exit_evt()).await.unwrap().signal(), Some(9));
}

async fn a_dropped_child_goes_on_and_leaves_no_zombie(cx: Cx) {
    let mut command = sh("read line; echo $line");
    let mut child = process::spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped())).unwrap();
    let (mut input, output, id) = (child.stdin.take().unwrap(), child.stdout.take().unwrap(), child.id());
    drop(child);
    input.write_all(b"still here\n").unwrap();
    assert_eq!(to_the_end(output), "still here\n");
    cx.until(|| !is_there(id)).await;
}

#[test]
fn waiting_ends_the_input() {
    let mut child = on_command(4);
    assert_eq!(child.wait().unwrap().code(), Some(4));
    assert_eq!(process::status(&mut sh("exit 6")).unwrap().code(), Some(6));
    assert!(process::spawn(&mut Command::new("/nonexistent/program")).is_err());
}

#[test]
fn a_child_of_the_standard_library() {
    let child = sh("echo out; echo err >&2").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let output = lisle::run(|| Child::from_std(child).unwrap().wait_with_output().unwrap());
    assert_eq!((&*output.stdout, &*output.stderr), (&b"out\n"[..], &b"err\n"[..]));
}

/// While one fiber waits for a child, the other fibers of its domain run.
#[test]
fn a_domain_is_not_blocked() {
    lisle::Runtime::builder().domains(1).run(|| {
        let mut child = on_command(0);
        let input = child.stdin.take();
        let waiting = lisle::spawn(move || child.exit_evt().sync().unwrap());
        lisle::fiber::yield_now();
        lisle::spawn(move || drop(input)).join().unwrap();
        assert!(waiting.join().unwrap().success());
    });
}
