//! Lists of streams.
