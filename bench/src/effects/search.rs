//! Search without continuations that are resumed twice: each possibility is run anew from its
//! beginning, with the same earlier choices.

/// The choices that lead to one possibility. A run takes them one after the other, and adds each
/// choice that is new, with its first option.
#[derive(Debug, Default)]
pub(crate) struct Path {
    /// Which option is taken, of how many.
    choices: Vec<(u64, u64)>,
    /// How many of them this run has come to.
    position: usize,
}

impl Path {
    /// Returns which of `options` options to take now, and whether no run has taken it here before.
    pub(crate) fn choose(&mut self, options: u64) -> (u64, bool) {
        if self.position == self.choices.len() {
            self.choices.push((0, options));
        }
        let (option, _) = self.choices[self.position];
        self.position += 1;
        // The last choice of all is the one that differs from the run before.
        (option, self.position >= self.choices.len())
    }

    /// Goes on to the next possibility. Returns `false` if there are no more.
    pub(crate) fn advance(&mut self) -> bool {
        self.position = 0;
        while let Some((option, options)) = self.choices.pop() {
            if option + 1 < options {
                self.choices.push((option + 1, options));
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_possibility_comes_once_and_in_order() {
        let mut path = Path::default();
        let mut all = Vec::new();
        loop {
            let (first, _) = path.choose(2);
            all.push(if first == 0 { (0, path.choose(3).0) } else { (1, 0) });
            if !path.advance() {
                break;
            }
        }
        assert_eq!(all, [(0, 0), (0, 1), (0, 2), (1, 0)]);
    }

    #[test]
    fn a_choice_is_new_to_one_run_only() {
        let mut path = Path::default();
        let mut new = 0;
        loop {
            new += u64::from(path.choose(2).1) + u64::from(path.choose(2).1);
            if !path.advance() {
                break;
            }
        }
        // Two options of the first choice, and two of the second below each.
        assert_eq!(new, 6);
    }
}
