//! The repository that this program was built in.

use std::path::Path;

/// Returns the folder of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this workspace is a folder of the repository")
}
