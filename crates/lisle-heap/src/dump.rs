//! A snapshot of the objects of a heap, as a file that other tools read.
//!
//! The format is that of V8's heap snapshots (`.heapsnapshot`, a JSON document): the browser's developer tools show its objects by
//! type, the objects that each keeps alive, and the path from a root that keeps it alive. `nodes` and `edges` are flat lists of
//! numbers; the meta data at the beginning names their columns. V8 documents it only by its own reader and writer
//! (`src/profiler/heap-snapshot-generator.cc`).
//!
//! The snapshot is taken in a stop, after a full collection, so there are no young objects and no dead ones. It is written when the
//! threads go on.

use crate::collect::Kind;
use crate::inner::Inner;
use crate::lock::lock;
use crate::object::{Cell, Desc, Shape, WORD, each_word, ephemeron, header_of, length, weak_word};
use crate::place::Place;
use crate::raw::{Raw, is_pointer, untagged};
use std::collections::HashMap;
use std::io::{self, Write};
use std::ptr;
use std::rc::Rc;
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

/// The numbers of the texts of a type.
#[derive(Clone)]
struct Type {
    name: usize,
    fields: Rc<[usize]>,
}

#[derive(Default)]
pub(crate) struct Snapshot {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// The texts, each with its number.
    texts: HashMap<String, usize>,
    types: HashMap<*const Desc, Type>,
    /// The index of the next element of the last node.
    element: usize,
}

impl Snapshot {
    fn text(&mut self, text: String) -> usize {
        let next = self.texts.len();
        *self.texts.entry(text).or_insert(next)
    }

    fn ty(&mut self, desc: &'static Desc) -> Type {
        if let Some(known) = self.types.get(&ptr::from_ref(desc)) {
            return known.clone();
        }
        let name = self.text(short((desc.name)()));
        let fields = match desc.shape {
            Shape::Fields(_) => desc.fields,
            Shape::Weak => &["target"],
            Shape::Ephemeron => &["key", "value"],
            Shape::Array | Shape::Bytes => &[],
        };
        let fields = fields.iter().map(|field| self.text((*field).into())).collect();
        let ty = Type { name, fields };
        self.types.insert(desc, ty.clone());
        ty
    }

    /// Adds a node. The edges that are added next are its own.
    fn node(&mut self, kind: u8, name: usize, size: usize) {
        self.nodes.push(Node { kind, name, size, edges: 0 });
        self.element = 0;
    }

    fn edge(&mut self, kind: u8, name: usize, to: Option<usize>) {
        let Some(to) = to else { return };
        self.nodes.last_mut().expect("an edge comes after its node").edges += 1;
        self.edges.push(Edge { kind, name, to });
    }

    /// Adds an edge that has an index in the place of a name.
    fn element(&mut self, to: Option<usize>) {
        self.edge(ELEMENT, self.element, to);
        self.element += 1;
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
        let mut texts: Vec<(&usize, &String)> =
            self.texts.iter().map(|(text, number)| (number, text)).collect();
        texts.sort_unstable();
        for (number, text) in texts {
            if *number > 0 {
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
struct Objects {
    payloads: Vec<Raw>,
    /// The node of the first one.
    first: usize,
}

impl Objects {
    /// Returns the node of the object to which a word points.
    fn node(&self, word: &Cell) -> Option<usize> {
        let raw = word.load(Ordering::Relaxed);
        if !is_pointer(raw) {
            return None;
        }
        let address = untagged(raw).addr();
        let index = self.payloads.binary_search_by_key(&address, |payload| payload.addr()).ok()?;
        Some(self.first + index)
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
        let mut payloads = Vec::new();
        lock(&self.old).each_object(|payload| payloads.push(payload));
        payloads.sort_unstable();
        let mut sessions = 0;
        // SAFETY: all threads have stopped.
        stopped.members().for_each(|place| unsafe { place.each_session(|_| sessions += 1) });
        // The root, the global handles, the sessions, and the objects.
        let objects = Objects { payloads, first: 2 + sessions };

        let mut snapshot = Snapshot::default();
        let name = snapshot.text(String::new());
        snapshot.node(SYNTHETIC, name, 0);
        (1..objects.first).for_each(|node| snapshot.element(Some(node)));
        let name = snapshot.text("(global handles)".into());
        snapshot.node(SYNTHETIC, name, 0);
        self.globals.each(|word, _| snapshot.element(objects.node(word)));
        for place in stopped.members() {
            let name = snapshot.text(format!("(a session of {})", place.describe()));
            // SAFETY: all threads have stopped.
            unsafe {
                place.each_session(|session| {
                    snapshot.node(SYNTHETIC, name, 0);
                    _ = session.roots.each(|root| snapshot.element(objects.node(root)));
                });
            }
        }
        for &payload in &objects.payloads {
            // SAFETY: all threads have stopped, and these are all objects of the heap.
            unsafe { snapshot.object(payload, &objects) };
        }
        drop(stopped);
        self.guards.tell();
        snapshot
    }
}

impl Snapshot {
    /// Adds an object.
    ///
    /// # Safety
    ///
    /// It is an object of the heap, and all threads have stopped.
    unsafe fn object(&mut self, payload: Raw, objects: &Objects) {
        // SAFETY: passed on to the caller.
        unsafe {
            let desc = header_of(payload).desc();
            let Type { name, fields } = self.ty(desc);
            let size = ((1 + desc.words(payload)) * WORD).saturating_add(desc.external_bytes(payload));
            match desc.shape {
                Shape::Fields(_) => {
                    self.node(OBJECT, name, size);
                    let mut fields = fields.iter();
                    each_word(desc, payload, 0, usize::MAX, |cell| {
                        let field = fields.next().expect("each word is a field");
                        self.edge(PROPERTY, *field, objects.node(cell));
                    });
                }
                Shape::Array => {
                    self.node(ARRAY, name, size);
                    each_word(desc, payload, 0, usize::MAX, |cell| self.element(objects.node(cell)));
                }
                Shape::Bytes => {
                    let bytes = std::slice::from_raw_parts(payload.add(WORD), length(payload));
                    match std::str::from_utf8(bytes) {
                        Ok(text) => {
                            let text = self.text(text.chars().take(SHOWN).collect());
                            self.node(STRING, text, size);
                        }
                        Err(_) => self.node(ARRAY, name, size),
                    }
                }
                Shape::Weak => {
                    self.node(OBJECT, name, size);
                    self.edge(WEAK, fields[0], objects.node(weak_word(payload)));
                }
                Shape::Ephemeron => {
                    self.node(OBJECT, name, size);
                    let [key, value] = ephemeron(payload);
                    self.edge(WEAK, fields[0], objects.node(key));
                    self.edge(PROPERTY, fields[1], objects.node(value));
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
