//! Simultaneous runs on one machine: runs that need the same cores or the same device must be kept apart. These tests need root; without it they fail,
//! they do not skip.

use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, kill, output, plans, records, signal, start, text,
    until_the_first_trial, wait_until,
};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};

#[test]
fn a_second_run_on_a_core_is_refused_with_the_name_of_the_first_and_one_that_waits_follows_it() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("locks");
    let long = scratch.write("long.toml", &plans::that_lasts(plans::KERNEL));
    let short = scratch.write("short.toml", plans::KERNEL);
    let [first, second] = ["first", "second"].map(|name| scratch.path(name));
    let mut holder = start(&["run", &long, "-o", &first]);
    until_the_first_trial(&mut holder, &first);

    let process = holder.id();
    let commands = [
        &["run", &short, "-o", &second][..],
        &["trial", "linux-ipv4", "--rate", "1k"],
        &["testbed", "up", &short],
        &["dns64", "127.0.0.1", "--for", "1s"],
    ];
    for command in commands {
        let refused = output(command);
        let error = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(3), "{command:?}: {error}");
        for word in [
            " used by `short` of ",
            &format!("(process {process}, results in {first}) since 20"),
            "; --wait waits",
        ] {
            assert!(error.contains(word), "{command:?}: {word}: {error}");
        }
    }
    assert!(
        !fs::exists(&second).expect("a look"),
        "a run that is refused leaves nothing"
    );
    // The directory of the first run is also in use, which is reported at once.
    let same = output(&["run", &long, "--wait", "-o", &first]);
    assert_eq!(same.status.code(), Some(2), "{}", text(&same.stderr));
    let resumed = output(&["run", "--resume", &first, "--wait"]);
    let error = text(&resumed.stderr);
    let writer = format!("process {process} (");
    assert!(
        error.contains(&writer)
            && error.contains(&format!(") is writing to {first}; wait until it has ended")),
        "{error}"
    );
    assert!(error.contains(&format!("kill -INT {process}")), "{error}");
    let merged = output(&["merge", &first, "-o", &second]);
    let error = text(&merged.stderr);
    assert!(
        error.contains(&writer)
            && error.contains(&format!(
                " still writes to {first}; merge again when it has ended"
            )),
        "{error}"
    );

    let mut waiting = start(&["run", &short, "-o", &second, "--wait"]);
    let mut told = BufReader::new(waiting.stderr.take().expect("its errors"));
    let mut line = String::new();
    told.read_line(&mut line).expect("a line");
    assert!(
        line.starts_with("waiting: core") && line.contains(" used by `short` of "),
        "{line}"
    );
    kill(&mut holder);
    let mut output = waiting.wait_with_output().expect("its end");
    told.read_to_end(&mut output.stderr).expect("the rest");
    assert_ran(&output);
    assert!(!records(&second).is_empty());
    // The locks of the killed run are free, and the run can be continued.
    let mut again = start(&["run", "--resume", &first]);
    let made = records(&first).len();
    wait_until(&mut again, "record", || records(&first).len() > made);
    signal(&again, "INT");
    assert_eq!(again.wait().expect("its end").code(), Some(130));
}
