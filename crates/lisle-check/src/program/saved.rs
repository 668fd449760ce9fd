//! An exploration as a file, from which it goes on another time.
//!
//! A saved exploration makes sense only for the same program. So the file identifies the program:
//! by the name of its type, a check sum of the executable file, and a check sum of its steps in the
//! schedule of defaults, since a closure may have captured other values. A program that was built
//! from other code would not do the same after the same steps, and its exploration could not go on.

use super::asking::Loops;
use super::memory::Detail;
use super::objects::Names;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::io;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// The first bytes of a file, by which it differs from other files.
const MAGIC: [u8; 8] = *b"lislchk3";
/// The extension of the files.
const EXTENSION: &str = "exploration";

/// An exploration that goes on later.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Saved {
    pub(super) program: Identity,
    /// The choice of schedules, as a text. It goes on only with the same choice.
    pub(super) way: String,
    pub(super) steps: usize,
    pub(super) elapsed: Duration,
    /// The facts about loops.
    pub(super) loops: Loops,
    /// The names that belong to one object.
    pub(super) names: Names,
    /// The hashes of the observably different executions, if they are counted.
    pub(super) observed: Option<Vec<u64>>,
    /// The detail of the memory, and the hashes of the executions that its model distinguishes.
    pub(super) detail: Detail,
    pub(super) shapes: Vec<u64>,
    /// The token of the first failure, if there was one and the exploration went on.
    pub(super) failure: Option<String>,
    pub(super) exploration: Vec<u8>,
}

/// The identity of a check and its program.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Identity {
    site: String,
    name: String,
    /// The number of checks of this name that have begun before it in this thread. A test has a
    /// thread with its name.
    nth: u32,
    executable: Executable,
    /// The check sum of the program's steps in the schedule of defaults.
    default: u32,
}

/// The length of the executable file, and its check sum; `None` if it cannot be read.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Executable(Option<(u64, u32)>);

impl Executable {
    fn this() -> Self {
        static THIS: OnceLock<Executable> = OnceLock::new();
        *THIS.get_or_init(|| {
            // This path is right also if a new file has been built meanwhile.
            let running = PathBuf::from("/proc/self/exe");
            let path = if running.exists() { Ok(running) } else { std::env::current_exe() };
            let file = path.and_then(std::fs::read).ok();
            Executable(file.map(|file| (file.len() as u64, crc32fast::hash(&file))))
        })
    }

    /// Returns `true` if this can be the program that runs.
    fn is_this(self) -> bool {
        self.0.is_some() && self.0 == Executable::this().0
    }
}

/// The check that begins: its identity without the check sums, which take time.
#[derive(Debug, Clone)]
pub(super) struct Check {
    site: &'static Location<'static>,
    name: &'static str,
    nth: u32,
}

impl Check {
    /// Notes that a check of a program with a type of this name begins.
    pub(super) fn begin(site: &'static Location<'static>, name: &'static str) -> Self {
        type Begun = HashMap<(Option<String>, &'static Location<'static>, &'static str), u32>;
        static BEGUN: LazyLock<Mutex<Begun>> = LazyLock::new(Mutex::default);
        let thread = thread::current().name().map(str::to_owned);
        let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
        let count = begun.entry((thread, site, name)).or_default();
        *count += 1;
        Check { site, name, nth: *count - 1 }
    }

    /// Returns the place of the check.
    pub(super) fn site(&self) -> &'static Location<'static> {
        self.site
    }

    /// Returns the identity for a file. `default` is the check sum of the schedule of defaults.
    pub(super) fn identity(&self, default: u32) -> Identity {
        Identity {
            site: self.site.to_string(),
            name: self.name.to_owned(),
            nth: self.nth,
            executable: Executable::this(),
            default,
        }
    }

    /// Returns the name of the file for this check in a directory of such files.
    pub(super) fn file_in(&self, directory: &Path) -> PathBuf {
        let name = self.name.replace("::{{closure}}", "");
        let name: String =
            name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect();
        let nth = if self.nth == 0 { String::new() } else { format!("-{}", self.nth + 1) };
        directory.join(format!("{name}-{}{nth}.{EXTENSION}", self.site.line()))
    }

    /// Returns the reason why it cannot go on with a saved exploration, if it cannot. `default`
    /// returns the check sum of the schedule of defaults.
    pub(super) fn objection(
        &self,
        saved: &Saved,
        asked: Asked<'_>,
        default: impl FnOnce() -> u32,
    ) -> Option<String> {
        let there = &saved.program;
        if self.name != there.name {
            return Some(format!(
                "it is of the check of `{}` at {}, and this is the check of `{}` at {}; run the former \
                 alone",
                there.name, there.site, self.name, self.site
            ));
        }
        if !saved.is_of_this_build() {
            return Some("the program was built from other code since; begin anew".into());
        }
        let Asked { way, steps, observed } = asked;
        if (saved.way.as_str(), saved.steps) != (way, steps) {
            return Some(format!(
                "it explores {} with at most {} steps each, and this check asks for {way} with at most {steps}",
                saved.way, saved.steps
            ));
        }
        if observed && saved.observed.is_none() {
            return Some(
                "it has not counted the observable differences, and this check asks for them".into(),
            );
        }
        (there.default != default()).then(|| {
            format!(
                "it is of a program that does something else: look for values that `{}` has captured, and begin \
                 anew",
                self.name
            )
        })
    }

    /// Removes the file of this check, which has ended.
    pub(super) fn remove(&self, path: &Path) {
        if Saved::read(path).is_ok_and(|saved| saved.program.name == self.name) {
            // If it cannot be removed, it stays, and is refused as soon as the program has changed.
            let _ = std::fs::remove_file(path);
        }
    }

    /// Returns `true` if a file belongs to an earlier or a later check by the same code in the same
    /// test.
    pub(super) fn is_beside(&self, saved: &Saved) -> bool {
        (saved.program.name.as_str(), saved.program.site.as_str()) == (self.name, &self.site.to_string())
            && saved.program.nth != self.nth
    }
}

/// The settings of a check that must match.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) way: &'a str,
    pub(super) steps: usize,
    pub(super) observed: bool,
}

impl Saved {
    /// Returns `true` if its program was built from the code that runs.
    pub(super) fn is_of_this_build(&self) -> bool {
        self.program.executable.is_this()
    }

    /// Reads a file.
    pub(super) fn read(path: &Path) -> Result<Self, ResumeError> {
        let bytes = std::fs::read(path).map_err(|error| ResumeError::Read(path.to_owned(), error))?;
        let body = bytes.strip_prefix(&MAGIC).ok_or_else(|| ResumeError::Format(path.to_owned()))?;
        let damaged = || ResumeError::Damaged(path.to_owned());
        let (sum, body) = body.split_first_chunk().ok_or_else(damaged)?;
        if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
            return Err(damaged());
        }
        postcard::from_bytes(body).map_err(|_| damaged())
    }

    /// Writes the file. On an error the old file stays.
    pub(super) fn write(&self, path: &Path) -> io::Result<()> {
        let body = postcard::to_stdvec(self).expect("a vector takes all that is written to it");
        let mut bytes = MAGIC.to_vec();
        bytes.extend(crc32fast::hash(&body).to_le_bytes());
        bytes.extend(body);
        let partial = begin_writing(path)?;
        std::fs::write(&partial, bytes)?;
        std::fs::rename(partial, path)
    }
}

/// Makes sure that a file can be written at a path, and returns the path to write it to first.
pub(super) fn begin_writing(path: &Path) -> io::Result<PathBuf> {
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "there is a directory at this path"));
    }
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    std::fs::write(&partial, [])?;
    Ok(partial)
}

/// The reason why an exploration cannot go on from a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum ResumeError {
    /// The file cannot be read.
    Read(PathBuf, io::Error),
    /// The file is something else, or from another version of the checker.
    Format(PathBuf),
    /// The file is damaged or cut short.
    Damaged(PathBuf),
}

impl fmt::Display for ResumeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResumeError::Read(path, error) => {
                write!(f, "the saved exploration {} cannot be read: {error}", path.display())
            }
            ResumeError::Format(path) => write!(
                f,
                "{} is no exploration saved by this version of the checker; begin it anew",
                path.display()
            ),
            ResumeError::Damaged(path) => {
                write!(f, "the saved exploration {} is damaged or cut short; begin it anew", path.display())
            }
        }
    }
}

impl Error for ResumeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ResumeError::Read(_, error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, Check, Executable, Identity, Loops, Names, Saved};
    use crate::program::memory::Detail;
    use std::panic::Location;
    use std::path::Path;
    use std::time::Duration;

    fn saved(program: Identity) -> Saved {
        Saved {
            program,
            way: "every schedule".into(),
            steps: 9,
            elapsed: Duration::ZERO,
            loops: Loops::default(),
            names: Names::default(),
            observed: None,
            detail: Detail::None,
            shapes: Vec::new(),
            failure: None,
            exploration: Vec::new(),
        }
    }

    #[test]
    fn checks_of_one_name_have_files_of_their_own() {
        let begin = |name| Check::begin(Location::caller(), name).file_in(Path::new("there"));
        let [first, second, other] = ["a::b::{{closure}}", "a::b::{{closure}}", "a::c"].map(begin);
        let (first, second) = (first.to_str().unwrap(), second.to_str().unwrap());
        assert!(first.starts_with("there/a--b-") && first.ends_with(".exploration"), "{first}");
        assert_eq!(second, first.replace(".exploration", "-2.exploration"));
        assert!(other.to_str().unwrap().starts_with("there/a--c-"), "{other:?}");
    }

    #[test]
    fn a_file_is_of_one_build() {
        let check = Check::begin(Location::caller(), "program");
        let asked = Asked { way: "every schedule", steps: 9, observed: false };
        let objection = |saved: &Saved| check.objection(saved, asked, || 7);
        let mut file = saved(check.identity(7));
        assert_eq!(objection(&file), None);
        file.program.default = 8;
        assert!(objection(&file).unwrap().contains("a program that does something else"));
        for other in [Executable(None), Executable(Some((1, 2)))] {
            file.program.executable = other;
            assert!(objection(&file).unwrap().contains("built from other code since"));
        }
    }
}
