//! A snapshot of the objects of a heap, as a file that other tools read.
//!
//! The format is that of V8's heap snapshots (`.heapsnapshot`, a JSON document): the browser's developer tools show its objects by
//! type, the objects that each keeps alive, and the path from a root that keeps it alive. `nodes` and `edges` are flat lists of numbers; the meta data
//! at the beginning names their columns. V8 documents it only by its own reader and writer
//! (`src/profiler/heap-snapshot-generator.cc`).
//!
//! The snapshot is taken in a stop, after a full collection, so there are no young objects and no dead ones. It is written when the
//! threads go on.

use crate::collect::Kind;
use crate::inner::Inner;
use crate::lock::lock;
use crate::object::{Shape, WORD, each_word, ephemeron, header_of, length, weak_word};
use crate::place::Place;
use crate::raw::{Raw, is_pointer, untagged};
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::atomic::Ordering;

/// The columns of a node and of an edge.
const META: &str = r#"{"node_fields":["type","name","id","self_size","edge_count","trace_node_id","detachedness"],"node_types":[["hidden","array","string","object","code","closure","regexp","number","native","synthetic","concatenated string","sliced string","symbol","bigint","object shape","wasm object"],"string","number","number","number","number","number"],"edge_fields":["type","name_or_index","to_node"],"edge_types":[["context","element","property","internal","hidden","shortcut","weak"],"string_or_number","node"],"trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],"trace_node_fields":["id","function_info_index","count","size","children"],"sample_fields":["timestamp_us","last_assigned_id"],"location_fields":["object_index","script_id","line","column"]}"#;
const COLUMNS: usize = 7;

/// The types of nodes.
const ARRAY: u8 = 1;
const STRING: u8 = 2;
const OBJECT: u8 = 3;
const SYNTHETIC: u8 = 9;

/// The types of edges.
const ELEMENT: u8 = 1;
const PROPERTY: u8 = 2;
const WEAK: u8 = 6;

/// The text of bytes is shown up to so many characters.
const SHOWN: usize = 100;

struct Node {
    kind: u8,
    /// The number of a text.
    name: usize,
    size: usize,
    /// The number of its edges, which follow the edges of the node before.
    edges: usize,
}

struct Edge {
    kind: u8,
    /// The number of a text, or an index.
    name: usize,
    to: usize,
}

#[derive(Default)]
pub(crate) struct Snapshot {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    texts: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Snapshot {
    fn text(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.texts.push(text.into());
        self.numbers.insert(text.into(), self.texts.len() - 1);
        self.texts.len() - 1
    }

    /// Adds a node. The edges that are added next are its own.
    fn node(&mut self, kind: u8, name: &str, size: usize) {
        let name = self.text(name);
        self.nodes.push(Node { kind, name, size, edges: 0 });
    }

    fn edge(&mut self, kind: u8, name: usize, to: Option<usize>) {
        let Some(to) = to else { return };
        self.nodes.last_mut().expect("an edge comes after its node").edges += 1;
        self.edges.push(Edge { kind, name, to });
    }

    /// Writes the snapshot as a JSON document.
    pub(crate) fn write(&self, mut to: impl Write) -> io::Result<()> {
        let (nodes, edges) = (self.nodes.len(), self.edges.len());
        write!(
            to,
            "{{\"snapshot\":{{\"meta\":{META},\"node_count\":{nodes},\"edge_count\":{edges},\"trace_function_count\":0}},\n\"nodes\":["
        )?;
        for (index, Node { kind, name, size, edges }) in self.nodes.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            writeln!(to, "{comma}{kind},{name},{},{size},{edges},0,0", 2 * index + 1)?;
        }
        write!(to, "],\n\"edges\":[")?;
        for (index, Edge { kind, name, to: node }) in self.edges.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            writeln!(to, "{comma}{kind},{name},{}", node * COLUMNS)?;
        }
        write!(
            to,
            "],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n\"locations\":[],\n\"strings\":["
        )?;
        for (index, text) in self.texts.iter().enumerate() {
            if index > 0 {
                to.write_all(b",\n")?;
            }
            write_text(text, &mut to)?;
        }
        writeln!(to, "]}}")?;
        to.flush()
    }
}

/// Writes a text as JSON (RFC 8259, section 7).
fn write_text(text: &str, to: &mut impl Write) -> io::Result<()> {
    to.write_all(b"\"")?;
    for character in text.chars() {
        match character {
            '"' | '\\' => write!(to, "\\{character}")?,
            '\0'..' ' => write!(to, "\\u{:04x}", u32::from(character))?,
            _ => write!(to, "{character}")?,
        }
    }
    to.write_all(b"\"")
}

/// Returns the name of a type without the modules.
fn short(name: &str) -> String {
    let in_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut short = String::new();
    for part in name.split_inclusive(|c| !in_path(c)) {
        let (path, rest) = part.split_at(part.find(|c| !in_path(c)).unwrap_or(part.len()));
        short.push_str(path.rsplit("::").next().unwrap_or(path));
        short.push_str(rest);
    }
    short
}

/// The objects of a heap, in the order of their addresses.
struct Objects(Vec<Raw>);

impl Objects {
    /// Returns the index of the object to which a word points.
    fn index(&self, raw: Raw) -> Option<usize> {
        if !is_pointer(raw) || raw.is_null() {
            return None;
        }
        let payload = untagged(raw).addr();
        self.0.binary_search_by_key(&payload, |object| object.addr()).ok()
    }
}

impl Inner {
    /// Collects, and takes a snapshot of all objects that are left.
    ///
    /// # Safety
    ///
    /// This thread is inside, in this place, and no reference to an object is used afterwards.
    pub(crate) unsafe fn snapshot(&self, place: &Place) -> Snapshot {
        let stopped = self.stop_in_turn(place);
        // SAFETY: passed on to the caller.
        unsafe { self.collect_stopped(&stopped, Kind::Full) };
        let mut objects = Vec::new();
        lock(&self.old).each_object(|payload| objects.push(payload));
        objects.sort_unstable();
        let objects = Objects(objects);
        let mut sessions = 0;
        // SAFETY: all threads have stopped.
        stopped.members().for_each(|place| unsafe { place.each_session(|_| sessions += 1) });

        let mut snapshot = Snapshot::default();
        // The root, the global handles, the sessions, and the objects.
        let first = 2 + sessions;
        snapshot.node(SYNTHETIC, "", 0);
        (1..first).for_each(|node| snapshot.edge(ELEMENT, node, Some(node)));
        snapshot.node(SYNTHETIC, "(global handles)", 0);
        let mut count = 0;
        self.globals.each(|word, _| {
            let to = objects.index(word.load(Ordering::Relaxed)).map(|index| first + index);
            snapshot.edge(ELEMENT, count, to);
            count += 1;
        });
        for place in stopped.members() {
            let name = format!("(a session of {})", place.describe());
            // SAFETY: all threads have stopped.
            unsafe {
                place.each_session(|session| {
                    snapshot.node(SYNTHETIC, &name, 0);
                    let mut count = 0;
                    _ = session.roots.each(|root| {
                        let to = objects.index(root.load(Ordering::Relaxed)).map(|index| first + index);
                        snapshot.edge(ELEMENT, count, to);
                        count += 1;
                    });
                });
            }
        }
        for &payload in &objects.0 {
            // SAFETY: all threads have stopped, and these are all objects of the heap.
            unsafe { snapshot.object(payload, first, &objects) };
        }
        drop(stopped);
        self.guards.tell();
        snapshot
    }
}

impl Snapshot {
    /// Adds an object, whose node has the number `first` and more.
    ///
    /// # Safety
    ///
    /// It is an object of the heap, and all threads have stopped.
    unsafe fn object(&mut self, payload: Raw, first: usize, objects: &Objects) {
        // SAFETY: passed on to the caller.
        unsafe {
            let desc = header_of(payload).desc();
            let external = desc.external.map_or(0, |external| external(payload));
            let size = ((1 + desc.words(payload)) * WORD).saturating_add(external);
            let node = |raw| objects.index(raw).map(|index| first + index);
            let (name, mut count) = (short((desc.name)()), 0);
            match desc.shape {
                Shape::Fields(_) => {
                    self.node(OBJECT, &name, size);
                    each_word(desc, payload, 0, usize::MAX, |cell| {
                        let field = self.text(desc.fields[count]);
                        self.edge(PROPERTY, field, node(cell.load(Ordering::Relaxed)));
                        count += 1;
                    });
                }
                Shape::Array => {
                    self.node(ARRAY, &name, size);
                    each_word(desc, payload, 0, usize::MAX, |cell| {
                        self.edge(ELEMENT, count, node(cell.load(Ordering::Relaxed)));
                        count += 1;
                    });
                }
                Shape::Bytes => {
                    let bytes = std::slice::from_raw_parts(payload.add(WORD), length(payload));
                    match std::str::from_utf8(bytes) {
                        Ok(text) => self.node(STRING, &text.chars().take(SHOWN).collect::<String>(), size),
                        Err(_) => self.node(ARRAY, &name, size),
                    }
                }
                Shape::Weak => {
                    self.node(OBJECT, &name, size);
                    let target = self.text("target");
                    self.edge(WEAK, target, node(weak_word(payload).load(Ordering::Relaxed)));
                }
                Shape::Ephemeron => {
                    self.node(OBJECT, &name, size);
                    let [key, value] = ephemeron(payload);
                    let names = [self.text("key"), self.text("value")];
                    self.edge(WEAK, names[0], node(key.load(Ordering::Relaxed)));
                    self.edge(PROPERTY, names[1], node(value.load(Ordering::Relaxed)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{short, write_text};

    #[test]
    fn names_of_types_lose_their_modules() {
        for (name, expected) in [
            ("Cons", "Cons"),
            ("lisp::value::Cons", "Cons"),
            (
                "lisle_heap::array::Array<core::option::Option<a::b::Tree<u8, c::D>>>",
                "Array<Option<Tree<u8, D>>>",
            ),
            ("(a::B, [c::D; 3])", "(B, [D; 3])"),
        ] {
            assert_eq!(short(name), expected);
        }
    }

    #[test]
    fn texts_are_written_as_json() {
        let mut out = Vec::new();
        write_text("a \"b\" \\ \n \u{1f} é 🦀", &mut out).unwrap();
        assert_eq!(out, "\"a \\\"b\\\" \\\\ \\u000a \\u001f é 🦀\"".as_bytes());
    }
}
