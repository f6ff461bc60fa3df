//! What a trial of TCP connections counted (RFC 3511 sections 5.2 and 5.3), and what it is as a trial among others. Counts and times only,
//! never a ratio.

use super::{DirectionResult, Fault, Sending, TrialOutcome, TrialResult, TrialSpec};
use crate::terms::Direction;
use crate::units::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// The way connections are closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Close {
    /// The server sends the first FIN, after its response.
    #[default]
    ServerFirst,
    /// The client sends the first FIN, after the response.
    ClientFirst,
    /// The client sends a RST after the response.
    Reset,
}

/// The two trials of RFC 3511.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpTrial {
    /// Connections one after the other, each closed when its response is there (section 5.3).
    Rate,
    /// Connections that are all kept open (section 5.2).
    Capacity,
}

/// The specification of a trial of TCP connections, as given to the tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TcpSpec {
    /// The kind of trial.
    pub trial: TcpTrial,
    /// Connections tried per second.
    pub rate: u64,
    /// Connections.
    pub connections: u64,
    /// Octets of the object in each response, its head not counted.
    pub object_octets: u32,
    /// The time limit of each connection, nanoseconds.
    pub time_limit_ns: u64,
    /// The way connections are closed.
    pub close: Close,
}

/// The counts of one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TcpResult {
    /// The specification of the trial.
    pub spec: TcpSpec,
    /// The server's address as the client has it; `None` of an earlier record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_address: Option<IpAddr>,
    /// The numbers of connections by outcome, up to the first response.
    pub connections: ConnectionCounts,
    /// The check that they were still alive when all were open (capacity only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// Times from SYN to SYN/ACK of established connections, as the client's connect() sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect: Option<Times>,
    /// Times from SYN to the last octet of the first response of completed connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete: Option<Times>,
    /// Statistics on how well the client kept its schedule.
    pub pace: Pace,
    /// The counts of the server; `None` where it is not the tester's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerCounts>,
    /// The counts of the tester's own kernel.
    pub kernel: KernelCounts,
    /// The first connections that failed, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
}

/// Connections by their result. Every attempted one has exactly one: `completed`, `refused`, `reset`, `unreachable`, `timed_out`,
/// `unverified` or `wrong`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionCounts {
    /// Connections that the schedule held.
    pub intended: u64,
    /// Connections whose SYN left the tester.
    pub attempted: u64,
    /// Connections whose SYN/ACK came.
    pub established: u64,
    /// Connections whose first response came and was right in every octet.
    pub completed: u64,
    /// Answered by a RST instead of a SYN/ACK.
    pub refused: u64,
    /// Established, then ended by a RST.
    pub reset: u64,
    /// Ended by an ICMP or ICMPv6 error, or another error of the network.
    pub unreachable: u64,
    /// Connections without any answer within the time limit.
    pub timed_out: u64,
    /// Established, but without a whole response within the time limit.
    pub unverified: u64,
    /// Connections whose response was another one, or whose end came before its last octet.
    pub wrong: u64,
    /// The number of completed connections that were not closed in order and in time.
    pub unclosed: u64,
}

/// Connections when all were open: each was asked once more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Asked: completed before, and not seen to end since.
    pub requested: u64,
    /// Still alive: the second response was right in every octet.
    pub alive: u64,
    /// Completed before, and closed or reset before they were asked or instead of an answer.
    pub ended: u64,
    /// Connections without a whole response within the time limit.
    pub timed_out: u64,
    /// Connections whose response was another one.
    pub wrong: u64,
}

/// Times of connections, nanoseconds (RFC 3511 sections 5.2.4.2 and 5.3.4.2 ask for minimum, maximum, average and aggregate).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// Connections it is about.
    pub count: u64,
    /// The smallest.
    pub min_ns: u64,
    /// The median.
    pub median_ns: u64,
    /// The 99.9th percentile.
    pub p999_ns: u64,
    /// The largest.
    pub max_ns: u64,
    /// The sum of all: the aggregate; the average follows from it.
    pub sum_ns: u64,
}

/// Statistics on how well the client kept its schedule. In a capacity trial, that of opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pace {
    /// From the first to the last attempt by the schedule, nanoseconds.
    pub nominal_ns: u64,
    /// From the first to the last attempt as it happened, nanoseconds.
    pub took_ns: u64,
    /// The worst delay of an attempt behind its own due time, nanoseconds.
    pub worst_lateness_ns: u64,
    /// Attempts made later than `stall_ns` behind their due time.
    pub late: u64,
    /// The bound of the settings, nanoseconds.
    pub stall_ns: u64,
    /// The longest work between two looks at the client's sockets, nanoseconds: measured times are too long by up to this.
    pub worst_gap_ns: u64,
}

/// The counts of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerCounts {
    /// Connections accepted; of each, one of `malformed`, `finished`, `reset`, `abandoned` and `foreign` is what became of it.
    pub accepted: u64,
    /// The most of them open at the same time.
    pub most_open: u64,
    /// Requests understood.
    pub requests: u64,
    /// The number of times something else came instead of a request.
    pub malformed: u64,
    /// Responses written whole.
    pub responses: u64,
    /// Connections closed in order: the client's FIN came.
    pub finished: u64,
    /// Connections ended by a RST or another error.
    pub reset: u64,
    /// Connections given up after the time limit, or open when the trial was over.
    pub abandoned: u64,
    /// The number of connections that were closed as none of the trial's: their first request was not one of the trial's, or none had come when there were
    /// too many of them.
    #[serde(default)]
    pub foreign: u64,
    /// Distinct addresses that the trial's connections came from: those the DUT translates to.
    pub source_addresses: u64,
    /// Connections of the trial from an address outside of the expected pool (0 where no pool is given).
    pub outside_pool: u64,
    /// The first such address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside_example: Option<IpAddr>,
}

/// The counts of the kernel under the tester's ends in the meantime, with the traffic of others in the same namespaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelCounts {
    /// SYNs and SYN/ACKs sent again from the client's namespace.
    pub client_syn_retransmitted: u64,
    /// Segments sent again from the client's namespace.
    pub client_retransmitted: u64,
    /// Segments sent again from the server's namespace.
    pub server_retransmitted: u64,
    /// Connections that found the server's queue full: caused by the tester, although it looks like loss of the DUT.
    pub server_queue_full: u64,
}

impl TcpResult {
    /// Returns the counts as a trial among others: a connection is what a frame is elsewhere. Offered is what was attempted;
    /// received is what was right in every octet, and in a capacity trial still alive at the end (RFC 3511 section 5.3.4.2:
    /// "all connections successfully opened").
    pub fn into_trial(self, spec: &TrialSpec, direction: Direction) -> TrialResult {
        let alive = self
            .check
            .map_or(self.connections.completed, |check| check.alive);
        // Connections that were not translated are not a translator's successes.
        let outside = self.server.as_ref().map_or(0, |server| server.outside_pool);
        let alive = alive.saturating_sub(outside);
        let Pace {
            nominal_ns,
            took_ns,
            worst_lateness_ns,
            late,
            ..
        } = self.pace;
        let counted = DirectionResult {
            intended: self.connections.intended,
            sending: Sending {
                nominal_ns,
                took_ns,
                worst_lateness_ns,
                late_frames: late,
            },
            ..DirectionResult::counted(direction, self.connections.attempted, alive)
        };
        let faults = self.faults(direction);
        TrialResult {
            outcome: TrialOutcome::Tcp(Some(Box::new(self))),
            ..TrialResult::new(*spec, vec![counted], faults)
        }
    }

    /// Returns a sentence for refused connections and one for those that a RST ended, as far as there are any: how many, from which address, and by whom.
    pub fn resets_in_words(&self) -> Vec<String> {
        let ConnectionCounts {
            attempted,
            established,
            refused,
            reset,
            ..
        } = self.connections;
        let from = self
            .server_address
            .map_or_else(String::new, |address| format!(" from {address}"));
        let refused_by = match self.server {
            Some(_) => {
                "the tester's server listens, so the device answered in its place, or sent the SYN elsewhere"
            }
            None => "nothing listens there, or the device or a firewall rejects connections",
        };
        let sentences = [
            (
                refused,
                format!(
                    "{refused} of {} refused by a RST{from}: {refused_by}",
                    counted(attempted, "connection")
                ),
            ),
            (
                reset,
                format!(
                    "{reset} of {} ended by a RST{from}: {}",
                    counted(established, "established connection"),
                    self.reset_by()
                ),
            ),
        ];
        sentences
            .into_iter()
            .filter(|(connections, _)| *connections > 0)
            .map(|(_, sentence)| sentence)
            .collect()
    }

    /// Returns who ended established connections by a RST. The tester's server does so only to those that it gives up.
    fn reset_by(&self) -> String {
        let Some(server) = &self.server else {
            return "the server or the device sent it".to_owned();
        };
        let given_up = server.malformed + server.foreign + server.abandoned;
        if given_up == 0 {
            "the tester's server gave up none, so the device did".to_owned()
        } else if given_up < self.connections.reset {
            format!(
                "the tester's server may have sent {given_up} of them, as it gave up so many; the device sent the others"
            )
        } else {
            "the tester's server gave up as many, so it may have sent all of them".to_owned()
        }
    }

    /// Returns the faults of the tester: a load that was not offered invalidates, lateness and full queues of its own explain as many failures.
    fn faults(&self, direction: Direction) -> Vec<Fault> {
        let Pace {
            nominal_ns,
            took_ns,
            worst_lateness_ns,
            late,
            ..
        } = self.pace;
        let slow = self.fell_short().then_some(Fault::SentTooSlowly {
            direction,
            nominal_ns,
            took_ns,
        });
        let stalled = (late > 0).then_some(Fault::SenderStalled {
            direction,
            worst_lateness_ns,
            frames: late,
        });
        let full = self.kernel.server_queue_full;
        let overrun = (full > 0).then_some(Fault::ReceiveRingOverrun {
            direction,
            frames: full,
        });
        slow.into_iter().chain(stalled).chain(overrun).collect()
    }

    /// Returns whether the tester plainly did not offer the load: attempts were left out, or took longer in all than a
    /// thousandth and a stall.
    fn fell_short(&self) -> bool {
        let Pace {
            nominal_ns,
            took_ns,
            stall_ns,
            ..
        } = self.pace;
        self.connections.attempted < self.connections.intended
            || took_ns > nominal_ns + nominal_ns / 1000 + stall_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::{FrameRate, LossRatio};
    use crate::trial::Verdict;

    fn verdict(result: &TcpResult) -> Verdict {
        let spec = TrialSpec::constant(FrameRate(1000), 1_000_000_000);
        result
            .clone()
            .into_trial(&spec, Direction::Forward)
            .verdict(LossRatio::ZERO)
    }

    fn result(attempted: u64, completed: u64) -> TcpResult {
        let spec = TcpSpec {
            trial: TcpTrial::Rate,
            rate: 1000,
            connections: 1000,
            object_octets: 64,
            time_limit_ns: 1_000_000_000,
            close: Close::ServerFirst,
        };
        TcpResult {
            spec,
            server_address: None,
            connections: ConnectionCounts {
                intended: 1000,
                attempted,
                completed,
                ..ConnectionCounts::default()
            },
            check: None,
            connect: None,
            complete: None,
            pace: Pace {
                nominal_ns: 999_000_000,
                took_ns: 999_000_000,
                stall_ns: 1_000_000,
                ..Pace::default()
            },
            server: None,
            kernel: KernelCounts::default(),
            examples: vec![],
        }
    }

    #[test]
    fn one_failed_connection_fails_a_trial_and_an_attempt_left_out_invalidates_it() {
        assert_eq!(verdict(&result(1000, 1000)), Verdict::Passed);
        assert_eq!(verdict(&result(1000, 999)), Verdict::Lost);
        assert_eq!(verdict(&result(999, 999)), Verdict::Invalid);
    }

    #[test]
    fn a_slow_client_invalidates_and_a_late_attempt_excuses_one_failure() {
        let mut slow = result(1000, 1000);
        slow.pace.took_ns += 2_000_000;
        assert_eq!(verdict(&slow), Verdict::Invalid);
        let mut late = result(1000, 999);
        late.pace.late = 1;
        assert_eq!(verdict(&late), Verdict::Invalid);
        late.connections.completed = 998;
        assert_eq!(verdict(&late), Verdict::Lost);
    }

    #[test]
    fn connections_that_a_rst_ended_are_told_with_the_address_and_with_who_sent_it() {
        let mut trial = result(1000, 980);
        assert_eq!(trial.resets_in_words(), [""; 0]);
        trial.server_address = "192.0.2.1".parse().ok();
        (
            trial.connections.established,
            trial.connections.refused,
            trial.connections.reset,
        ) = (985, 15, 5);
        let (refused, reset) = (
            "15 of 1000 connections refused by a RST from 192.0.2.1",
            "5 of 985 established connections ended by a RST from 192.0.2.1",
        );
        let unknown = [
            format!(
                "{refused}: nothing listens there, or the device or a firewall rejects connections"
            ),
            format!("{reset}: the server or the device sent it"),
        ];
        assert_eq!(trial.resets_in_words(), unknown);
        trial.server = Some(ServerCounts {
            accepted: 985,
            finished: 985,
            ..ServerCounts::default()
        });
        let of_the_device = [
            format!(
                "{refused}: the tester's server listens, so the device answered in its place, or sent the SYN elsewhere"
            ),
            format!("{reset}: the tester's server gave up none, so the device did"),
        ];
        assert_eq!(trial.resets_in_words(), of_the_device);
        trial.server = Some(ServerCounts {
            abandoned: 3,
            foreign: 1,
            ..ServerCounts::default()
        });
        assert!(
            trial.resets_in_words()[1].contains("may have sent 4 of them"),
            "{:?}",
            trial.resets_in_words()
        );
        trial.server = Some(ServerCounts {
            abandoned: 5,
            ..ServerCounts::default()
        });
        let as_many = format!(
            "{reset}: the tester's server gave up as many, so it may have sent all of them"
        );
        assert_eq!(
            trial.resets_in_words()[1],
            as_many,
            "none is left for the device"
        );
    }

    #[test]
    fn what_is_no_longer_alive_does_not_count_for_capacity() {
        let mut trial = result(1000, 1000);
        trial.check = Some(Check {
            requested: 1000,
            alive: 999,
            ended: 1,
            ..Check::default()
        });
        assert_eq!(verdict(&trial), Verdict::Lost);
    }
}
