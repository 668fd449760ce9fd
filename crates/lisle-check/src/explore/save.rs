//! An exhaustive exploration as bytes: to go on with it later.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::shared::Shared;
use super::tree::Tree;
use super::{Counts, Exhaustive, Family, Process, Reduction};

/// The first bytes of a saved exploration, by which it differs from other files.
const MAGIC: [u8; 8] = *b"lislexp1";

/// The reason why bytes are no saved exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResumeError {
    /// The bytes are something else, or from another version.
    Format,
    /// The bytes are damaged or cut short.
    Damaged,
}

impl fmt::Display for ResumeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResumeError::Format => {
                write!(f, "this is no exploration saved by this version of the checker; begin it anew")
            }
            ResumeError::Damaged => {
                write!(f, "the saved exploration is damaged or cut short; begin it anew")
            }
        }
    }
}

impl Error for ResumeError {}

/// The saved parts.
#[derive(Serialize, Deserialize)]
struct Saved {
    tree: Tree,
    counts: Counts,
    places: Vec<(Process, u32)>,
    source_sets: bool,
    ordered: bool,
}

impl Exhaustive {
    /// Returns the rest of the exploration as bytes, for [`resume`](Exhaustive::resume). Executions
    /// in progress count as not begun.
    ///
    /// `family` has given the processes their numbers.
    pub fn save(&self, family: &Family) -> Vec<u8> {
        let common = self.shared().lock();
        let mut tree = common.tree.clone();
        let (counts, ordered) = (common.counts, common.ordered);
        drop(common);
        tree.untake();
        let source_sets = self.reduction() == Reduction::Source;
        let saved = Saved { tree, counts, places: family.places(), source_sets, ordered };
        let body = postcard::to_stdvec(&saved).expect("a vector takes all that is written to it");
        let mut bytes = MAGIC.to_vec();
        bytes.extend(crc32fast::hash(&body).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    /// Creates the exploration that goes on where the saved one was, and the family of its
    /// processes.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not a result of [`save`](Exhaustive::save).
    pub fn resume(bytes: &[u8]) -> Result<(Self, Family), ResumeError> {
        let body = bytes.strip_prefix(&MAGIC).ok_or(ResumeError::Format)?;
        let (sum, body) = body.split_first_chunk().ok_or(ResumeError::Damaged)?;
        if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
            return Err(ResumeError::Damaged);
        }
        let saved: Saved = postcard::from_bytes(body).map_err(|_| ResumeError::Damaged)?;
        let reduction = if saved.source_sets { Reduction::Source } else { Reduction::Optimal };
        let shared = Arc::new(Shared::new(saved.tree, saved.counts, saved.ordered));
        Ok((Exhaustive::of(shared, reduction), Family::from_places(&saved.places)))
    }
}
