//! The libFuzzer program for one target: the one that `SIXBENCH_FUZZ_TARGET` names at compile time. A program for all targets would be ten times
//! slower, as libFuzzer examines the counters of all code in the program after each input. `scripts/fuzz` builds and runs it.
#![no_main]

/// The allocator of the program, which speeds up parsing.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const RUN: fn(&[u8]) = sixbench_fuzz::function(env!("SIXBENCH_FUZZ_TARGET"));

libfuzzer_sys::fuzz_target!(|input: &[u8]| RUN(input));
