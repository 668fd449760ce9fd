//! A test, and its run under a model.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use super::condition::{Item, Quantifier};
use super::error::{ParseError, SourcePosition};
use super::execution::cells::Cells;
use super::execution::relation::{EVENTS, members};
use super::execution::search::{Graph, Search};
use super::execution::skeleton::Skeleton;
use super::model::{self, Model};
use super::outcome::{Access, FinalState, Outcome, Race};
use super::parse::{self, Parsed};
use super::program::memory::{Location, Range};
use super::program::path::{Event, Kind, Path};
use super::program::{Architecture, Fence, Memory};

/// A litmus test: a few threads of a few instructions, and a condition on their final state.
#[derive(Debug, Clone)]
pub struct Test {
    parsed: Parsed,
}

/// The reason why a test has no outcome under a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// The model does not cover programs of this architecture.
    Foreign {
        /// The model.
        model: Model,
        /// The architecture of the test.
        architecture: Architecture,
    },
    /// In some execution that the model allows, an access goes to bytes that are not all of one
    /// location, or to an address that is no multiple of its size.
    Nowhere {
        /// The thread that makes the access.
        thread: usize,
        /// Where the access stands.
        position: SourcePosition,
        /// The location in which the access begins, if there is one.
        location: Option<Misplaced>,
    },
    /// The model does not cover accesses of different sizes to the same bytes.
    Mixed {
        /// The model.
        model: Model,
        /// The thread that makes one of the accesses.
        thread: usize,
        /// Where that access stands.
        position: SourcePosition,
    },
    /// The test has no execution, or none that satisfies its filter, so nothing can be said of all.
    Empty {
        /// Where the condition, or the filter, stands.
        position: SourcePosition,
        /// Whether it is the filter that leaves none.
        filtered: bool,
    },
    /// The test is written in the words of Linux, whose memory model is not here.
    Linux {
        /// Where the first such word stands.
        position: SourcePosition,
    },
    /// The language of the model has no equivalent of this fence of Linux.
    Fence {
        /// The model.
        model: Model,
        /// Where the fence stands.
        position: SourcePosition,
    },
    /// There are too many events in one execution.
    Large,
}

/// A location, and an access that begins in it but is no access to it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misplaced {
    /// The name of the location.
    pub name: String,
    /// How many bytes it has.
    pub size: usize,
    /// How many of them are before the access.
    pub offset: usize,
    /// How many bytes the access has; 0 in C, where it has as many as the location.
    pub accessed: usize,
}

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Misplaced { name, size, offset, accessed } = self;
        if *accessed == 0 {
            return write!(
                f,
                "`{name}` from its byte {offset} on; in C an address names a whole location, and there is \
                 no arithmetic with it"
            );
        }
        write!(f, "the {accessed} bytes from {offset} on of `{name}`, which has {size}")?;
        if offset + accessed > *size {
            write!(f, "; give `{name}` a type of that size, as in `uint64_t {name};`, or make it an array")
        } else {
            f.write_str("; this is no multiple of the access's size, for which no model here has a meaning")
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Foreign { model, architecture } => write!(
                f,
                "the model {model} says nothing about tests for {architecture}; its own model is {}, \
                 and sc is for all",
                Model::of(*architecture)
            ),
            RunError::Nowhere { thread, position, location: Some(location) } => {
                write!(f, "{position}: in some execution P{thread} accesses {location}")
            }
            RunError::Mixed { model, thread, position } => write!(
                f,
                "{position}: P{thread} accesses bytes that are also accessed with another size, of which the \
                 model {model} says nothing; use one size, or the models sc and arm8"
            ),
            RunError::Empty { position, filtered: true } => write!(
                f,
                "{position}: no execution satisfies the filter, so the condition says nothing; change the filter"
            ),
            RunError::Empty { position, filtered: false } => write!(
                f,
                "{position}: the test has no execution, so the condition says nothing; make each loop and branch \
                 such that some execution comes to the end"
            ),
            RunError::Linux { position } => write!(
                f,
                "{position}: this is a word of Linux, whose memory model is none of those here; name a model, \
                 such as arm8 or tso for what such a processor does, or rc11 for the same in C"
            ),
            RunError::Fence { model, position } => write!(
                f,
                "{position}: C has no fence for loads alone or stores alone, so the model {model} says nothing \
                 about this; use smp_mb, or the models sc, tso and arm8"
            ),
            RunError::Large => write!(
                f,
                "more than {EVENTS} accesses, parts of accesses and fences in one execution; make a smaller \
                 test of what this one is about"
            ),
            RunError::Nowhere { thread, position, location: None } => write!(
                f,
                "{position}: in some execution P{thread} accesses an address that belongs to no location; \
                 let its register hold the address of one in every execution"
            ),
        }
    }
}

impl RunError {
    /// The position in the test for which the model has no meaning.
    pub fn position(&self) -> Option<SourcePosition> {
        match self {
            RunError::Foreign { .. } | RunError::Large => None,
            RunError::Nowhere { position, .. }
            | RunError::Mixed { position, .. }
            | RunError::Empty { position, .. }
            | RunError::Linux { position }
            | RunError::Fence { position, .. } => Some(*position),
        }
    }
}

impl std::error::Error for RunError {}

impl FromStr for Test {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Test, ParseError> {
        Test::parse(text)
    }
}

impl Test {
    /// Reads a test in the format of herd7.
    ///
    /// # Errors
    ///
    /// If the text is no test, uses something unsupported, or has a loop without a bound. The error
    /// prints with the line in question and the supported forms.
    ///
    /// # Examples
    ///
    /// ```
    /// use lisle_check::litmus::{Model, Test};
    ///
    /// let test = Test::parse(
    ///     "X86 SB
    ///      { x=0; y=0; }
    ///       P0          | P1          ;
    ///       MOV [x],$1  | MOV [y],$1  ;
    ///       MOV EAX,[y] | MOV EAX,[x] ;
    ///      exists (0:EAX=0 /\\ 1:EAX=0)",
    /// )?;
    /// assert!(test.run(Model::Tso)?.holds());
    /// assert!(!test.run(Model::Sc)?.holds());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(text: &str) -> Result<Test, ParseError> {
        parse::parse(text).map(|parsed| Test { parsed })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.parsed.name
    }

    /// The language of the code.
    pub fn architecture(&self) -> Architecture {
        self.parsed.architecture
    }

    /// The quantifier of the condition.
    pub fn quantifier(&self) -> Quantifier {
        self.parsed.condition.quantifier
    }

    /// Returns the model of the test's own language.
    ///
    /// # Errors
    ///
    /// If that is the model of Linux, which is not here. The test can still be run under another
    /// model, for its processor or for C.
    pub fn own_model(&self) -> Result<Model, RunError> {
        match self.parsed.linux {
            Some(position) => Err(RunError::Linux { position }),
            None => Ok(Model::of(self.parsed.architecture)),
        }
    }

    /// Returns all that the test can do under `model`.
    ///
    /// A C test is compiled for the model's processor by the usual mapping; see the
    /// [module](crate::litmus).
    ///
    /// # Errors
    ///
    /// If the model is for another architecture, or does not cover accesses of different sizes; if an
    /// access goes to no location; or if there is no execution for the condition.
    ///
    /// # Complexity
    ///
    /// In the worst case exponential in the number of reads and writes. The search drops a choice
    /// as soon as the model forbids it.
    pub fn run(&self, model: Model) -> Result<Outcome, RunError> {
        let Parsed { architecture, memory, condition, .. } = &self.parsed;
        if !model.covers(*architecture) {
            return Err(RunError::Foreign { model, architecture: *architecture });
        }
        let compiled = self.compiled(model);
        let mut events = compiled.iter().flatten().flat_map(|path| &path.events);
        let partial = |event: &&Event| matches!(event.kind, Kind::Fence(Fence::Loads | Fence::Stores));
        if let Some(fence) = events.find(partial).filter(|_| model == Model::Rc11) {
            return Err(RunError::Fence { model, position: fence.position });
        }
        let mut cells = Cells::new(memory, &compiled);
        let tally = loop {
            match self.search(model, &compiled, &cells)? {
                Ok(tally) => break tally,
                Err(range) => cells.refine(range),
            }
        };
        if let Some((thread, position, location)) = tally.nowhere {
            return Err(RunError::Nowhere { thread, position, location });
        }
        if tally.states.is_empty() {
            let position = condition.filter_position.filter(|_| tally.filtered).unwrap_or(condition.position);
            return Err(RunError::Empty { position, filtered: tally.filtered });
        }
        let names: Vec<String> = condition.items.iter().map(Item::show).collect();
        let show = |(values, (executions, holds)): (Vec<i64>, (u64, bool))| FinalState {
            values: names.iter().cloned().zip(values.iter().map(|value| memory.show(*value))).collect(),
            executions,
            satisfies: holds,
        };
        Ok(Outcome {
            name: self.parsed.name.clone(),
            quantifier: condition.quantifier,
            condition: condition.show(memory),
            states: tally.states.into_iter().map(show).collect(),
            races: tally.races.into_iter().map(|race| self.race(&race, &cells)).collect(),
        })
    }

    /// Looks at all executions; or returns the range of an access that is not one of `cells`.
    fn search(
        &self,
        model: Model,
        threads: &[Vec<Path>],
        cells: &Cells<'_>,
    ) -> Result<Result<Tally, Range>, RunError> {
        let divided: Vec<Vec<Path>> =
            threads.iter().map(|paths| paths.iter().map(|path| cells.divide(path)).collect()).collect();
        for (thread, paths) in divided.iter().enumerate() {
            let mut parts = paths.iter().flat_map(|path| &path.events).filter(|part| part.size != part.whole);
            if let Some(part) = parts.next().filter(|_| !model.is_for_parts()) {
                return Err(RunError::Mixed { model, thread, position: part.position });
            }
        }
        let mut tally = Tally::default();
        let mut found = Ok(Ok(()));
        each_choice(&divided, &mut Vec::new(), &mut |paths| {
            if found == Ok(Ok(())) {
                found = match Skeleton::new(cells, paths) {
                    None => Err(RunError::Large),
                    Some(skeleton) => Ok(Search::run(&skeleton, cells, model, &mut |graph| {
                        tally.add(&self.parsed, model, &skeleton, cells, paths, graph);
                    })),
                };
            }
        });
        Ok(found?.map(|()| tally))
    }

    fn compiled(&self, model: Model) -> Vec<Vec<Path>> {
        let mut threads = self.parsed.paths.clone();
        if self.parsed.architecture == Architecture::C {
            let events = threads.iter_mut().flatten().flat_map(|path| &mut path.events);
            events.for_each(|event| model.compile(event));
        }
        threads
    }

    fn race(&self, race: &model::Pair, cells: &Cells<'_>) -> Race {
        let location = cells.cells[race.location].location;
        Race {
            location: self.parsed.memory.locations[location].name.clone(),
            accesses: race.sides.clone().map(|side| Access {
                thread: side.thread,
                position: side.position,
                writes: side.writes,
            }),
        }
    }
}

/// Calls `visit` with each choice of one path for each thread, after the `chosen` paths.
fn each_choice<'a>(threads: &'a [Vec<Path>], chosen: &mut Vec<&'a Path>, visit: &mut impl FnMut(&[&Path])) {
    let Some((first, rest)) = threads.split_first() else { return visit(chosen) };
    for path in first {
        chosen.push(path);
        each_choice(rest, chosen, visit);
        chosen.pop();
    }
}

/// The results so far.
#[derive(Debug, Default)]
struct Tally {
    /// For each final state the number of its executions, and whether it satisfies the condition.
    states: BTreeMap<Vec<i64>, (u64, bool)>,
    races: BTreeSet<model::Pair>,
    nowhere: Option<(usize, SourcePosition, Option<Misplaced>)>,
    /// Whether the filter left out an execution.
    filtered: bool,
}

impl Tally {
    fn add(
        &mut self,
        parsed: &Parsed,
        model: Model,
        skeleton: &Skeleton,
        cells: &Cells<'_>,
        paths: &[&Path],
        graph: &Graph,
    ) {
        let outside = |event: &usize| graph.places[*event].is_some_and(|place| place == cells.cells.len());
        let accesses = skeleton.accesses() & !skeleton.initial;
        if let Some((event, thread)) =
            members(accesses).find(outside).and_then(|event| Some((event, skeleton.threads[event]?)))
        {
            let position = skeleton.events[event].position;
            self.nowhere =
                Some((thread, position, misplaced(&parsed.memory, &skeleton.events[event], graph)));
            return;
        }
        let value = |item: &Item| match item {
            Item::Register { thread, register, .. } => {
                let offset = skeleton.offsets[*thread];
                let value = paths[*thread].last(*register).evaluate(&|read| graph.values[read + offset])?;
                Some(item.view(value))
            }
            Item::Location { range, .. } => {
                Some(item.view(cells.value(*range, |cell| graph.values[graph.last[cell]])?))
            }
        };
        // The search finds no execution in which a value is not known.
        let Some(values) = parsed.condition.items.iter().map(value).collect::<Option<Vec<i64>>>() else {
            return;
        };
        if parsed.condition.filter.as_ref().is_some_and(|filter| !filter.holds(&values)) {
            self.filtered = true;
            return;
        }
        if model == Model::Rc11 {
            self.races.extend(model::races(skeleton, graph));
        }
        let satisfies = parsed.condition.proposition.holds(&values);
        self.states.entry(values).or_insert((0, satisfies)).0 += 1;
    }
}

/// The location in which an access begins that is no access to it.
fn misplaced(memory: &Memory, event: &Event, graph: &Graph) -> Option<Misplaced> {
    let address = graph.evaluate(&event.address)? - event.part as i64;
    let (location, offset) = memory.near(address)?;
    let Location { name, .. } = &memory.locations[location];
    let size = memory.locations[location].size();
    Some(Misplaced { name: name.clone(), size, offset, accessed: event.whole })
}
