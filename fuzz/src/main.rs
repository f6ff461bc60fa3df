//! The program that libFuzzer makes of one target: the one that `SIXBENCH_FUZZ_TARGET` names when it is compiled. A program of all targets would be
//! ten times slower, as libFuzzer looks at the counters of all code in it after each input. `scripts/fuzz` builds and runs it.
#![no_main]

/// The allocator of the program, with which inputs are read faster.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const RUN: fn(&[u8]) = sixbench_fuzz::function(env!("SIXBENCH_FUZZ_TARGET"));

libfuzzer_sys::fuzz_target!(|input: &[u8]| RUN(input));
