//! A trace as a page: a table with a column for each fiber and task, a slider through the steps,
//! and the state of each fiber and task at the chosen step.
//!
//! The page needs no other file. It has the trace as JSON, and its script inserts texts as texts,
//! so that a name is never read as markup.

use super::Trace;
use serde_json::json;

/// The template of the page. Words in double braces stand for the inserted parts.
const TEMPLATE: &str = include_str!("page.html");

/// Writes a page of traces, each with a heading.
pub(in crate::program) fn write(title: &str, report: &str, traces: &[(&str, &Trace)]) -> String {
    let traces: Vec<_> =
        traces.iter().map(|(heading, trace)| json!({ "heading": heading, "trace": trace })).collect();
    // The text must not end the element around it.
    let traces = json!(traces).to_string().replace('<', "\\u003c");
    let mut page = String::new();
    let mut parts = TEMPLATE.split("{{");
    page += parts.next().unwrap_or_default();
    for part in parts {
        let (name, rest) = part.split_once("}}").expect("the template closes its braces");
        match name {
            "title" => page += &escaped(title),
            "report" => page += &escaped(report),
            "traces" => page += &traces,
            other => unreachable!("the template has `{other}`"),
        }
        page += rest;
    }
    page
}

/// Returns the text escaped for an element.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
