//! The content type of a file, by the extension of its name.

use std::path::Path;

/// The content type of a file of an unknown kind.
const UNKNOWN: &str = "application/octet-stream";

/// Returns the value of `Content-Type` for a file of this name.
///
/// Text is declared as UTF-8. Files in other encodings are then shown wrongly, and all others are
/// shown correctly. Without the parameter, the browser would have to guess.
pub(crate) fn content_type(path: &Path) -> String {
    let guess = mime_guess::from_path(path).first_raw().unwrap_or(UNKNOWN);
    if guess.starts_with("text/") || guess == "application/javascript" {
        format!("{guess}; charset=utf-8")
    } else {
        guess.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_ending() {
        for (name, expected) in [
            ("index.html", "text/html; charset=utf-8"),
            ("a/b.CSS", "text/css; charset=utf-8"),
            ("app.js", "text/javascript; charset=utf-8"),
            ("notes.txt", "text/plain; charset=utf-8"),
            ("data.json", "application/json"),
            ("picture.png", "image/png"),
            ("drawing.svg", "image/svg+xml"),
            ("program.wasm", "application/wasm"),
            ("README", UNKNOWN),
            ("strange.ending-nobody-knows", UNKNOWN),
        ] {
            assert_eq!(content_type(Path::new(name)), expected, "{name}");
        }
    }
}
