//! Brings up devices under test by their recipes: in namespaces, in virtual machines of the lab or on other machines, alone or in a row. DNS
//! servers at the tester's end are brought up by a recipe, too.

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
    AuthorityMachine, LockAttempt, MachineLock, RemoteAuthority, RemoteMachine, ServedZone,
    check_machines, layout_of_machines,
};
pub use row::Devices;
pub use subscriber::Subscriber;
pub use template_vars::{DutOptions, Zone};
