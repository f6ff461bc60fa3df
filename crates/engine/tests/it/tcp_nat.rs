//! Connections through nftables masquerading, in namespaces used only by this test. They need root; without it these tests fail, they are not skipped.

use sixbench_engine::Layout;
use sixbench_engine::tcp::{TcpEnds, TcpSettings, TcpTester};
use sixbench_method::isolation::Isolation;
use sixbench_method::terms::{Direction, FrameRate, LossRatio};
use sixbench_method::trial::tcp::TcpResult;
use sixbench_method::trial::{TrialSpec, Verdict};
use std::io::Write;
use std::net::IpAddr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Returns the verdict on a result as one trial among others.
fn verdict(result: &TcpResult) -> Verdict {
    result
        .clone()
        .into_trial(&TrialSpec::constant(FrameRate(1), 1), Direction::Forward)
        .verdict(LossRatio::ZERO)
}

/// Client, DUT and server in a row; removed when dropped.
struct Row {
    client: String,
    dut: String,
    server: String,
}

fn ip(line: &str) {
    let status = Command::new("ip")
        .args(line.split_whitespace())
        .status()
        .expect("ip");
    assert!(status.success(), "ip {line} (these tests need root)");
}

impl Row {
    fn new(name: &str) -> Self {
        let [client, dut, server] = ["client", "dut", "server"]
            .map(|role| format!("sb-{}-{name}-{role}", std::process::id()));
        let row = Self {
            client,
            dut,
            server,
        };
        for namespace in [&row.client, &row.dut, &row.server] {
            ip(&format!("netns add {namespace}"));
            ip(&format!("-n {namespace} link set lo up"));
        }
        row.link(&row.client, "left", "198.18.0", "2001:2");
        row.link(&row.server, "right", "198.19.0", "2001:2:0:8000");
        for key in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
            row.in_dut(&["sh", "-c", &format!("echo 1 >/proc/sys/net/{key}")], "");
        }
        row
    }

    /// Adds a link between an end (.2) and the DUT (.1), and the end's default routes over it.
    fn link(&self, end: &str, link: &str, net4: &str, net6: &str) {
        let dut = &self.dut;
        ip(&format!(
            "link add {link} netns {end} type veth peer name {link} netns {dut}"
        ));
        for (namespace, host) in [(dut.as_str(), 1), (end, 2)] {
            ip(&format!(
                "-n {namespace} address add {net4}.{host}/24 dev {link}"
            ));
            ip(&format!(
                "-n {namespace} address add {net6}::{host}/64 dev {link} nodad"
            ));
            ip(&format!("-n {namespace} link set {link} up"));
        }
        ip(&format!("-n {end} route add default via {net4}.1"));
        ip(&format!("-n {end} -6 route add default via {net6}::1"));
    }

    fn in_dut(&self, command: &[&str], input: &str) {
        let mut child = Command::new("ip")
            .args(["netns", "exec", &self.dut])
            .args(command)
            .stdin(Stdio::piped())
            .spawn()
            .expect("ip netns exec");
        child
            .stdin
            .take()
            .expect("stdin")
            .write_all(input.as_bytes())
            .expect("input");
        assert!(child.wait().expect("end").success(), "{command:?}");
    }

    /// Sets up network address translation by the kernel; `more` is a rule for forwarded datagrams.
    fn masquerade(&self, more: &str) {
        let rules = format!(
            "table inet nat {{\n chain out {{\n  type nat hook postrouting priority srcnat\n  oifname \"right\" masquerade\n }}\n \
             chain through {{\n  type filter hook forward priority filter\n  {more}\n }}\n}}\n"
        );
        self.in_dut(&["nft", "-f", "-"], &rules);
    }

    fn tester(&self, addresses: [&str; 3], time_limit: Duration) -> TcpTester {
        let [client, server, translated] = addresses;
        let address = |text: &str| text.parse::<IpAddr>().expect("address");
        let ends = TcpEnds {
            opens: Direction::Forward,
            client_namespace: Some(self.client.clone()),
            server_namespace: Some(self.server.clone()),
            client_addresses: vec![address(client)],
            source_ports: 10_000..=10_999,
            server: address(server),
            server_ports: 80..=80,
            listen: Some(address(server)),
            pool: vec![address(translated).into()],
        };
        let settings = TcpSettings {
            time_limit,
            stall: Duration::from_secs(5),
            ..TcpSettings::default()
        };
        TcpTester::new(
            Isolation::Unknown.admit(ends).expect("test addresses"),
            settings,
            Layout::default(),
            Arc::default(),
        )
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        for namespace in [&self.client, &self.dut, &self.server] {
            let _ = Command::new("ip")
                .args(["netns", "del", namespace])
                .stderr(Stdio::null())
                .status();
        }
    }
}

const NAT44: [&str; 3] = ["198.18.0.2", "198.19.0.2", "198.19.0.1"];
const NAT66: [&str; 3] = ["2001:2::2", "2001:2:0:8000::2", "2001:2:0:8000::1"];

#[test]
fn every_connection_passes_a_nat_and_comes_from_its_address() {
    let row = Row::new("nat");
    row.masquerade("");
    for addresses in [NAT44, NAT66] {
        let mut tester = row.tester(addresses, Duration::from_secs(10));
        let result = tester
            .measure_rate(500, Duration::from_secs(1))
            .expect("a trial");
        assert_eq!(verdict(&result), Verdict::Passed, "{result:?}");
        let server = result.server.expect("the server's counts");
        assert_eq!((server.accepted, server.finished), (500, 500));
        assert_eq!(
            (server.source_addresses, server.outside_pool),
            (1, 0),
            "{server:?}"
        );
        let result = tester.measure_capacity(300, 500).expect("a trial");
        assert_eq!(result.check.expect("a check").alive, 300, "{result:?}");
    }
}

#[test]
fn without_translation_sources_are_outside_of_the_pool() {
    let row = Row::new("plain");
    let result = row
        .tester(NAT44, Duration::from_secs(10))
        .measure_rate(100, Duration::from_millis(100))
        .expect("a trial");
    let server = result.server.expect("the server's counts");
    assert_eq!(
        (server.outside_pool, server.outside_example),
        (10, Some("198.18.0.2".parse().expect("address")))
    );
}

#[test]
fn a_device_with_room_for_fewer_connections_is_found_out() {
    let row = Row::new("full");
    row.masquerade("tcp flags syn ct state new ct count over 40 drop");
    let result = row
        .tester(NAT44, Duration::from_secs(2))
        .measure_capacity(100, 500)
        .expect("a trial");
    assert_eq!(
        (result.connections.completed, result.connections.timed_out),
        (40, 60),
        "{result:?}"
    );
    assert_eq!(result.check.expect("a check").alive, 40);
    assert_eq!(verdict(&result), Verdict::Lost);
    assert!(
        result.kernel.client_syn_retransmitted >= 60,
        "{:?}",
        result.kernel
    );
}

#[test]
fn a_device_that_resets_is_told_apart_from_one_that_drops() {
    let row = Row::new("reset");
    row.masquerade("tcp flags syn reject with tcp reset");
    let result = row
        .tester(NAT44, Duration::from_secs(2))
        .measure_rate(100, Duration::from_millis(200))
        .expect("a trial");
    assert_eq!(result.connections.refused, 20, "{result:?}");
}
