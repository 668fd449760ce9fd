//! The only fiber that writes to standard output.
//!
//! It takes whole batches of lines, so lines of different domains do not mix. While it waits for a
//! slow reader of standard output, the scribes keep their lines, up to their bound. Lines that
//! exceed the bound are dropped and counted. No request ever waits for the log.

use std::io::{self, Write};

use lisle::channel::{Receiver, Sender};

use crate::serve::notice::notice;

/// Some lines of the log.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) text: Vec<u8>,
    pub(crate) lines: u64,
}

/// The number of bytes of one write. After each piece there is a sign of life, so the server can
/// tell a slow reader from none.
const PIECE: usize = 16 * 1024;

/// Writes batches until the last scribe has ended. The emptied buffers go back through `spare`.
/// Whenever standard output has taken a piece, a message is sent to `signs` unless one is waiting
/// there.
///
/// Returns the number of lines that could not be written.
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
        // If the channel is full, the buffer is freed.
        let _ = spare.try_send(text);
    }
    lost
}

fn write(text: &[u8], signs: &Sender<()>) -> io::Result<()> {
    let mut output = io::stdout().lock();
    for piece in text.chunks(PIECE) {
        output.write_all(piece)?;
        output.flush()?;
        // If the channel is full, the waiting message has the same meaning.
        let _ = signs.try_send(());
    }
    Ok(())
}
