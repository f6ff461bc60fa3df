//! Errors about the interfaces that carry test traffic.

use super::super::ProgramCommand;
use sixbench_method::names::NameError;

/// The reason why interfaces cannot be used.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum InterfaceError {
    /// No interface can have this name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// An interface of this machine, or of another one, has a fault.
    #[error("interface {interface}{} {fault}", of_machine(machine.as_deref()))]
    Fault {
        interface: String,
        machine: Option<String>,
        fault: InterfaceFault,
    },
    /// The largest datagrams do not fit.
    #[error(
        "the MTU of {interface} is {mtu} octets, but the plan's largest datagrams have {octets}, including the outer header if \
         they are encapsulated; raise it ({raise}) here and on the device, or leave out the largest `frame-sizes`"
    )]
    SmallMtu {
        interface: String,
        mtu: u32,
        octets: u32,
        raise: ProgramCommand,
    },
    /// The driver does not take a setting; `what` is the kind of the setting, in words.
    #[error(
        "cannot set {what} {setting} of interface {interface} to {value}: {why}; leave the key out of [testbed], or see ethtool"
    )]
    Setting {
        interface: String,
        what: &'static str,
        setting: String,
        value: String,
        why: String,
    },
    /// The tester's ends cannot be hosts, because one of them is on another machine.
    #[error("hosts need both ends of the tester here")]
    NoHosts,
    /// There is no second interface of this machine for the self-test beside the authority's machine.
    #[error("the tester needs both of its interfaces on this machine for the self-test")]
    NoLinkToAuthority,
    /// There are not two interfaces of this machine for the self-test.
    #[error("the self-test needs two interfaces of this machine")]
    NoLoop,
}

impl InterfaceError {
    /// Returns the error that an interface of this machine has a fault.
    pub(crate) fn here(interface: &str, fault: InterfaceFault) -> Self {
        Self::Fault {
            interface: interface.to_owned(),
            machine: None,
            fault,
        }
    }

    /// Returns the error that an interface of another machine has a fault.
    pub(crate) fn there(interface: &str, machine: &str, fault: InterfaceFault) -> Self {
        Self::Fault {
            interface: interface.to_owned(),
            machine: Some(machine.to_owned()),
            fault,
        }
    }
}

fn of_machine(machine: Option<&str>) -> String {
    machine.map_or_else(String::new, |machine| format!(" of {machine}"))
}

/// The mistake about an interface, in words that follow its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum InterfaceFault {
    /// There is none of this name on this machine.
    #[error("does not exist (see `ip link`)")]
    Absent,
    /// There is none of this name on the other machine; `keys` of the plan name it.
    #[error("does not exist; name another in {keys}")]
    AbsentThere { keys: String },
    /// It is named by another name than its own, and routes and other devices name it by its own alone.
    #[error(
        "is called {name}, and this is another name for it; use {name}, by which the machine's routes name it"
    )]
    OtherName { name: String },
    /// It is a port of a bridge, a bond or the like.
    #[error(
        "belongs to {master}: test traffic on it would reach the machine's own network; use another, or take it out ({take_out})"
    )]
    Port {
        master: String,
        take_out: ProgramCommand,
    },
    /// Its frames leave by another interface.
    #[error(
        "is of the kind {kind}: test traffic on it would leave by another interface of the machine, into the machine's own network; use a \
         NIC, a VLAN of its own or a veth"
    )]
    Indirect { kind: String },
    /// Another device sends and receives through it.
    #[error(
        "has {upper} on top of it and is therefore in use; remove it ({remove}), or use another"
    )]
    Lower {
        upper: String,
        remove: ProgramCommand,
    },
    /// It takes frames for a hardware address beside its own.
    #[error(
        "also takes frames for {address}: something on top of it is in use, perhaps a macvlan in another namespace; end that, or use another"
    )]
    OtherAddress { address: String },
    /// A next hop leads through it.
    #[error(
        "is that of a next hop of this host and therefore in use; remove it (ip nexthop del id {id}), or use another"
    )]
    NextHop { id: String },
    /// It has addresses of this machine.
    #[error(
        "has addresses of this host ({addresses}) and is therefore in use; if nobody needs it during the run, say \
         `lend-addresses = true` in [testbed], and its addresses and routes come back afterwards; or remove them (ip address \
         flush dev {interface}); or use another; the tester sets the recipe's addresses itself"
    )]
    Addresses {
        addresses: String,
        interface: String,
    },
    /// It has addresses of the other machine.
    #[error(
        "has addresses already ({addresses}), for which that machine would answer; remove them, or use another"
    )]
    AddressesThere { addresses: String },
    /// A TCP connection of this machine goes through it, such as the ssh session of the user who starts the run.
    #[error(
        "carries a TCP connection of this host (from {local} to {peer}), which the run would cut; end it, or use another interface"
    )]
    Connection { local: String, peer: String },
    /// The connection to the other machine goes through it.
    #[error(
        "carries the ssh connection from {client} and must not carry test traffic; use another"
    )]
    SshConnection { client: std::net::IpAddr },
    /// A route to much of the Internet leads through it; `route` describes it.
    #[error("carries {route}: test traffic on it would reach this host's own network; use another")]
    WideRoute { route: String },
    /// The default route of the other machine leads through it.
    #[error(
        "carries the default route: test traffic would reach that machine's own network; use another"
    )]
    DefaultRouteThere,
    /// A route that was added by hand leads through it, and would be lost.
    #[error(
        "carries the route {route} and is therefore in use; remove the route ({remove}), or use another"
    )]
    Route { route: String, remove: String },
    /// It cannot be moved into a namespace of the tester's own.
    #[error(
        "cannot be moved into a namespace of the tester's own ({cause}), so traffic could bypass the device; use another interface, such \
         as a NIC or a VLAN on it"
    )]
    NotMoved { cause: String },
    /// It has no carrier in time.
    #[error(
        "has no carrier after {seconds} s: is it cabled to the device, and is the device's end up?"
    )]
    NoCarrier { seconds: u64 },
    /// On the other machine, it has no carrier in time.
    #[error("has no carrier: is it cabled to {other}?")]
    NoCarrierThere { other: String },
}
