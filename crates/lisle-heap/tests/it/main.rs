//! What a heap promises, each by its number in the list of cases of the design.

mod compaction;
#[cfg(not(miri))] // Miri follows no switch of stacks
mod coroutines;
mod cycles;
mod depth;
mod derives;
mod dump;
mod entering;
mod exchange;
mod external;
#[cfg(not(miri))] // Miri follows no switch of stacks
mod fibers;
mod globals;
mod graphs;
mod limits;
#[cfg(all(target_os = "linux", not(miri)))] // there are no processes
mod memory;
#[cfg(all(feature = "par", not(miri)))] // Miri follows no switch of stacks
mod par;
#[cfg(not(miri))] // Miri follows no switch of stacks
mod parked;
mod place_ends;
mod places;
mod roots;
mod scheme;
mod shared_graphs;
mod support;
mod values;
mod weak;
