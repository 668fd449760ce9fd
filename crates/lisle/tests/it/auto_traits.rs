//! Every public type, and which auto traits it has: they are promised, and lost by accident where a
//! field is added.
//!
//! `.ci/auto_traits` finds a public type that is missing here. The types of the crates below are
//! here by their names in `lisle`. The types of `lisle-check` and `lisle-tracing` are in tests
//! there. `docs/design/0041-auto-traits.md` says why things are so.

#[macro_use]
mod has;

use has::*;
use std::any::Any;
use std::marker::PhantomPinned;
use std::os::fd::OwnedFd;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// A type that can be sent and has no other of the traits.
type OnlySent = (PhantomPinned, Box<dyn Any + Send>);

auto_traits! {
    [] yes yes yes yes yes {
        lisle::channel::AsyncRecvError;
        lisle::channel::RecvTimeoutError;
        lisle::channel::TryRecvError;
        lisle::channel::ClosedEvt<'static>;
        lisle::channel::ReadyEvt<'static>;
        lisle::channel::RecvError;
        lisle::Asleep;
        lisle::DomainThread;
        lisle::NoThread;
        lisle::OnDeadlock;
        lisle::PanicPolicy;
        lisle::Performer;
        lisle::Report;
        lisle::event::Step;
        lisle::event::Unparked;
        lisle::event::BlockedOn;
        lisle::event::Description;
        lisle::event::Key;
        lisle::event::Label;
        lisle::event::Nack;
        lisle::fiber::Moment;
        lisle::fiber::Builder;
        lisle::fiber::Cancelled;
        lisle::fiber::CancelledEvt;
        lisle::fiber::JoinError;
        lisle::time::Deadline;
        lisle::time::DeadlinePassed;
        lisle_frame::ForeignCallError;
        lisle_frame::Deadline;
        lisle_frame::Failure;
        lisle_frame::Progress;
        lisle_frame::SnapshotError;
        lisle_frame::Dependence;
        lisle_frame::Domains;
        lisle_frame::Elapsed;
        lisle_frame::NextFrame;
        lisle_frame::Origin;
        lisle_frame::Report;
        lisle_frame::StreamError;
        lisle_frame::Work;
        lisle_frame::Workers;
        lisle::kill_safe::ServerGone;
        lisle::net::Connecting;
        lisle::net::PartlyDone;
        lisle::net::PipeReader;
        lisle::net::PipeWriter;
        lisle::net::TcpListener;
        lisle::net::TcpStream;
        lisle::net::UdpSocket;
        lisle::net::UnixDatagram;
        lisle::net::UnixListener;
        lisle::net::UnixStream;
        lisle::par::dag::Results;
        lisle::par::iter::Gathering;
        lisle::par::iter::stages::Cloning;
        lisle::par::iter::stages::Copying;
        lisle::par::iter::stages::Flattening;
        lisle::par::iter::stages::SkippingAny;
        lisle::par::iter::stages::TakingAny;
        lisle::par::iter::stages::TakingSome;
        lisle::par::iter::stages::Tupling<2>;
        lisle::par::iter::At<'static>;
        lisle::par::iter::Plan;
        lisle::par::Progress;
        lisle::par::ReachedEvt<'static>;
        lisle::par::str::CharIndices<'static>;
        lisle::par::str::Chars<'static>;
        lisle::par::str::EncodeUtf16<'static>;
        lisle::par::str::Lines<'static>;
        lisle::par::str::SplitAsciiWhitespace<'static>;
        lisle::par::str::SplitWhitespace<'static>;
        lisle::process::Child;
        lisle::process::ExitEvt<'static>;
        lisle::rpc::CallError;
        lisle::rpc::NoCallers;
        lisle::signal::Signal;
        lisle::Awaited;
        lisle::Blocked;
        lisle::Builder;
        lisle::Deadlock;
        lisle::Delayed;
        lisle::Handle;
        lisle::NoStack;
        lisle::RunningFiber;
        lisle::Runtime;
        lisle::Shutdown;
        lisle::Stall;
        lisle::Statistics;
        lisle::Straggler;
        lisle::Unjoined;
        lisle::WaitGraph;
        lisle::sync::Barrier;
        lisle::sync::BarrierEvt<'static>;
        lisle::sync::Condition;
        lisle::sync::Condvar;
        lisle::sync::Latch;
        lisle::sync::Member;
        lisle::sync::NotifiedEvt<'static>;
        lisle::sync::Once;
        lisle::sync::Party;
        lisle::sync::Permit<'static>;
        lisle::sync::Round;
        lisle::sync::Semaphore;
        lisle::sync::WaitEvt<'static>;
        lisle::sync::WaitGroup;
        lisle::sync::WatchClosed;
        lisle::sync::ZeroEvt<'static>;
        lisle::task::TimeoutError;
        lisle::task::Inflate;
        lisle::task::Unprepared;
        lisle::task::YieldNow;
        lisle::thread::Builder;
        lisle::time::MissedTicks;
        lisle::time::After;
        lisle::time::At;
        lisle::time::TickEvt<'static>;
        lisle::time::Ticker;
    }
    [T] (T: Send) (T: Sync) (T: Unpin) (T: UnwindSafe) (T: RefUnwindSafe) {
        lisle::channel::AsyncSendError<T>;
        lisle::channel::SendTimeoutError<T>;
        lisle::channel::SendWithError<T>;
        lisle::channel::TrySendError<T>;
        lisle::channel::SendError<T>;
        lisle::event::Always<T>;
        lisle::par::array::IntoIter<T, 2>;
        lisle::par::range_inclusive::Iter<T>;
        lisle::par::range::Iter<T>;
        lisle::par::range::Numbers<T>;
        lisle::par::range_inclusive::Steps<T>;
        lisle::par::iter::AtMostOne<T>;
        lisle::par::iter::Either<T, T>;
        lisle::par::iter::Once<T>;
        lisle::par::iter::Repeat<T>;
        lisle::par::iter::RepeatN<T>;
        lisle::par::iter::Repeated<T>;
        lisle::par::iter::Stopped<T>;
        lisle::par::vec::IntoIter<T>;
        lisle::sync::Full<T>;
        lisle::channel::MailIter<T>;
        lisle::io::Lines<T>;
        lisle::event::Choose<T>;
        lisle::event::ChooseAll<T>;
        lisle_frame::Foreign<T>;
        lisle_frame::Once<T>;
        lisle::par::iter::stages::FilterMapping<T>;
        lisle::par::iter::stages::Filtering<T>;
        lisle::par::iter::stages::FlatMapping<T>;
        lisle::par::iter::stages::Gated<T>;
        lisle::par::iter::stages::Inspecting<T>;
        lisle::par::iter::stages::Mapping<T>;
        lisle::par::iter::stages::Passed<T>;
        lisle::par::iter::stages::Positioning<T>;
        lisle::par::iter::stages::SkippingAnyWhile<T>;
        lisle::par::iter::stages::TakingAnyWhile<T>;
        lisle::par::iter::stages::Tupled<T, 2>;
        lisle::par::iter::stages::Updating<T>;
        lisle::par::str::MatchIndices<'static, T>;
        lisle::par::str::Matches<'static, T>;
        lisle::par::str::Split<'static, T>;
        lisle::par::str::SplitInclusive<'static, T>;
        lisle::par::str::SplitTerminator<'static, T>;
        lisle::par::Scan<T>;
        lisle::kill_safe::ClientGone<T>;
        lisle::par::iter::Blocks<T>;
        lisle::par::iter::Chunked<T>;
        lisle::par::iter::Counted<'static, T>;
        lisle::par::iter::Enumerate<T>;
        lisle::par::iter::PanicFuse<T>;
        lisle::par::iter::Planned<T>;
        lisle::par::iter::Rev<T>;
        lisle::par::iter::Skip<T>;
        lisle::par::iter::StepBy<T>;
        lisle::par::iter::Take<T>;
    }
    // Values that move through them are sent, and come out whole. So a shared one needs no more
    // than an owned one.
    [T] (T: Send) (T: Send) yes yes yes {
        lisle::channel::IntoIter<T>;
        lisle::channel::Iter<'static, T>;
        lisle::channel::TryIter<'static, T>;
        lisle::channel::MailEvt<'static, T>;
        lisle::channel::MailReceiver<T>;
        lisle::channel::MailSender<T>;
        lisle::channel::OwnedRecvEvt<T>;
        lisle::channel::Receiver<T>;
        lisle::channel::RecvEvt<'static, T>;
        lisle::channel::Sender<T>;
        lisle::fiber::JoinEvt<'static, T>;
        lisle::future::FutureEvt<'static, T>;
        lisle::par::Promise<'static, T>;
        lisle::task::Race<T>;
        lisle::task::RecvAsyncEvt<'static, T>;
        lisle::task::Reified<T>;
        lisle::task::Start<'static, T>;
        lisle::task::Timeout<T>;
        lisle::thread::JoinEvt<'static, T>;
        lisle::thread::ThreadHandle<T>;
        lisle::fiber::JoinHandle<T>;
        lisle::fiber::ScopedJoinHandle<'static, T>;
        lisle::fiber::ScopedTaskHandle<'static, T>;
        lisle::future::FutureHandle<T>;
        lisle::task::TaskHandle<T>;
        lisle::kill_safe::Reply<T>;
        lisle::rpc::Reply<T>;
    }
    // Several see one value by shared reference, and the last of them drops it.
    [T] (T: Send + Sync) (T: Send + Sync) yes (T: RefUnwindSafe + UnwindSafe) (T: RefUnwindSafe + UnwindSafe) {
        lisle::channel::Multicast<T>;
        lisle::channel::Port<T>;
        lisle::channel::PortEvt<'static, T>;
        lisle::channel::PortIter<'static, T>;
        lisle::par::dag::Spark<T>;
        lisle::sync::GetEvt<'static, T>;
    }
    [T] (T: Send) (T: Send + Sync) (T: Unpin) (T: UnwindSafe) (T: RefUnwindSafe) {
        lisle::channel::OwnedSendEvt<T>;
        lisle::channel::SendAsyncEvt<'static, T>;
        lisle::channel::SendEvt<'static, T>;
        lisle::task::Prepared<T>;
    }
    // A branch belongs to one performance and stays in place. A panic ends the performance.
    [T] (T: Send) no no no no {
        lisle::channel::Receiving<'static, T>;
        lisle::channel::Sending<'static, T>;
        lisle::channel::SendingWith<'static, T>;
        lisle::sync::Turn<'static, T>;
        lisle::thread::Joining<'static, T>;
        lisle::net::Accepting<'static, T>;
    }
    [T, F] (T: Send, F: Send) (T: Send, F: Sync) (F: Unpin) (F: UnwindSafe) (F: RefUnwindSafe) {
        lisle::channel::SendWithEvt<'static, T, F>;
    }
    // The values on a suspended stack are not known; it goes on where it was suspended.
    [A, R] no no yes no no {
        lisle::effect::Continuation<'static, 'static, A, R>;
        lisle::effect::Suspended<A, R>;
    }
    // As above. The place that a stream writes to, and the waiters of a change, belong to a step on
    // one thread.
    [T] no no yes no no {
        lisle::effect::Generator<T>;
        lisle::effect::Items<T>;
        lisle::effect::Values<'static, T>;
        lisle_frame::Delay<T>;
        lisle_frame::Out<'static, T>;
        lisle::event::Waiters<'static, T>;
    }
    [F, T, R, C, V] (F: Send, C: Send, V: Send) (F: Sync, C: Sync, V: Sync) (F: Unpin, C: Unpin, V: Unpin) (F: UnwindSafe, C: UnwindSafe, V: UnwindSafe) (F: RefUnwindSafe, C: RefUnwindSafe, V: RefUnwindSafe) {
        lisle::effect::Handler<'static, F, T, R, C, V>;
    }
    // It goes to the handler of the clause that it is made in.
    [T] no no (T: Unpin) (T: UnwindSafe) (T: RefUnwindSafe) {
        lisle::effect::Next<'static, T>;
    }
    // `std::io::Error` is neither, nor is a boxed function.
    [] yes yes yes no no {
        lisle::InstallDefaultError;
        lisle::par::dag::Dag<'static>;
    }
    // They belong to a step of one performance, to one switch of fibers, and to the thread of a
    // world. The values in a world are not known.
    [] no no yes no no {
        lisle::event::Stride<'static>;
        lisle::event::Attempt<'static>;
        lisle::effect::AnyEffect<'static>;
        lisle::fiber::Switch<'static>;
        lisle_frame::AnyPool;
        lisle_frame::Builder;
        lisle_frame::Here;
        lisle_frame::Lending<'static>;
        lisle_frame::Making<'static>;
        lisle_frame::Scope;
        lisle_frame::Snapshot;
        lisle_frame::World;
    }
    // The values in a boxed event are not known, as with `Box<dyn Fn() + Send + Sync>`.
    [T] yes yes yes no no {
        lisle::event::BoxEvent<'static, T>;
        lisle::event::WaitSet<'static, T>;
        lisle::event::WaitSetEvt<'static, 'static, T>;
    }
    // Others point to a future that waits.
    [T] (T: Send) (T: Sync) no (T: UnwindSafe) (T: RefUnwindSafe) {
        lisle::event::EventFuture<T>;
    }
    [F, E] (F: Send) (F: Sync) (F: Unpin) (F: UnwindSafe) (F: RefUnwindSafe) {
        lisle::event::Guard<F, E>;
        lisle::event::WithNack<F, E>;
    }
    // Branches, as above.
    [S, M, L] (S: Send, M: Send, L: Sync) no no no no {
        lisle::event::Hidden<'static, S, M, L>;
        lisle::event::Waiting<'static, S, M, L>;
    }
    [T] yes yes yes yes yes {
        lisle::event::Never<T>;
        lisle::fiber::LocalKey<T>;
        lisle_frame::Get<T>;
        lisle_frame::Input<T>;
        lisle_frame::Lent<T>;
        lisle_frame::List<T>;
        lisle_frame::Stream<T>;
        lisle_frame::TryGet<T>;
        lisle::par::iter::Empty<T>;
        lisle::sync::TokenEvt<'static, T>;
        lisle::task::LocalKey<T>;
    }
    // They point to a performance on its performer's stack.
    [] no no yes yes yes {
        lisle::event::ParkedEvent;
        lisle::event::PerformerWaker;
    }
    [E, F, G] (E: Send, F: Send) (E: Sync, F: Sync) (E: Unpin, F: Unpin) (E: UnwindSafe, F: UnwindSafe) (E: RefUnwindSafe, F: RefUnwindSafe) {
        lisle::event::Replace<E, F, G>;
    }
    // Functions of the user's change the state, and one that panics leaves it half changed, without a
    // poison.
    [S, M, L] (S: Send, M: Send, L: Send) (S: Send, M: Send, L: Sync) (S: Unpin, L: Unpin) (S: UnwindSafe, L: UnwindSafe) no {
        lisle::event::Source<S, M, L>;
    }
    // It refers to a source.
    [S, M, F] (S: Send, M: Send, F: Send) (S: Send, M: Send, F: Sync) (F: Unpin) no no {
        lisle::event::SourceEvent<'static, S, M, F>;
    }
    // The branch of a wait set, which has boxed events.
    [T] yes no yes no no {
        lisle::event::Taking<'static, 'static, T>;
    }
    // Branches, and the timer in one.
    [] yes no no no no {
        lisle::event::Timer;
        lisle::net::Readying<'static>;
        lisle::sync::Arriving<'static>;
        lisle::sync::Taking<'static>;
    }
    [E, F] (E: Send, F: Send) (E: Sync, F: Sync) (E: Unpin, F: Unpin) (E: UnwindSafe, F: UnwindSafe) (E: RefUnwindSafe, F: RefUnwindSafe) {
        lisle::event::Wrap<E, F>;
        lisle::event::WrapPanic<E, F>;
    }
    // As with `std::thread::scope`, only references to it are given out.
    [] yes yes yes no yes {
        lisle::fiber::Scope<'static, 'static>;
        lisle::par::Scope<'static, 'static>;
    }
    // It is a value of a stream, and belongs to the thread of its world.
    [T] no no yes yes yes {
        lisle_frame::Members<T>;
    }
    [T, F] (F: Send) (F: Sync) yes (F: UnwindSafe) (F: RefUnwindSafe) {
        lisle_frame::With<T, F>;
    }
    [A, B] (A: Send, B: Send) (A: Sync, B: Send) (A: Unpin) (A: UnwindSafe) (A: RefUnwindSafe) {
        lisle::kill_safe::Request<A, B>;
        lisle::rpc::Request<A, B>;
    }
    [A, B] (A: Send, B: Send) (A: Send, B: Send) yes yes yes {
        lisle::kill_safe::Requests<A, B>;
        lisle::kill_safe::Server<A, B>;
        lisle::rpc::Caller<A, B>;
        lisle::rpc::Entry<A, B>;
    }
    [T] (T: Sync) (T: Sync) yes (T: RefUnwindSafe) (T: RefUnwindSafe) {
        lisle::net::AcceptEvt<'static, T>;
        lisle::net::Incoming<'static, T>;
        lisle::par::slice::Chunks<'static, T>;
        lisle::par::slice::ChunksExact<'static, T>;
        lisle::par::slice::RChunks<'static, T>;
        lisle::par::slice::RChunksExact<'static, T>;
        lisle::par::slice::ArrayWindows<'static, T, 2>;
        lisle::par::slice::Windows<'static, T>;
        lisle::par::slice::Iter<'static, T>;
    }
    // As `&mut [T]`.
    [T] (T: Send) (T: Sync) yes no (T: RefUnwindSafe) {
        lisle::par::slice::ChunksExactMut<'static, T>;
        lisle::par::slice::RChunksExactMut<'static, T>;
        lisle::par::slice::RChunksMut<'static, T>;
        lisle::par::slice::ChunksMut<'static, T>;
        lisle::par::slice::IterMut<'static, T>;
        lisle::par::vec::Drain<'static, T>;
        lisle::par::vec::Moved<'static, T>;
        lisle::par::vec::MovedItems<'static, T>;
    }
    [T, P] (T: Sync, P: Send) (T: Sync, P: Sync) (P: Unpin) (T: RefUnwindSafe, P: UnwindSafe) (T: RefUnwindSafe, P: RefUnwindSafe) {
        lisle::par::slice::ChunkBy<'static, T, P>;
        lisle::par::slice::Split<'static, T, P>;
        lisle::par::slice::SplitInclusive<'static, T, P>;
    }
    [T, P] (T: Send, P: Send) (T: Sync, P: Sync) (P: Unpin) no (T: RefUnwindSafe, P: RefUnwindSafe) {
        lisle::par::slice::ChunkByMut<'static, T, P>;
        lisle::par::slice::SplitInclusiveMut<'static, T, P>;
        lisle::par::slice::SplitMut<'static, T, P>;
    }
    // As `&mut String`.
    [] yes yes yes no yes {
        lisle::par::string::Drain<'static>;
    }
    [T] (T: Send) (T: Sync) (T: Unpin) no (T: RefUnwindSafe) {
        lisle::par::collections::binary_heap::Drain<'static, T>;
        lisle::par::collections::vec_deque::Drain<'static, T>;
    }
    [I, S] (I: Send, S: Send) (I: Sync, S: Sync) (I: Unpin, S: Unpin) (I: UnwindSafe, S: UnwindSafe) (I: RefUnwindSafe, S: RefUnwindSafe) {
        lisle::par::iter::stages::Staged<I, S>;
    }
    [S, B] (S: Send, B: Send) (S: Sync, B: Sync) (S: Unpin, B: Unpin) (S: UnwindSafe, B: UnwindSafe) (S: RefUnwindSafe, B: RefUnwindSafe) {
        lisle::par::iter::Split<S, B>;
        lisle::par::iter::WalkTree<S, B>;
        lisle::par::iter::WalkTreePostfix<S, B>;
        lisle::par::iter::WalkTreePrefix<S, B>;
    }
    [I, F] (I: Send, F: Sync) (I: Sync, F: Sync) (I: Unpin) (I: UnwindSafe, F: RefUnwindSafe) (I: RefUnwindSafe, F: RefUnwindSafe) {
        lisle::par::iter::stages::Passing<'static, I, F>;
        lisle::par::iter::stages::Updated<'static, I, F>;
    }
    [A, B] (A: Send, B: Send) (A: Sync, B: Sync) (A: Unpin, B: Unpin) (A: UnwindSafe, B: UnwindSafe) (A: RefUnwindSafe, B: RefUnwindSafe) {
        lisle::par::iter::Chain<A, B>;
        lisle::par::iter::Interleave<A, B>;
        lisle::par::iter::Zip<A, B>;
    }
    [I, F] (I: Send, F: Send) (I: Sync, F: Sync) (I: Unpin, F: Unpin) (I: UnwindSafe, F: UnwindSafe) (I: RefUnwindSafe, F: RefUnwindSafe) {
        lisle::par::iter::FlatMap<I, F>;
        lisle::par::iter::Folds<I, F>;
    }
    // It has a mutex with an element, and a vector of such elements.
    [I, T] (I: Send, T: Send) (I: Sync, T: Send + Sync) (I: Unpin, T: Unpin) (I: UnwindSafe, T: UnwindSafe) no {
        lisle::par::iter::Intersperse<I, T>;
    }
    [N, F] (N: Send, F: Send) (N: Sync, F: Sync) (N: Unpin, F: Unpin) (N: UnwindSafe, F: UnwindSafe) (N: RefUnwindSafe, F: RefUnwindSafe) {
        lisle::par::iter::Folded<N, F>;
    }
    [I, N, F] (I: Send, N: Send, F: Send) (I: Sync, N: Sync, F: Sync) (I: Unpin, N: Unpin, F: Unpin) (I: UnwindSafe, N: UnwindSafe, F: UnwindSafe) (I: RefUnwindSafe, N: RefUnwindSafe, F: RefUnwindSafe) {
        lisle::par::iter::MapInit<I, N, F>;
    }
    [I, T, N, F] (I: Send, T: Send, N: Sync, F: Sync) (I: Sync, T: Sync, N: Sync, F: Sync) (I: Unpin, T: Unpin) (I: UnwindSafe, T: UnwindSafe, N: RefUnwindSafe, F: RefUnwindSafe) (I: RefUnwindSafe, T: RefUnwindSafe, N: RefUnwindSafe, F: RefUnwindSafe) {
        lisle::par::iter::MapInitItems<'static, I, T, N, F>;
    }
    [P, N, F] (P: Send, N: Sync, F: Sync) (P: Sync, N: Sync, F: Sync) (P: Unpin) (P: UnwindSafe, N: RefUnwindSafe, F: RefUnwindSafe) (P: RefUnwindSafe, N: RefUnwindSafe, F: RefUnwindSafe) {
        lisle::par::iter::MapInitPart<'static, P, N, F>;
    }
    // It refers to a function, in the call that it is made for.
    [T] (T: Send) (T: Sync) (T: Unpin) no no {
        lisle::par::iter::Stoppable<'static, T>;
    }
    [N, F, R] (N: Send, F: Send) (N: Sync, F: Sync) (N: Unpin, F: Unpin) (N: UnwindSafe, F: UnwindSafe) (N: RefUnwindSafe, F: RefUnwindSafe) {
        lisle::par::iter::TryFolded<N, F, R>;
    }
    [I, E] (I: Send, E: Send) (I: Sync, E: Sync) (I: Unpin, E: Unpin) (I: UnwindSafe, E: UnwindSafe) (I: RefUnwindSafe, E: RefUnwindSafe) {
        lisle::par::iter::Until<I, E>;
    }
    [T] (T: Send + Sync) (T: Send + Sync) yes (T: RefUnwindSafe) (T: RefUnwindSafe) {
        lisle::sync::ChangedEvt<'static, T>;
        lisle::sync::RwLockReadGuard<'static, T>;
        lisle::sync::Watch<T>;
        lisle::sync::Watcher<T>;
    }
    [T] (T: Send) (T: Send + Sync) (T: Unpin) (T: UnwindSafe) (T: RefUnwindSafe + UnwindSafe) {
        lisle::sync::IVar<T>;
        lisle::sync::OnceCell<T>;
    }
    [T, F] (T: Send, F: Send) (T: Send + Sync, F: Sync) (T: Unpin, F: Unpin) (T: UnwindSafe, F: UnwindSafe) (T: RefUnwindSafe + UnwindSafe, F: RefUnwindSafe) {
        lisle::sync::Lazy<T, F>;
    }
    [T] (T: Send) (T: Send + Sync) yes (T: RefUnwindSafe) (T: RefUnwindSafe) {
        lisle::sync::Lease<'static, T>;
    }
    [T] (T: Send) (T: Send) yes (T: RefUnwindSafe + UnwindSafe) (T: RefUnwindSafe + UnwindSafe) {
        lisle::sync::LeaseEvt<'static, T>;
        lisle::sync::ReadEvt<'static, T>;
        lisle::sync::TakeEvt<'static, T>;
    }
    // It refers to a mutex.
    [T] (T: Send) (T: Send) yes no no {
        lisle::sync::LockEvt<'static, T>;
    }
    [T] (T: Send) (T: Send) (T: Unpin) (T: UnwindSafe) (T: RefUnwindSafe + UnwindSafe) {
        lisle::sync::MVar<T>;
    }
    // A holder that panics leaves the value half changed, without a poison.
    [T] (T: Send) (T: Send) (T: Unpin) (T: UnwindSafe) no {
        lisle::par::iter::Clones<T>;
        lisle::par::iter::IterBridge<T>;
        lisle::sync::Mutex<T>;
    }
    // As `&mut T`.
    [T] (T: Send) (T: Send + Sync) yes no (T: RefUnwindSafe) {
        lisle::sync::MutexGuard<'static, T>;
    }
    [T] (T: Send) (T: Send + Sync) (T: Unpin) (T: RefUnwindSafe + UnwindSafe) (T: RefUnwindSafe + UnwindSafe) {
        lisle::sync::PutEvt<'static, T>;
    }
    // They refer to a lock.
    [T] (T: Send + Sync) (T: Send + Sync) yes no no {
        lisle::sync::ReadLockEvt<'static, T>;
        lisle::sync::WriteLockEvt<'static, T>;
    }
    // As a mutex.
    [T] (T: Send) (T: Send + Sync) (T: Unpin) (T: UnwindSafe) no {
        lisle::sync::RwLock<T>;
    }
    // As `&mut T`, and it may become a reader.
    [T] (T: Send + Sync) (T: Send + Sync) yes no (T: RefUnwindSafe) {
        lisle::sync::RwLockWriteGuard<'static, T>;
    }
    [T, F] (T: Send + Sync, F: Send) (T: Send + Sync, F: Sync) (F: Unpin) (T: RefUnwindSafe, F: UnwindSafe) (T: RefUnwindSafe, F: RefUnwindSafe) {
        lisle::sync::WaitForEvt<'static, T, F>;
    }
    // A branch.
    [T] (T: Send + Sync) no no no no {
        lisle::sync::WaitingFor<'static, T>;
    }
    [T, F] (T: Send, F: Send) (T: Send, F: Sync) yes (F: UnwindSafe) (F: RefUnwindSafe) {
        lisle::task::Reify<T, F>;
    }
    // Their values must be sent, and no more.
    [] yes yes yes yes yes {
        lisle::channel::AsyncSend<OnlySent>;
        lisle::task::AsyncRecv<OnlySent>;
    }
    // As the descriptor that is in them.
    [] yes yes yes yes yes {
        lisle::net::Pollable<OwnedFd>;
        lisle::net::ReadyEvt<'static, OwnedFd>;
    }
    // They belong to the thread of a world.
    [] no no yes no no {
        lisle_frame::Call<fn(u32) -> u32, fn(u32) -> u32>;
        lisle_frame::TryCall<fn(u32) -> u32, fn(u32) -> u32>;
    }
}

#[cfg(feature = "files")]
auto_traits! {
    [] yes yes yes yes yes {
        lisle::io::ChangeKind;
        lisle::io::Change;
        lisle::io::Changes;
    }
}
