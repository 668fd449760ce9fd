//! Thread-locals and the library: how they are made, and what their destructors may do. In a
//! process of its own, since a panic that leaves such a destructor ends the process.

mod initializers;
