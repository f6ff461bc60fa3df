//! Checks recipes for errors.

use super::traffic::check_link;
use super::{
    Recipe, RequiredProgram, StateSection, Subscribers, Technology, check_dns, check_name, filters,
    host,
};
use sixbench_method::names::check_title;

/// The placeholders, written in braces, that a step may contain.
const PLACEHOLDERS: [&str; 7] = [
    "cores",
    "dir",
    "left",
    "right",
    "table-size",
    "threads",
    "vpp",
];

const OF_SERVERS: [&str; 7] = [
    "listen",
    "port",
    "tls-port",
    "domain",
    "zone",
    "authority",
    "authority-port",
];

impl Recipe {
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = self.problems_of_names();
        for (name, traffic) in [
            ("foreground", Some(&self.foreground)),
            ("background", self.background.as_ref()),
        ] {
            if let Some(traffic) = traffic {
                problems.extend(traffic.problems(name, &self.left, &self.right));
            }
        }
        check_link("left", &self.left, &mut problems);
        check_link("right", &self.right, &mut problems);
        self.check_overlap(&mut problems);
        let has_addresses = [&self.left, &self.right].map(|link| !link.is_silent());
        if has_addresses.contains(&(self.technology == Technology::Wire)) {
            problems
                .push("[left], [right]: a `wire` has no addresses, and every other device has some on both links".to_owned());
        }
        if self.swaps_hardware_addresses && self.technology != Technology::Wire {
            problems.push(
                "swaps-hardware-addresses: only a `wire` has no addresses of its own to write"
                    .to_owned(),
            );
        }
        if !self.may_change_addresses() && self.foreground.left != self.foreground.right {
            problems.push(
                "foreground: the addresses differ left and right, but there is no [translation]"
                    .to_owned(),
            );
        }
        if let Some(state) = &self.state {
            problems.extend(state.problems(self.translated_source(state)));
            if state.restart && self.daemon.is_none() {
                problems
                    .push("[state]: `restart` needs a [daemon] that can be restarted".to_owned());
            }
        }
        problems.extend(self.subscribers.iter().flat_map(Subscribers::problems));
        problems.extend(check_dns::problems(self));
        problems.extend(host::problems(self));
        problems.extend(filters::problem(self));
        self.check_steps(&mut problems);
        problems.extend(self.problems_of_needs());
        problems
    }

    fn problems_of_names(&self) -> Vec<String> {
        // A recipe moved to another host than its file names is stored under the name that plans use for it.
        let place = format!("@{}", self.host.name());
        let name = check_name(self.name.strip_suffix(&place).unwrap_or(&self.name))
            .map_err(|wrong| format!("name: {wrong}"));
        let title = check_title(&self.title).map_err(|wrong| format!("title: {wrong}"));
        name.err().into_iter().chain(title.err()).collect()
    }

    /// Returns true if frames may leave the device with other addresses than they had: the upstream query of a DNS server is a new one.
    fn may_change_addresses(&self) -> bool {
        self.translation.is_some()
            || self.state.is_some()
            || self.subscribers.is_some()
            || self.is_tunnel()
            || self.technology.is_dns()
    }

    fn problems_of_needs(&self) -> impl Iterator<Item = String> {
        let without_source =
            |need: &&RequiredProgram| need.package.is_none() && need.source.is_none();
        self.needs.iter().filter(without_source).map(|need| {
            format!(
                "needs: {} has neither a `package` nor a `source`, so it is not known where to get it",
                need.program
            )
        })
    }

    fn check_overlap(&self, problems: &mut Vec<String>) {
        let pairs = self
            .left
            .dut
            .iter()
            .flat_map(|l| self.right.dut.iter().map(move |r| (l, r)));
        for (left, right) in pairs.filter(|(l, r)| l.contains(&r.trunc()) || r.contains(&l.trunc()))
        {
            problems.push(format!(
                "the prefixes of the links overlap: {left} on the left, {right} on the right"
            ));
        }
    }

    fn check_steps(&self, problems: &mut Vec<String>) {
        let of_rule: Vec<_> = self
            .subscribers
            .iter()
            .flat_map(Subscribers::placeholders)
            .collect();
        let of_rule = of_rule.iter().map(|(word, _)| word.as_str());
        let known: Vec<&str> = PLACEHOLDERS
            .into_iter()
            .chain(self.dns.iter().flat_map(|_| OF_SERVERS))
            .chain(of_rule)
            .collect();
        let single = [&self.daemon, &self.ready];
        let steps = self
            .setup
            .iter()
            .chain(&self.after)
            .chain(&self.reset)
            .chain(&self.teardown)
            .chain(single.into_iter().flatten())
            .chain([&self.version]);
        let steps = steps.chain(self.state.iter().flat_map(StateSection::steps));
        for step in steps {
            if step.run.trim().is_empty() {
                problems.push("a step has an empty `run`".to_owned());
            }
            for name in step.placeholders().filter(|name| !known.contains(name)) {
                let known: Vec<String> = known.iter().map(|name| format!("{{{name}}}")).collect();
                problems.push(format!(
                    "`{}`: unknown placeholder {{{name}}} (known: {})",
                    step.run,
                    known.join(", ")
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::built_in::BUILT_IN;
    use crate::recipe::{KnownDefect, Library};
    use sixbench_method::record::CodeOrigin;
    use std::path::Path;

    fn siit() -> String {
        built_in("tayga-siit.toml")
    }

    fn built_in(name: &str) -> String {
        BUILT_IN
            .iter()
            .find(|(file, _)| *file == name)
            .expect("a built-in recipe")
            .1
            .to_owned()
    }

    fn error(text: &str) -> String {
        Library::default()
            .with_texts(
                vec![("r.toml".to_owned(), text.to_owned())],
                CodeOrigin::Plan,
            )
            .expect_err("an error")
            .to_string()
    }

    #[test]
    fn the_built_in_recipes_are_good_and_send_only_to_test_addresses() {
        let library = Library::load::<&Path>(&[]).expect("good recipes");
        let files: Vec<&str> = BUILT_IN
            .iter()
            .map(|(file, _)| file.trim_end_matches(".toml"))
            .collect();
        assert!(
            files.iter().all(|name| library.get(name).is_some()),
            "each is named as its file is: {:?}",
            library.names()
        );
        assert_eq!(library.names().len(), files.len());
        assert!(
            library
                .iter()
                .all(|r| r.forbidden_destinations().is_empty())
        );
    }

    #[test]
    fn a_name_that_is_a_path_is_refused_of_one_device_and_of_a_row() {
        for name in ["../../x", "/abs/x", "..", "", "a\\nb"] {
            let error =
                error(&siit().replace("name = \"tayga-siit\"", &format!("name = \"{name}\"")));
            assert!(
                error.contains("name: expected the name of a recipe"),
                "{error}"
            );
            let library = Library::load::<&Path>(&[]).expect("good recipes");
            let row = built_in("linux-ipv4-row.toml")
                .replace("name = \"linux-ipv4-row\"", &format!("name = \"{name}\""));
            let error = library
                .with_texts(vec![("row.toml".to_owned(), row)], CodeOrigin::Plan)
                .expect_err("refused")
                .to_string();
            assert!(
                error.contains("name: expected the name of a recipe"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_recipe_on_another_host_is_read_back_as_it_was_written_for_a_run_that_is_resumed() {
        let library = Library::load::<&Path>(&[]).expect("good recipes");
        for recipe in library.elsewhere.values() {
            let files = recipe.to_files().expect("files");
            let read = library
                .clone()
                .with_texts(files, CodeOrigin::Plan)
                .unwrap_or_else(|error| panic!("{}: {error}", recipe.name));
            assert_eq!(read.get(&recipe.name), Some(recipe));
        }
    }

    #[test]
    fn recipes_that_are_made_of_others_are_read_whatever_their_order_and_tell_what_is_wrong() {
        let (base, made) = (
            built_in("testpmd-io.toml"),
            built_in("testpmd-macswap.toml"),
        );
        let files =
            [("made", &made), ("base", &base)].map(|(name, text)| (name.to_owned(), text.clone()));
        let library = Library::default()
            .with_texts(files.to_vec(), CodeOrigin::Plan)
            .expect("good recipes");
        let recipe = library.get("testpmd-macswap").expect("a recipe");
        let mode = recipe
            .files
            .iter()
            .find(|file| file.path == "mode")
            .map(|file| file.content.as_str());
        assert_eq!(
            (mode, recipe.daemon.is_some(), recipe.polling),
            (Some("macswap"), true, true)
        );
        let refused = |text: String| {
            Library::default()
                .with_texts(vec![("r.toml".to_owned(), text)], CodeOrigin::Plan)
                .unwrap_err()
                .to_string()
        };
        assert!(
            refused(made.clone()).contains("base: there is no recipe `testpmd-io` of one device")
        );
        let of_itself = made.replace("base = \"testpmd-io\"", "base = \"testpmd-macswap\"");
        assert!(refused(of_itself).contains("it is made of itself"));
        let library = Library::default()
            .with_texts(vec![("base".to_owned(), base)], CodeOrigin::Plan)
            .expect("a good recipe");
        let slip = library
            .with_texts(
                vec![("made".to_owned(), made.replace("title =", "titel ="))],
                CodeOrigin::Plan,
            )
            .unwrap_err()
            .to_string();
        assert!(slip.contains("unknown field `titel`"), "{slip}");
    }

    #[test]
    fn a_recipe_has_the_files_of_its_host_alone() {
        let library = Library::load::<&Path>(&[]).expect("good recipes");
        let links = |name: &str| {
            let files = &library.get(name).unwrap_or_else(|| panic!("{name}")).files;
            files
                .iter()
                .filter(|file| file.path == "links.cli")
                .map(|file| file.content.clone())
                .collect::<Vec<_>>()
        };
        let (memory, veth) = (links("vpp-map-e"), links("vpp-map-e@netns"));
        assert!(
            memory.len() == 1 && memory[0].contains("create memif socket"),
            "{memory:?}"
        );
        assert!(
            veth.len() == 1 && veth[0].contains("create interface af_xdp"),
            "{veth:?}"
        );
    }

    #[test]
    fn an_unknown_key_is_shown_at_its_line() {
        let error = error(&siit().replace("title =", "titel ="));
        assert!(
            error.contains("r.toml: TOML parse error at line"),
            "{error}"
        );
        assert!(error.contains("titel"), "{error}");
    }

    #[test]
    fn a_program_without_a_package_is_to_be_built_from_its_source() {
        let recipe: Recipe = toml::from_str(&built_in("map646.toml")).expect("a recipe");
        let cure = "build it from https://github.com/keiichishima/map646 and put it on the PATH";
        assert_eq!(recipe.needs[0].cure(), cure);
        let recipe: Recipe = toml::from_str(&siit()).expect("a recipe");
        assert_eq!(recipe.needs[0].cure(), "apt-get install tayga");
        let error = error(&siit().replace(", package = \"tayga\"", ""));
        assert!(
            error.contains("needs: tayga has neither a `package` nor a `source`"),
            "{error}"
        );
    }

    #[test]
    fn every_jool_that_translates_from_ipv4_is_known_for_its_checksum_wherever_it_runs() {
        let library = Library::load::<&Path>(&[]).expect("good recipes");
        let everywhere = library.iter().chain(library.elsewhere.values());
        let is_jool = |recipe: &&Recipe| recipe.source.contains("ool") && !recipe.keeps_headers();
        let jools: Vec<&Recipe> = everywhere.filter(is_jool).collect();
        assert!(
            jools.len() > 8,
            "{:?}",
            jools.iter().map(|recipe| &recipe.name).collect::<Vec<_>>()
        );
        for recipe in jools {
            assert_eq!(
                recipe.known_defects,
                [KnownDefect::ZeroUdpChecksum],
                "{}",
                recipe.name
            );
        }
    }

    #[test]
    fn addresses_of_different_families_are_refused() {
        let error = error(&siit().replace(
            "destination = \"198.19.0.2\"",
            "destination = \"2001:2:0:8000::2\"",
        ));
        assert!(
            error.contains("foreground.right: source 198.18.0.2 and destination 2001:2:0:8000::2"),
            "{error}"
        );
    }

    #[test]
    fn overlapping_links_and_strange_addresses_are_all_told_at_once() {
        let text = siit()
            .replace("2001:2:0:8000::1/64", "2001:2::9/48")
            .replace("{dir}/tayga.conf -n", "{etc}/tayga.conf -n");
        let error = error(&text);
        assert!(
            error.contains(
                "the prefixes of the links overlap: 2001:2::1/64 on the left, 2001:2::9/48"
            ),
            "{error}"
        );
        assert!(error.contains("unknown placeholder {etc}"), "{error}");
    }

    #[test]
    fn a_wire_has_no_addresses_and_leaves_the_hop_limit_and_every_other_device_is_asked_for_its_own()
     {
        let wire = built_in("testpmd-io.toml");
        let lines = |text: &str| error(text).lines().skip(1).collect::<Vec<_>>().join("\n");
        let of_hops = "foreground: hops must be 0: a device without addresses in [left] and [right] hands frames on as they are";
        assert!(
            lines(&wire.replace("hops = 0", "hops = 1")).contains(of_hops),
            "{}",
            error(&wire.replace("hops = 0", "hops = 1"))
        );
        let router = error(&wire.replace("technology = \"wire\"", "technology = \"ipv6-router\""));
        assert!(
            router.contains(
                "a `wire` has no addresses, and every other device has some on both links"
            ),
            "{router}"
        );
        let siit = siit().replace("technology = \"siit\"", "technology = \"wire\"");
        assert!(
            error(&siit).contains("a `wire` has no addresses"),
            "{}",
            error(&siit)
        );
        let swaps =
            self::siit().replacen("source =", "swaps-hardware-addresses = true\nsource =", 1);
        assert!(
            error(&swaps).contains("swaps-hardware-addresses: only a `wire`"),
            "{}",
            error(&swaps)
        );
    }

    #[test]
    fn a_destination_on_the_internet_is_noticed_wherever_it_is() {
        let gateway = include_str!("../../../../recipes/nft-nat44.toml");
        let pool = gateway.replace(
            "pool = [\"198.19.0.1\"]",
            "pool = [\"198.19.0.1\", \"9.9.9.0/30\"]",
        );
        let links = gateway.replace("198.18.0.1/30", "9.9.9.9/30");
        for text in [
            siit().replace("2001:2:0:8000", "2a00:1450:4001:800"),
            pool,
            links,
        ] {
            let recipe: Recipe = toml::from_str(&text).expect("a recipe");
            assert!(
                recipe.forbidden_destinations()[0].contains("RFC 6815"),
                "{:?}",
                recipe.forbidden_destinations()
            );
        }
    }

    #[test]
    fn a_destination_on_the_internet_is_noticed_between_the_devices_of_a_row() {
        let library = Library::load::<&std::path::Path>(&[]).expect("recipes");
        let mut row = library.get("linux-ipv4-row").expect("a row").clone();
        assert_eq!(row.forbidden_destinations(), Vec::<String>::new());
        row.parts[0].right.tester = vec!["9.9.9.9".parse().expect("an address")];
        assert!(
            row.forbidden_destinations()[0].starts_with("9.9.9.9 "),
            "{:?}",
            row.forbidden_destinations()
        );
    }
}
