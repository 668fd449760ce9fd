//! The documents that are written from files of results are not stale.

use super::{bench, run, stderr};
use std::{fs, path::Path};

/// A file of the repository.
fn file(name: &str) -> String {
    format!("{}/../{name}", env!("CARGO_MANIFEST_DIR"))
}

fn text(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap()
}

#[test]
fn the_documents_are_what_the_results_say() {
    let output = run(&["report", "--check", "--site", &file("docs/benchmarks.html")]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_document_that_is_not_what_the_results_say_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    fs::write(&page, text("docs/benchmarks.html").replacen("Lisle", "Lysle", 1)).unwrap();
    let output = run(&["report", "--check", "--site", page.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("page.html:"), "{}", stderr(&output));
}

/// With a new result the document would be another; but all lines of it are understood.
#[test]
fn what_a_run_prints_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.txt");
    let output =
        run(&["yield", "raytrace", "--rounds", "1", "--workers", "2", "--systems", "lisle,lisle-tasks"]);
    let printed = str::from_utf8(&output.stdout).unwrap();
    for needed in ["Date: 20", "Machine: ", "\nyield, 1 worker\n", "\nThreads and messages of one run\n"] {
        assert!(printed.contains(needed), "{printed}");
    }
    fs::write(&results, printed).unwrap();
    let output = bench(&["report", "--check"]).arg(&results).output().unwrap();
    assert!(stderr(&output).contains("BENCHMARKS.md"), "{}", stderr(&output));
}

#[test]
fn a_line_that_is_not_understood_is_an_error_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.txt");
    let first = "Date: today\n\nyield, 1 worker\n  ns/yields\n";
    fs::write(&results, first).unwrap();
    let output = bench(&["report", "--check"]).arg(&results).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("results.txt:4: '  ns/yields' is not"), "{}", stderr(&output));
}

/// The README of the package `lisle`, whose program is a doctest, begins with the same program as
/// the README of the repository, which no package contains.
#[test]
fn the_program_of_the_readme_is_the_one_that_is_tested() {
    let program = |name: &str| {
        let text = text(name);
        let (_, program) = text.split_once("```rust\n").expect("it has a program");
        program.split_once("```").expect("the program ends").0.to_owned()
    };
    assert_eq!(program("README.md"), program("crates/lisle/README.md"));
}

/// Each page has the others in its bar, by the same names, and leads to nothing that is not there.
#[test]
fn the_pages_of_the_site_lead_to_each_other() {
    let docs = file("docs");
    let mut pages: Vec<String> = fs::read_dir(&docs)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".html"))
        .collect();
    pages.sort();
    assert!(pages.iter().any(|page| page == "benchmarks.html"), "{pages:?}");
    let bar = links(text("docs/index.html").split("</nav>").next().unwrap());
    assert!(bar.contains(&("benchmarks.html".to_owned(), "Benchmarks".to_owned())), "{bar:?}");
    for page in &pages {
        let text = text(&format!("docs/{page}"));
        assert_eq!(links(text.split("</nav>").next().unwrap()), bar, "{page}");
        for (target, _) in links(&text) {
            let is_there = match target.strip_prefix('#') {
                Some(name) => text.contains(&format!("id=\"{name}\"")),
                None => Path::new(&docs).join(&target).is_file(),
            };
            assert!(is_there, "{page} leads to {target}");
        }
    }
}

/// The targets of a page's links, from its own folder, with their texts.
fn links(page: &str) -> Vec<(String, String)> {
    let link = |rest: &str| {
        let (target, rest) = rest.split_once('"')?;
        let target = if target == "/" { "index.html" } else { target.trim_start_matches('/') };
        let (_, text) = rest.split_once('>')?;
        Some((target.to_owned(), text.split('<').next()?.trim().to_owned()))
    };
    page.split("<a ").skip(1).filter_map(|rest| link(rest.split_once("href=\"")?.1)).collect()
}
