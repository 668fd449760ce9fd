//! Snapshots of a heap, read again as a JSON document.

use crate::scheme::{Value, cons, numbers};
use crate::support::{LIST, Pair, Text, small};
use lisle_heap::{Bytes, Heap, Kind, Object};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::io;

#[derive(Object)]
struct Owner {
    #[external(String::capacity)]
    text: String,
}

struct Node {
    kind: u64,
    name: String,
    size: u64,
    /// The type of each edge, its name or index, and the node to which it goes.
    edges: Vec<(u64, String, usize)>,
}

/// Reads a snapshot, whose columns have the names that its reader expects.
fn read(snapshot: &[u8]) -> Vec<Node> {
    let json: Json = serde_json::from_slice(snapshot).unwrap();
    let meta = &json["snapshot"]["meta"];
    assert_eq!(meta["node_fields"].as_array().unwrap().len(), 7);
    assert_eq!(meta["edge_fields"], serde_json::json!(["type", "name_or_index", "to_node"]));
    let list = |name: &str| -> Vec<u64> {
        json[name].as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
    };
    let text = |index: u64| json["strings"][index as usize].as_str().unwrap().to_owned();
    let (numbers, edges) = (list("nodes"), list("edges"));
    assert_eq!(numbers.len() as u64, 7 * json["snapshot"]["node_count"].as_u64().unwrap());
    assert_eq!(edges.len() as u64, 3 * json["snapshot"]["edge_count"].as_u64().unwrap());
    let mut edges = edges.chunks(3).map(|edge| {
        assert_eq!(edge[2] % 7, 0);
        let name = if edge[0] == 1 { edge[1].to_string() } else { text(edge[1]) };
        (edge[0], name, edge[2] as usize / 7)
    });
    let nodes: Vec<Node> = numbers
        .chunks(7)
        .map(|node| Node {
            kind: node[0],
            name: text(node[1]),
            size: node[3],
            edges: edges.by_ref().take(node[4] as usize).collect(),
        })
        .collect();
    assert!(edges.next().is_none());
    assert!(nodes.iter().flat_map(|node| &node.edges).all(|(_, _, to)| *to < nodes.len()));
    nodes
}

fn dump(heap: &Heap) -> Vec<Node> {
    let mut snapshot = Vec::new();
    heap.dump(&mut snapshot).unwrap();
    read(&snapshot)
}

#[test]
fn a_snapshot_has_all_objects_and_what_refers_to_them() {
    let heap = small();
    let (mut snapshot, kept) = heap.enter(|s| {
        let text = s.alloc::<Text>(Text::init("x".into()));
        let pair = s.alloc::<Pair>(Pair::init(text, None));
        pair.get(s).second.set(s, pair);
        numbers(s, 5);
        s.scope(|s| _ = numbers(s, LIST));
        let bytes = s.bytes("\"quoted\"\n".as_bytes());
        s.bytes(&[0xff; 3]);
        cons(s, Value::nil(), Value::nil());
        let weak = s.weak::<Text>(text);
        s.ephemeron::<Pair, Text>(pair, text);
        let array = s.array::<Option<Pair>>(300, None);
        array.get(s).at(200).set(s, pair);
        s.alloc::<Owner>(Owner::init(String::with_capacity(10_000)));
        let kept = s.global::<Bytes>(bytes);
        let mut snapshot = Vec::new();
        s.dump(&mut snapshot).unwrap();
        // The heap goes on.
        assert!(weak.get(s).upgrade(s).is_some());
        assert_eq!((s.verify(), text.get(s).text.as_str()), (Ok(()), "x"));
        (snapshot, kept)
    });
    let nodes = read(&snapshot);
    let mut counts: HashMap<&str, usize> = HashMap::new();
    nodes.iter().for_each(|node| *counts.entry(&node.name).or_default() += 1);
    let count = |name: &str| counts.get(name).copied().unwrap_or(0);
    // The long list is garbage.
    assert_eq!(count("Cons"), 5 + 1);
    assert_eq!((count("Pair"), count("Text"), count("Bytes"), count("\"quoted\"\n")), (1, 1, 1, 1));
    let node = |name: &str| nodes.iter().position(|node| node.name == name).unwrap();
    let pair = &nodes[node("Pair")];
    assert_eq!(pair.size, 24);
    assert_eq!(pair.edges, [(2, "first".into(), node("Text")), (2, "second".into(), node("Pair"))]);
    assert_eq!(nodes[node("Array<Option<Pair>>")].edges, [(1, "200".into(), node("Pair"))]);
    assert_eq!(nodes[node("Owner")].size, 10_000 + 8 + size_of::<Owner>() as u64);
    let weak = nodes.iter().find(|node| node.name.starts_with("Weak<")).unwrap();
    assert_eq!((weak.edges[0].0, weak.edges[0].1.as_str()), (6, "target"));
    let ephemeron = nodes.iter().find(|node| node.name.starts_with("Ephemeron<")).unwrap();
    assert_eq!(ephemeron.edges, [(6, "key".into(), node("Pair")), (2, "value".into(), node("Text"))]);
    // The roots: the global handles, and the session.
    assert_eq!((nodes[0].kind, nodes[0].edges.len()), (9, 2));
    assert_eq!(nodes[1].name, "(global handles)");
    assert_eq!(nodes[1].edges, [(1, "0".into(), node("\"quoted\"\n"))]);
    assert!(nodes[2].name.starts_with("(a session of the thread `dump::a_snapshot"), "{}", nodes[2].name);
    assert!(nodes[2].name.contains("dump.rs:"), "{}", nodes[2].name);
    let of_session = |to: usize| nodes[2].edges.iter().any(|edge| edge.2 == to);
    assert!(of_session(node("Pair")) && of_session(node("Owner")));

    snapshot.clear();
    drop(kept);
    // The root, the global handles, and the session of `dump`.
    assert_eq!(dump(&heap).len(), 3);
}

/// The writer runs outside, and its errors come out.
#[test]
fn a_writer_may_use_the_heap_and_fail() {
    struct Fails<'a>(&'a Heap, usize);
    impl io::Write for Fails<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.collect(Kind::Full);
            self.1 = self.1.checked_sub(1).ok_or_else(|| io::Error::other("the disk is full"))?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let heap = small();
    heap.enter(|s| {
        numbers(s, 10);
        let error = s.dump(Fails(&heap, 20)).unwrap_err();
        assert_eq!(error.to_string(), "the disk is full");
        assert_eq!(s.verify(), Ok(()));
    });
}
