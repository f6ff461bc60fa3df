//! A plan with several queues on links that sixbench builds.

use crate::common::{ONE_AT_A_TIME, Scratch, assert_ran, facts, output, plans, records, text};

/// Returns a plan with frames over two AF_XDP queues, and with queries.
fn plan() -> String {
    let testbed = "[testbed]\nio = \"xdp\"\nqueues = 2\nbusy-poll = true\n[trial]\n";
    let queries = "[[test]]\nname = \"nsd\"\ndut = \"nsd-authority\"\nmeasure = \"dns-authority\"\nnames = \"10.0.0.0/20\"\nrepetitions = 1\n";
    plans::KERNEL.replace("[trial]\n", testbed) + queries
}

#[test]
fn frames_cross_both_queues_of_links_that_sixbench_builds_and_queries_keep_the_kernels_settings() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("queues");
    let (plan, results) = (scratch.write("plan.toml", &plan()), scratch.path("out"));
    assert_ran(&output(&["run", &plan, "-o", &results]));
    let layout = |dut: &str| facts(&results)["duts"][dut]["layout"].to_string();
    for word in [
        "2 queues",
        "sends on left 0",
        "sends on left 1",
        "busy poll",
    ] {
        assert!(
            layout("linux-ipv4").contains(word),
            "{word}: {}",
            layout("linux-ipv4")
        );
    }
    assert!(
        !layout("nsd-authority").contains("queue"),
        "{}",
        layout("nsd-authority")
    );
    let records = records(&results);
    let forward = records
        .iter()
        .filter(|record| record["point"]["test"] == "kernel")
        .map(|record| &record["result"]["directions"][0]);
    assert!(
        forward
            .into_iter()
            .any(|forward| forward["received"] == forward["intended"]),
        "{records:?}"
    );

    let shown = output(&["plan", &plan, "--shell"]);
    let commands = text(&shown.stdout);
    let (of_frames, of_queries) = commands.split_at(
        commands
            .rfind("the tester's namespace")
            .expect("two testbeds"),
    );
    for word in ["numrxqueues 2", "napi_defer_hard_irqs"] {
        assert!(
            of_frames.contains(word) && !of_queries.contains(word),
            "{word}: {commands}"
        );
    }
}
