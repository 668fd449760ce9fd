//! The behaviour of a world of streams, from outside. The numbers in the comments are the numbers
//! of the behaviours in the list that frames are to have.

#[macro_use]
mod worlds;

mod async_scopes;
mod by_hand;
mod chains;
mod combinators;
mod cosmetic;
mod cycles;
mod dependence;
mod destructors;
mod equal_worlds;
mod failures;
mod foreign_futures;
mod game_time;
#[cfg(feature = "threads")]
mod hosts;
mod lifetimes;
mod lists;
mod nested;
mod once;
mod over_frames;
mod reentry;
mod restoring;
mod rollback;
mod several;
mod within;
