//! Tests of the library that were not right, or are delicate, with `check` around them.
