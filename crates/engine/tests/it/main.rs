//! The whole tester, on devices in memory, on links of the kernel and on loopback. Trials keep cores busy, so [`common::ONE_AT_A_TIME`] admits one.
#![allow(missing_docs, reason = "tests")]

mod broadcasts;
mod bursts;
mod captures;
mod common;
mod conformance;
mod conformance_dns;
mod conformance_load;
mod conformance_malformed;
mod conformance_relay;
mod dead_link;
mod delays;
mod dns;
mod dns_cached;
mod dns_counters;
mod dns_rigged;
mod echo;
mod hostile;
mod hostile_veth;
mod mapped;
mod mixed_sizes;
mod queues;
mod ramp;
mod reference;
mod response;
mod rigged;
mod stateful;
mod tcp;
mod tcp_nat;
mod traffic;
mod tunnels;
mod two_machines;
mod verified_fields;
