//! The part of HTTP/1.1 that a server of static files needs, without any input or output.
//! Everything here maps bytes to values and values to bytes, so all of it can be tested without a
//! socket.
//!
//! `httparse` parses the general syntax. This module decides how much of it is accepted, and which
//! status answers the rest. Section numbers in the comments refer to RFC 9110 (semantics) and RFC
//! 9112 (syntax).

pub(crate) mod body;
pub(crate) mod condition;
pub(crate) mod date;
pub(crate) mod fields;
pub(crate) mod media;
pub(crate) mod range;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod status;
