//! The names of fibers and objects in a trace.
//!
//! A name given by the user is used. Other objects get numbers in the order of their coming, for
//! each kind: addresses would say nothing, and differ in the next run.

use super::places::is_in_library;
use super::{Object, SourceLine};
use lisle_core::event::Label;
use rustc_hash::FxHashMap;
use std::panic::Location;

impl From<&Location<'_>> for SourceLine {
    fn from(site: &Location<'_>) -> Self {
        SourceLine::new(site.file().into(), site.line())
    }
}

/// A text with fibers and objects whose names are not known before the end.
pub(super) type Text = Vec<Fragment>;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Fragment {
    Words(&'static str),
    /// The object of this number.
    Object(usize),
    /// The fiber or task of this number.
    Who(usize),
}

/// The objects that an execution has met.
#[derive(Debug, Default)]
pub(super) struct Objects {
    all: Vec<Met>,
    by_address: FxHashMap<usize, usize>,
}

#[derive(Debug)]
struct Met {
    address: usize,
    size: usize,
    kind: String,
    name: Option<String>,
    site: Option<&'static Location<'static>>,
}

impl Objects {
    /// Returns the number of the object at an address.
    pub(super) fn at(&mut self, address: usize, label: &Label) -> usize {
        let kind = short(label.kind());
        if let Some(&known) = self.by_address.get(&address) {
            let met = &self.all[known];
            if met.kind == kind && met.name.as_deref() == label.name() && met.site == label.site() {
                return known;
            }
        }
        let name = label.name().map(str::to_owned);
        self.all.push(Met { address, size: 1, kind: kind.into(), name, site: label.site() });
        self.by_address.insert(address, self.all.len() - 1);
        self.all.len() - 1
    }

    /// Returns the number of the object that was met last at an address.
    pub(super) fn met(&self, address: usize) -> Option<usize> {
        self.by_address.get(&address).copied()
    }

    /// Notes the size of the object at an address.
    pub(super) fn has_size(&mut self, address: usize, size: usize) {
        if let Some(&known) = self.by_address.get(&address) {
            self.all[known].size = self.all[known].size.max(size);
        }
    }

    /// Notes that the object at an address is gone: the next one there is another object.
    pub(super) fn gone(&mut self, address: usize) {
        let all = &self.all;
        self.by_address
            .retain(|begin, &mut known| !(*begin..all[known].address + all[known].size).contains(&address));
    }

    /// Returns all of them, with their names.
    pub(super) fn named(&self) -> Vec<Object> {
        let mut numbers = FxHashMap::<_, (usize, usize)>::default();
        for met in &self.all {
            numbers.entry((&met.kind, &met.name)).or_default().0 += 1;
        }
        let mut all = Vec::new();
        for met in &self.all {
            let (count, number) = numbers.get_mut(&(&met.kind, &met.name)).expect("it was counted");
            *number += 1;
            let mut text = met.kind.clone();
            if let Some(name) = &met.name {
                text += &format!(" '{name}'");
            }
            if *count > 1 {
                text += &format!(" #{number}");
            }
            all.push(Object {
                name: text,
                site: met.site.filter(|site| !is_in_library(site.file())).map(SourceLine::from),
            });
        }
        all
    }
}

/// Returns the last part of a type's path, without its parameters. Other words are returned as they
/// are.
fn short(kind: &str) -> &str {
    let path = kind.split('<').next().unwrap_or(kind);
    path.rsplit("::").next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::{Objects, short};
    use lisle_core::event::Label;

    #[test]
    fn objects_of_one_kind_and_name_are_numbered() {
        let mut objects = Objects::default();
        let (plain, named) = (Label::new("mutex"), Label::new("mutex").named("total"));
        assert_eq!([objects.at(16, &plain), objects.at(32, &plain), objects.at(16, &plain)], [0, 1, 0]);
        assert_eq!(objects.at(64, &named), 2);
        objects.has_size(16, 8);
        objects.gone(20);
        assert_eq!(objects.at(16, &plain), 3);
        let names: Vec<_> = objects.named().into_iter().map(|object| object.name).collect();
        assert_eq!(names, ["mutex #1", "mutex #2", "mutex 'total'", "mutex #3"]);
    }

    #[test]
    fn types_are_called_by_their_last_names() {
        assert_eq!(short("lisle_check::atomic::AtomicPtr<std::string::String>"), "AtomicPtr");
        assert_eq!(short("point in time"), "point in time");
    }
}
