//! The document as a page of the site, in the frame that its pages have. All its links stay within
//! the site.

use super::Part;
use crate::report::{
    html::{HOW_TO_READ, PLOTS},
    markup::escape,
};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html::push_html};
use std::fmt::Write;

/// The page around the document, with `{…}` where its pieces go.
const FRAME: &str = include_str!("site/frame.html");
/// The names of the site's colours, for the plots.
const COLOURS: &str = include_str!("site/colours.css");

pub(super) fn page(parts: &[Part]) -> String {
    let mut body = String::new();
    let mut contents = Contents::default();
    for part in parts {
        match part {
            Part::Text(text) | Part::Detail(text) => body += &html(text, &mut contents),
            Part::Numbers(text) => {
                let table = html(text, &mut contents);
                let _ = write!(body, "<details><summary>Numbers</summary>\n{table}</details>\n");
            }
            Part::Plots(plots) => body += plots,
        }
    }
    // The first heading is the page's own. The text after its first paragraph comes after the list.
    let (start, rest) = body.split_once("</p>\n").unwrap_or((&body, ""));
    let start = start.replacen("<p>", "<p class=\"lead\">", 1);
    FRAME
        .replace("{styles}", &format!("{COLOURS}{PLOTS}"))
        .replace("{body}", &format!("{start}</p>\n{}{HOW_TO_READ}\n{rest}", contents.list()))
}

/// The headings so far.
#[derive(Default)]
struct Contents {
    /// Level, text, and anchor.
    headings: Vec<(HeadingLevel, String, String)>,
}

impl Contents {
    /// Adds a heading; gives its name, which no other has.
    fn add(&mut self, level: HeadingLevel, text: &str) -> String {
        let is_of_name = |c: char| c.is_alphanumeric() || c == '-';
        let words = text.to_lowercase().replace(' ', "-");
        let name: String = words.chars().filter(|c| is_of_name(*c)).collect();
        let has = |name: &str| self.headings.iter().any(|(_, _, other)| other == name);
        let unique = if has(&name) {
            (2..).map(|n| format!("{name}-{n}")).find(|name| !has(name)).expect("there are enough numbers")
        } else {
            name
        };
        self.headings.push((level, text.to_owned(), unique.clone()));
        unique
    }

    /// A line of links for each chapter: to it, and to its workloads.
    fn list(&self) -> String {
        let mut text = String::new();
        for (level, title, name) in &self.headings {
            let link = format!("<a href=\"#{name}\">{}</a>", escape(title));
            match level {
                HeadingLevel::H1 => {}
                HeadingLevel::H2 if text.is_empty() => text += &format!("<ul>\n<li><strong>{link}</strong>"),
                HeadingLevel::H2 => text += &format!("</li>\n<li><strong>{link}</strong>"),
                _ => text += &format!(" {link}"),
            }
        }
        format!("<nav aria-label=\"On this page\">{text}</li>\n</ul></nav>\n")
    }
}

/// Markdown as HTML: headings have names, and tables can be scrolled. Links that lead out of the site
/// are left out. So are pictures, which the page contains.
fn html(markdown: &str, contents: &mut Contents) -> String {
    let events: Vec<Event<'_>> = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
    let mut changed = Vec::with_capacity(events.len());
    let (mut leads_out, mut in_image) = (false, false);
    for (i, event) in events.iter().enumerate() {
        let html = |text: &str| Event::Html(CowStr::from(text.to_owned()));
        match event {
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                let text: String = events[i + 1..].iter().map_while(text_of).collect();
                changed.push(Event::Start(Tag::Heading {
                    level: *level,
                    id: Some(contents.add(*level, &text).into()),
                    classes: classes.clone(),
                    attrs: attrs.clone(),
                }));
            }
            Event::Start(Tag::Table(_)) => changed.extend([html("<div class=\"wide\">"), event.clone()]),
            Event::End(TagEnd::Table) => changed.extend([event.clone(), html("</div>\n")]),
            Event::Start(Tag::Image { .. }) => in_image = true,
            Event::End(TagEnd::Image) => in_image = false,
            _ if in_image => {}
            Event::Start(Tag::Link { dest_url, .. }) if !dest_url.starts_with('#') => {
                leads_out = true;
            }
            Event::End(TagEnd::Link) if leads_out => leads_out = false,
            _ => changed.push(event.clone()),
        }
    }
    let mut text = String::new();
    push_html(&mut text, changed.into_iter());
    text
}

/// The text of a heading, up to its end.
fn text_of(event: &Event<'_>) -> Option<String> {
    match event {
        Event::End(TagEnd::Heading(_)) => None,
        Event::Text(text) | Event::Code(text) => Some(text.to_string()),
        _ => Some(String::new()),
    }
}
