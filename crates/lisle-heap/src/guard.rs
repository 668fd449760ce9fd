//! Getting objects back that are found dead.

use crate::global::Global;
use crate::scope::Scope;
use crate::word::{Pointer, Source};
use lisle_core::channel::MailSender;

impl Scope<'_> {
    /// Guards an object: when a cycle finds it dead, the object is not freed, and a handle to it is sent to the mailbox. So a
    /// fiber that receives from it can close a file or free what belongs to the object, on a stack of its own, and even
    /// let the object live on. A destructor of a plain field cannot: it runs within a collection.
    ///
    /// Each call sends the object once. Weak objects and [`Ephemeron`](crate::Ephemeron)s that refer to it are emptied before
    /// that. If the mailbox is closed, the object is freed in the next cycle. While all keep it alive who may, and
    /// while it is young, nothing is sent: a guarded object dies in a cycle of the old space only.
    ///
    /// Complexity: the end of each mark takes some 10 ns for each guarded object.
    ///
    /// The guardians of R. K. Dybvig, C. Bruggeman and D. Eby, "Guardians in a generation-based garbage collector", 1993.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle_core::{Event, channel::unbounded};
    /// use lisle_heap::{Global, Heap, Kind, Object};
    ///
    /// #[derive(Object)]
    /// struct Connection {
    ///     number: u32,
    /// }
    ///
    /// let heap = Heap::new();
    /// let (guardian, dead) = unbounded::<Global<Connection>>();
    /// heap.enter(|s| {
    ///     s.scope(|s| {
    ///         let connection = s.alloc::<Connection>(Connection::init(7));
    ///         s.guard(connection, &guardian);
    ///     });
    ///     s.collect(Kind::Full);
    ///     let connection = s.wait(&dead.recv_evt()).unwrap();
    ///     assert_eq!(s.take(connection).get(s).number, 7);
    /// });
    /// ```
    pub fn guard<'a, T: Pointer>(&'a self, object: impl Source<'a, T>, to: &MailSender<Global<T>>) {
        let (table, to) = (self.table().clone(), to.clone());
        let word = object.raw(&table);
        let tell = Box::new(move |index| {
            // If the mailbox is closed, the handle ends here.
            drop(to.send(Global::of_index(table, index)));
        });
        self.inner().guards.add(word, tell, self.table());
    }
}
