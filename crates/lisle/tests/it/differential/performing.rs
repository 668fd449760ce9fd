//! Performing a system with the library.

use super::system::{Done, Expr, Fate, Id, Leaf, Op, Outcome, System, Value};
use lisle::channel::{Receiver, Sender, bounded};
use lisle::event::{BoxEvent, Nack, choose_biased, guard, with_nack};
use lisle::time::after;
use lisle::{Event, always, choose, never};
use std::sync::Mutex;
use std::time::Duration;

/// This is longer than any run takes, unless time is virtual and passes when nothing else can
/// happen.
pub(crate) const HOUR: Duration = Duration::from_secs(3_600);

/// The channels of one run, and the notes taken in it.
pub(crate) struct Run {
    channels: Vec<(Sender<Id>, Receiver<Id>)>,
    fates: Mutex<Vec<Noted>>,
}

/// The note about a name.
#[derive(Clone)]
enum Noted {
    Nothing,
    /// A guard has run.
    Ran,
    Nack(Nack),
}

impl Run {
    pub(crate) fn new(system: &System) -> Self {
        let channels = system.capacities.iter().map(|&capacity| bounded(capacity)).collect();
        Run { channels, fates: Mutex::new(vec![Noted::Nothing; system.ids]) }
    }

    fn note(&self, id: Id, noted: Noted) {
        let place = &mut self.fates.lock().unwrap()[usize::from(id)];
        assert!(matches!(place, Noted::Nothing), "guard {id} ran twice in one performance");
        *place = noted;
    }

    /// Asserts that the performance of `op` is over: each of its nacks is either taken or lost by
    /// now.
    pub(crate) fn is_over(&self, op: &Op) {
        // A copy, since a poll lets other performers run.
        let noted = self.fates.lock().unwrap()[op.ids.clone()].to_vec();
        for (id, noted) in noted.iter().enumerate() {
            if let Noted::Nack(nack) = noted {
                let fate = (nack.is_taken(), nack.is_lost(), nack.poll().is_some());
                let settled = matches!(fate, (true, false, false) | (false, true, true));
                assert!(settled, "nack {} is neither taken nor lost: {fate:?}", op.ids.start + id);
            }
        }
    }

    /// Returns the outcome after all performers have ended with `results`.
    pub(crate) fn outcome(&self, results: Vec<Vec<Done>>) -> Outcome {
        let fate = |noted: &Noted| match noted {
            Noted::Nothing => Fate::Unmade,
            Noted::Ran => Fate::Open,
            Noted::Nack(nack) if nack.is_taken() => Fate::Taken,
            Noted::Nack(_) => Fate::Lost,
        };
        let fates = self.fates.lock().unwrap().iter().map(fate).collect();
        let rest = |rx: &Receiver<Id>| std::iter::from_fn(|| rx.try_recv().ok()).collect();
        Outcome { results, fates, left: self.channels.iter().map(|(_, rx)| rest(rx)).collect() }
    }

    /// Returns the event that `expr` describes.
    pub(crate) fn event<'a>(&'a self, expr: &'a Expr) -> BoxEvent<'a, Value> {
        match expr {
            Expr::Leaf(id, leaf) => self.leaf(*id, *leaf),
            Expr::Choose { biased, of } => self.choice(*biased, of),
            Expr::Wrap(id, expr) => {
                let append = |mut value: Value| {
                    value.push(*id);
                    value
                };
                self.event(expr).wrap(append).boxed()
            }
            Expr::Guard(id, expr) => guard(move || {
                self.note(*id, Noted::Ran);
                self.event(expr)
            })
            .boxed(),
            Expr::Nack(id, expr) => with_nack(move |nack| {
                self.note(*id, Noted::Nack(nack));
                self.event(expr)
            })
            .boxed(),
            Expr::Replace(first, second) => {
                let then = move |first: Value| {
                    self.event(second).wrap(move |second| [first.clone(), second].concat())
                };
                self.event(first).replace(then).boxed()
            }
            Expr::Then(..) => unreachable!("only the reference has it"),
        }
    }

    fn leaf(&self, id: Id, leaf: Leaf) -> BoxEvent<'_, Value> {
        match leaf {
            Leaf::Always => always(vec![id]).boxed(),
            Leaf::Never => never().boxed(),
            Leaf::Past => after(Duration::ZERO).wrap(move |()| vec![id]).boxed(),
            Leaf::Future => {
                after(2 * HOUR).wrap(move |()| unreachable!("leaf {id} is in the future")).boxed()
            }
            Leaf::Recv(channel) => {
                let receive = self.channels[channel].1.recv_evt();
                receive.wrap(move |message| vec![id, message.expect("the channel stays open")]).boxed()
            }
            Leaf::Send(channel) => {
                let send = self.channels[channel].0.send_evt(id);
                send.wrap(move |sent| (sent.expect("the channel stays open"), vec![id]).1).boxed()
            }
        }
    }

    /// Returns a choice, in various shapes.
    fn choice<'a>(&'a self, biased: bool, of: &'a [Expr]) -> BoxEvent<'a, Value> {
        let event = |expr| self.event(expr);
        match (biased, of) {
            (false, [a, b]) => choose((event(a), event(b))).boxed(),
            (true, [a, b]) => choose_biased((event(a), event(b))).boxed(),
            (false, [a, b, c]) => choose([event(a), event(b), event(c)]).boxed(),
            (true, [a, b, c]) => choose_biased((event(a), event(b), event(c))).boxed(),
            (false, of) => choose(of.iter().map(event).collect::<Vec<_>>()).boxed(),
            (true, of) => choose_biased(of.iter().map(event).collect::<Box<[_]>>()).boxed(),
        }
    }
}
