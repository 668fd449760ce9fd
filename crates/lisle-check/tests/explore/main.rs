//! The exploration engine against brute force, and against the counts of the literature.

mod brute;
mod counts;
mod parallel;
mod random_programs;
mod speed;
mod strategies;
mod toy;
