//! The one fiber that touches standard output.
//!
//! It takes whole batches of lines, so that lines of different domains do not run into each other. While it waits for a slow
//! reader of standard output, the scribes keep what they have, up to their bound; what does not fit there is dropped and
//! counted. No request ever waits for the log.

use std::io::{self, Write};

use lisle::channel::{Receiver, Sender};

use crate::serve::notice::notice;

/// Some lines of the log.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) text: Vec<u8>,
    pub(crate) lines: u64,
}

/// How much is written at once. After each piece there is a sign of life, so that a slow reader can be told from none.
const PIECE: usize = 16 * 1024;

/// Writes batches until the last scribe has gone. The emptied buffers go back through `spare`. Whenever standard output has
/// taken something, `signs` gets a message if there is none in it.
///
/// Returns how many lines could not be written.
pub(crate) fn run(batches: &Receiver<Batch>, spare: &Sender<Vec<u8>>, signs: &Sender<()>) -> u64 {
    let mut lost = 0;
    while let Ok(batch) = batches.recv() {
        let lines = batch.lines;
        let signs = signs.clone();
        let (outcome, mut text) = lisle::blocking(move || (write(&batch.text, &signs), batch.text));
        if let Err(error) = outcome {
            if lost == 0 {
                notice(format_args!("lisle: cannot write the access log: {error}"));
            }
            lost += lines;
        }
        text.clear();
        // Without room for it the buffer is simply freed.
        let _ = spare.try_send(text);
    }
    lost
}

fn write(text: &[u8], signs: &Sender<()>) -> io::Result<()> {
    let mut output = io::stdout().lock();
    for piece in text.chunks(PIECE) {
        output.write_all(piece)?;
        output.flush()?;
        // One that nobody has looked at yet says the same.
        let _ = signs.try_send(());
    }
    Ok(())
}
