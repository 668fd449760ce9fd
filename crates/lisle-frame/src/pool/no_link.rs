//! The world's side where there are no workers.

use crate::batch::Batch;
use std::ptr::NonNull;

/// The replacement for a pool in a world
/// without workers.
#[derive(Debug, Default)]
pub(crate) struct Link;

impl Link {
    pub(crate) fn homes(&self) -> usize {
        1
    }
    pub(crate) fn send(&self, _: NonNull<Batch>, _: Option<usize>) -> bool {
        false
    }
    pub(crate) fn send_long(&self, _: NonNull<Batch>) -> bool {
        false
    }
    pub(crate) fn take_as_world(&self) -> Option<NonNull<Batch>> {
        None
    }
    pub(crate) fn take_left(&self) -> Option<NonNull<Batch>> {
        None
    }
    pub(crate) fn take_abandoned(&self) -> Option<NonNull<Batch>> {
        None
    }
    pub(crate) fn take_any(&self) -> Option<NonNull<Batch>> {
        None
    }
    pub(crate) fn take_panic(&self) -> Option<Box<dyn std::any::Any + Send>> {
        None
    }
    pub(crate) fn relax(&self) {
        std::hint::spin_loop();
    }
    pub(crate) fn begin_frame(&self) {}
    pub(crate) fn end_frame(&self) {}
    pub(crate) fn leave(&self) {}
}
