//! Every file in `src/workloads` is a workload: this lists them, so that adding one takes that file
//! and nothing else. It also keeps the name of the compiler, for the reports.

use std::{env, fs, io, path::Path, process::Command};

fn main() -> io::Result<()> {
    list_workloads()?;
    println!("cargo::rustc-env=LISLE_BENCH_RUSTC={}", compiler()?);
    Ok(())
}

fn list_workloads() -> io::Result<()> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("src/workloads");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.push(path.file_stem().unwrap().to_str().expect("a module's name is UTF-8").to_owned());
        }
    }
    names.sort();
    let modules: String = names
        .iter()
        .map(|name| format!("#[path = {:?}]\nmod {name};\n", folder.join(format!("{name}.rs"))))
        .collect();
    let all: String = names.iter().map(|name| format!("    &{name}::WORKLOAD,\n")).collect();
    let list = format!("{modules}\npub(crate) static ALL: &[&crate::workload::Workload] = &[\n{all}];\n");
    fs::write(Path::new(&env::var("OUT_DIR").unwrap()).join("workloads.rs"), list)
}

/// `rustc 1.95.0 (...)`
fn compiler() -> io::Result<String> {
    println!("cargo::rerun-if-env-changed=RUSTC");
    let output = Command::new(env::var_os("RUSTC").expect("cargo names it")).arg("--version").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
