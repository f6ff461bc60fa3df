//! Tests that the example of a program that embeds sixbench works. Has no requirements.

#[path = "../../examples/run_plan.rs"]
#[allow(dead_code)]
mod run_plan;

#[test]
fn the_example_finds_the_throughput_of_its_simulated_device() {
    let plan = "name = \"p\"\n[[test]]\nname = \"t\"\ndut = \"linux-ipv6\"\nframe-sizes = [84]\n";
    let tables = run_plan::run(plan).expect("results");
    assert!(tables.contains("400"), "{tables}");
}

#[test]
fn a_mistake_in_the_plan_is_shown_at_its_line() {
    let error = run_plan::run("name = \"p\"\n[[test]]\nname = \"t\"\ndut = \"linux-ipv7\"\n")
        .expect_err("a mistake");
    assert!(
        error.to_string().contains("the example:4:7") && error.to_string().contains("linux-ipv4"),
        "{error}"
    );
}
