//! Every target reads every file of its folder in `corpus`: inputs that reach all code that fuzzing has found, and those on which it once failed, whose
//! names begin with `regression-`. Needs nothing.

use sixbench_fuzz::TARGETS;
use std::fs;
use std::path::{Path, PathBuf};

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target)
}

/// Has a target read its files, and what any target must stand: nothing, and octets that are all the same.
fn replay(target: &str) {
    let run = sixbench_fuzz::function(target);
    for octet in [0, b'\n', 0x7f, 0xff] {
        for octets in [0, 1, 2, 100, 5000] {
            run(&vec![octet; octets]);
        }
    }
    let files = fs::read_dir(folder(target))
        .unwrap_or_else(|error| panic!("{}: {error}", folder(target).display()));
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("an entry").path()).collect();
    files.sort();
    assert!(
        !files.is_empty(),
        "no corpus; `scripts/fuzz {target}` makes one"
    );
    for file in files {
        // The name is told before the input is read, so that a failure shows it.
        println!("{}", file.display());
        run(&fs::read(&file).expect("a file"));
    }
}

macro_rules! replayed {
    ($($test:ident $target:literal;)*) => {
        $(
            #[test]
            fn $test() {
                replay($target);
            }
        )*

        #[test]
        fn every_target_is_replayed_and_every_folder_has_a_target() {
            let targets: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(targets, [$($target),*]);
            for folder in fs::read_dir(folder("")).expect("the corpus") {
                let name = folder.expect("an entry").file_name();
                assert!(targets.iter().any(|target| **target == *name), "{name:?} is of no target");
            }
        }
    };
}

replayed! {
    frames_of_every_technology_are_judged_alike_in_both_ways "frames";
    neighbours_get_answers_that_they_can_read "neighbours";
    a_wrong_dns_answer_is_never_right "dns-answers";
    dns_queries_are_answered_alike_in_both_ways "dns-queries";
    dns_queries_over_tcp_are_answered_as_over_udp "dns-stream";
    http_messages_may_come_in_any_pieces "http";
    a_message_of_memif_is_the_same_when_it_is_written_again "memif-messages";
    whatever_a_peer_of_memif_writes_ends_the_link_and_nothing_else "memif-rings";
    messages_of_an_agent_are_the_same_when_they_are_written_again "agent";
    the_live_page_is_shown_to_nobody_without_its_token "live-page";
    trials_are_the_same_when_they_are_written_again "trials";
    facts_are_the_same_when_they_are_written_again "facts";
    every_run_has_a_report "report";
    a_plan_is_the_same_when_it_is_resolved "plan";
    a_recipe_is_the_same_when_it_is_written_again "recipe";
    what_is_imported_of_siitperf_is_a_plan_and_a_recipe "siitperf";
    traffic_profiles_are_read_or_refused "traffic-profile";
    words_that_are_quoted_are_one_word_to_a_shell "words";
}
