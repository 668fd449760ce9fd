//! The arguments of the program.

use std::str::FromStr;

pub(crate) const USAGE: &str = "\
Shows a flock whose agents are streams of a world of frames, live in a browser.

Usage: boids [OPTIONS]

  --agents N    how many agents there are [default: 20000]
  --frames N    ends after so many frames; 0 goes on until Ctrl-C [default: 0]
  --port N      the port of the page; 0 takes one that is free [default: 8080]
  --workers N   how many domains, threads that run fibers and foreign calls; 0 takes as many as
                there are cores [default: 0]
";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) agents: usize,
    pub(crate) frames: u64,
    pub(crate) port: u16,
    pub(crate) workers: usize,
}

impl Options {
    /// Returns the options that the arguments give, or a message about a wrong argument.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options { agents: 20_000, frames: 0, port: 8080, workers: 0 };
        while let Some(name) = arguments.next() {
            let value = arguments.next();
            match name.as_str() {
                "--agents" => options.agents = number(&name, value)?,
                "--frames" => options.frames = number(&name, value)?,
                "--port" => options.port = number(&name, value)?,
                "--workers" => options.workers = number(&name, value)?,
                _ => return Err(format!("there is no option {name}")),
            }
        }
        Ok(options)
    }
}

fn number<N: FromStr>(name: &str, value: Option<String>) -> Result<N, String> {
    let value = value.ok_or_else(|| format!("{name} needs a number"))?;
    value.parse().map_err(|_| format!("{name} needs a number, and {value} is none that it takes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &str) -> Result<Options, String> {
        Options::parse(arguments.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_are_read() {
        let options = parse("--agents 5 --port 0 --workers 3 --frames 7").unwrap();
        assert_eq!(options, Options { agents: 5, frames: 7, port: 0, workers: 3 });
        assert_eq!(parse("").unwrap().agents, 20_000);
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(parse("--agent 5").unwrap_err(), "there is no option --agent");
        assert_eq!(parse("--agents").unwrap_err(), "--agents needs a number");
        assert!(parse("--port 70000").unwrap_err().contains("70000"));
    }
}
