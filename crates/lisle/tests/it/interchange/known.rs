//! Programs whose results are known without any machine.

use super::all_kinds;
use super::program::{Datum, Exp, Fate, Name, Outcome, Program, Seen, Var, bind};
use super::runner;
use super::search::{Steps, outcomes};
use crate::support::watched;
use lisle::Runtime;
use std::collections::HashSet;

/// The channel in all of these programs.
const C: Var = 0;
/// A variable that is not read.
const UNUSED: Var = 99;

fn number(number: u8) -> Exp {
    Exp::Constant(Datum::Number(number))
}

fn send(value: u8) -> Exp {
    Exp::Send(Exp::Variable(C).into(), number(value).into())
}

fn receive() -> Exp {
    Exp::Receive(Exp::Variable(C).into())
}

fn spawn(name: Name, body: Exp) -> Exp {
    Exp::Spawn(name, body.into())
}

/// Returns a choice. Its value is the alternative's value; for sends it is the number given here.
fn choose(alternatives: impl IntoIterator<Item = (Exp, Option<u8>)>) -> Exp {
    let var = |place: usize| 50 + place;
    let alternative = |(place, (offer, value)): (usize, (Exp, Option<u8>))| {
        let body = value.map_or(Exp::Variable(var(place)), number);
        (offer.into(), Exp::Lambda(var(place), body.into()).into())
    };
    Exp::Choose(alternatives.into_iter().enumerate().map(alternative).collect())
}

fn sequence<const N: usize>(all: [Exp; N]) -> Exp {
    let in_turn = |then: Exp, first: Exp| bind(UNUSED, first, then);
    all.into_iter().rev().reduce(in_turn).expect("there is one")
}

/// Returns the fate of a thread that has seen these values by these alternatives and has ended with
/// `value`.
fn ended<const N: usize>(seen: [(usize, Datum); N], value: Datum) -> Option<Fate> {
    Some(Fate { seen: log(seen), value: Some(value) })
}

fn stuck<const N: usize>(seen: [(usize, Datum); N]) -> Option<Fate> {
    Some(Fate { seen: log(seen), value: None })
}

fn log<const N: usize>(seen: [(usize, Datum); N]) -> Vec<Seen> {
    seen.into_iter().map(|(alternative, value)| Seen { alternative, value }).collect()
}

const UNIT: Datum = Datum::Unit;
const SEVEN: Datum = Datum::Number(7);
const EIGHT: Datum = Datum::Number(8);

/// Checks that the machine allows exactly these results, and that the library produces one of them.
fn check<const N: usize>(threads: usize, body: Exp, expected: [Outcome; N]) {
    let _watched = watched();
    let program = Program { body: bind(C, Exp::Channel, body).into(), threads };
    let expected = HashSet::from(expected);
    for kinds in all_kinds(threads) {
        for steps in [Steps::All, Steps::Essential] {
            let found = outcomes(&program, &kinds, steps, usize::MAX).unwrap();
            assert_eq!(found.outcomes, expected, "{steps:?} with {kinds:?}: {program:?}");
        }
        for domains in [1, 2] {
            let run = |seed| runner::run(&program, &kinds, domains, seed);
            let all = || (0..20).map(run).collect::<HashSet<_>>();
            let seen = Runtime::builder().domains(domains).stall_report(None).run(all);
            assert!(seen.is_subset(&expected), "{kinds:?} come to {seen:#?}");
        }
    }
}

#[test]
fn a_message_arrives() {
    let body = sequence([spawn(1, receive()), send(7)]);
    check(2, body, [vec![ended([(0, UNIT)], UNIT), ended([(0, SEVEN)], SEVEN)]]);
}

#[test]
fn one_of_two_receivers_gets_it_and_the_other_waits_for_ever() {
    let body = sequence([spawn(1, receive()), spawn(2, receive()), send(7)]);
    let (sender, has, waits) = (ended([(0, UNIT)], UNIT), ended([(0, SEVEN)], SEVEN), stuck([]));
    check(3, body, [vec![sender.clone(), has.clone(), waits.clone()], vec![sender, waits, has]]);
}

#[test]
fn messages_of_one_sender_keep_their_order() {
    let body = sequence([spawn(1, sequence([send(7), send(8)])), receive(), receive()]);
    let receiver = ended([(0, SEVEN), (0, EIGHT)], EIGHT);
    check(2, body, [vec![receiver, ended([(0, UNIT), (0, UNIT)], UNIT)]]);
}

#[test]
fn messages_of_two_senders_come_in_any_order() {
    let body = sequence([spawn(1, send(7)), spawn(2, send(8)), receive(), receive()]);
    let sender = || ended([(0, UNIT)], UNIT);
    let receiver = |first, second| ended([(0, first), (0, second)], second);
    let either = [(SEVEN, EIGHT), (EIGHT, SEVEN)];
    check(3, body, either.map(|(first, second)| vec![receiver(first, second), sender(), sender()]));
}

#[test]
fn a_choice_does_not_communicate_with_itself() {
    check(1, choose([(send(7), Some(1)), (receive(), None)]), [vec![stuck([])]]);
}

/// Either thread may send, and the other then receives, although each could do both.
#[test]
fn two_choices_meet_one_way_or_the_other() {
    let both = || choose([(send(7), Some(8)), (receive(), None)]);
    let (sends, receives) = (ended([(0, UNIT)], EIGHT), ended([(1, SEVEN)], SEVEN));
    let body = sequence([spawn(1, both()), both()]);
    check(2, body, [vec![sends.clone(), receives.clone()], vec![receives, sends]]);
}

/// A task that has moved to a thread of its own in between still communicates.
#[test]
fn an_inflated_task_goes_on() {
    let inflates = sequence([receive(), Exp::Inflate(sequence([receive(), send(8)]).into())]);
    let body = sequence([spawn(1, inflates), send(7), send(7), receive()]);
    let spawner = ended([(0, UNIT), (0, UNIT), (0, EIGHT)], EIGHT);
    check(2, body, [vec![spawner, ended([(0, SEVEN), (0, SEVEN), (0, UNIT)], UNIT)]]);
}

/// A thread that is never spawned has no fate.
#[test]
fn a_thread_that_waits_for_ever_spawns_none() {
    check(2, sequence([receive(), spawn(1, send(7))]), [vec![stuck([]), None]]);
}
