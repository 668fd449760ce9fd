//! A schedule as a short text, which a failure prints and a replay reads.
//!
//! A token is a version digit and bytes in the URL-safe alphabet of base 64: runs of defaults and
//! the decisions after them as variable-length numbers, and a check sum of four bytes before them.
//! If the program has to run under a setting, its name and a point stand before the token.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64URL_NOPAD;

use super::Schedule;

/// The first character of the tokens of this version.
const VERSION: char = '1';

/// The reason why a text is no token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenError {
    /// The text is empty.
    Empty,
    /// The text begins with a version that this library does not know.
    Version(char),
    /// There is a character that tokens do not have, at this place, counted from zero.
    Character(usize),
    /// The schedule needs a setting that this library does not know.
    Setting(String),
    /// The text was cut short, or has a wrong character in it.
    CheckSum,
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenError::Empty => write!(f, "the token is empty; copy the whole token from the report"),
            TokenError::Version(version) => write!(
                f,
                "the token begins with {version:?}, and this version of the checker reads tokens that begin \
                 with {VERSION:?}; run the check again to get one of them"
            ),
            TokenError::Character(place) => write!(
                f,
                "character {} of the token is none that tokens have (letters, digits, `-` and `_`), or one \
                 too many; copy the token from the report again",
                place + 1
            ),
            TokenError::Setting(setting) => write!(
                f,
                "the token begins with {setting:?}, which is no memory model that this version of the checker \
                 knows; run the check again to get another one"
            ),
            TokenError::CheckSum => {
                write!(f, "the token is mistyped or not complete; copy the token from the report again")
            }
        }
    }
}

impl Error for TokenError {}

impl fmt::Display for Schedule {
    /// Writes the schedule's token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut body = Vec::new();
        let mut defaults = 0;
        for &code in self.codes() {
            if code == 0 {
                defaults += 1;
            } else {
                put(&mut body, std::mem::take(&mut defaults));
                put(&mut body, code);
            }
        }
        let mut bytes = crc32fast::hash(&body).to_le_bytes().to_vec();
        bytes.extend(body);
        if let Some(setting) = self.setting() {
            write!(f, "{setting}.")?;
        }
        write!(f, "{VERSION}{}", BASE64URL_NOPAD.encode(&bytes))
    }
}

impl FromStr for Schedule {
    type Err = TokenError;

    /// Reads a token. White space around it does not matter.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not a token that [`Display`](fmt::Display) writes for a
    /// schedule.
    fn from_str(token: &str) -> Result<Self, TokenError> {
        let token = token.trim();
        if let Some((setting, token)) = token.split_once('.') {
            return Ok(token.parse::<Schedule>()?.under(Some(setting)));
        }
        let version = token.chars().next().ok_or(TokenError::Empty)?;
        if version != VERSION {
            return Err(TokenError::Version(version));
        }
        let text = &token[VERSION.len_utf8()..];
        let decoded = BASE64URL_NOPAD.decode(text.as_bytes());
        let bytes = decoded.map_err(|error| match error.kind {
            data_encoding::DecodeKind::Symbol => TokenError::Character(error.position + VERSION.len_utf8()),
            _ => TokenError::CheckSum,
        })?;
        let (sum, mut body) = bytes.split_first_chunk().ok_or(TokenError::CheckSum)?;
        if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
            return Err(TokenError::CheckSum);
        }
        let mut codes = Vec::new();
        while !body.is_empty() {
            let defaults = take(&mut body).ok_or(TokenError::CheckSum)?;
            let code = take(&mut body).ok_or(TokenError::CheckSum)?;
            codes.resize(codes.len() + defaults as usize, 0);
            codes.push(code);
        }
        Ok(Schedule::from_codes(codes))
    }
}

/// Appends a number, seven bits to a byte.
fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a number off the front.
fn take(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in (0..32).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back() {
        let mut random = fastrand::Rng::with_seed(1);
        for length in 0..300 {
            let code = |random: &mut fastrand::Rng| if random.u8(..) < 200 { 0 } else { random.u32(..1000) };
            let schedule = Schedule::from_codes((0..length).map(|_| code(&mut random)).collect());
            assert_eq!(schedule.to_string().parse(), Ok(schedule.clone()));
            let under = schedule.under(Some("rc11"));
            assert_eq!(under.to_string().parse(), Ok(under));
        }
    }

    #[test]
    fn a_long_run_of_defaults_is_short() {
        let mut codes = vec![0; 100_000];
        codes.push(2);
        assert!(Schedule::from_codes(codes).to_string().len() <= 12);
    }

    #[test]
    fn each_mistyped_character_is_noticed() {
        let token = Schedule::from_codes(vec![0, 0, 1, 0, 3, 0, 0, 0, 2]).to_string();
        for place in 0..token.len() {
            for other in ['A', 'z', '7', '_'] {
                let mut mistyped: Vec<char> = token.chars().collect();
                if mistyped[place] == other {
                    continue;
                }
                mistyped[place] = other;
                let mistyped: String = mistyped.into_iter().collect();
                assert!(mistyped.parse::<Schedule>().is_err(), "{mistyped}");
            }
            assert!(token[..place].parse::<Schedule>().is_err());
        }
    }

    #[test]
    fn errors_say_what_to_do() {
        assert_eq!("".parse::<Schedule>(), Err(TokenError::Empty));
        assert_eq!("9abc".parse::<Schedule>(), Err(TokenError::Version('9')));
        assert_eq!("1ab!c".parse::<Schedule>(), Err(TokenError::Character(3)));
        assert!(TokenError::Character(3).to_string().contains("character 4"));
    }
}
