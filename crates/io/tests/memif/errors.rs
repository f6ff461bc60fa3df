//! Peers that do not exist, refuse, or do not answer.

use super::peer::*;
use super::{Directory, failed, open};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::thread::JoinHandle;

/// Starts a server that runs `script` with its only client, and returns our error.
fn refused_by(name: &str, script: impl FnOnce(&RawSocket) + Send + 'static) -> String {
    let directory = Directory::new(name);
    let path = directory.socket("x.sock");
    let listener = RawListener::new(&path);
    let server: JoinHandle<()> = std::thread::spawn(move || {
        let client = listener.accept();
        script(&client);
        // Waits until the client gives up.
        while !client.receive().0.is_empty() {}
    });
    let told = failed(open(&format!("memif:{path},id=5"), 60));
    server.join().expect("no panic");
    assert!(told.starts_with(&format!("memif:{path},id=5: ")), "{told}");
    told
}

#[test]
fn an_address_that_is_none_is_refused() {
    for (name, what) in [
        ("memif:", "there is no path"),
        (
            "memif-server:/x,id=y",
            "\"id=y\" is no number of an interface",
        ),
    ] {
        let told = failed(open(name, 60));
        assert!(
            told.starts_with(&format!("{name}: {what}; expected a path")),
            "{told}"
        );
    }
    let long = format!("/tmp/{}", "x".repeat(120));
    for word in ["memif", "memif-server"] {
        let told = failed(open(&format!("{word}:{long}"), 60));
        assert!(
            told.contains("is too long for a socket, which has room for 107 octets"),
            "{told}"
        );
    }
}

#[test]
fn a_socket_that_nobody_serves_is_named_with_what_to_do() {
    let directory = Directory::new("nobody");
    let told = |path: &str| failed(open(&format!("memif:{path}"), 60));
    let missing = directory.socket("missing.sock");
    assert!(told(&missing).contains(&format!(
        "there is no socket {missing}: start the device, which must be the server"
    )));
    assert!(told("@sb-none").contains("there is no socket @sb-none: start the device"));
    let left_behind = directory.socket("dead.sock");
    drop(RawListener::new(&left_behind));
    assert!(told(&left_behind).contains(&format!(
        "nobody listens on the socket {left_behind}: the program that made it has ended"
    )));
    let file = directory.socket("file");
    std::fs::write(&file, "text").expect("a file");
    assert!(
        told(&file).contains("is no socket of memif"),
        "{}",
        told(&file)
    );
    let stream = directory.socket("stream.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&stream).expect("a socket");
    assert!(
        told(&stream).contains("is no socket of memif"),
        "{}",
        told(&stream)
    );
}

#[test]
fn a_socket_of_another_user_is_a_matter_of_rights() {
    // SAFETY: no pointer is passed.
    let is_root = unsafe { libc::geteuid() } == 0;
    let directory = Directory::new("rights");
    let path = directory.socket("x.sock");
    let _listener = RawListener::new(&path);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("our file");
    if is_root {
        // Root may open everything, so the same attempt is made by a thread that has given up its rights.
        let told = std::thread::spawn(move || {
            // SAFETY: no pointer is passed; the raw call affects only this thread.
            let changed = unsafe { libc::syscall(libc::SYS_setresuid, 65_534, 65_534, 65_534) };
            assert_eq!(changed, 0);
            failed(open(&format!("memif:{path}"), 60))
        });
        let told = told.join().expect("no panic");
        assert!(told.contains("this user may not open the socket"), "{told}");
    } else {
        let told = failed(open(&format!("memif:{path}"), 60));
        assert!(told.contains("this user may not open the socket"), "{told}");
    }
}

#[test]
fn a_server_of_another_version_is_named() {
    let told = refused_by("version", |client| {
        client.send(&hello(0x0300, 0x0305, 14), &[]);
    });
    assert!(
        told.contains("the peer speaks memif 3.0 to 3.5, and sixbench 2.0: use a release"),
        "{told}"
    );
    let told = refused_by("old", |client| {
        client.send(&hello(0x0100, 0x0100, 14), &[]);
        assert!(
            reason(&client.receive().0).starts_with("the peer speaks memif 1.0"),
            "the peer is told as well"
        );
    });
    assert!(
        told.contains("the peer speaks memif 1.0, and sixbench 2.0"),
        "{told}"
    );
}

#[test]
fn the_reason_of_a_server_that_refuses_is_told() {
    for what in [
        "unmatched interface id",
        "Incorrect secret",
        "Only ethernet mode supported",
    ] {
        let told = refused_by(&what.replace(' ', "-"), move |client| {
            client.send(&hello(0x0200, 0x0200, 14), &[]);
            let init = client.expect(INIT).0;
            assert_eq!(
                init[2..9],
                [0, 2, 5, 0, 0, 0, 0],
                "version 2.0, interface 5, Ethernet"
            );
            client.send(&disconnect(what), &[]);
        });
        assert!(
            told.contains(&format!(
                "the peer refused instead of sending ACK: {what:?}; sixbench wants Ethernet mode"
            )),
            "{told}"
        );
    }
}

#[test]
fn a_server_that_closes_instead_of_answering_is_told_with_the_step() {
    let directory = Directory::new("closes");
    let path = directory.socket("x.sock");
    let listener = RawListener::new(&path);
    let server = std::thread::spawn(move || {
        drop(listener.accept());
        let client = listener.accept();
        client.send(&hello(0x0200, 0x0200, 14), &[]);
        client.expect(INIT);
    });
    let told = failed(open(&format!("memif:{path}"), 60));
    assert!(
        told.contains("the peer closed the connection instead of sending HELLO"),
        "{told}"
    );
    let told = failed(open(&format!("memif:{path}"), 60));
    assert!(
        told.contains("the peer closed the connection instead of sending ACK"),
        "{told}"
    );
    server.join().expect("no panic");
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for() {
    let told = refused_by("silent", |_| ());
    assert!(
        told.contains("the peer sent no HELLO within 3 s: is it still running"),
        "{told}"
    );
    let told = refused_by("silent-later", |client| {
        client.send(&hello(0x0200, 0x0200, 14), &[]);
        client.expect(INIT);
        client.send(&message(ACK, &[]), &[]);
    });
    assert!(told.contains("the peer sent no ACK within 3 s"), "{told}");
}

#[test]
fn a_server_that_is_not_ready_yet_is_asked_again_and_not_for_ever() {
    let directory = Directory::new("not-ready");
    let path = directory.socket("x.sock");
    let listener = RawListener::new(&path);
    let refuse = move |reason: &str| {
        let client = listener.accept();
        client.send(&hello(0x0200, 0x0200, 14), &[]);
        client.expect(INIT);
        client.send(&disconnect(reason), &[]);
    };
    std::thread::spawn(move || {
        [
            "ID not found",
            "Already connected",
            "already connected",
            "Incorrect secret",
        ]
        .into_iter()
        .for_each(&refuse);
        loop {
            refuse("ID not found");
        }
    });
    let told = failed(open(&format!("memif:{path}"), 60));
    assert!(told.contains("Incorrect secret"), "{told}");
    let told = failed(open(&format!("memif:{path}"), 60));
    assert!(told.contains("ID not found"), "{told}");
}

#[test]
fn a_client_that_does_not_come_is_not_waited_for() {
    let directory = Directory::new("no-client");
    let path = directory.socket("x.sock");
    let told = failed(open(&format!("memif-server:{path}"), 60));
    assert!(
        told.contains(&format!(
            "nobody connected to {path} within 10 s: let the device connect to it as a client"
        )),
        "{told}"
    );
    assert!(
        !std::path::Path::new(&path).exists(),
        "nothing is left behind"
    );
}

#[test]
fn a_path_that_another_server_has_is_left_alone_and_one_that_it_left_behind_is_taken() {
    let directory = Directory::new("in-use");
    let path = directory.socket("x.sock");
    let listener = RawListener::new(&path);
    let told = failed(open(&format!("memif-server:{path}"), 60));
    assert!(
        told.contains(&format!(
            "cannot listen on {path}: another program listens there"
        )),
        "{told}"
    );
    drop(listener);
    let server = format!("memif-server:{path}");
    let server = std::thread::spawn(move || failed(open(&server, 60)));
    let client = RawSocket::connect(&path);
    client.expect(HELLO);
    drop(client);
    let told = server.join().expect("no panic");
    assert!(
        told.contains("the peer closed the connection instead of sending INIT"),
        "{told}"
    );
    let file = directory.socket("file");
    std::fs::write(&file, "text").expect("a file");
    let told = failed(open(&format!("memif-server:{file}"), 60));
    assert!(
        told.contains("another program listens there, or the file is no socket"),
        "{told}"
    );
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "text");
}

#[test]
fn root_serves_no_socket_in_a_directory_that_others_can_change() {
    let directory = Directory::new("shared");
    std::fs::create_dir(directory.0.join("in")).expect("a directory");
    let path = directory.socket("in/x.sock");
    let told = || failed(open(&format!("memif-server:{path}"), 60));
    if std::fs::metadata(&directory.0).expect("our own").uid() != 0 {
        // Others than root may serve wherever they can make files.
        assert!(told().contains("nobody connected"), "{}", told());
        return;
    }
    let refused = format!(
        "cannot listen on {path} as root: other users can change {};",
        directory.0.display()
    );
    std::fs::set_permissions(&directory.0, std::fs::Permissions::from_mode(0o777))
        .expect("our own");
    assert!(told().contains(&refused), "{}", told());
    std::fs::set_permissions(&directory.0, std::fs::Permissions::from_mode(0o755))
        .expect("our own");
    std::os::unix::fs::chown(&directory.0, Some(12_345), None).expect("root");
    assert!(told().contains(&refused), "{}", told());
    // A link of another user that leads to a directory of root's.
    let link = directory.socket("link");
    std::os::unix::fs::symlink("/run", &link).expect("a link");
    std::os::unix::fs::lchown(&link, Some(12_345), None).expect("root");
    std::os::unix::fs::chown(&directory.0, Some(0), None).expect("root");
    let told = failed(open(&format!("memif-server:{link}/x.sock"), 60));
    assert!(
        told.contains(&format!("other users can change {link};")),
        "{told}"
    );
}
