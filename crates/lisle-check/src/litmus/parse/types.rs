//! The types that a test gives its locations, registers and variables.

use super::cursor::Cursor;
use super::lexer::Token;
use crate::litmus::error::ParseError;
use crate::litmus::program::Type;

const SUPPORTED: &str = "supported types: int, short, long, int8_t to int64_t, uint8_t to uint64_t, intptr_t, \
    uintptr_t, atomic_int, atomic_long, spinlock_t, and pointers";

/// Words that say nothing of a type's values.
const QUALIFIERS: [&str; 6] = ["volatile", "const", "_Atomic", "signed", "register", "static"];

/// Reads the words of a type, up to a name, a star, or a thread's number. Returns `None` if there
/// are none.
pub(super) fn before_name(cursor: &mut Cursor<'_>) -> Result<Option<Type>, ParseError> {
    read(cursor, |token| matches!(token, Some(Token::Word(_) | Token::Number(_) | Token::Symbol("*"))))
}

/// Reads the type of a cast, of which `(` has been read, and `)`.
pub(super) fn cast(cursor: &mut Cursor<'_>) -> Result<Option<Type>, ParseError> {
    let ty = read(cursor, |token| matches!(token, Some(Token::Word(_) | Token::Symbol("*" | ")"))))?;
    cursor.symbol(")")?;
    Ok(ty)
}

fn read(cursor: &mut Cursor<'_>, goes_on: fn(Option<Token<'_>>) -> bool) -> Result<Option<Type>, ParseError> {
    let (mut found, mut any, mut stars) = (None, false, 0);
    let mut unknown = None;
    loop {
        let at = *cursor;
        match cursor.peek() {
            Some(Token::Symbol("*")) => {
                cursor.take();
                stars += 1;
                any = true;
            }
            Some(Token::Word(word)) if goes_on(cursor.peek_second()) => {
                cursor.take();
                any = true;
                let ty = Type::known(word);
                match (found, ty) {
                    _ if QUALIFIERS.contains(&word) => {}
                    // `long int` and `long long`.
                    (Some(Type::LONG), Some(Type::LONG | Type::INT)) => {}
                    (None, Some(ty)) => found = Some(ty),
                    _ => unknown = unknown.or(Some((at, word))),
                }
            }
            _ => break,
        }
    }
    match unknown {
        _ if stars > 0 => Ok(Some(Type::LONG)),
        Some((at, word)) => Err(at.error(format!("the type `{word}` is not supported here")).help(SUPPORTED)),
        None => Ok(found.or(any.then_some(Type::INT))),
    }
}

/// The type that a pointer of these words and as many stars points to.
pub(super) fn pointed_to(words: &mut Cursor<'_>, stars: usize) -> Result<Type, ParseError> {
    if stars > 1 {
        return Ok(Type::LONG);
    }
    let ty = read(words, |_| true)?.unwrap_or(Type::INT);
    words.end()?;
    Ok(ty)
}
