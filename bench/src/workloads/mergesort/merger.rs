//! Merges two sorted sequences that come in pieces to one that goes in pieces. It tells which input
//! it needs next, so that programs can wait for that in different ways.

/// How many numbers are sent at once.
pub(super) const PIECE: usize = 8;
pub(super) type Piece = [u32; PIECE];

pub(super) struct Merger {
    inputs: [Input; 2],
    merged: Piece,
    filled: usize,
}

struct Input {
    piece: Piece,
    /// The first number that has not been merged.
    at: usize,
    has_ended: bool,
}

pub(super) enum Step {
    /// The next piece of this input is needed.
    Take(usize),
    /// This piece is merged.
    Give(Piece),
    End,
}

impl Merger {
    pub(super) fn new() -> Self {
        let input = || Input { piece: [0; PIECE], at: PIECE, has_ended: false };
        Merger { inputs: [input(), input()], merged: [0; PIECE], filled: 0 }
    }

    /// Answers [`Step::Take`]: the next piece, or that there is none. An input that has ended goes
    /// on as if with numbers that are greater than all others.
    pub(super) fn put(&mut self, input: usize, piece: Option<Piece>) {
        let has_ended = piece.is_none();
        self.inputs[input] = Input { piece: piece.unwrap_or([u32::MAX; PIECE]), at: 0, has_ended };
    }

    pub(super) fn step(&mut self) -> Step {
        let [left, right] = &mut self.inputs;
        while self.filled < PIECE {
            if left.at == PIECE {
                return Step::Take(0);
            }
            if right.at == PIECE {
                return Step::Take(1);
            }
            if left.has_ended && right.has_ended {
                return Step::End;
            }
            let (l, r) = (left.piece[left.at], right.piece[right.at]);
            let from_left = l <= r;
            self.merged[self.filled] = if from_left { l } else { r };
            left.at += usize::from(from_left);
            right.at += usize::from(!from_left);
            self.filled += 1;
        }
        self.filled = 0;
        Step::Give(self.merged)
    }
}
