//! Changes of files as events, with the feature `files`.

// The support code of `it`. Not all of it is used here.
#[allow(dead_code, unused_imports, unused_macros)]
#[path = "it/support/mod.rs"]
mod support;

use crate::support::{Cx, worlds};
use lisle::io::{ChangeKind, Changes, watch_files, watch_tree};
use lisle::time::after;
use lisle::{Event, choose};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

worlds!(changes_are_events, a_loser_has_taken_nothing, below_a_directory, each_change_goes_to_one);

/// A directory that belongs to one case and is removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("lisle-files-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Takes changes until one of the kind `kind` concerns `path`.
async fn until(cx: &Cx, changes: &Changes, kind: ChangeKind, path: &Path) {
    loop {
        let change = cx.sync(changes.next_evt()).await.unwrap();
        if change.kind == kind && change.paths.iter().any(|changed| changed == path) {
            return;
        }
    }
}

async fn changes_are_events(cx: Cx) {
    let folder = Folder::new();
    let changes = watch_files(&folder.0).unwrap();
    assert!(changes.next_evt().poll().is_none());
    let (one, other) = (folder.file("one"), folder.file("other"));
    fs::write(&one, "text").unwrap();
    until(&cx, &changes, ChangeKind::Created, &one).await;
    until(&cx, &changes, ChangeKind::Modified, &one).await;
    if cfg!(target_os = "linux") {
        until(&cx, &changes, ChangeKind::Written, &one).await;
    }
    fs::rename(&one, &other).unwrap();
    until(&cx, &changes, ChangeKind::Renamed, &other).await;
    fs::remove_file(&other).unwrap();
    until(&cx, &changes, ChangeKind::Removed, &other).await;
    let missing = watch_files(folder.file("missing")).unwrap_err();
    assert_eq!(missing.kind(), io::ErrorKind::NotFound);
}

async fn a_loser_has_taken_nothing(cx: Cx) {
    let folder = Folder::new();
    let changes = watch_files(&folder.0).unwrap();
    for _ in 0..3 {
        let late = after(Duration::from_millis(1)).wrap(|()| None);
        assert!(cx.sync(choose((changes.next_evt().wrap(Some), late))).await.is_none());
    }
    drop(changes.next_evt().future());
    fs::write(folder.file("file"), "").unwrap();
    until(&cx, &changes, ChangeKind::Created, &folder.file("file")).await;
}

async fn below_a_directory(cx: Cx) {
    let folder = Folder::new();
    let below = folder.file("below");
    fs::create_dir(&below).unwrap();
    let changes = watch_tree(&folder.0).unwrap();
    fs::write(below.join("file"), "").unwrap();
    until(&cx, &changes, ChangeKind::Created, &below.join("file")).await;
}

async fn each_change_goes_to_one(cx: Cx) {
    let folder = Folder::new();
    let changes = Arc::new(watch_files(&folder.0).unwrap());
    let (created, all) = lisle::channel::<PathBuf>();
    let takers: Vec<_> = (0..3)
        .map(|_| {
            let (changes, created) = (changes.clone(), created.clone());
            cx.spawn(move |cx| async move {
                loop {
                    let mut change = cx.sync(changes.next_evt()).await.unwrap();
                    match change.kind {
                        ChangeKind::Created => {
                            cx.sync(created.send_evt(change.paths.remove(0))).await.unwrap();
                        }
                        ChangeKind::Removed => return,
                        _ => {}
                    }
                }
            })
        })
        .collect();
    for number in 0..30 {
        fs::write(folder.file(&number.to_string()), "").unwrap();
    }
    let mut names = Vec::new();
    for _ in 0..30 {
        names.push(cx.sync(all.recv_evt()).await.unwrap());
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 30, "a change was taken twice");
    for number in 0..3 {
        fs::remove_file(folder.file(&number.to_string())).unwrap();
    }
    cx.join_all(takers).await;
}
