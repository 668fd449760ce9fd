//! One JSON object a line, for programs.

use super::summary::{Line, Table};
use serde_json::{Map, Value, json};

pub(crate) fn lines(tables: &[Table]) -> String {
    let rows = tables.iter().flat_map(|table| table.rows.iter().map(move |line| object(table, line)));
    rows.map(|row| format!("{row}\n")).collect()
}

fn object(table: &Table, line: &Line) -> Value {
    let group = &table.group;
    let mut params: Map<String, Value> =
        group.params.iter().map(|(name, value)| (name.clone(), (*value).into())).collect();
    if !table.figure.is_empty() {
        params.insert("figure".to_owned(), table.figure.clone().into());
    }
    let stats = line.result.as_ref().ok();
    let mut object = json!({
        "bench": group.workload.name,
        "params": params,
        "system": line.system,
        "variant": group.case.variant,
        "workers": group.workers,
        "unit": table.unit().name,
        "median": stats.map(|stats| stats.median),
        "min": stats.map(|stats| stats.min),
        "max": stats.map(|stats| stats.max),
        "p99": stats.and_then(|stats| stats.p99),
        "rounds": stats.and_then(|stats| stats.rounds).unwrap_or(0),
        "to_limit": stats.and_then(|stats| stats.to_limit),
        "rss_bytes": stats.map(|stats| stats.rss_bytes as u64),
        "cpu_seconds": stats.map(|stats| stats.cpu_seconds),
    });
    if let Err(why) = &line.result {
        object["error"] = why.clone().into();
    }
    object
}
