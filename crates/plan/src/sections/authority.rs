//! `[testbed.authority]`: the machine of the authoritative server that a DNS64 server queries, if it is neither the tester nor the device.

use crate::reader::Section;
use crate::reader::words::{DutHost, host, interface, program_path, threads};
use sixbench_method::measures::Keys;
use sixbench_method::plan::Test;
use sixbench_testbed::{AuthorityMachine, SshConfig};

const NAME: &str = "[testbed.authority]";

/// Returns the machine that the table names, if the plan has the table; `config` is the file that ssh reads instead of its usual configuration.
pub(crate) fn read(
    testbed: &Section<'_>,
    config: Option<&SshConfig>,
    has_interfaces: bool,
) -> Option<AuthorityMachine> {
    let section = testbed.section("authority", NAME)?;
    let at = section.required_text("host", host);
    let behind = section.required_text("interface", interface);
    let direct = section.required_text("self-test", interface);
    let program = section.text("program", program_path);
    let threads = section.number("threads", threads);
    if let Some(DutHost::Netns) = at {
        section.mistake_with_help(
            "host",
            "the authority in [testbed.authority] is on another machine: expected `ssh:NAME`",
            "leave the table out, and the tester is the authority itself",
        );
    }
    if behind.is_some() && behind == direct {
        section.mistake(
            "self-test",
            "interface and self-test must be two interfaces",
        );
    }
    if !has_interfaces {
        let title = "an authority on another machine needs two interfaces of this one: `left`, cabled to the device, and `right`, cabled to the \
                     authority's machine for the self-test of RFC 8219 section 9.2.1";
        section.mistake("host", title);
    }
    section.finish();
    let DutHost::Ssh(name) = at? else { return None };
    Some(
        AuthorityMachine::new(&name, config, [behind?, direct?])
            .with_program(program)
            .with_threads(threads),
    )
}

/// Assigns the authority on `machine` to the tests that use the tester's authority, and reports all other tests, since the tester's right end is there.
pub(crate) fn assign(testbed: &Section<'_>, machine: &AuthorityMachine, tests: &mut [Test]) {
    for test in tests {
        let name = test.name.clone();
        let mistake = |why: &str, help: &str| {
            testbed.mistake_with_help("authority", format!("test {name} {why}"), help);
        };
        let dns = test.measure.dns_mut().filter(|dns| dns.role.asks_tester());
        match dns {
            None => mistake(
                "asks no authority, but [testbed.authority] has the tester's right end on another machine",
                "only `dns64` and `dns-queries` can be measured so: move the test to a plan of its own",
            ),
            Some(dns) => match &dns.authority {
                Some(_) => mistake(
                    "names a recipe as its `authority`, but that in [testbed.authority] is sixbench's own",
                    "leave one of them out",
                ),
                None => dns.authority_on = Some(machine.name().to_owned()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SshConfig;
    use crate::{parse, render};

    const DUTS: [&str; 2] = ["unbound-dns64", "linux-ipv4"];

    const PLAN: &str = r#"
name = "three"
[testbed]
left = "e0"
right = "e1"
ssh-config = "config"
[testbed.authority]
host = "ssh:auth"
interface = "e2"
self-test = "e3"
program = "/opt/sixbench"
threads = 2
[[test]]
name = "t"
dut = "unbound-dns64"
measure = "dns64"
with-aaaa = [0, 20]
"#;

    #[test]
    fn a_machine_for_the_authority_is_read_and_noted_in_every_test() {
        let loaded = parse(PLAN, &DUTS).expect("a plan");
        let expected = sixbench_testbed::AuthorityMachine::new(
            "auth",
            Some(&SshConfig::new("config")),
            ["e2", "e3"].map(str::to_owned),
        )
        .with_program(Some("/opt/sixbench".into()))
        .with_threads(std::num::NonZeroUsize::new(2));
        assert_eq!(loaded.links.authority, Some(expected));
        assert_eq!(loaded.plan.tests.len(), 2);
        let on = loaded.plan.tests.iter().map(|test| {
            test.measure
                .dns()
                .and_then(|dns| dns.authority_on.as_deref())
        });
        assert!(on.into_iter().all(|on| on == Some("auth")));
    }

    #[test]
    fn mistakes_of_an_authority_elsewhere_are_told_each_at_its_line() {
        let frames = "[[test]]\nname = \"f\"\ndut = \"linux-ipv4\"\n";
        let told: Vec<String> = [
            PLAN.replace("ssh:auth", "netns")
                .replace("\"e3\"", "\"e2\""),
            PLAN.replace("left = \"e0\"\nright = \"e1\"\n", ""),
            PLAN.replace("self-test", "self-tests")
                .replace("\"/opt/sixbench\"", "\"sixbench\"")
                .replace("= 2", "= 0"),
            format!("{PLAN}authority = \"linux-ipv4\"\n{frames}"),
        ]
        .iter()
        .map(|source| {
            render(
                "plan.toml",
                source,
                &parse(source, &DUTS).expect_err("mistakes"),
                false,
            )
        })
        .collect();
        insta::assert_snapshot!(told.join("\n\n"));
    }
}
