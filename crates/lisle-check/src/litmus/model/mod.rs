//! The memory models, as axioms on executions. The module's page has them in prose, with sources.

mod arm8;
mod rc11;
mod sc;
mod tso;

use std::fmt;
use std::str::FromStr;

use super::execution::search::Graph;
use super::execution::skeleton::Skeleton;
use super::program::path::{Event, Kind};
use super::program::{Architecture, Order};
pub(crate) use rc11::{Pair, races};

/// A memory model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Model {
    /// Sequential consistency: an interleaving of the threads explains all reads (Lamport 1979).
    Sc,
    /// x86-TSO: each thread has a queue of stores (Owens, Sarkar and Sewell 2009).
    Tso,
    /// The repaired model of C11 (Lahav et al. 2017) with the release sequences of C++20.
    Rc11,
    /// Armv8 (Pulte et al. 2018). A C test's acquire loads are compiled to LDAR.
    Arm8,
    /// Armv8, with a C test's acquire loads compiled to LDAPR. The same as `Arm8` for other tests.
    Arm8Rcpc,
}

impl Model {
    /// The model of an architecture's own tests.
    pub fn of(architecture: Architecture) -> Model {
        match architecture {
            Architecture::C => Model::Rc11,
            Architecture::X86 => Model::Tso,
            Architecture::AArch64 => Model::Arm8,
        }
    }

    /// Returns `true` if the model has a meaning for tests of this architecture.
    pub fn covers(self, architecture: Architecture) -> bool {
        match self {
            Model::Sc => true,
            Model::Tso => matches!(architecture, Architecture::C | Architecture::X86),
            Model::Rc11 => architecture == Architecture::C,
            Model::Arm8 | Model::Arm8Rcpc => matches!(architecture, Architecture::C | Architecture::AArch64),
        }
    }

    /// Returns `true` if the model covers accesses of different sizes to the same bytes.
    pub(crate) fn is_for_parts(self) -> bool {
        matches!(self, Model::Sc | Model::Arm8 | Model::Arm8Rcpc)
    }

    /// The axioms for these events; where `graph` has all locations, also for later graphs.
    pub(crate) fn axioms(self, skeleton: &Skeleton, graph: &Graph) -> Box<dyn Axioms> {
        match self {
            Model::Sc => Box::new(sc::Sc::new(skeleton)),
            Model::Tso => Box::new(tso::Tso::new(skeleton, graph)),
            Model::Rc11 => Box::new(rc11::Rc11::new(skeleton, graph)),
            Model::Arm8 | Model::Arm8Rcpc => Box::new(arm8::Arm8::new(skeleton, graph)),
        }
    }

    /// Compiles one event of C for the model's processor, by the usual mapping.
    pub(crate) fn compile(self, event: &mut Event) {
        match (self, &mut event.kind) {
            (Model::Tso, Kind::Fence(fence)) => *fence = tso::compile(*fence),
            // An XCHG.
            (Model::Tso, Kind::Write) => event.locked |= event.order == Order::SequentiallyConsistent,
            (Model::Arm8 | Model::Arm8Rcpc, Kind::Fence(fence)) => *fence = arm8::compile(*fence),
            // There is no LDAPR that is part of an update.
            (Model::Arm8Rcpc, Kind::Read) if event.order == Order::Acquire && !event.locked => {
                event.order = Order::AcquirePc;
            }
            _ => {}
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Rc11 => "rc11",
            Model::Arm8 => "arm8",
            Model::Arm8Rcpc => "arm8 with LDAPR",
        })
    }
}

/// The error of a name without a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownModel(());

impl fmt::Display for UnknownModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected sc, tso, rc11 or arm8")
    }
}

impl std::error::Error for UnknownModel {}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Model, UnknownModel> {
        match name {
            "sc" => Ok(Model::Sc),
            "tso" => Ok(Model::Tso),
            "rc11" => Ok(Model::Rc11),
            "arm8" => Ok(Model::Arm8),
            _ => Err(UnknownModel(())),
        }
    }
}

/// The axioms of a model for the executions of one skeleton.
///
/// Invariant: if it refuses a graph, it refuses every graph with more choices made.
pub(crate) trait Axioms {
    /// Returns `true` if nothing in the graph is forbidden.
    fn allow(&self, skeleton: &Skeleton, graph: &Graph) -> bool;
}
