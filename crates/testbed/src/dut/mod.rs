//! Devices under test, brought up by their recipes: in namespaces, in virtual machines of the lab, on another machine; alone or in a row.
//! Besides, DNS servers at the tester's end, which run by a recipe, too.

mod authority;
mod connections;
mod device;
mod lines;
mod remote;
mod row;
mod running;
mod subscriber;
mod template_vars;

pub use authority::RealAuthority;
pub use connections::ConnectionTable;
pub use remote::{
    AuthorityMachine, LockAttempt, MachineLock, RemoteAuthority, RemoteMachine, ServedZone, check_machines, layout_of_machines,
};
pub use row::Devices;
pub use subscriber::Subscriber;
pub use template_vars::{DutOptions, Zone};
