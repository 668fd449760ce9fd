//! The program beside a Go compiler that behaves as a test wants.

use std::{fs, os::unix::fs::PermissionsExt, process::Command};
use tempfile::TempDir;

pub(crate) struct Peers {
    folder: TempDir,
}

impl Peers {
    /// No compiler is found, and nothing has been built before.
    pub(crate) fn without_compiler() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        // The program keeps its builds in its own folder. It is no copy: a file that has just been
        // written may not be run while another thread's child still has it open.
        fs::hard_link(env!("CARGO_BIN_EXE_lisle-bench"), folder.path().join("lisle-bench")).unwrap();
        Peers { folder }
    }

    /// The compiler is this script: `$3` is where it puts the program.
    pub(crate) fn built_by(script: &str) -> Self {
        let peers = Peers::without_compiler();
        let compiler = peers.folder.path().join("go");
        fs::write(&compiler, script).unwrap();
        fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
        peers
    }

    /// The compiler puts this shell script in the place of the program.
    pub(crate) fn that(script: &str) -> Self {
        Peers::built_by(&format!(
            "#!/bin/sh\ncat > \"$3\" <<'END'\n#!/bin/sh\n{script}\nEND\nchmod +x \"$3\"\n"
        ))
    }

    /// The program with these arguments.
    pub(crate) fn bench(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.folder.path().join("lisle-bench"));
        let folder = self.folder.path().to_str().unwrap();
        // The tools of the scripts; the test's own compiler is not to be found.
        command.args(arguments).env("PATH", format!("{folder}:/usr/bin:/bin"));
        command
    }
}
