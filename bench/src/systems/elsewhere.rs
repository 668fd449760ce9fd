//! The programs in other languages: found, and built on first use.

use crate::repository::repository;
use crate::runner::process;
use std::{
    env,
    ffi::{OsStr, OsString},
    fmt,
    fs::{self, File},
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, SystemTime},
};

/// Why a system cannot be measured here, and a remedy.
#[derive(Clone, Debug)]
pub(crate) struct Missing {
    why: String,
    how: &'static str,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not here: {}; {}", self.why, self.how)
    }
}

/// Where the sources are.
fn sources(system: &str) -> PathBuf {
    repository().join("bench/peers").join(system)
}

/// The place of their built programs: beside this program.
fn built(system: &str) -> PathBuf {
    let program = env::current_exe().expect("this program has a path");
    program.with_file_name("lisle-bench-peers").join(system)
}

/// The command that runs the program of `system`, built if it is not or its sources are newer.
pub(crate) fn prepare(system: &str) -> Result<Vec<OsString>, Missing> {
    match system {
        "lisle" => lisle(),
        "clock" | "lisle-heap" | "box" | "arc" | "gc-arena" | "dumpster" => heaps(system),
        "go" | "go-heap" => go(),
        "go-pull" => Ok([go()?, vec!["-pull".into()]].concat()),
        "java" => java(),
        "java-g1" => java_heap("-XX:+UseG1GC"),
        "java-zgc" => java_heap("-XX:+UseZGC"),
        "boost-fiber" => boost_fiber(),
        "onetbb" => onetbb(system, "-DAFFINITY=0"),
        "onetbb-affinity" => onetbb(system, "-DAFFINITY=1"),
        "openmp" => openmp(),
        "guile-fibers" => guile_fibers(),
        "boost-context" => boost_context(),
        "libmpeff" => libmpeff(),
        "ocaml" | "ocaml-heap" => ocaml(),
        "boehm" => boehm(),
        other => unreachable!("{other} has no program of its own"),
    }
}

/// The variable that tells a sample the command of its system's own program, a word on each line.
const OWN: &str = "LISLE_BENCH_OWN";

/// Has the sample that `sample` runs know the `words` of its system's own program: a sample builds
/// nothing, and does not ask whether there is something to build.
pub(crate) fn pass_own(words: &[OsString], sample: &mut Command) {
    sample.env(OWN, words.join(OsStr::new("\n")));
}

/// The command of the system's own program, in a sample that was told of it.
pub(crate) fn own_command() -> Command {
    let words = env::var_os(OWN).unwrap_or_else(|| panic!("{OWN} does not say what to run"));
    let mut words = words.as_bytes().split(|&byte| byte == b'\n').map(OsStr::from_bytes);
    let mut command = Command::new(words.next().expect("a split is never empty"));
    command.args(words);
    command
}

/// The command `lisle` of this repository.
fn lisle() -> Result<Vec<OsString>, Missing> {
    const HOW: &str = "build it with `cargo build --release -p lisle-cli`";
    cargo(&["-p", "lisle-cli"], "lisle", HOW)
}

/// The program of the heaps in Rust, which has an allocator of its own.
fn heaps(system: &str) -> Result<Vec<OsString>, Missing> {
    const HOW: &str = "build it with `cargo build --release --manifest-path bench/heaps/Cargo.toml`, which takes a C \
                       compiler (Debian: gcc)";
    let words = cargo(&["--manifest-path", "bench/heaps/Cargo.toml"], "lisle-bench-heaps", HOW)?;
    Ok([words, vec![system.into()]].concat())
}

/// A program of this repository that Cargo builds. It knows whether the program is current; without
/// Cargo, one that has been built beside this program is taken.
fn cargo(package: &[&str], name: &str, how: &'static str) -> Result<Vec<OsString>, Missing> {
    let missing = |why: String| Missing { why, how };
    let ours = env::current_exe().expect("this program has a path");
    let target = ours.ancestors().nth(2).expect("it is in a profile's folder of the target folder");
    let program = target.join("release").join(name);
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release"]).args(package).arg("--target-dir").arg(target);
    cargo.current_dir(repository());
    match process::run(&mut cargo, Duration::from_secs(600)) {
        Ok(ended) if !ended.status.is_some_and(|status| status.success()) => {
            let said = ended.stderr.lines().find(|line| line.starts_with("error"));
            Err(missing(format!("{name} does not build: {}", said.unwrap_or_default())))
        }
        Err(_) if !program.exists() => {
            Err(missing(format!("there is no {}, and no Cargo", program.display())))
        }
        _ => Ok(vec![program.into()]),
    }
}

fn go() -> Result<Vec<OsString>, Missing> {
    const HOW: &str = "install Go from go.dev or as the package golang";
    let program = built("go").join("peer");
    build("go", &["go"], &program, HOW, |sources| {
        let mut go = Command::new("go");
        go.arg("build").arg("-o").arg(&program).arg(".").current_dir(sources);
        go
    })?;
    Ok(vec![program.into()])
}

fn boost_fiber() -> Result<Vec<OsString>, Missing> {
    const HOW: &str = "install a C++ compiler and Boost.Fiber (Debian: g++ libboost-fiber-dev)";
    cpp("boost-fiber", HOW, &["-DSYSTEM=\"Boost.Fiber\"", "-O2"], &["-lboost_fiber", "-lboost_context"])
}

fn boost_context() -> Result<Vec<OsString>, Missing> {
    const HOW: &str = "install a C++ compiler and Boost.Context (Debian: g++ libboost-context-dev)";
    cpp("boost-context", HOW, &["-DSYSTEM=\"Boost.Context\"", "-O2"], &["-lboost_context"])
}

fn boehm() -> Result<Vec<OsString>, Missing> {
    const HOW: &str = "install a C++ compiler and Boehm's collector (Debian: g++ libgc-dev)";
    cpp("boehm", HOW, &["-DSYSTEM=\"Boehm's collector\"", "-O2"], &["-lgc"])
}

/// The archives of libmprompt ask for a stack that may be run, which no program here needs.
fn libmpeff() -> Result<Vec<OsString>, Missing> {
    const HOW: &str = "install a C++ compiler, and build libmprompt from its sources as C (cmake -DMP_USE_C=ON); if \
                       the compiler does not find it, CPATH and LIBRARY_PATH say where it is";
    cpp("libmpeff", HOW, &["-DSYSTEM=\"libmpeff\"", "-O2"], &["-lmpeff", "-lmprompt", "-Wl,-z,noexecstack"])
}

/// The optimization level is Cargo's, and the compiler may not contract floating-point operations:
/// the sums must be the program's.
const LOOPS: [&str; 2] = ["-O3", "-ffp-contract=off"];

/// Its loops have the one partitioner or the other.
fn onetbb(system: &str, affinity: &str) -> Result<Vec<OsString>, Missing> {
    const HOW: &str = "install a C++ compiler and oneTBB (Debian: g++ libtbb-dev)";
    cpp_of(system, "onetbb", HOW, &[&LOOPS[..], &["-DSYSTEM=\"oneTBB\"", affinity]].concat(), &["-ltbb"])
}

fn openmp() -> Result<Vec<OsString>, Missing> {
    const HOW: &str = "install a C++ compiler with OpenMP (Debian: g++)";
    cpp("openmp", HOW, &[&LOOPS[..], &["-DSYSTEM=\"OpenMP\"", "-fopenmp"]].concat(), &[])
}

/// A program of C++ from the system's own folder and from the one that they share.
fn cpp(
    system: &str,
    how: &'static str,
    options: &[&str],
    libraries: &[&str],
) -> Result<Vec<OsString>, Missing> {
    cpp_of(system, system, how, options, libraries)
}

/// As [`cpp`], from a folder that several systems may have.
fn cpp_of(
    system: &str,
    folder: &str,
    how: &'static str,
    options: &[&str],
    libraries: &[&str],
) -> Result<Vec<OsString>, Missing> {
    const SHARED: &str = "cpp";
    let program = built(system).join("peer");
    build(system, &[folder, SHARED], &program, how, |own| {
        let shared = sources(SHARED);
        let mut compiler = Command::new(env::var_os("CXX").unwrap_or_else(|| "g++".into()));
        compiler.arg("-std=c++17").args(options).arg("-I").arg(&shared).arg("-o").arg(&program);
        compiler.args(files(own, "cpp")).args(files(&shared, "cpp")).args(libraries).arg("-pthread");
        compiler
    })?;
    Ok(vec![program.into()])
}

fn java() -> Result<Vec<OsString>, Missing> {
    let (java, classes) = java_classes()?;
    // Of the collectors that a small machine is offered, the parallel one has the least to do in
    // the background.
    Ok(vec![java.into(), "-XX:+UseParallelGC".into(), "-cp".into(), classes.into(), "Main".into()])
}

/// The size of a heap is an argument of the virtual machine, so a script looks at the case first.
fn java_heap(collector: &str) -> Result<Vec<OsString>, Missing> {
    let (java, classes) = java_classes()?;
    let script = sources("java").join("heap.sh");
    Ok(vec!["sh".into(), script.into(), java.into(), classes.into(), collector.into()])
}

/// The virtual machine, and the folder of the compiled classes.
fn java_classes() -> Result<(PathBuf, PathBuf), Missing> {
    const HOW: &str = "install a JDK of version 21 or later, and set JAVA_HOME or PATH if it is not found";
    let home =
        java_home().ok_or_else(|| Missing { why: "there is no JDK 21 or later".to_owned(), how: HOW })?;
    let classes = built("java");
    build("java", &["java"], &classes.join("Main.class"), HOW, |sources| {
        let mut compiler = Command::new(home.join("bin/javac"));
        compiler.arg("-d").arg(&classes).args(files(sources, "java"));
        compiler
    })?;
    Ok((home.join("bin/java"), classes))
}

/// The newest JDK with virtual threads: of `JAVA_HOME`, of the folders where systems keep them, or
/// of `PATH`.
fn java_home() -> Option<PathBuf> {
    let mut homes: Vec<PathBuf> = env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    for folder in ["/usr/lib/jvm", "/usr/java", "/opt/java"] {
        homes.extend(fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()));
    }
    let on_path = env::var_os("PATH")
        .and_then(|path| {
            env::split_paths(&path).map(|folder| folder.join("javac")).find(|javac| javac.exists())
        })
        .and_then(|javac| Some(fs::canonicalize(javac).ok()?.parent()?.parent()?.to_owned()));
    homes.extend(on_path);
    let versions = homes.into_iter().filter_map(|home| Some((java_version(&home)?, home)));
    versions.filter(|(version, _)| *version >= 21).max().map(|(_, home)| home)
}

/// The feature release of a JDK, from the file in which each states it.
fn java_version(home: &Path) -> Option<u32> {
    home.join("bin/javac").exists().then_some(())?;
    let release = fs::read_to_string(home.join("release")).ok()?;
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    version.trim_matches('"').split('.').next()?.parse().ok()
}

/// OCaml's compiler leaves its outputs beside its sources, so these are copied.
fn ocaml() -> Result<Vec<OsString>, Missing> {
    const HOW: &str =
        "install OCaml 5.3 or later (opam switch create 5.3.0), and set OCAMLOPT or PATH if it is not found";
    let missing = |why: &str| Missing { why: why.to_owned(), how: HOW };
    let compiler = env::var_os("OCAMLOPT").unwrap_or_else(|| "ocamlopt".into());
    let asked = Command::new(&compiler).arg("-version").output();
    let version = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    match version.as_deref().map(ocaml_version) {
        Err(_) => return Err(missing("ocamlopt cannot be run")),
        Ok(Some(version)) if version >= (5, 3) => {}
        Ok(_) => {
            return Err(missing("OCaml has handlers of effects since 5.0, and a syntax for them since 5.3"));
        }
    }
    let program = built("ocaml").join("peer");
    build("ocaml", &["ocaml"], &program, HOW, |sources| {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(
            r#"cp "$2"/*.ml "$3" && cd "$3" && "$1" -O3 -I +unix unix.cmxa -o peer harness.ml small.ml programs.ml heap.ml lru.ml main.ml"#,
        );
        shell.arg("sh").arg(&compiler).arg(sources).arg(built("ocaml"));
        shell
    })?;
    Ok(vec![program.into()])
}

/// The first two numbers of `5.3.0`.
fn ocaml_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

fn guile_fibers() -> Result<Vec<OsString>, Missing> {
    const HOW: &str = "install Guile 3, its guild command and Guile Fibers (Guix: guile guile-fibers; Debian: \
                       guile-3.0-dev, and Fibers from its sources)";
    let missing = |why: &str| Missing { why: why.to_owned(), how: HOW };
    let asked = guile().args(["-c", "(use-modules (fibers))"]).output();
    match asked {
        Err(_) => return Err(missing("guile cannot be run")),
        Ok(output) if !output.status.success() => return Err(missing("Guile does not find (fibers)")),
        Ok(_) => {}
    }
    let (sources, compiled) = (sources("guile-fibers"), built("guile-fibers"));
    // Guile takes compiled code only if it is younger than its source, so any change compiles
    // everything.
    build("guile-fibers", &["guile-fibers"], &compiled.join("main.go"), HOW, |sources| {
        let mut shell = Command::new("sh");
        shell.env("GUILE_AUTO_COMPILE", "0").arg("-c");
        shell.arg(
            r#"cd "$1" && for f in *.scm; do guild compile -L . -O2 -o "$2/${f%.scm}.go" "$f" || exit; done"#,
        );
        shell.arg("sh").arg(sources).arg(&compiled);
        shell
    })?;
    let mut words: Vec<OsString> = vec!["guile".into(), "--no-auto-compile".into(), "-L".into()];
    words.extend([sources.clone().into(), "-C".into(), compiled.into(), sources.join("main.scm").into()]);
    Ok(words)
}

fn guile() -> Command {
    let mut guile = Command::new("guile");
    guile.arg("--no-auto-compile");
    guile
}

/// Runs `compile` on the sources in the first of `folders`, if `product` is older than the files in
/// these.
fn build(
    system: &str,
    folders: &[&str],
    product: &Path,
    how: &'static str,
    compile: impl FnOnce(&Path) -> Command,
) -> Result<(), Missing> {
    let missing = |why: String| Missing { why, how };
    let mut latest = SystemTime::UNIX_EPOCH;
    for folder in folders.iter().map(|folder| sources(folder)) {
        let newest = newest(&folder).map_err(|error| missing(format!("{}: {error}", folder.display())))?;
        latest = latest.max(newest);
    }
    fs::create_dir_all(built(system)).map_err(|error| missing(error.to_string()))?;
    // Another run may be about to build the same. The lock ends with the file.
    let lock = File::create(built(system).join("lock")).and_then(|file| file.lock().map(|()| file));
    let _lock = lock.map_err(|error| missing(error.to_string()))?;
    // Written last: a compiler that is interrupted leaves a product that is new, but not whole.
    let stamp = built(system).join("stamp");
    let is_current =
        fs::metadata(&stamp).and_then(|stamp| stamp.modified()).is_ok_and(|built| built > latest);
    if is_current && product.exists() {
        return Ok(());
    }
    let mut command = compile(&sources(folders[0]));
    let ended = process::run(&mut command, Duration::from_secs(600)).map_err(|error| {
        missing(format!("{} cannot be run: {error}", Path::new(command.get_program()).display()))
    })?;
    match ended.status {
        None => Err(missing("its compiler does not end".to_owned())),
        Some(status) if status.success() => fs::write(stamp, "").map_err(|error| missing(error.to_string())),
        Some(_) => {
            let said =
                ended.stderr.lines().find(|line| line.contains("error")).or(ended.stderr.lines().next());
            Err(missing(format!("it does not build: {}", said.unwrap_or_default())))
        }
    }
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|own| own == extension)).collect();
    files.sort();
    files
}

/// When the youngest of a folder's files was written.
fn newest(folder: &Path) -> io::Result<SystemTime> {
    let mut newest = SystemTime::UNIX_EPOCH;
    for entry in fs::read_dir(folder)? {
        newest = newest.max(entry?.metadata()?.modified()?);
    }
    Ok(newest)
}
