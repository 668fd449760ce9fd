//! The study of locks: the command `locks`, its measurements, and the locks that are no library's.
//!
//! It follows Malte Skarupke, "Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really
//! is" (2019), who asks three questions of a lock: how long a test takes on average, which were the
//! four longest waits, and which were the four longest times for which the lock lay idle though
//! somebody wanted it. Performers (threads, fibers, tasks or futures) lock, do next to nothing
//! under the lock, and work between two locks or do not.
//!
//! A contest of them ends by the clock, and never by a count: where sixty-four threads stand in
//! line and spin on two cores, a lock may change hands ten times a second.
//!
//! - [`algorithms`] are the locks, and [`wait`] is how they wait.
//! - [`turns`] are the other aims of contests: a readers-writer lock, and a turn that is handed
//!   over by condition variables, in an [`order`].
//! - [`contest`] is the state that all performers of a sample share, and [`performer`] the loop and
//!   the records of each.
//! - [`forms`] has performers as threads, fibers, tasks and futures, [`programs`] all locks in all
//!   of them.
//! - [`studies`] are the workloads. They run only if they are named.

mod algorithms;
mod bystander;
mod command;
mod contest;
pub(crate) mod figures;
mod forms;
mod longest;
mod order;
mod part;
mod performer;
mod programs;
mod studies;
mod turns;
mod wait;
mod waits;

pub(crate) use command::measure;
pub(crate) use programs::systems;
pub(crate) use studies::ALL;
