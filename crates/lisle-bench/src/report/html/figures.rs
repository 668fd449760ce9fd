//! The numbers of a plot, as a table.

use crate::{
    report::{
        markup::escape,
        numbers::{bytes, number},
        summary::{Line, Stats, Table},
    },
    systems,
};

pub(super) fn figures(table: &Table) -> String {
    const HEAD: &[&str] = &["median", "min", "max", "to best", "p99", "resident", "CPU s", "rounds"];
    let head: String = HEAD.iter().map(|name| format!("<th>{name}</th>")).collect();
    let rows: String = table.rows.iter().map(|line| row(line, HEAD.len())).collect();
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
            let Stats { median, min, max, p99, rounds, rss_bytes, cpu_seconds, behind } = *stats;
            let cells = [
                number(median),
                number(min),
                number(max),
                format!("{behind:.2}"),
                p99.map_or(String::new(), number),
                bytes(rss_bytes),
                format!("{cpu_seconds:.2}"),
                rounds.map_or(String::new(), |rounds| rounds.to_string()),
            ];
            cells.map(|cell| format!("<td>{cell}</td>")).concat()
        }
    };
    format!("<tr{class}><th>{}</th>{cells}</tr>\n", escape(line.system))
}
