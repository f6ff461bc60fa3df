//! The binary: arguments, configuration, commands, and views of what happens.

mod config;

fn main() {}
