//! Lists of the possible outcomes of programs: a line for each program,
//! `lock | try: 1 - ; 1 2 ; 2 1`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// The possible outcomes of a program's threads. To block is one.
pub(crate) type Outcomes = BTreeSet<String>;

/// The outcome of a program that may block. loom cannot go on then.
pub(crate) const BLOCKS: &str = "blocks";

/// The list of a primitive.
pub(crate) struct List {
    path: PathBuf,
    listed: BTreeMap<String, Outcomes>,
    /// The new text of the list, if it is to be written anew.
    written: Option<String>,
}

impl List {
    pub(crate) fn open(primitive: &str) -> List {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/outcomes/lists");
        let path = folder.join(primitive).with_extension("txt");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let listed = text.lines().filter_map(|line| {
            let (program, outcomes) = line.split_once(": ")?;
            Some((program.to_owned(), outcomes.split(" ; ").map(str::to_owned).collect()))
        });
        let listed = listed.collect();
        let writes =
            cfg!(not(lisle_loom)) && std::env::var_os("LISLE_OUTCOMES").is_some_and(|word| word == "write");
        List { path, listed, written: writes.then(String::new) }
    }

    /// Returns the listed outcomes of a program.
    #[cfg(lisle_loom)]
    pub(crate) fn of(&self, program: &str) -> &Outcomes {
        self.listed
            .get(program)
            .unwrap_or_else(|| panic!("{}: `{program}` is not listed", self.path.display()))
    }

    /// Compares the outcomes that the checker has found with the list, or lists them.
    #[cfg(not(lisle_loom))]
    pub(crate) fn is(&mut self, program: &str, found: &Outcomes) {
        match &mut self.written {
            Some(text) => {
                let outcomes: Vec<_> = found.iter().map(String::as_str).collect();
                text.push_str(&format!("{program}: {}\n", outcomes.join(" ; ")));
            }
            None => {
                let listed = self.listed.remove(program);
                assert_eq!(listed.as_ref(), Some(found), "{}: `{program}`", self.path.display());
            }
        }
    }

    pub(crate) fn close(self) {
        if let Some(text) = self.written {
            fs::write(&self.path, text).unwrap_or_else(|error| panic!("{}: {error}", self.path.display()));
        } else if cfg!(not(lisle_loom)) {
            let left: Vec<_> = self.listed.keys().collect();
            assert!(left.is_empty(), "{}: there are no such programs: {left:?}", self.path.display());
        }
    }
}
