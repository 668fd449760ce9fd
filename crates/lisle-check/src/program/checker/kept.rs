//! Explorations that go on another time, from a file.

use super::super::saved::{Check, ResumeError, Saved};
use super::Checker;
use std::io::{Write as _, stderr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Checker {
    /// Saves the exploration in a file if a limit, or the first SIGINT or SIGTERM, ends it, so that
    /// it can [go on](Checker::resume). Once all is explored, the file is removed.
    ///
    /// Until the exploration is over, the signals do not end the process: the first one ends all
    /// explorations, and then [`check`](Checker::check), but no other method, ends the process as
    /// the signal would have. A second one ends it at once.
    pub fn save_to(mut self, path: impl Into<PathBuf>) -> Self {
        self.save = Some(path.into());
        self
    }

    /// Goes on with a saved exploration of the same program, built from the same code, with the
    /// same choice of schedules. The verdict is about both parts.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such file, or it is damaged, or is no saved exploration.
    ///
    /// ```
    /// use lisle::sync::Mutex;
    /// use lisle_check::Checker;
    /// use std::sync::Arc;
    ///
    /// let path = std::env::temp_dir().join(format!("philosophers-{}.exploration", std::process::id()));
    /// let mut checker = Checker::new().executions(10).save_to(&path);
    /// loop {
    ///     let verdict = checker.explore(|| {
    ///         let forks = [(); 4].map(|()| Arc::new(Mutex::new(())));
    ///         let philosophers = [0, 1, 2, 3].map(|n| {
    ///             let (first, second) = (forks[n.min((n + 1) % 4)].clone(), forks[n.max((n + 1) % 4)].clone());
    ///             lisle::spawn(move || drop((first.lock(), second.lock())))
    ///         });
    ///         philosophers.map(|philosopher| philosopher.join().unwrap());
    ///     });
    ///     if verdict.is_exhaustive() {
    ///         assert!(verdict.counts().complete > 10);
    ///         break;
    ///     }
    ///     checker = checker.resume(verdict.saved().unwrap())?;
    /// }
    /// assert!(!path.exists());
    /// # Ok::<(), lisle_check::ResumeError>(())
    /// ```
    pub fn resume(mut self, path: impl AsRef<Path>) -> Result<Self, ResumeError> {
        self.resume = Some(Arc::new((path.as_ref().to_owned(), Saved::read(path.as_ref())?)));
        Ok(self)
    }

    /// Panics with the reason `why` if the exploration is saved or resumed.
    pub(super) fn assert_not_kept(&self, why: &str) {
        let is_kept = self.save.is_some() || self.resume.is_some();
        assert!(!is_kept, "this exploration can be neither saved nor resumed: {why}");
    }
}

/// The environment variables about a check.
pub(super) struct Environment {
    pub(super) save: Option<PathBuf>,
    pub(super) resume: Option<(PathBuf, Saved)>,
}

impl Environment {
    pub(super) fn read(check: &Check) -> Self {
        let path = |name| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        let save = path("LISLE_CHECK_SAVE").map(|directory| check.file_in(&directory));
        let read =
            |path: &Path| Saved::read(path).unwrap_or_else(|error| panic!("LISLE_CHECK_RESUME: {error}"));
        let resume = path("LISLE_CHECK_RESUME").and_then(|path| {
            if !path.is_dir() {
                let saved = read(&path);
                return Some((path, saved));
            }
            let file = check.file_in(&path);
            let saved = file.exists().then(|| read(&file))?;
            if !saved.is_of_this_build() {
                let (site, file) = (check.site(), file.display());
                let _ =
                    writeln!(stderr(), "{site}: begins anew, for {file} is of code that has changed since");
                return None;
            }
            Some((file, saved))
        });
        // A file belongs to one check. Other checks of the same test begin anew.
        Environment { save, resume: resume.filter(|(_, saved)| !check.is_beside(saved)) }
    }
}
