//! A test, and what becomes of it under a model.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use super::condition::{Item, Quantifier};
use super::error::{ParseError, Place};
use super::execution::relation::members;
use super::execution::search::{Graph, Search};
use super::execution::skeleton::Skeleton;
use super::model::{self, Model};
use super::outcome::{Access, Outcome, Race, State};
use super::parse::{self, Parsed};
use super::program::Architecture;
use super::program::path::Path;

/// A litmus test: a few threads of a few instructions, and a condition on what they leave behind.
#[derive(Debug, Clone)]
pub struct Test {
    parsed: Parsed,
}

/// The reason why a test has no outcome under a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// The model does not say what programs of this architecture do.
    Foreign {
        /// The model.
        model: Model,
        /// The architecture of the test.
        architecture: Architecture,
    },
    /// In some execution that the model allows, an access goes to an address of no location.
    Nowhere {
        /// The thread that makes the access.
        thread: usize,
        /// Where the access stands.
        place: Place,
    },
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
            RunError::Nowhere { thread, place } => write!(
                f,
                "{place}: in some execution P{thread} accesses an address that belongs to no location; \
                 let its register hold the address of one in every execution"
            ),
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
    /// If the text is no test, uses what is not supported, or has a loop without a bound. The error
    /// prints with the line in question and with what is supported.
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

    /// What the test says of its executions.
    pub fn quantifier(&self) -> Quantifier {
        self.parsed.condition.quantifier
    }

    /// Returns all that the test can do under `model`.
    ///
    /// A C test is compiled for the model's processor by the usual mapping; see the
    /// [module](crate::litmus).
    ///
    /// # Errors
    ///
    /// If the model is for another architecture, or an access goes to no location.
    ///
    /// # Complexity
    ///
    /// In the worst case exponential in the number of reads and writes. What the model forbids is
    /// left as soon as the choices made so far show it.
    pub fn run(&self, model: Model) -> Result<Outcome, RunError> {
        let Parsed { architecture, memory, condition, .. } = &self.parsed;
        if !model.covers(*architecture) {
            return Err(RunError::Foreign { model, architecture: *architecture });
        }
        let compiled = self.compiled(model);
        let mut tally = Tally::default();
        each_choice(&compiled, &mut Vec::new(), &mut |paths| {
            let skeleton = Skeleton::new(memory, paths);
            Search::run(&skeleton, memory, model, &mut |graph| {
                tally.add(&self.parsed, model, &skeleton, paths, graph);
            });
        });
        if let Some((thread, place)) = tally.nowhere {
            return Err(RunError::Nowhere { thread, place });
        }
        let names: Vec<String> = condition.items.iter().map(|item| item.show(memory)).collect();
        let show = |(values, (executions, holds)): (Vec<i64>, (u64, bool))| State {
            values: names.iter().cloned().zip(values.iter().map(|value| memory.show(*value))).collect(),
            executions,
            satisfies: holds,
        };
        Ok(Outcome {
            name: self.parsed.name.clone(),
            quantifier: condition.quantifier,
            condition: condition.show(memory),
            states: tally.states.into_iter().map(show).collect(),
            races: tally.races.into_iter().map(|race| self.race(&race)).collect(),
        })
    }

    fn compiled(&self, model: Model) -> Vec<Vec<Path>> {
        let mut threads = self.parsed.paths.clone();
        if self.parsed.architecture == Architecture::C {
            let events = threads.iter_mut().flatten().flat_map(|path| &mut path.events);
            events.for_each(|event| model.compile(event));
        }
        threads
    }

    fn race(&self, race: &model::Pair) -> Race {
        Race {
            location: self.parsed.memory.locations[race.location].name.clone(),
            accesses: race.sides.clone().map(|side| Access {
                thread: side.thread,
                place: side.place,
                writes: side.writes,
            }),
        }
    }
}

/// Calls `visit` with each choice of one path for each thread, after those that are `chosen`.
fn each_choice<'a>(threads: &'a [Vec<Path>], chosen: &mut Vec<&'a Path>, visit: &mut impl FnMut(&[&Path])) {
    let Some((first, rest)) = threads.split_first() else { return visit(chosen) };
    for path in first {
        chosen.push(path);
        each_choice(rest, chosen, visit);
        chosen.pop();
    }
}

/// What was found so far.
#[derive(Debug, Default)]
struct Tally {
    /// For each final state the number of its executions, and whether it satisfies the condition.
    states: BTreeMap<Vec<i64>, (u64, bool)>,
    races: BTreeSet<model::Pair>,
    nowhere: Option<(usize, Place)>,
}

impl Tally {
    fn add(&mut self, parsed: &Parsed, model: Model, skeleton: &Skeleton, paths: &[&Path], graph: &Graph) {
        let memory = &parsed.memory;
        let outside =
            |event: &usize| graph.places[*event].is_some_and(|place| place == memory.locations.len());
        let accesses = skeleton.accesses() & !skeleton.initial;
        if let Some((event, thread)) =
            members(accesses).find(outside).and_then(|event| Some((event, skeleton.threads[event]?)))
        {
            self.nowhere = Some((thread, skeleton.events[event].place));
            return;
        }
        let value = |item: &Item| match item {
            Item::Register { thread, register, .. } => {
                let offset = skeleton.offsets[*thread];
                paths[*thread].last(*register).evaluate(&|read: &usize| graph.values[read + offset])
            }
            Item::Location(location) => graph.values[graph.last[*location]],
        };
        // The search finds no execution in which a value is not known.
        let Some(values) = parsed.condition.items.iter().map(value).collect::<Option<Vec<i64>>>() else {
            return;
        };
        if parsed.condition.filter.as_ref().is_some_and(|filter| !filter.holds(&values)) {
            return;
        }
        if model == Model::Rc11 {
            self.races.extend(model::races(skeleton, graph));
        }
        let satisfies = parsed.condition.proposition.holds(&values);
        self.states.entry(values).or_insert((0, satisfies)).0 += 1;
    }
}
