use super::*;
use crate::report::{
    setting::FACTS,
    summary::{Line, Stats},
    table,
};

/// A file with one run.
const FILE: &str = "\
Date: 2026-11-21
Note: by hand

chain, rendezvous, relays=0, 2 workers
  messages/s               median          min          max  to best  resident   CPU s
  lisle                18,893,558   17,764,668   19,442,541     1.00   4.6 MiB    0.22
  kanal                 7,367,991    7,078,430    7,842,949     2.56   5.6 MiB    0.26  (on tokio)
  guile-fibers       not here: install Guile (Guix: guile)

wake, 2 workers: p99
  ns                       median          min          max  to best  resident   CPU s
  flume                    42,087       40,837       42,127     1.00   5.6 MiB    0.00
  lisle                    57,368       50,347       82,303     1.36   4.7 MiB    0.00

Threads and messages of one run
                                                fibers       tasks     reified    inflated  migrations    messages       bytes     largest
  mergesort, lisle-tasks, 2 w                        1       32767        2105         234      139560     1966080         928         928
";

fn parse(text: &str) -> Result<Results, Wrong> {
    Results::parse("FILE", text)
}

/// The fault of the file if `old` is replaced by `new`.
fn wrong(old: &str, new: &str) -> (usize, String) {
    assert!(FILE.contains(old), "{old}");
    let Wrong { line, why } = parse(&FILE.replacen(old, new, 1)).err().expect(new);
    (line, why)
}

#[test]
fn everything_in_a_file_is_read() {
    let results = parse(FILE).unwrap();
    assert_eq!(results.facts, [[("Date", "2026-11-21".to_owned()), ("Note", "by hand".to_owned())]]);
    let [chain, wake] = &results.tables[..] else { panic!("there are two tables") };
    assert_eq!(chain.title(), "chain, rendezvous, relays=0, 2 workers");
    assert_eq!((chain.group.workers, chain.group.params["relays"]), (2, 0));
    let Line { system, note, result } = &chain.rows[1];
    let stats = Stats {
        median: 7_367_991.0,
        min: 7_078_430.0,
        max: 7_842_949.0,
        p99: None,
        rounds: None,
        rss_bytes: 5.6 * 1024.0 * 1024.0,
        cpu_seconds: 0.26,
        behind: 2.56,
        to_limit: None,
    };
    assert_eq!((*system, note.as_str(), result), ("kanal", "on tokio", &Ok(stats)));
    let (failed, why) = chain.failed().next().unwrap();
    assert_eq!((failed.system, why), ("guile-fibers", "not here: install Guile (Guix: guile)"));
    assert_eq!((wake.figure.as_str(), wake.unit().name), ("p99", "ns"));
    let entry = &results.threads[0];
    assert_eq!((entry.workload, entry.system, entry.workers), ("mergesort", "lisle-tasks", 2));
    assert_eq!((entry.threads.fibers, entry.threads.largest_bytes), (1, 928));
}

#[test]
fn what_is_read_is_what_the_bench_writes() {
    let results = parse(FILE).unwrap();
    let facts: String = results.facts[0].iter().map(|(name, fact)| format!("{name}: {fact}\n")).collect();
    let threads = format!("\n{}\n{}\n", threads::TITLE, threads::head());
    let entries: String = results.threads.iter().map(|entry| threads::line(entry) + "\n").collect();
    assert_eq!(facts + &table::table(&results.tables) + &threads + &entries, FILE);
}

#[test]
fn the_facts_are_those_that_a_run_has() {
    for name in FACTS {
        let results = parse(&FILE.replace("Date: 2026-11-21", &format!("{name}: it is"))).unwrap();
        assert_eq!(results.facts[0][0], (name, "it is".to_owned()));
    }
    assert_eq!(wrong("Date: ", "Dade: ").0, 1);
    assert_eq!(wrong("Note: ", "note: ").0, 2);
    assert_eq!(wrong("Note: by hand", "By hand."), (2, "'By hand.' is no workload".to_owned()));
}

#[test]
fn several_runs_are_put_together() {
    let second = FILE
        .replace(
            "18,893,558   17,764,668   19,442,541     1.00",
            "16,893,558   16,764,668   19,000,000     1.00",
        )
        .replace(" 2.56", " 2.29");
    let text = [FILE, "\n", &second, "\n", FILE].concat();
    let results = parse(&text).unwrap();
    assert_eq!((results.facts.len(), results.tables.len()), (3, 2));
    let stats = results.tables[0].rows[0].result.as_ref().unwrap();
    assert_eq!([stats.median, stats.min, stats.max], [18_893_558.0, 16_764_668.0, 19_442_541.0]);
    let kanal = results.tables[0].rows[1].result.as_ref().unwrap();
    assert_eq!(kanal.behind, 18_893_558.0 / 7_367_991.0);
    assert!(results.tables[0].rows[2].result.is_err());
    // Once, it is as in the file.
    let once = parse(FILE).unwrap();
    assert_eq!(once.tables[0].rows[1].result.as_ref().unwrap().behind, 2.56);
}

#[test]
fn a_title_is_one_of_the_cases() {
    assert_eq!(wrong("chain,", "chian,"), (4, "'chian' is no workload".to_owned()));
    let case = "'chain, rendezvous, relays=1, 2 workers' is none of the cases";
    assert_eq!(wrong("relays=0", "relays=1"), (4, case.to_owned()));
    assert_eq!(wrong(", 2 workers", "").0, 4);
    assert_eq!(wrong("2 workers", "2 worker").0, 4);
    assert_eq!(wrong("rendezvous, relays=0", "relays=0, rendezvous").0, 4);
    assert_eq!(wrong("wake, 2", "wake, 1").0, 10);
    assert_eq!(wrong("p99", "p98"), (10, "wake does not measure 'p98'".to_owned()));
    assert_eq!(wrong(": p99", ": ").0, 10);
    assert_eq!(wrong("2 workers\n", "2 workers: p99\n"), (4, "chain does not measure 'p99'".to_owned()));
}

#[test]
fn a_table_has_its_head_and_rows() {
    assert_eq!(wrong("messages/s ", "ms         ").0, 5);
    assert_eq!(wrong("median ", "meddle ").0, 5);
    let cut = &FILE[..FILE.find("  lisle").unwrap()];
    assert_eq!(parse(cut).err(), Some(Wrong { line: 5, why: "the table has no rows".to_owned() }));
    let cut = &FILE[..FILE.find("  messages/s").unwrap()];
    assert_eq!(parse(cut).err().unwrap().line, 4);
    let twice = format!("{FILE}\n{}", &FILE[FILE.find("wake").unwrap()..FILE.find("Threads").unwrap()]);
    let why = "the run has two tables of 'wake, 2 workers: p99'";
    assert_eq!(parse(&twice).err().unwrap().why, why);
    let twice = format!("{FILE}\n{}", &FILE[FILE.find("Threads").unwrap()..]);
    assert_eq!(parse(&twice).err().unwrap().why, "the run has two tables of threads");
}

#[test]
fn a_row_is_as_the_bench_writes_it() {
    let numbers = "7,367,991    7,078,430";
    for (old, new) in [
        ("  kanal ", "  canal "),
        ("  kanal ", "kanal   "),
        (numbers, "7,367,991   7,078,430"),
        (numbers, "7,36x,991    7,078,430"),
        (numbers, "7367991      7,078,430"),
        (numbers, "7,367,991             "),
        (" 5.6 MiB", "     5.6"),
        (" 5.6 MiB", " 5.6 KiB"),
        (" 0.26  ", "0.260  "),
        ("(on tokio)", "(on tokio"),
        ("(on tokio)", "on tokio"),
        ("(on tokio)", "(on tokio) "),
    ] {
        assert_eq!(wrong(old, new).0, 7, "{new}");
    }
    assert_eq!(wrong("not here:", " not here:").0, 8);
    assert_eq!(wrong("not here: install Guile (Guix: guile)", "").0, 8);
}

#[test]
fn few_digits_go_together_as_far_as_they_can() {
    let small = |behind: &str| {
        format!(
            "Note: by hand

streams, tree, streams=500000, 1 worker: mean
  ms/frame                 median          min          max  to best  resident   CPU s
  lisle                     0.023        0.023        0.025     1.00  21.2 MiB    0.40
  bevy-ecs                  0.025        0.024        0.037     {behind}  25.2 MiB    0.40
"
        )
    };
    // Of 0.0227 and 0.0252.
    assert!(parse(&small("1.11")).is_ok());
    let Wrong { line, why } = parse(&small("1.21")).err().expect("0.025 is not so far from 0.023");
    assert_eq!(line, 6);
    assert!(why.contains("do not go together"), "{why}");
}

#[test]
fn the_rows_go_together() {
    let kanal = "  kanal                 7,367,991";
    assert_eq!(wrong("  kanal ", "  lisle ").1, "lisle: there is a row of it before");
    assert!(wrong(kanal, "  kanal                 7,067,991").1.contains("is not between"));
    assert!(wrong("2.56", "2.46").1.contains("do not go together"));
    assert!(wrong("18,893,558   17,764,668", "17,893,558   17,764,668").1.contains("do not go together"));
    assert!(wrong("     1.36", "     0.73").1.contains("better than the one above"));
    let (line, why) = wrong(
        "  flume                    42,087       40,837       42,127     1.00   5.6 MiB    0.00",
        "  flume              gone",
    );
    assert_eq!((line, why.as_str()), (13, "lisle: it stands below a row that failed"));
}

#[test]
fn threads_are_told_in_one_way() {
    assert_eq!(wrong("Threads and", "The threads and").0, 15);
    assert_eq!(wrong("     fibers", "     fibres").0, 16);
    for (old, new) in [
        ("mergesort, lisle", "mergesart, lisle"),
        ("mergesort, lisle-tasks, 2 w", "mergesort, lisle-tasks, 2  "),
        ("lisle-tasks, 2 w                        1", "lisle-tasks, 2 w                       1 "),
        ("  139560  ", "  13956x  "),
        ("         928\n", "\n"),
    ] {
        assert_eq!(wrong(old, new).0, 17, "{new}");
    }
}

#[test]
fn what_is_no_result_is_an_error() {
    let no_results = Wrong { line: 1, why: "there are no results".to_owned() };
    assert_eq!(parse("").err(), Some(no_results));
    assert_eq!(parse("Date: today\n").err().map(|wrong| wrong.why), Some("a run has no table".to_owned()));
    assert_eq!(parse(FILE.split_once("\n\n").unwrap().1).err().map(|wrong| wrong.line), Some(1));
    assert_eq!(parse(&FILE.replace("\n\nwake", "\nwake")).err().map(|wrong| wrong.line), Some(9));
    let error = Results::read(Path::new("/no/such/file")).err().unwrap();
    assert!(error.starts_with("cannot read /no/such/file: "), "{error}");
}
