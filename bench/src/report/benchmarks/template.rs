//! The prose of the document, and the places of the results in it. A directive is a comment on a
//! line of its own:
//!
//! - `<!-- counts -->`: Lisle's wins and losses, in each file
//! - `<!-- middle -->`: of each file the row in the middle
//! - `<!-- chapter FILE -->`: the text about that file, up to the next chapter or `<!-- end -->`;
//!   in it, at `<!-- results -->`, come its tables
//! - `<!-- losses -->`: the workloads that are lost, and by how much; the prose from there on has
//!   to name each

pub(super) const TEMPLATE: &str = include_str!("../../../BENCHMARKS.template.md");

#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    Text(String),
    Counts,
    Middle,
    Chapter {
        file: String,
        /// The prose before the results and after them.
        before: String,
        after: String,
    },
    Losses,
}

/// The files that have a chapter.
pub(super) fn files(template: &[Piece]) -> impl Iterator<Item = &str> {
    template.iter().filter_map(|piece| match piece {
        Piece::Chapter { file, .. } => Some(file.as_str()),
        _ => None,
    })
}

pub(super) fn parse(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = vec![Piece::Text(String::new())];
    // Whether the results of the chapter have come.
    let mut has_results = false;
    for (index, line) in text.lines().enumerate() {
        let wrong = |why: &str| Err(format!("the template, line {}: {why}: {line}", index + 1));
        let Some(directive) = directive(line) else {
            add(pieces.last_mut().expect("there is one"), line, has_results);
            continue;
        };
        let is_chapter = matches!(pieces.last(), Some(Piece::Chapter { .. }));
        match directive.split_once(' ').unwrap_or((directive, "")) {
            ("chapter", file) if !file.is_empty() && (!is_chapter || has_results) => {
                let (before, after) = (String::new(), String::new());
                pieces.push(Piece::Chapter { file: file.to_owned(), before, after });
                has_results = false;
            }
            ("results", "") if is_chapter && !has_results => has_results = true,
            ("end", "") if is_chapter && has_results => pieces.push(Piece::Text(String::new())),
            ("counts", "") if !is_chapter => pieces.extend([Piece::Counts, Piece::Text(String::new())]),
            ("middle", "") if !is_chapter => pieces.extend([Piece::Middle, Piece::Text(String::new())]),
            ("losses", "") if !is_chapter => pieces.extend([Piece::Losses, Piece::Text(String::new())]),
            _ => return wrong("this directive is not expected here"),
        }
    }
    match pieces.last() {
        Some(Piece::Text(_)) => Ok(pieces),
        _ => Err("the template ends within a directive".to_owned()),
    }
}

/// Of `<!-- counts -->`: `counts`.
fn directive(line: &str) -> Option<&str> {
    line.strip_prefix("<!-- ")?.strip_suffix(" -->")
}

/// Adds a line that is no directive.
fn add(piece: &mut Piece, line: &str, has_results: bool) {
    let text = match piece {
        Piece::Text(text) => text,
        Piece::Chapter { after, .. } if has_results => after,
        Piece::Chapter { before, .. } => before,
        Piece::Counts | Piece::Middle | Piece::Losses => unreachable!("a text follows them"),
    };
    *text += line;
    text.push('\n');
}
