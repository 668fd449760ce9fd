//! Small random systems of performers: their events, not the way in which they are performed.

/// Identifies a leaf, a function, a guard or a nack. Each occurs once in a system.
pub(crate) type Id = u16;

/// The value of an event: its leaf, the message received, and then the functions that it passed
/// through.
pub(crate) type Value = Vec<Id>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Leaf {
    Always,
    Never,
    /// A timer that has expired.
    Past,
    /// A timer that does not expire in time.
    Future,
    Recv(usize),
    /// Sends the leaf's own name.
    Send(usize),
}

/// An event expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Expr {
    Leaf(Id, Leaf),
    Choose {
        biased: bool,
        of: Vec<Expr>,
    },
    Wrap(Id, Box<Expr>),
    Guard(Id, Box<Expr>),
    Nack(Id, Box<Expr>),
    Replace(Box<Expr>, Box<Expr>),
    /// The state of a `Replace` after its first stage has given this value.
    Then(Value, Box<Expr>),
}

/// One performance.
#[derive(Debug, Clone)]
pub(crate) struct Op {
    pub(crate) poll: bool,
    pub(crate) expr: Expr,
    /// The names that occur in it.
    pub(crate) ids: std::ops::Range<usize>,
}

/// Performers, each with its performances in order, and channels of these capacities.
#[derive(Debug, Clone)]
pub(crate) struct System {
    pub(crate) capacities: Vec<usize>,
    pub(crate) performers: Vec<Vec<Op>>,
    pub(crate) ids: usize,
}

/// The end of a performance.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Done {
    Value(Value),
    /// A poll that found nothing.
    Unready,
    /// A performer that waited when nothing could happen any more, and was told to stop.
    Stopped,
}

/// The fate of a name: whether a guard ran, and whether a nack was taken or lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Fate {
    Unmade,
    Open,
    Taken,
    Lost,
}

/// Everything that is observable in a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Outcome {
    /// Indexed by performer.
    pub(crate) results: Vec<Vec<Done>>,
    /// Indexed by name.
    pub(crate) fates: Vec<Fate>,
    /// The rest of each channel's buffer.
    pub(crate) left: Vec<Vec<Id>>,
}

/// A generator of systems.
pub(crate) struct Generator<'r> {
    /// Returns a random number below its argument.
    below: &'r mut dyn FnMut(usize) -> usize,
    channels: usize,
    ids: Id,
}

impl Generator<'_> {
    /// Returns a system. `limits` are the largest numbers of performers, of performances of each,
    /// of leaves of each, and of channels.
    pub(crate) fn system(below: &mut dyn FnMut(usize) -> usize, limits: [usize; 4]) -> System {
        let [performers, ops, leaves, channels] = limits;
        let capacities: Vec<usize> = (0..1 + below(channels)).map(|_| [0, 0, 0, 1, 2][below(5)]).collect();
        let mut generator = Generator { below, channels: capacities.len(), ids: 0 };
        let performers = (0..2 + generator.below(performers - 1))
            .map(|_| (0..1 + generator.below(ops)).map(|_| generator.op(leaves)).collect())
            .collect();
        System { capacities, performers, ids: generator.ids.into() }
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.below)(bound)
    }

    fn id(&mut self) -> Id {
        self.ids += 1;
        self.ids - 1
    }

    fn op(&mut self, leaves: usize) -> Op {
        let begin = self.ids.into();
        let leaves = 1 + self.below(leaves);
        let expr = self.expr(leaves);
        Op { poll: self.below(4) == 0, expr, ids: begin..self.ids.into() }
    }

    fn expr(&mut self, leaves: usize) -> Expr {
        match self.below(12) {
            0 | 1 => Expr::Wrap(self.id(), Box::new(self.expr(leaves))),
            2 => Expr::Guard(self.id(), Box::new(self.expr(leaves))),
            3 | 4 => Expr::Nack(self.id(), Box::new(self.expr(leaves))),
            5 if leaves > 1 => {
                let first = 1 + self.below(leaves - 1);
                Expr::Replace(Box::new(self.expr(first)), Box::new(self.expr(leaves - first)))
            }
            6 if leaves == 1 => Expr::Choose { biased: false, of: vec![self.expr(1)] },
            _ if leaves == 1 => self.leaf(),
            _ => self.choice(leaves),
        }
    }

    fn choice(&mut self, mut leaves: usize) -> Expr {
        let biased = self.below(4) == 0;
        let mut of = Vec::new();
        while leaves > 0 {
            let some = 1 + self.below(leaves.min(3));
            of.push(self.expr(some));
            leaves -= some;
        }
        if self.below(20) == 0 {
            of.push(Expr::Choose { biased: false, of: Vec::new() });
        }
        Expr::Choose { biased, of }
    }

    fn leaf(&mut self) -> Expr {
        let channel = self.below(self.channels);
        let leaf = match self.below(20) {
            0 => Leaf::Always,
            1 => Leaf::Past,
            2 => Leaf::Never,
            3 => Leaf::Future,
            4..=11 => Leaf::Recv(channel),
            _ => Leaf::Send(channel),
        };
        Expr::Leaf(self.id(), leaf)
    }
}
