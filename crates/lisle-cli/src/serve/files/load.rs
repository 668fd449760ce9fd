//! Looking up a name on disk. This is the part of the file component that may wait, so it runs on
//! the pool for blocking calls. It has no state besides the root.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use super::entry::{Entry, Stamp};
use super::root::{Failure, Found, Root};

/// The file that stands for a directory.
const INDEX: &[u8] = b"index.html";

/// The result of a lookup.
#[derive(Debug)]
pub(crate) enum Loaded {
    /// A file, new or changed.
    Entry(Arc<Entry>),
    /// The file is still in the known state.
    Unchanged,
    /// A directory that was requested without the slash at its end.
    Directory,
    /// There is nothing to send.
    Failed(Failure),
}

/// Looks for the file that `key` (created by [`path::decode`](super::path::decode)) stands for. A
/// file whose stamp is `known` is not read again.
pub(crate) fn load(root: &Root, key: &[u8], known: Option<Stamp>, in_memory: u64) -> Loaded {
    let mut indexed = Vec::new();
    let is_directory = key.is_empty() || key.ends_with(b"/");
    let relative = if is_directory {
        indexed.extend_from_slice(key);
        indexed.extend_from_slice(INDEX);
        &indexed
    } else {
        key
    };
    match root.open(relative) {
        Ok(Found::File(_, stat)) if known == Some(Stamp::of(&stat)) => Loaded::Unchanged,
        Ok(Found::File(file, stat)) => {
            match Entry::load(file, &stat, Path::new(OsStr::from_bytes(relative)), in_memory) {
                Ok(entry) => Loaded::Entry(Arc::new(entry)),
                Err(failure) => Loaded::Failed(failure),
            }
        }
        Ok(Found::Directory) if is_directory => Loaded::Failed(Failure::Missing),
        Ok(Found::Directory) => Loaded::Directory,
        Err(failure) => Loaded::Failed(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_what_they_stand_for() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(place.path().join("sub/index.html")).unwrap();
        std::fs::create_dir(place.path().join("empty")).unwrap();
        std::fs::write(place.path().join("index.html"), "top").unwrap();
        let root = Root::new(place.path()).unwrap();
        let look = |key: &str, known| load(&root, key.as_bytes(), known, 100);

        let Loaded::Entry(entry) = look("", None) else { panic!("the index of the root") };
        assert_eq!(entry.length, 3);
        assert!(entry.content_lines.starts_with(b"Content-Type: text/html"));
        let stamp = rustix::fs::stat(place.path().join("index.html")).map(|stat| Stamp::of(&stat)).unwrap();
        assert!(matches!(look("", Some(stamp)), Loaded::Unchanged));
        assert!(matches!(look("index.html", None), Loaded::Entry(_)));
        assert!(matches!(look("empty", None), Loaded::Directory));
        for missing in ["empty/", "sub/", "index.html/", "none", "none/"] {
            assert!(matches!(look(missing, None), Loaded::Failed(Failure::Missing)), "{missing}");
        }
        std::fs::write(place.path().join("index.html"), "changed").unwrap();
        let Loaded::Entry(changed) = look("", Some(stamp)) else { panic!("it has changed") };
        assert_eq!(changed.length, 7);
    }
}
