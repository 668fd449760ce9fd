//! The rows in the README of the repository, between two comments.

const BEGIN: &str = "<!-- rows: written by `lisle-bench report` -->\n";
const END: &str = "<!-- end of the rows -->\n";

/// Returns the README with these rows in place of its own.
pub(super) fn with_rows(readme: &str, rows: &str) -> Result<String, String> {
    let parts = readme.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) =
        parts.ok_or_else(|| format!("README.md has no {} … {}", BEGIN.trim(), END.trim()))?;
    Ok(format!("{before}{BEGIN}\n{rows}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_replaced_and_the_rest_stays() {
        let readme = format!("a\n{BEGIN}old\n{END}b\n");
        let written = with_rows(&readme, "| new |\n").unwrap();
        assert_eq!(written, format!("a\n{BEGIN}\n| new |\n\n{END}b\n"));
        assert_eq!(with_rows(&written, "| new |\n").unwrap(), written);
        assert!(with_rows("a\n", "").unwrap_err().contains("has no <!-- rows"));
    }
}
