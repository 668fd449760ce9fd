//! The numbers of a plot, as a table.

use crate::{
    report::{
        markup::escape,
        numbers::{bytes, number},
        summary::{Line, Stats, Table},
    },
    systems,
};

pub(in crate::report) fn figures(table: &Table) -> String {
    let mut heads = vec!["median", "min", "max", "to best", "p99", "resident", "CPU s", "rounds"];
    if table.has_limit() {
        heads.insert(4, "to limit");
    }
    let head: String = heads.iter().map(|name| format!("<th>{name}</th>")).collect();
    let rows: String = table.rows.iter().map(|line| row(line, heads.len())).collect();
    format!(
        "<details><summary>Numbers</summary><div class=\"wide\"><table class=\"figures\">\n\
         <thead><tr><th>{}</th>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div></details>\n",
        escape(table.unit().name),
    )
}

fn row(line: &Line, columns: usize) -> String {
    let class = if systems::is_own(line.system) { " class=\"lisle\"" } else { "" };
    let cells = match &line.result {
        Err(why) => format!("<td class=\"why\" colspan=\"{columns}\">{}</td>", escape(why)),
        Ok(stats) => {
            let Stats { median, min, max, p99, rounds, rss_bytes, cpu_seconds, behind, to_limit } = *stats;
            let mut cells = vec![
                number(median),
                number(min),
                number(max),
                format!("{behind:.2}"),
                p99.map_or(String::new(), number),
                bytes(rss_bytes),
                format!("{cpu_seconds:.2}"),
                rounds.map_or(String::new(), |rounds| rounds.to_string()),
            ];
            if let Some(ratio) = to_limit {
                cells.insert(4, format!("{ratio:.2}"));
            }
            cells.iter().map(|cell| format!("<td>{cell}</td>")).collect()
        }
    };
    format!("<tr{class}><th>{}</th>{cells}</tr>\n", escape(line.system))
}
