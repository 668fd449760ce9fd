//! Running a program with the library.

use super::ledger::{Ledger, Way};
use super::program::{ChannelName, Datum, Exp, Kind, Name, Outcome, Program, Term, Var};
use crate::support::{Random, at_once};
use lisle::channel::{Receiver, Sender};
use lisle::event::BoxEvent;
use lisle::{Event, choose};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

#[derive(Clone)]
enum Value {
    Unit,
    Number(u8),
    Channel(Line),
    Closure(Var, Term, Env),
}

type Env = Arc<BTreeMap<Var, Value>>;

/// A channel and its name.
#[derive(Clone)]
struct Line {
    name: ChannelName,
    tx: Sender<Value>,
    rx: Receiver<Value>,
}

/// A send or a receive with evaluated operands.
enum Offer {
    Send(Line, Value),
    Receive(Line),
}

/// A thread waits for something that will not come any more.
struct Stuck;

type Evaluation<'a> = Pin<Box<dyn Future<Output = Result<Value, Stuck>> + Send + 'a>>;

/// One run.
struct Run {
    kinds: Vec<Kind>,
    domains: usize,
    seed: u64,
    ledger: Ledger,
    channels: Mutex<Vec<Line>>,
}

/// A thread of a run.
struct Thread {
    run: Arc<Run>,
    name: Name,
    random: Random,
    channels: u8,
}

/// Runs `program` with threads of these kinds. The caller's runtime has `domains` domains. Numbers
/// drawn from `seed` determine where threads pause and where fibers begin.
pub(crate) fn run(program: &Program, kinds: &[Kind], domains: usize, seed: u64) -> Outcome {
    let (ledger, channels) = (Ledger::new(), Mutex::default());
    let run = Arc::new(Run { kinds: kinds.into(), domains, seed, ledger, channels });
    run.spawn(0, program.body.clone(), Env::default());
    run.ledger.quiet.wait();
    // Threads that still wait learn that no partner comes.
    for line in &*run.channels.lock().unwrap() {
        line.rx.close();
    }
    run.ledger.over.wait();
    run.ledger.outcome(program.threads)
}

/// Starts a thread. A fiber starts on this domain.
fn start(kind: Kind, domain: usize, thread: impl Future<Output = ()> + Send + 'static) {
    match kind {
        Kind::Fiber => drop(lisle::fiber::spawn_on(domain, move || at_once(thread))),
        Kind::Task => drop(lisle::spawn_task(thread)),
    }
}

impl Run {
    fn spawn(self: &Arc<Self>, name: Name, body: Term, env: Env) {
        self.ledger.begins(name);
        let mut random = Random::new(self.seed.wrapping_mul(8).wrapping_add(name as u64));
        let domain = random.below(self.domains);
        let mut thread = Thread { run: self.clone(), name, random, channels: 0 };
        start(self.kinds[name], domain, async move {
            if let Ok(value) = thread.evaluate(&body, env).await {
                thread.run.ledger.ends(name, value.datum());
            }
        });
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.run.ledger.leaves(self.name);
    }
}

impl Value {
    fn datum(&self) -> Datum {
        match self {
            Value::Unit => Datum::Unit,
            Value::Number(number) => Datum::Number(*number),
            Value::Channel(line) => Datum::Channel(line.name),
            Value::Closure(..) => unreachable!("functions are neither sent nor results"),
        }
    }

    fn channel(self) -> Line {
        match self {
            Value::Channel(line) => line,
            other => unreachable!("{:?} is used as a channel", other.datum()),
        }
    }
}

impl Offer {
    fn summary(&self) -> (ChannelName, Way) {
        match self {
            Offer::Send(line, _) => (line.name, Way::Send),
            Offer::Receive(line) => (line.name, Way::Receive),
        }
    }

    /// Returns the event of this offer. It gives the alternative, and the value if the channel is
    /// not closed.
    fn event(&self, alternative: usize) -> BoxEvent<'_, (usize, Option<Value>)> {
        match self {
            Offer::Send(line, message) => {
                let send = line.tx.send_evt(message.clone());
                send.wrap(move |sent| (alternative, sent.ok().map(|()| Value::Unit))).boxed()
            }
            Offer::Receive(line) => {
                line.rx.recv_evt().wrap(move |received| (alternative, received.ok())).boxed()
            }
        }
    }
}

impl Thread {
    fn kind(&self) -> Kind {
        self.run.kinds[self.name]
    }

    /// Evaluates an expression.
    fn evaluate<'a>(&'a mut self, exp: &'a Exp, env: Env) -> Evaluation<'a> {
        Box::pin(async move {
            Ok(match exp {
                Exp::Constant(Datum::Unit) => Value::Unit,
                Exp::Constant(Datum::Number(number)) => Value::Number(*number),
                Exp::Constant(Datum::Channel(name)) => unreachable!("no program names {name:?}"),
                Exp::Variable(var) => env[var].clone(),
                Exp::Lambda(var, body) => Value::Closure(*var, body.clone(), env),
                Exp::Apply(function, argument) => {
                    let function = self.evaluate(function, env.clone()).await?;
                    let argument = self.evaluate(argument, env).await?;
                    self.apply(function, argument).await?
                }
                Exp::Spawn(name, body) => {
                    self.run.spawn(*name, body.clone(), env);
                    self.pause().await;
                    Value::Unit
                }
                Exp::Channel => Value::Channel(self.channel()),
                Exp::Send(..) | Exp::Receive(..) => {
                    let offer = self.offer(exp, env).await?;
                    self.perform(&[offer]).await?.1
                }
                Exp::Inflate(exp) => {
                    self.inflate().await;
                    self.evaluate(exp, env).await?
                }
                Exp::Choose(alternatives) => {
                    let mut offers = Vec::new();
                    for (offer, _) in alternatives {
                        offers.push(self.offer(offer, env.clone()).await?);
                    }
                    let (alternative, value) = self.perform(&offers).await?;
                    let function = self.evaluate(&alternatives[alternative].1, env).await?;
                    self.apply(function, value).await?
                }
            })
        })
    }

    async fn apply(&mut self, function: Value, argument: Value) -> Result<Value, Stuck> {
        let Value::Closure(var, body, mut env) = function else { unreachable!("it is a function") };
        Arc::make_mut(&mut env).insert(var, argument);
        self.evaluate(&body, env).await
    }

    fn channel(&mut self) -> Line {
        let (tx, rx) = lisle::channel();
        let line = Line { name: ChannelName { maker: self.name, earlier: self.channels }, tx, rx };
        self.channels += 1;
        self.run.channels.lock().unwrap().push(line.clone());
        line
    }

    async fn offer(&mut self, exp: &Exp, env: Env) -> Result<Offer, Stuck> {
        match exp {
            Exp::Send(channel, message) => {
                let channel = self.evaluate(channel, env.clone()).await?.channel();
                Ok(Offer::Send(channel, self.evaluate(message, env).await?))
            }
            Exp::Receive(channel) => Ok(Offer::Receive(self.evaluate(channel, env).await?.channel())),
            other => unreachable!("{other:?} is no offer"),
        }
    }

    /// Performs one of the offers. Returns its index and its value.
    async fn perform(&mut self, offers: &[Offer]) -> Result<(usize, Value), Stuck> {
        self.pause().await;
        self.run.ledger.offers(self.name, offers.iter().map(Offer::summary).collect());
        let (alternative, value) = match offers {
            [Offer::Send(line, message)] => {
                let sent = self.sync(line.tx.send_evt(message.clone())).await;
                (0, sent.ok().map(|()| Value::Unit))
            }
            [Offer::Receive(line)] => (0, self.sync(line.rx.recv_evt()).await.ok()),
            _ => {
                let events = offers.iter().enumerate().map(|(alternative, offer)| offer.event(alternative));
                self.sync(choose(events.collect::<Vec<_>>())).await
            }
        };
        let value = value.ok_or(Stuck)?;
        self.run.ledger.has_seen(self.name, alternative, value.datum());
        Ok((alternative, value))
    }

    /// Performs an event as a thread of this kind does. See `Cx::sync` for the reason why the
    /// future's type is hidden.
    fn sync<'a, E>(&self, event: E) -> Pin<Box<dyn Future<Output = E::Output> + Send + 'a>>
    where
        E: Event + Send + 'a,
    {
        match self.kind() {
            Kind::Fiber => Box::pin(async move { event.sync() }),
            Kind::Task => Box::pin(event.future()),
        }
    }

    /// Lets other threads run first, or does not.
    async fn pause(&mut self) {
        for _ in 0..self.random.below(6).saturating_sub(2) {
            match self.kind() {
                Kind::Fiber => lisle::fiber::yield_now(),
                Kind::Task => lisle::task::yield_now().await,
            }
        }
    }

    /// Inflates a task. A fiber has a stack already.
    async fn inflate(&self) {
        if self.kind() == Kind::Task {
            lisle::task::inflate().await;
        }
    }
}
