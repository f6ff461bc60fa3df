//! A device on links of the kernel: three namespaces in a row, and a thread that holds both ends of the one in the middle. Needs root.

use sixbench_io::loopback::LoopbackDevice;
use sixbench_io::{Backend, Halves, Port, PortOptions, PortSpec, thread};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The MTU of the links, which is above that of Ethernet, and not above what AF_XDP takes.
pub(crate) const MTU: usize = 3000;

/// The tester's ends, each called `wire` in a namespace of its own, and between them the device's. All are gone when this is dropped. Their kernel has no
/// addresses and no IPv6, so that it sends nothing of its own: what arrives can be counted exactly.
pub(crate) struct Row {
    pub(crate) left: String,
    pub(crate) right: String,
    device: String,
}

/// Returns what `ip` prints; `arguments` are separated by spaces.
pub(crate) fn ip(arguments: &str) -> String {
    run(Command::new("ip").args(arguments.split_whitespace()))
}

fn run(command: &mut Command) -> String {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .expect("ip: apt-get install iproute2");
    assert!(
        output.status.success(),
        "{command:?} (these tests need root)"
    );
    String::from_utf8(output.stdout).expect("text")
}

impl Row {
    /// `name` tells it from others of this process.
    pub(crate) fn new(name: &str) -> Self {
        let [left, right, device] =
            ["left", "right", "dut"].map(|role| format!("sb-{}-{name}-{role}", std::process::id()));
        let row = Self {
            left,
            right,
            device,
        };
        for namespace in [&row.left, &row.right, &row.device] {
            ip(&format!("netns add {namespace}"));
            set(namespace, "net/ipv6/conf/all/disable_ipv6", 1);
            set(namespace, "net/ipv6/conf/default/disable_ipv6", 1);
        }
        row.link(&row.left, "left", 1);
        row.link(&row.right, "right", 2);
        row
    }

    /// The hardware addresses of the tester's ends are those of links in memory.
    fn link(&self, namespace: &str, end: &str, last_octet: u8) {
        let device = &self.device;
        let address = format!("address 02:00:00:00:00:0{last_octet}");
        ip(&format!(
            "link add wire {address} mtu {MTU} netns {namespace} type veth peer name {end} mtu {MTU} netns {device}"
        ));
        ip(&format!("-n {namespace} link set wire up"));
        ip(&format!("-n {device} link set {end} up"));
    }

    /// Opens the ends of the tester by the backend of this name.
    pub(crate) fn open(&self, backend: &str) -> (Port, Port) {
        (
            open(&self.left, "wire", backend),
            open(&self.right, "wire", backend),
        )
    }

    /// Opens the ends of the device by the backend of this name.
    pub(crate) fn open_device(&self, backend: &str) -> (Port, Port) {
        (
            open(&self.device, "left", backend),
            open(&self.device, "right", backend),
        )
    }

    /// Lets `device` forward frames between both links from now on, until what is returned is dropped.
    pub(crate) fn attach(&self, device: LoopbackDevice) -> AttachedDevice {
        let ends =
            ["left", "right"].map(|end| open(&self.device, end, "packet").into_single_queue());
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = stop.clone();
        AttachedDevice {
            stop,
            thread: Some(std::thread::spawn(move || forward(device, ends, &is_over))),
        }
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        for namespace in [&self.left, &self.right, &self.device] {
            let _ = Command::new("ip")
                .args(["netns", "del", namespace])
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// Sets a key of the kernel in a namespace.
pub(crate) fn set(namespace: &str, key: &str, value: u32) {
    let write = format!("echo {value} >/proc/sys/{key}");
    run(Command::new("ip").args(["netns", "exec", namespace, "sh", "-c", &write]));
}

fn open(namespace: &str, end: &str, backend: &str) -> Port {
    let (_, backend) = Backend::words()
        .find(|(word, _)| *word == backend)
        .expect("a backend");
    let open = || PortSpec::parse(end).open(backend, PortOptions::new(MTU as u32));
    thread::in_namespace(namespace, open)
        .expect("a namespace")
        .expect("a port")
}

/// A device at work. It ends when this is dropped, and a failure of it is one of the test.
pub(crate) struct AttachedDevice {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for AttachedDevice {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let outcome = self.thread.take().map_or(Ok(()), JoinHandle::join);
        assert!(
            outcome.is_ok() || std::thread::panicking(),
            "the device failed"
        );
    }
}

/// Passes what arrives at either end through `device`, in the order in which it came. The kernel keeps this order only for frames that are sent on one core.
fn forward(mut device: LoopbackDevice, mut ends: [Halves; 2], is_over: &AtomicBool) {
    let core = *thread::allowed_cores()
        .expect("cores")
        .last()
        .expect("a core");
    thread::pin_to(core).expect("this core");
    // As the tester does, which would keep this thread from that core otherwise.
    thread::raise_priority().expect("the priority of root");
    while !is_over.load(Ordering::Relaxed) {
        let mut out = Vec::new();
        for (end, from_left) in ends.iter_mut().zip([true, false]) {
            end.receive
                .receive(&mut |frame| device(frame, from_left, &mut out))
                .expect("receive");
        }
        if out.is_empty() {
            std::thread::yield_now();
        }
        for (to_right, frame) in out {
            send(&mut ends[usize::from(to_right)], &frame, is_over);
        }
    }
}

/// Sends a frame. One that finds the other end's queue full is sent again: this device loses nothing.
fn send(end: &mut Halves, frame: &[u8], is_over: &AtomicBool) {
    let mut fill = |_: usize, buffer: &mut [u8]| {
        buffer[..frame.len()].copy_from_slice(frame);
        frame.len()
    };
    while end.transmit.transmit(1, &mut fill).expect("send").refused > 0
        && !is_over.load(Ordering::Relaxed)
    {
        std::thread::yield_now();
    }
}
