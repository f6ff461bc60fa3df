//! The recipes of this project on this machine and in the kernel lab. These tests need root, and fail rather than skip without it.
#![allow(missing_docs, reason = "tests")]

mod common;
mod dns;
mod lab;
mod teardown;
mod traffic;
