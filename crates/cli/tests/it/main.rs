//! The program as users run it. Most of these tests need root, some of them programs that `scripts/install-dependencies tests` installs; without them
//! they fail, they do not skip. What measures on this machine takes [`common::ONE_AT_A_TIME`].
#![allow(missing_docs, reason = "tests")]

mod action;
mod advice;
mod agent;
#[path = "../../../report/tests/browser/mod.rs"]
mod browser;
mod campaign;
mod command_line;
mod common;
mod conformance;
mod demo;
#[path = "../../../io/tests/memif/device.rs"]
mod device;
mod dns;
mod doctor;
mod dpdk;
mod gate;
mod github;
mod governor;
mod history;
mod hostile_results;
mod init;
mod interfaces;
mod isolation;
mod lists;
mod live;
mod locks;
mod memif;
mod mistakes;
mod one_device;
mod own_recipes;
mod pages;
mod paper;
mod plans;
mod privileges;
mod python;
mod queues;
mod refusals;
mod release;
#[path = "common/results.rs"]
mod results;
mod results_directory;
#[path = "../../../testbed/tests/it/common/room.rs"]
mod room;
mod rows;
mod slurm;
mod ssh;
mod standard_output;
mod stop;
mod subscribers;
mod testbed;
mod three_machines;
mod trust;
mod workflows;
