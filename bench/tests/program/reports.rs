//! The figures, in each form.

use super::{rows, run, stderr, stdout};
use rustix::thread::sched_getaffinity;
use std::{fs, path::Path};

/// Short; with names that come twice, and a system that does not do every case.
const SMALL: &[&str] =
    &["ping-pong", "ping-pong", "--quick", "--rounds", "1", "--systems", "lisle,kanal,lisle,threads"];

#[test]
fn json_on_standard_output_is_one_object_a_row_and_nothing_else() {
    let rows = rows(&run(&[SMALL, &["--json", "-"]].concat()));
    let count = |system: &str| rows.iter().filter(|row| row["system"] == system).count();
    assert_eq!([count("lisle"), count("kanal"), count("threads"), rows.len()], [4, 4, 1, 9]);
    for row in &rows {
        assert_eq!(row.get("error"), None, "{row}");
        for text in ["bench", "system", "variant", "unit"] {
            assert!(row[text].is_string(), "{text} in {row}");
        }
        for number in ["median", "min", "max", "cpu_seconds"] {
            assert!(row[number].is_f64(), "{number} in {row}");
        }
        for number in ["workers", "rounds", "rss_bytes"] {
            assert!(row[number].is_u64(), "{number} in {row}");
        }
        assert!(row["params"].is_object() && row["p99"].is_null(), "{row}");
        assert_eq!((row["bench"].as_str(), row["rounds"].as_u64()), (Some("ping-pong"), Some(1)));
        assert!(
            row["min"].as_f64() <= row["median"].as_f64() && row["median"].as_f64() <= row["max"].as_f64()
        );
        assert!(row["median"].as_f64() > Some(0.0));
    }
}

#[test]
fn the_page_and_the_table_have_everything() {
    let folder = tempfile::tempdir().unwrap();
    let [page, json] = ["page.html", "rows.json"].map(|name| folder.path().join(name));
    // The old content is replaced, not just overwritten at its beginning.
    fs::write(&json, "x".repeat(1 << 20)).unwrap();
    let output = run(&[SMALL, &["--html", text(&page), "--json", text(&json)]].concat());
    assert!(output.status.success(), "{}", stderr(&output));

    let table = stdout(&output);
    assert!(table.contains("ping-pong, two-threads, 2 workers") && table.contains("median"), "{table}");
    assert_eq!(fs::read_to_string(&json).unwrap().lines().count(), 9);

    let page = fs::read_to_string(&page).unwrap();
    for needed in [
        "<!doctype html>",
        "prefers-color-scheme: dark",
        "width=device-width",
        "<dt>Date</dt><dd>20",
        "<dt>Compiler</dt><dd>rustc ",
        "<dt>Kernel</dt><dd>Linux ",
        " core",
        "--rounds 1",
        "Of 4 tables, Lisle is ",
        "<h2 id=\"ping-pong\">",
        "<h3>two-threads, 2 workers</h3>",
        "ns/round trip, lower is better",
        "<th>p99</th>",
        "kanal: on tokio",
    ] {
        assert!(page.contains(needed), "{needed} is not in the page");
    }
    assert_eq!(page.matches("class=\"plot\"").count(), 4);
    assert_eq!(page.matches("class=\"row lisle\"").count(), 4);
    assert_eq!(page.matches("<details>").count(), 4);
    for outside in ["http:", "https:", "src=", "@import", "url(", "<script", "<link"] {
        assert!(!page.contains(outside), "{outside} is in the page");
    }
}

#[test]
fn a_case_with_a_parameter_is_plotted_over_it() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let arguments =
        ["chain", "--quick", "--rounds", "1", "--systems", "lisle", "--workers", "1", "--html", text(&page)];
    let output = run(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let page = fs::read_to_string(&page).unwrap();
    for form in ["rendezvous", "buffered"] {
        assert!(page.contains(&format!("<h3>{form} over relays, 1 worker</h3>")), "{form}");
    }
    assert_eq!(page.matches("class=\"trend\"").count(), 2);
}

#[test]
fn frames_are_plotted_over_workers() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let arguments = ["dew-locality", "--quick", "--rounds", "1", "--systems", "serial,rayon,lisle-loop"];
    let output = run(&[&arguments, &["--workers", "1,2,3", "--html", text(&page)][..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let page = fs::read_to_string(&page).unwrap();
    let (_, plot) = page.split_once("<article class=\"trend\">").unwrap();
    let (plot, _) = plot.split_once("</article>").unwrap();
    assert!(plot.contains("streams=200, over workers</h3>") && plot.contains("worst of ten"), "{plot}");
    // Dots with their values, and lines between the worst; the values are divided by the serial
    // form's.
    let count = |system: &str| plot.matches(&format!("<title>{system}, ")).count();
    assert_eq!(["serial", "rayon", "lisle-loop"].map(count), [0, 3, 3]);
    assert_eq!(page.matches("class=\"trend\"").count(), 1);
}

#[test]
fn what_cannot_be_written_is_found_before_the_run() {
    for option in ["--json", "--html"] {
        // A whole run: it would take longer than the test may.
        let output = run(&[option, "/no/such/folder/file"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("cannot write /no/such/folder/file"), "{}", stderr(&output));
    }
}

#[test]
fn more_workers_than_cores_are_run_with_a_warning() {
    let workers = (sched_getaffinity(None).unwrap().count() + 1).to_string();
    let output =
        run(&["spawn-join", "--quick", "--rounds", "1", "--systems", "lisle", "--workers", &workers]);
    assert!(stderr(&output).contains("to run on"), "{}", stderr(&output));
    assert!(stdout(&output).contains(&format!("spawn-join, {workers} workers")), "{}", stdout(&output));
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
