//! Ports, addresses and flows of a `[[test]]`.

use crate::reader::Section;
use crate::reader::words::{order, ports};
use sixbench_method::measures::Keys;
use sixbench_method::plan::{AddressPart, Payload, Ports, TrafficSettings, ValueOrder, ValueRange};
use sixbench_method::terms::bounds::NumberBound;
use sixbench_method::units::{self, ValueError, expected, range, range_up_to};

/// Reads the traffic settings of a test, except its flows, which are read as part of the series, and the mix of its frame sizes.
pub(crate) fn read_traffic(section: &Section<'_>) -> TrafficSettings {
    let ports = section.text("ports", ports).unwrap_or(Ports::RFC_4814);
    let own_ports = |key, name| {
        section
            .section(key, name)
            .map_or(ports, |own| read_ports(own, ports))
    };
    let traffic = TrafficSettings {
        forward_ports: own_ports("forward-ports", "forward-ports"),
        reverse_ports: own_ports("reverse-ports", "reverse-ports"),
        left_addresses: section
            .section("left-addresses", "left-addresses")
            .map(read_addresses),
        right_addresses: section
            .section("right-addresses", "right-addresses")
            .map(read_addresses),
        left_networks: section.number("left-networks", networks).unwrap_or(1),
        right_networks: section.number("right-networks", networks).unwrap_or(1),
        subscribers: None,
        payload: section.text("payload", payload).unwrap_or_default(),
        flows: None,
        ramp_ns: section.value("ramp", units::duration_ns),
        size_mix: None,
        broadcast_every: None,
        burst: None,
    };
    check_varies_once(
        section,
        "left-networks",
        traffic.left_addresses,
        traffic.left_networks,
    );
    check_varies_once(
        section,
        "right-networks",
        traffic.right_addresses,
        traffic.right_networks,
    );
    traffic
}

/// Refuses varying addresses and varying networks on one side.
fn check_varies_once(
    section: &Section<'_>,
    key: &str,
    addresses: Option<AddressPart>,
    networks: u16,
) {
    if addresses.is_some() && networks > 1 {
        section.mistake(
            key,
            "either addresses or networks of one side can vary, not both",
        );
    }
}

fn read_ports(section: Section<'_>, otherwise: Ports) -> Ports {
    let read = |key, order_key, otherwise: ValueRange| {
        let (first, last) = section
            .value(key, range)
            .unwrap_or((otherwise.first, otherwise.last));
        ValueRange {
            first,
            last,
            order: section.text(order_key, order).unwrap_or(otherwise.order),
        }
    };
    let ports = Ports {
        source: read("source", "source-order", otherwise.source),
        destination: read("destination", "destination-order", otherwise.destination),
    };
    section.finish();
    ports
}

fn address_range(text: &str) -> Result<(u32, u32), ValueError> {
    let most = AddressPart::LAST_VALUE;
    range_up_to(
        text,
        most,
        &format!("a range of values up to {most} such as 0-65535"),
    )
}

fn read_addresses(section: Section<'_>) -> AddressPart {
    let (first, last) = section.required("range", address_range).unwrap_or((0, 0));
    let order = section
        .text("order", order)
        .unwrap_or(ValueOrder::Pseudorandom);
    let part = AddressPart {
        range: ValueRange { first, last, order },
        ipv4_offset: section
            .number("ipv4-offset", |text| {
                offset(text, AddressPart::IPV4_OFFSETS)
            })
            .unwrap_or(AddressPart::IPV4_OFFSET),
        ipv6_offset: section
            .number("ipv6-offset", |text| {
                offset(text, AddressPart::IPV6_OFFSETS)
            })
            .unwrap_or(AddressPart::IPV6_OFFSET),
    };
    if last > u32::from(u16::MAX) && (part.ipv4_offset == 0 || part.ipv6_offset == 0) {
        let title = "values above 65535 are added to the 16 bits in front, and there are none in front of octet 0";
        section.mistake_with_help(
            "range",
            title,
            "choose an offset of at least 2, or values up to 65535",
        );
    }
    section.finish();
    part
}

/// Reads a payload: `udp` or `echo`.
///
/// # Errors
/// The text is none of the words; the error lists them.
pub fn payload(text: &str) -> Result<Payload, ValueError> {
    match text {
        "udp" => Ok(Payload::Udp),
        "echo" => Ok(Payload::Echo),
        text => Err(expected("`udp` or `echo` (ICMPv6)", text)),
    }
}

fn offset(text: &str, bound: NumberBound) -> Result<u8, ValueError> {
    let offset = text
        .parse()
        .ok()
        .filter(|offset: &u8| offset.is_multiple_of(2) && bound.contains(f64::from(*offset)));
    offset.ok_or_else(|| {
        let range = bound.from_to();
        let form = format!("an even octet {range}, since checksums add 16-bit words");
        expected(form, text)
    })
}

fn networks(text: &str) -> Result<u16, ValueError> {
    let networks = text
        .parse()
        .ok()
        .filter(|networks: &u16| TrafficSettings::NETWORKS.contains(f64::from(*networks)));
    networks.ok_or_else(|| {
        expected(
            format!("{} networks", TrafficSettings::NETWORKS.from_to()),
            text,
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::{fixture_tests, parse};
    use sixbench_method::plan::{AddressPart, ValueOrder, ValueRange};
    use sixbench_method::terms::{Direction, FrameSize};

    #[test]
    fn a_range_of_addresses_may_have_more_values_than_16_bits() {
        let source =
            fixture_tests::plan(|_| "relay", &["right-addresses = { range = \"0-131071\" }"]);
        let traffic = parse(&source, &["relay"]).expect("a plan").plan.tests[0].traffic;
        let range = ValueRange {
            first: 0,
            last: 131_071,
            order: ValueOrder::Pseudorandom,
        };
        assert_eq!(
            traffic.right_addresses,
            Some(AddressPart {
                range,
                ipv4_offset: 2,
                ipv6_offset: 12
            })
        );
        assert_eq!(traffic.destinations_of(Direction::Forward), 131_072);
    }

    #[test]
    fn mistakes_of_addresses_are_told_each_at_its_line() {
        let tests = [
            "left-addresses = { range = \"0-1048576\" }",
            "left-addresses = { range = \"0-65536\", ipv4-offset = 0 }",
            "right-addresses = { range = \"0-65536\", ipv6-offset = 0 }",
            "right-addresses = { range = \"9-2\" }",
            "right-addresses = { range = \"0-9\" }\nright-networks = 2",
        ];
        insta::assert_snapshot!(fixture_tests::mistakes(
            &fixture_tests::plan(|_| "relay", &tests),
            &["relay"]
        ));
    }

    #[test]
    fn a_ramp_is_read_and_kept_in_the_resolved_plan() {
        let source = fixture_tests::plan(|_| "relay", &["ramp = \"500ms\""]);
        let plan = parse(&source, &["relay"]).expect("a plan").plan;
        assert_eq!(plan.tests[0].traffic.ramp_ns, Some(500_000_000));
        let resolved = crate::resolved::write(&plan, &source, "").expect("text");
        let again = parse(&resolved, &["relay"]).expect("a resolved plan").plan;
        assert_eq!(again.tests[0].traffic, plan.tests[0].traffic);
        let short = resolved.replace("500000000", "5");
        let mistakes = fixture_tests::mistakes(&short, &["relay"]);
        assert!(mistakes.contains("ramp-ns"), "{mistakes}");
    }

    #[test]
    fn a_mix_of_frame_sizes_is_one_point_and_is_kept_in_the_resolved_plan() {
        let source = fixture_tests::plan(|_| "relay", &["frame-sizes = \"imix\""]);
        let plan = parse(&source, &["relay"]).expect("a plan").plan;
        let test = &plan.tests[0];
        assert_eq!(test.frame_sizes, [FrameSize(374)]);
        assert_eq!(test.largest_frame(), FrameSize(1518));
        assert_eq!(test.sizes_in_words(), "IMIX 7:4:1, mean 373.5 octets");
        let resolved = crate::resolved::write(&plan, &source, "").expect("text");
        assert!(
            resolved.contains("size-mix = \"84:7,594:4,1518:1\""),
            "{resolved}"
        );
        let again = parse(&resolved, &["relay"]).expect("a resolved plan").plan;
        assert_eq!(again.tests[0], plan.tests[0]);
        let spoilt = resolved.replace("84:7,594:4", "64:7,594:4");
        let mistakes = fixture_tests::mistakes(&spoilt, &["relay"]);
        assert!(mistakes.contains("84 replaces 64"), "{mistakes}");
    }

    #[test]
    fn mixes_that_make_no_sense_are_told_each_at_its_line() {
        let tests = [
            "frame-sizes = \"mix\"",
            "frame-sizes = \"64:7,594:4\"",
            "frame-sizes = \"imix:aaaz\"",
            "frame-sizes = \"imix:aaaa\"",
            "frame-sizes = [84, \"imix\"]",
            "frame-sizes = \"imix\"\nmeasure = \"response-time\"\nrate-per-client = \"1k\"",
            "frame-sizes = \"imix\"\nmeasure = \"conformance\"",
            "frame-sizes = \"imix\"\nexpect = { at-least = \"10k\", size = 84 }",
        ];
        insta::assert_snapshot!(fixture_tests::mistakes(
            &fixture_tests::plan(|_| "relay", &tests),
            &["relay"]
        ));
    }

    #[test]
    fn ramps_that_make_no_sense_are_told_each_at_its_line() {
        let tests = [
            "ramp = \"1ms\"",
            "ramp = \"1h\"",
            "ramp = \"soon\"",
            "ramp = \"1s\"\nmeasure = \"back-to-back\"",
            "ramp = \"1s\"\nmeasure = \"recovery\"",
            "ramp = \"1s\"\nmeasure = \"response-time\"\nrate = \"1k\"",
            "ramp = \"1s\"\nconnections = 100\nphase-1-rate = 100",
            "ramp = \"1s\"\nflows = 10\nflow-step = \"1s\"",
            "ramp = \"1s\"\nmeasure = \"conformance\"",
        ];
        insta::assert_snapshot!(fixture_tests::mistakes(
            &fixture_tests::plan(|_| "relay", &tests),
            &["relay"]
        ));
    }
}
