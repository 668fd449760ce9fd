//! The state of a domain that only its thread sees, part by part. The files beside this folder have
//! the domain's steps.

pub(super) mod begun;
pub(super) mod jobs;
pub(super) mod joining;
pub(super) mod notes;
pub(super) mod queues;
pub(super) mod resting;
pub(super) mod starving;
pub(super) mod stealing;
pub(super) mod timers;
