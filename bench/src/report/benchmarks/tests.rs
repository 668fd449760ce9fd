use super::{template::Piece, *};

/// A file of results with a workload that is lost and one that has only one system.
const FILE: &str = "\
Date: today
Command: lisle-bench a b

chain, rendezvous, relays=0, 1 worker
  messages/s               median          min          max  to best  resident   CPU s
  kanal                30,000,000   20,000,000   40,000,000     1.00   5.3 MiB    0.22  (on tokio)
  lisle                20,000,000   10,000,000   30,000,000     1.50   4.3 MiB    0.20
  go                    5,000,000    4,000,000    6,000,000     6.00   6.5 MiB    0.20
  guile-fibers       not here

sieve, primes=3000, 1 worker
  ms/sieve                 median          min          max  to best  resident   CPU s
  serial                     8.00         7.00         9.00     1.00   4.3 MiB    0.20
  lisle-tasks                80.0         70.0         90.0    10.00   4.3 MiB    0.20
  lisle                     100.0         90.0        110.0    12.50   4.3 MiB    0.20
  go                        160.0        150.0        170.0    20.00   6.5 MiB    0.20

sieve, primes=3000, 2 workers
  ms/sieve                 median          min          max  to best  resident   CPU s
  lisle-tasks                40.0         30.0         50.0     1.00   4.3 MiB    0.20
  go                        160.0        150.0        170.0     4.00   6.5 MiB    0.20
";

const TEMPLATE: &str = "\
# Title

Beginning.

<!-- counts -->
<!-- middle -->
<!-- chapter FILE -->
## Chapter
Before.
<!-- results -->
After.
<!-- chapter OTHER -->
Nothing of this.
<!-- results -->
<!-- end -->
<!-- losses -->
It is `chain`.
";

fn results(name: &str, text: &str) -> Results {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    Results::read(&path).unwrap()
}

fn document_of(template: &str) -> Result<Vec<Part>, String> {
    document(&template::parse(template)?, &[results("FILE", FILE)])
}

/// The document, with the parts that only the page has.
fn in_full(parts: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) | Part::Detail(text) | Part::Numbers(text) => text.clone(),
        Part::Plots(_) => String::new(),
    };
    parts.iter().map(text).collect()
}

#[test]
fn the_document_has_the_row_in_the_middle_of_each_workload_and_chapter() {
    let text = markdown(&document_of(TEMPLATE).unwrap());
    for needed in [
        "| Chapter | 2, 0, 1 | sieve, primes=3000, 1 worker | lisle-tasks 80.0 ms/sieve | go 160.0 ms/sieve | 2.00 |\n",
        "| chain | rendezvous, relays=0, 1 worker | 20.0 M messages/s | kanal 30.0 M messages/s | ▼ 0.67 | 0.67 | 0.67 \
         | 1 | 1 |\n",
        "| sieve | primes=3000, 1 worker | lisle-tasks 80.0 ms/sieve | go 160.0 ms/sieve | 2.00 | 2.00 | 4.00 | 2 | 0 |\n",
    ] {
        assert!(text.contains(needed), "{needed} is not in the document:\n{text}");
    }
    assert!(!text.contains("over serial"), "{text}");
}

#[test]
fn the_picture_has_a_dot_for_each_row() {
    let (template, all) = (template::parse(TEMPLATE).unwrap(), [results("FILE", FILE)]);
    let picture = picture::picture(&chapter::titled(&template, &all));
    assert_eq!(picture.matches("<circle ").count(), 3);
    assert!(
        picture.contains(">Chapter</text>") && picture.contains("3 rows, in the middle 2.00"),
        "{picture}"
    );
}

#[test]
fn the_document_says_what_the_file_says() {
    let parts = document_of(TEMPLATE).unwrap();
    let text = in_full(&parts);
    for needed in [
        "# Title\n\nBeginning.\n",
        "| FILE | 3 | 2 | 1 | 1 | 0 |\n",
        "## Chapter\nBefore.\nFrom [FILE](bench/FILE):\n\n- date: today; command: `lisle-bench a b`\n",
        "bench/Cargo.toml -- chain sieve\n",
        "- **guile-fibers** in chain: not here\n",
        "messages/s, higher is better.\n\n|  | Lisle | range | best other | range | times | kanal | go |\n",
        "| rendezvous, relays=0, 1 worker | 20.0 M | 10.0 M – 30.0 M | kanal 30.0 M | 20.0 M – 40.0 M | ▼ 0.67 \
         | 30.0 M (▼ 0.67) | 5.00 M (4.00) |\n",
        "Notes. **kanal**: on tokio.\n",
        "|  | serial | Lisle | range | best other | range | times | over serial | over 1 worker | lisle \
         | lisle-tasks | go |\n",
        "| primes=3000, 1 worker | 8.00 | lisle-tasks 80.0 | 70.0 – 90.0 | go 160.0 | 150.0 – 170.0 | 2.00 | 0.10 \
         |  | 100.0 | 80.0 | 160.0 (2.00) |\n",
        "| primes=3000, 2 workers | 8.00 | lisle-tasks 40.0 | 30.0 – 50.0 | go 160.0 | 150.0 – 170.0 | 4.00 | 0.20 \
         | 2.00 |  | 40.0 | 160.0 (4.00) |\n",
        "\nAfter.\n",
        "| chain | FILE | 1 | 1 | 1 | ▼ 0.67 | rendezvous, relays=0, 1 worker |\n",
    ] {
        assert!(text.contains(needed), "{needed} is not in the document:\n{text}");
    }
    assert!(!text.contains("Nothing of this") && !text.contains("<!--"), "{text}");
}

#[test]
fn the_page_has_plots_and_leads_nowhere_else() {
    let page = site::page(&document_of(TEMPLATE).unwrap());
    for needed in [
        "<h1 id=\"title\">Title</h1>\n<p class=\"lead\">Beginning.</p>\n<nav ",
        "<a href=\"#chain\">chain</a>",
        "<h3 id=\"chain\">chain</h3>",
        "<h4>rendezvous, relays=0, 1 worker</h4>",
        "From FILE:",
        "<div class=\"wide\"><table>",
        "<code>chain</code>",
    ] {
        assert!(page.contains(needed), "{needed} is not in the page:\n{page}");
    }
    assert_eq!(page.matches("class=\"plot\"").count(), 3);
    for outside in ["http:", "https:", "src=", "@import", "url(", "<script", "href=\"/"] {
        assert!(!page.contains(outside), "{outside} is in the page");
    }
}

#[test]
fn a_loss_that_is_not_explained_is_an_error() {
    let error = document_of(&TEMPLATE.replace("`chain`", "it")).err().unwrap();
    assert!(error.contains("why Lisle loses `chain`: chain, rendezvous"), "{error}");
    // A smaller loss is no difference.
    let near = FILE.replace("  lisle                20,000,000", "  lisle                26,000,000");
    let near = near.replace("1.50   4.3", "1.15   4.3");
    let template = template::parse(&TEMPLATE.replace("`chain`", "it")).unwrap();
    assert!(document(&template, &[results("FILE", &near)]).is_ok());
}

#[test]
fn a_file_without_a_chapter_has_a_plain_one() {
    let template = template::parse(TEMPLATE).unwrap();
    let text = markdown(&document(&template, &[results("new.txt", FILE)]).unwrap());
    assert!(text.contains("## new.txt\n\nFrom new.txt:\n"), "{text}");
    assert!(!text.contains("Before."), "{text}");
}

#[test]
fn a_template_is_well_formed() {
    let wrong = |text: &str| template::parse(text).unwrap_err();
    assert!(wrong("<!-- count -->").contains("line 1: this directive is not expected here: <!-- count -->"));
    assert!(wrong("\n<!-- results -->").contains("line 2"));
    assert!(wrong("<!-- chapter -->").contains("line 1"));
    assert!(wrong("<!-- chapter A -->\n<!-- end -->").contains("line 2"));
    assert!(wrong("<!-- chapter A -->\n<!-- chapter B -->").contains("line 2"));
    assert!(wrong("<!-- chapter A -->\n<!-- counts -->").contains("line 2"));
    assert!(wrong("<!-- chapter A -->\n<!-- middle -->").contains("line 2"));
    assert!(wrong("<!-- chapter A -->\n<!-- results -->").contains("ends within"));
    assert_eq!(template::parse("a\nb").unwrap(), [Piece::Text("a\nb\n".to_owned())]);
}

#[test]
fn a_stale_file_is_told_by_its_first_line_that_differs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let stale = |text: &str| {
        fs::write(&path, text).unwrap();
        check(&path, "a\nb\n").err()
    };
    assert_eq!(stale("a\nb\n"), None);
    for (text, line) in [("a\nc\n", 2), ("a\nb", 3), ("a\nb\nc\n", 3), ("", 1), ("a\nb\n\n", 4)] {
        let error = stale(text).unwrap();
        assert!(error.contains(&format!("file:{line}: ")), "{error}");
    }
    assert!(check(Path::new("/no/such/file"), "").unwrap_err().starts_with("cannot read"));
}
