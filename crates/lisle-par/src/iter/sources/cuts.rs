//! Sources that can be divided only at some points: a text between two characters, a slice at its
//! separators.
//!
//! The steps of such a source are its bytes or elements. A part is divided at the first possible
//! point at or after the step where it is to be divided. Hence the first part may have content
//! beyond its last step, and the content of the second part begins after its first step, if it has
//! any. The content after a point belongs to the step of the point. The number of steps is always
//! as if the division were exact, so the numbers of the steps keep their order.
//!
//! The points are searched for when a part is divided. A part remembers where there are none, so
//! all divisions of a loop together search the content once.

use crate::iter::Part;
use std::ops::Range;

/// A point at which content can be divided.
#[derive(Debug, Clone, Copy)]
pub struct CutPoint {
    /// The step of the point, which decides to which part the content after it belongs.
    pub(super) at: usize,
    /// The content before the point ends here, and the content after it begins here. A separator may
    /// be between the two.
    pub(super) end: usize,
    pub(super) begin: usize,
}

impl CutPoint {
    /// Creates a point with nothing between the halves.
    pub(super) fn between(at: usize) -> Self {
        CutPoint { at, end: at, begin: at }
    }
}

/// Content that can be divided only at some points.
pub trait Cut: Sized + Send {
    /// The type of the items.
    type Item;
    /// The plain iterator over the items.
    type Items: Iterator<Item = Self::Item>;

    /// Returns the number of steps.
    fn steps(&self) -> usize;

    /// Returns the first point in these steps.
    fn point(&self, steps: Range<usize>) -> Option<CutPoint>;

    /// Divides the content at a point.
    fn cut(self, point: CutPoint) -> (Self, Self);

    /// Returns an iterator over the items in their order.
    fn items(self) -> Self::Items;
}

/// Some steps of content that can be divided only at some points.
#[derive(Debug)]
pub struct CutPart<C> {
    steps: usize,
    content: Option<Content<C>>,
}

/// The content of a part.
#[derive(Debug)]
struct Content<C> {
    all: C,
    /// The step of the point after which it begins.
    at: usize,
    /// The step with which it begins.
    begin: usize,
    /// The step from which on it has no points, counted from its beginning.
    limit: usize,
}

impl<C: Cut> CutPart<C> {
    pub(super) fn new(all: C) -> Self {
        let steps = all.steps();
        CutPart { steps, content: Some(Content { all, at: 0, begin: 0, limit: steps }) }
    }
}

impl<C: Cut> Content<C> {
    /// Divides the content at the first point at or after step `at`. The steps of the second half
    /// are counted from there.
    fn split_at(self, at: usize) -> (Option<Self>, Option<Self>) {
        if self.at >= at {
            return (None, Some(Content { at: self.at - at, begin: self.begin - at, ..self }));
        }
        let from = at.saturating_sub(self.begin);
        let left = |all| Content { all, limit: self.limit.min(from), ..self };
        match self.all.point(from..self.limit) {
            None => (Some(left(self.all)), None),
            Some(point) => {
                let (before, after) = self.all.cut(point);
                let right = Content {
                    all: after,
                    at: self.begin + point.at - at,
                    begin: self.begin + point.begin - at,
                    limit: self.limit.saturating_sub(point.begin),
                };
                (Some(left(before)), Some(right))
            }
        }
    }
}

impl<C: Cut> Part for CutPart<C> {
    type Item = C::Item;
    type Items = std::iter::Flatten<std::option::IntoIter<C::Items>>;

    #[inline]
    fn len(&self) -> usize {
        self.steps
    }

    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.content.map_or((None, None), |content| content.split_at(at));
        (CutPart { content: left, steps: at }, CutPart { content: right, steps: self.steps - at })
    }

    #[inline]
    fn items(self) -> Self::Items {
        self.content.map(|content| content.all.items()).into_iter().flatten()
    }
}
